import { ACCOUNT, type CrashBank, type Place } from './bank.ts';
import { type Answer, type Relay, sendCustomer } from './relay.ts';
import { decisiveFor, type Flow, type Followers, flowsAt, judgeEnd, newTry, type Tried } from './tried.ts';

/** The calls whose answers are replaced. */
export const CALLS = {
  verify: /\/moneyTransfer\/verify$/,
  execute: /\/execute$/,
  confirm: /\/confirm$/,
  refresh: /\/token$/,
  code: /\/token$/,
} as const;
export type CallName = keyof typeof CALLS;

/** When an answer that is not the bank's is given: before the bank gets the call, or after the bank has acted on it. */
export const WHENS = ['before the effect', 'after the effect'] as const;

/** One answer that is not the bank's. */
export interface Forgery {
  /** Its name: `403 html`. */
  at: string;
  status: number;
  body: string;
  type: string;
}

const BODIES = [
  { name: 'html', type: 'text/html', body: '<html><body>The requested URL was rejected.</body></html>' },
  { name: 'empty', type: 'text/plain', body: '' },
  { name: 'json', type: 'application/json', body: '{"error":"denied","supportId":"17"}' },
];

/** Statuses that mean something to HTTP, the bank or psd2. */
export const KNOWN = [
  ...[200, 202, 204, 302, 400, 401, 403, 404, 409, 410, 412, 417, 420, 422, 429, 500, 502, 503, 504],
];
const STATUSES = Array.from({ length: 400 }, (_, index) => 200 + index);

/** Each status from 200 to 599: the known ones with every body, the others with one body each. */
export const FORGERIES: Forgery[] = STATUSES.flatMap((status) =>
  BODIES.filter((_, index) => KNOWN.includes(status) || status % BODIES.length === index).map(
    ({ name, type, body }) => ({ at: `${status} ${name}`, status, type, body }),
  ),
);

const execute = /^PUT .*\/execute$/;
const confirm = /^PUT .*\/confirm$/;
const PENNY = '0.01';

/** What stands between psd2 and the bank in one try. */
interface Between {
  env: Record<string, string>;
  /** Replaces the answer to the next such call. */
  forge(): void;
}

function between(
  relay: Relay,
  place: Place,
  call: CallName,
  when: (typeof WHENS)[number],
  forgery: Forgery,
): Between {
  let forges = false;
  relay.treat(place.name, async ({ path }, toBank) => {
    const isForged = forges && CALLS[call].test(path);
    if (isForged) forges = false;
    if (isForged && when === 'before the effect') return answerOf(forgery);
    const answer = await toBank();
    if (isForged) return answerOf(forgery);
    if (/\/approach$|\/authorize$/.test(path)) sendCustomer(answer);
    return answer;
  });
  return {
    // The relay sends the customer to the bank.
    env: { ...relay.env(place.name), PSD2_BROWSER: '/bin/true' },
    forge: () => {
      forges = true;
    },
  };
}

function answerOf({ status, type, body }: Forgery): Answer {
  // These statuses have no body (RFC 9110, section 6.4.1).
  const bytes = Buffer.from([204, 205, 304].includes(status) ? '' : body);
  const length = [204, 304].includes(status) ? [] : ['content-length', String(bytes.length)];
  return { status, headers: ['content-type', type, ...length], body: bytes };
}

/** Replaces an answer of a payment. It must be paid at most once, even if ordered again, and psd2 must show its true state. */
export async function tryPayment(
  { bank, relay, followers }: Means,
  call: 'verify' | 'execute',
  when: (typeof WHENS)[number],
  forgery: Forgery,
): Promise<Tried> {
  const place = bank.newPlace();
  const tried = newTry('not the bank’s', call, when, forgery.at, PENNY);
  const { env, forge } = between(relay, place, call, when, forgery);
  const order = [
    ...['transfer', 'create', '--json', '--yes', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
    ...['--name', 'Ada Lovelace', '--amount', PENNY, '--reference', place.name],
  ];
  forge();
  judgeEnd('it', await followers.psd2(place, order, env), tried.problems);
  const ofFirst = await flowsAt(followers, place, 'transfer');
  judgeStates(bank, ofFirst, execute, 'executed', tried);
  judgeEnd('the same again', await followers.psd2(place, order, env), tried.problems);
  const flows = await resumeAll(followers, place, 'transfer', env);
  tried.ends = flows.map(({ state }) => state);
  judgeStates(bank, flows, execute, 'executed', tried);
  const executed = flows.reduce((count, flow) => count + decisiveFor(bank, flow, execute), 0);
  if (executed > 1) {
    tried.twice = true;
    tried.problems.push(`one reference was executed ${executed} times`);
  }
  place.remove();
  return tried;
}

/** Replaces the answer to `confirm` of a consent. */
export async function tryConsent(
  { bank, relay, followers }: Means,
  when: (typeof WHENS)[number],
  forgery: Forgery,
): Promise<Tried> {
  const place = bank.newPlace();
  const tried = newTry('not the bank’s', 'confirm', when, forgery.at, PENNY);
  const { env, forge } = between(relay, place, 'confirm', when, forgery);
  const request = ['consent', 'request', '--json', '--category', 'PAYMENTS', '--account', ACCOUNT];
  forge();
  judgeEnd('it', await followers.psd2(place, request, env), tried.problems);
  judgeStates(bank, await flowsAt(followers, place, 'consent'), confirm, 'confirmed', tried);
  const flows = await resumeAll(followers, place, 'consent', env);
  tried.ends = flows.map(({ state }) => state);
  judgeStates(bank, flows, confirm, 'confirmed', tried);
  place.remove();
  return tried;
}

async function resumeAll(
  followers: Followers,
  place: Place,
  kind: string,
  env: Record<string, string>,
): Promise<Flow[]> {
  for (const { flow } of await flowsAt(followers, place, kind)) {
    await followers.psd2(place, [kind, 'resume', flow, '--json', '--yes'], env);
  }
  return flowsAt(followers, place, kind);
}

/** A flow that the bank executed must be done or unknown. One that it did not execute must not be done. Only the bank refuses. */
function judgeStates(bank: CrashBank, flows: Flow[], once: RegExp, end: string, tried: Tried): void {
  for (const flow of flows) {
    const decisive = decisiveFor(bank, flow, once);
    const { state } = flow;
    const done = decisive > 0 ? 'done' : 'not refused';
    if (decisive > 1) {
      tried.twice = true;
      tried.problems.push(`the bank got it ${decisive} times`);
    }
    if (state === 'failed') tried.problems.push(`psd2 shows failed, but the bank has ${done} it`);
    if (decisive === 0 && state === end)
      tried.problems.push(`psd2 shows ${end}, but the bank has not done it`);
    if (decisive > 0 && !['unknown', end, 'executing', 'confirming', 'failed'].includes(state)) {
      tried.problems.push(`psd2 shows ${state}, but the bank has done it`);
    }
  }
}

/** Replaces the answer to a token call. The login must still work, unless the bank had already spent the refresh token. */
export async function tryTokens(
  { relay, followers }: Means,
  place: Place,
  call: 'refresh' | 'code',
  when: (typeof WHENS)[number],
  forgery: Forgery,
): Promise<Tried> {
  const tried = newTry('not the bank’s', `token (${call})`, when, forgery.at, PENNY);
  const { env, forge } = between(relay, place, call, when, forgery);
  const command = call === 'refresh' ? ['auth', 'refresh', '--json'] : ['auth', 'login', '--json'];
  forge();
  judgeEnd('it', await followers.psd2(place, command, env), tried.problems);
  // A code is spent on a new login. If a refresh token is spent and the answer is lost, the login cannot be renewed.
  const works = call === 'refresh' && when === 'before the effect' ? [['auth', 'refresh', '--json']] : [];
  if (call === 'code' || when === 'before the effect') {
    for (const args of [['customer', 'id', '--json'], ...works]) {
      const { code, stderr } = await followers.psd2(place, args, env);
      if (code === 0) continue;
      tried.lost = true;
      tried.problems.push(`psd2 ${args.join(' ')} ended with ${code}: ${stderr}`);
      break;
    }
  }
  if (tried.lost || (call === 'refresh' && when === 'after the effect')) {
    const login = await followers.psd2(place, ['auth', 'login', '--json'], env);
    if (login.code !== 0) tried.problems.push(`another login ended with ${login.code}: ${login.stderr}`);
  }
  return tried;
}

export interface Means {
  bank: CrashBank;
  relay: Relay;
  followers: Followers;
}
