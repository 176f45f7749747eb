// The time from the customer's approval to the printed result of an instant transfer.
import { once } from 'node:events';
import { figure, median } from './measure.js';
import { openOperator } from './operator.js';

const ROUNDS = 10;
/** The interface demands that the first poll comes at least 1 s after execute ended. */
const MINIMUM_MS = 1_000;
const ALLOWANCE_MS = 150;

export async function waiting(_node, version) {
  const operator = openOperator();
  try {
    operator.logIn();
    const [{ productId }] = operator.json('accounts', 'list');
    const times = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await approvalToResult(operator, productId));
    const took = median(times);
    return [
      figure({
        what: `approval to printed result of an instant transfer, Node ${version}`,
        ratio: took / MINIMUM_MS,
        against: 'the wait of 1 s before the first poll that the interface demands',
        limit: 1 + ALLOWANCE_MS / MINIMUM_MS,
        detail: `${took.toFixed(0)} ms, median of ${ROUNDS}`,
      }),
    ];
  } finally {
    operator.close();
  }
}

/** psd2 prints the address on stderr. This process plays the customer on the bank's pages. */
async function approvalToResult(operator, productId) {
  const transfer = operator.start(
    { PSD2_BROWSER: 'none' },
    ...['transfer', '--instant', '--payee-verified', '--yes', '--json', '--from', productId],
    ...['--to', 'DE89370400440532013000', '--name', 'INSTANT NOW', '--amount', '1.00'],
  );
  let printed = 0;
  transfer.stdout.once('data', () => {
    printed = performance.now();
  });
  const ended = once(transfer, 'close');
  let said = '';
  let approved = 0;
  for await (const text of transfer.stderr.setEncoding('utf8')) {
    said += text;
    const open = eventsIn(said).find(({ event }) => event === 'open');
    if (open) {
      approved = await approve(open.url);
      break;
    }
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`The transfer ended with exit code ${code}: ${said}`);
  return printed - approved;
}

/** The events that psd2 has said until now, without the line that it may not have ended. */
function eventsIn(said) {
  return said
    .slice(0, said.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Logs in and approves. @returns when the approval was sent */
async function approve(address) {
  let cookie = '';
  let page = new URL(address);
  let answer = await fetch(page, { redirect: 'manual' });
  let approved = 0;
  for (;;) {
    for (const set of answer.headers.getSetCookie()) cookie = set.split(';', 1)[0];
    const location = answer.headers.get('location');
    if (location) {
      const next = new URL(location, page);
      // The callback to psd2's listener. Its page needs no answer.
      if (next.host !== page.host) {
        await fetch(next);
        return approved;
      }
      page = next;
      answer = await fetch(page, { redirect: 'manual', headers: { cookie } });
      continue;
    }
    const form = /<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(await answer.text());
    if (!form) throw new Error(`No form at ${page}`);
    const [, action, inner] = form;
    const fields = new URLSearchParams();
    for (const [tag] of inner.matchAll(/<input[^>]*>/g)) {
      const attribute = (name) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
      fields.set(attribute('name'), attribute('value'));
    }
    const [, decision = ''] = /<button[^>]* value="(login|allow|approve)"/.exec(inner) ?? [];
    fields.set('decision', decision);
    if (fields.has('user')) {
      fields.set('user', 'anna');
      fields.set('password', 'anna-sandbox');
    }
    page = new URL(action, page);
    if (decision === 'approve') approved = performance.now();
    answer = await fetch(page, { method: 'POST', body: fields, redirect: 'manual', headers: { cookie } });
  }
}
