import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { writePain001 } from '../../src/batch-file/pain001/write.ts';
import { bankDay } from '../../src/domain/calendar.ts';
import { parseSepaIban } from '../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../src/domain/order/payment-amount.ts';
import { playCustomer } from '../../src/sandbox/player/play-customer.ts';
import { CUSTOMER } from '../e2e/support/psd2.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import type { Backend, Lodge, Lodging } from './backends.ts';
import { ACCOUNT, CLOCK, type CrashBank, type Place } from './bank.ts';
import { changed, INSTANTLY, isCall } from './gateway.ts';
import type { Answer, Call, Relay, Treatment } from './relay.ts';
import { type Followers, judgeEnd, newTry, type Tried } from './tried.ts';

// Ways in which a payment was once made twice, or told wrongly, each in all its forms: two operators with one file, a report on
// somebody else's file, a gateway that is off by one, clocks that are wrong, a second signatory, and a rejection that comes late.

/** Where is paid. */
export const DOORS = {
  cb: { account: ACCOUNT, env: {}, customer: '1048262' },
  NextGenPSD2: {
    account: 'IT89F0999001600000010482620',
    env: { PSD2_PROFILE: 'sandbox-nextgen' },
    customer: 'anna',
  },
} as const;
export type Door = keyof typeof DOORS;
const PAYER_IBAN = DOORS.NextGenPSD2.account;
const PAYEE_IBAN = 'DE89370400440532013000';
const REPEAT_MINUTES = 10;

/** Options of `sandbox start`. @param variations what a bank file cannot say */
export function rulesWith(...variations: string[]): string[] {
  const path = join(temporaryFolder(), 'bank.json');
  const payments = {
    ...{ repeat: 'same-answer', repeatMinutes: REPEAT_MINUTES, bulk: { format: 'pain.001.001.09' } },
    products: { 'bulk-payments': ['pain.001-sepa-credit-transfers'] },
  };
  writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', sca: { pollSeconds: 1 }, payments }));
  return ['--bank', path, '--page-size', '1000', ...variations.flatMap((each) => ['--variation', each])];
}

/** What a try needs. */
export interface TwiceMeans {
  bank: CrashBank;
  relay: Relay;
  followers: Followers;
  lodge: Lodge;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Trial extends Lodging {
  door: Door;
  backend: Backend;
  tried: Tried;
  bank: CrashBank;
  /** In PostgreSQL another machine, in files the same one. */
  elsewhere: Place;
  /** Of two payments that nobody else on this bank makes. */
  amounts: [string, string];
  /** Runs psd2. The customer approves, unless `env` says otherwise. */
  run(args: string[], env?: Record<string, string>): Promise<Ended>;
  /** The same in a process of its own, which somebody else may start at the same time. */
  start(where: Place, args: string[], env?: Record<string, string>): Promise<Ended>;
  /** What stands between psd2 and the bank from now on. */
  gateway(treatment: Treatment): void;
  /** The states of the transfers with these amounts. */
  states(...amounts: string[]): Promise<string[]>;
}

/** A try, and what psd2 says of each amount at its end. */
export interface TwiceTry {
  tried: Tried;
  orders: { amount: string; states: string[]; times: number }[];
}

/** A kind of tries: its name in README.md, its points, and what happens in one. */
export interface Way {
  kind: Tried['kind'];
  door: Door;
  points: readonly string[];
  /** @returns how often each amount is to be paid, if not at most once */
  play(trial: Trial, point: string): Promise<number | undefined>;
}

/** Tries a way at a point. */
export function tryTwice(
  { bank, relay, followers, lodge }: TwiceMeans,
  { kind, door, play }: Way,
  backend: Backend,
  at: string,
): Promise<TwiceTry> {
  return lodge(backend, async (lodging) => {
    const { place, env } = lodging;
    const tried = newTry(kind, `${door}, ${backend}`, HOWS[kind] ?? '', at, '');
    const elsewhere = backend === 'files' ? place : bank.newPlace();
    const { env: ofDoor, customer } = DOORS[door];
    const variables = { ...env, ...ofDoor, ...relay.env(place.name) };
    relay.treat(place.name, (_, toBank) => toBank());
    const number = Number(place.name.replace(/\D/g, ''));
    const amounts: Trial['amounts'] = [amountOf(2 * number), amountOf(2 * number + 1)];
    const judged = (args: string[], ended: Ended) => {
      judgeEnd(args.slice(0, 2).join(' '), ended, tried.problems);
      return ended;
    };
    const run: Trial['run'] = async (args, more) =>
      judged(args, await followers.psd2(place, args, { ...variables, ...more }));
    const trial: Trial = {
      ...lodging,
      ...{ door, backend, tried, bank, elsewhere, amounts, run },
      start: async (where, args, more) =>
        judged(args, await where.watched(args, undefined, { ...variables, PSD2_BROWSER: CUSTOMER, ...more })),
      gateway: (treatment) => relay.treat(place.name, treatment),
      states: async (...wanted) => {
        const { stdout } = await run(['transfer', 'list', '--json', '--quiet']);
        return listShape
          .parse(JSON.parse(stdout))
          .flatMap(({ amount, state }) => (wanted.includes(amount) ? state : []));
      },
    };
    try {
      if (door !== 'cb') await run(['auth', 'login', '--customer', customer, '--psu-id', customer]);
      const times = (await play(trial, at)) ?? 1;
      const orders = await Promise.all(
        amounts.map(async (amount) => ({ amount, states: await trial.states(amount), times })),
      );
      tried.ends = orders.flatMap(({ states }) => states);
      return { tried, orders };
    } finally {
      if (elsewhere !== place) elsewhere.remove();
    }
  });
}

const listShape = z.array(z.object({ flow: z.string(), amount: z.string(), state: z.string() }));
const DONE = ['executed', 'settled', 'ordered'];
const UNPAID = ['failed', 'rejected', 'cancelled', 'expired'];

/** Nobody else pays this, and it is not the commission of a transfer. */
function amountOf(number: number): string {
  return (0.51 + number / 100).toFixed(2);
}

/** Compares what psd2 says with what the bank has paid. */
export async function judgeTwice(bank: CrashBank, tries: readonly TwiceTry[]): Promise<Tried[]> {
  const booked = await bank.bookings();
  for (const { tried, orders } of tries)
    for (const { amount, states, times } of orders) {
      const paid = booked(amount);
      if (paid > times) tried.twice = true;
      const done = states.filter((state) => DONE.includes(state)).length;
      const open = states.filter((state) => ![...DONE, ...UNPAID].includes(state)).length;
      if (paid > times || paid < done || paid > done + open)
        tried.problems.push(
          `psd2 says ${states.join(', ') || 'nothing'}, and the bank paid it ${paid} times`,
        );
    }
  return tries.map(({ tried }) => tried);
}

function expectCode({ tried }: Trial, what: string, { code, stderr }: Ended, wanted: number): void {
  if (code !== wanted) tried.problems.push(`${what} ended with ${code}, not ${wanted}: ${stderr}`);
}

async function expectNone({ tried, states }: Trial, amount: string, wrong: string[], when: string) {
  const said = (await states(amount)).filter((state) => wrong.includes(state));
  if (said.length > 0) tried.problems.push(`${when} psd2 says ${said.join(', ')}`);
}

// The same payments in other words

interface Line {
  name: string;
  amount: string;
  text: string;
}
interface Written {
  text: string;
  options?: string[];
}
const HEAD = 'name,iban,amount,description';
const csv = (lines: Line[], rowOf = (row: string, _line: Line) => row, head = HEAD): string =>
  `${head}\n${lines.map((line) => rowOf([line.name, PAYEE_IBAN, line.amount, line.text].join(','), line)).join('\n')}\n`;
const base = (lines: Line[]): Written => ({ text: csv(lines) });
const today = () => bankDay(new Date());

/** Each orders the same as the plain file. */
const SPELLINGS: Record<string, (lines: Line[], door: Door) => Written | Promise<Written>> = {
  'nothing else': base,
  'the account by IBAN': (lines) => ({ text: csv(lines), options: ['--from', spaced(PAYER_IBAN)] }),
  'the default day': (lines) => ({ text: csv(lines), options: ['--date', today()] }),
  'the current customer': (lines, door) => ({
    text: csv(lines),
    options: ['--customer', DOORS[door].customer],
  }),
  'another product': (lines) => ({ text: csv(lines), options: INSTANTLY }),
  'other case': (lines) => ({ text: csv(lines.map(onText((text) => text.toUpperCase()))) }),
  'other blanks': (lines) => ({ text: csv(lines.map(onText((text) => ` ${text.replace(' ', '   ')} `))) }),
  'IBANs in groups': (lines) => ({ text: csv(lines).replaceAll(PAYEE_IBAN, spaced(PAYEE_IBAN)) }),
  'a spreadsheet’s form': (lines) => ({
    text: `\uFEFF${csv(lines).replaceAll(',', ';').replaceAll('\n', '\r\n')}`,
  }),
  'other columns': (lines) => ({
    text: csv(
      lines,
      (_, { name, amount, text }) => [amount, text, PAYEE_IBAN, name].join(','),
      'amount,description,iban,name',
    ),
  }),
  'another order of the payments': (lines) => ({ text: csv(lines.toReversed()) }),
  'the account in a column': (lines) => ({
    text: csv(lines, (row) => `${row},${PAYER_IBAN}`, `${HEAD},from`),
  }),
  'the day in a column': (lines) => ({ text: csv(lines, (row) => `${row},${today()}`, `${HEAD},date`) }),
  'pain.001.001.03': (lines) => painOf('pain.001.001.03', lines),
  'pain.001.001.09': (lines) => painOf('pain.001.001.09', lines),
};
/** A control: it orders something else. */
const ANOTHER = 'another text';
const onText =
  (change: (text: string) => string) =>
  ({ name, amount, text }: Line): Line => ({ name: change(name), amount, text: change(text) });
const spaced = (iban: string) => iban.replace(/(.{4})(?=.)/g, '$1 ');

async function painOf(format: 'pain.001.001.03' | 'pain.001.001.09', lines: Line[]): Promise<Written> {
  const payments = lines.map(({ name, amount, text }) => ({
    ...{ instructionId: null, endToEndId: 'NOTPROVIDED', name, currency: 'EUR', description: text },
    ...{ iban: parseSepaIban(PAYEE_IBAN), amount: parsePaymentAmount(amount), address: null },
  }));
  const cents = lines.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
  const group = {
    ...{ paymentInformationId: 'P-1', debtor: { name: 'Acme', iban: parseSepaIban(PAYER_IBAN) } },
    ...{ executionDate: today(), instant: false, urgent: false, count: lines.length },
    ...{ sum: parsePaymentAmount((cents / 100).toFixed(2)), payments },
  };
  const head = { format, messageId: `M-${cents}`, createdAt: new Date().toISOString(), initiator: 'Acme' };
  let text = '';
  for await (const piece of writePain001({ ...head, groups: [group] })) text += piece;
  return { text };
}

const FILES = [
  'the first is paid',
  'the first is paid, the other way round',
  'the first is open',
  'both at once',
];
const batchShape = z.object({ batch: z.string() });
const batchIn = ({ code, stdout }: Ended) => (code === 0 ? [batchShape.parse(JSON.parse(stdout)).batch] : []);
const runOf = (batch: string, as?: string) => [
  ...['batch', 'run', batch, '--yes', '--json'],
  ...(as === undefined ? [] : ['--as', as]),
];

async function playSame(trial: Trial, point: string): Promise<number> {
  const { place, door, amounts, run, tried } = trial;
  const [when = '', spelling = ''] = point.split(': ');
  const lines = amounts.map((amount, index) => ({
    name: NAMES[index] ?? '',
    amount,
    text: `Invoice ${index}`,
  }));
  const other: Line[] = lines.map((line) => ({ ...line, text: `${line.text} and more` }));
  const said = await (SPELLINGS[spelling]?.(lines, door) ?? { text: csv(other) });
  const files = [base(lines), said].map((written, index) => addOf(place, `${index}`, door, written));
  const [first = [], second = []] = when.endsWith('round') ? files.toReversed() : files;
  const adds: Ended[] = [];
  if (when === 'both at once') {
    adds.push(...(await Promise.all([trial.start(place, first), trial.start(trial.elsewhere, second)])));
  } else {
    adds.push(await run(first));
    if (when !== 'the first is open') for (const batch of adds.flatMap(batchIn)) await run(runOf(batch));
    adds.push(await run(second));
  }
  for (const batch of adds.flatMap(batchIn)) expectCode(trial, 'the run', await run(runOf(batch)), 0);
  const isOther = spelling === ANOTHER;
  const codes = adds.map(({ code }) => code).sort();
  if (codes.join() !== (isOther ? '0,0' : '0,2'))
    tried.problems.push(
      `the two adds ended with ${codes.join(' and ')}: ${adds.map(({ stderr }) => stderr).join(' ')}`,
    );
  return isOther ? 2 : 1;
}

const NAMES = ['Ada Lovelace', 'Grace Hopper'];

/** Writes a file. @returns the words of the command that adds it */
function addOf(place: Place, name: string, door: Door, { text, options = [] }: Written): string[] {
  const path = join(place.config, `payments-${name}.${text.startsWith('<') ? 'xml' : 'csv'}`);
  writeFileSync(path, text);
  // The account of a file in XML is in the file.
  const from = text.startsWith('<') || options.includes('--from') ? [] : ['--from', DOORS[door].account];
  return ['batch', 'add', path, '--json', ...from, ...options];
}

/** Adds a batch of the two payments. */
async function added(trial: Trial, names: readonly string[] = NAMES): Promise<string> {
  const { place, door, amounts, run } = trial;
  const lines = amounts.map((amount, index) => ({ name: names[index] ?? '', amount, text: 'Invoice' }));
  const ended = await run([...addOf(place, 'two', door, base(lines)), ...(door === 'cb' ? INSTANTLY : [])]);
  const [batch] = batchIn(ended);
  if (batch === undefined) throw new Error(`psd2 batch add ended with ${ended.code}: ${ended.stderr}`);
  return batch;
}

const transferOf = ({ door, place }: Trial, name: string, amount: string, reference = place.name) => [
  ...[
    'transfer',
    'create',
    '--from',
    DOORS[door].account,
    '--to',
    PAYEE_IBAN,
    '--name',
    name,
    '--yes',
    '--json',
  ],
  ...['--amount', amount, '--reference', reference, '--description', reference],
  ...(door === 'cb' ? INSTANTLY : ['--customer', DOORS[door].customer]),
];
const resumeOf = async (trial: Trial, amount: string) => [
  ...['transfer', 'resume', await flowOf(trial, amount), '--yes', '--json'],
];

// A report on somebody else's file

const ABOUT = ['OrgnlMsgId', 'OrgnlPmtInfId', 'both ids', 'no ids'];
const REPORTS = [
  ...ABOUT.flatMap((about) => ['RJCT', 'ACSC'].map((status) => `other ${about}, ${status}`)),
  ...['RJCT, then ACSC', 'ACSC, then RJCT'].map((two) => `two statuses, ${two}`),
];

/** The pain.002 of an honest bank, as a bank gives it that mixes files up. */
function forged(text: string, point: string): string {
  const [about = '', ...statuses] = point.split(/, (?:then )?/);
  if (about === 'two statuses')
    return text.replace(/<TxInfAndSts>.*?<\/TxInfAndSts>/gs, (entry) =>
      statuses.map((status) => entry.replace(/(?<=<TxSts>)\w+/, status)).join(''),
    );
  const other = ['no ids', 'both ids'].includes(about.slice(6)) ? 'OrgnlMsgId|OrgnlPmtInfId' : about.slice(6);
  const [status = ''] = statuses;
  return text
    .replace(/(?<=<(?:TxSts|GrpSts)>)\w+/g, status)
    .replace(
      new RegExp(`<(${other})>[^<]*</\\1>`, 'g'),
      about.endsWith('no ids') ? '' : '<$1>SOMEBODY-ELSE</$1>',
    );
}

async function playReport(trial: Trial, point: string): Promise<undefined> {
  const { amounts, run, tried } = trial;
  const [report = '', fate = ''] = point.split(': ');
  const batch = await added(trial, fate === 'paid' ? NAMES : ['Ada Lovelace', 'EXECUTE REFUSED']);
  tried.reached = false;
  trial.gateway(async (_, toBank) => {
    const answer = await toBank();
    const text = answer.body.toString('utf8');
    // Until the customer has authorised it, nothing is said.
    if (!text.includes('CstmrPmtStsRpt') || /<GrpSts>(?:RCVD|PATC)/.test(text)) return answer;
    tried.reached = true;
    return withBody(answer, forged(text, report));
  });
  await run(runOf(batch, 'bulk'), IMPATIENT);
  const wrong = [UNPAID, fate === 'paid' ? UNPAID : DONE];
  for (const [index, amount] of amounts.entries())
    await expectNone(trial, amount, wrong[index] ?? [], 'after the report');
  const again = await run(['batch', 'retry', batch, '--json']);
  expectCode(trial, 'retry', again, 2);
  for (const second of batchIn(again)) await run(runOf(second), IMPATIENT);
  trial.gateway((_, toBank) => toBank());
  expectCode(trial, 'the last run', await run(runOf(batch)), fate === 'paid' ? 0 : 8);
  return undefined;
}

// A gateway that is off by one

/** Long enough for a customer who decides at once. */
const IMPATIENT = { PSD2_SCA_TIMEOUT: '3' };
const NOBODY = { ...IMPATIENT, PSD2_BROWSER: '/bin/true' };
const IDS = ['no X-Request-ID', 'a foreign X-Request-ID', 'a bank without X-Request-ID'];
const OFF_BY_ONE = ['a transfer', 'a line'].flatMap((what) =>
  ['status', 'SCA status', 'status and SCA status'].flatMap((calls) =>
    IDS.map((ids) => `${what}, ${calls}, ${ids}`),
  ),
);
const ASKED = { status: /^GET .*\/status$/, 'SCA status': /^GET .*\/authorisations\/[^/]+$/ } as const;
const askedOf = ({ method, path }: Call) =>
  (['status', 'SCA status'] as const).find((name) => ASKED[name].test(`${method} ${path}`));
const isInitiation = ({ method, path }: Call) => method === 'POST' && /payments\/[^/]+$/.test(path);
const linkIn = ({ body }: Answer) => /"scaRedirect":\{"href":"([^"]+)"/.exec(body.toString('utf8'))?.[1];
const idIn = ({ body }: Answer) => /"paymentId":"([^"]+)"/.exec(body.toString('utf8'))?.[1];

/** The first payment is refused by its customer. The second gets the answers about the first, and its customer comes late. */
async function playOffByOne(trial: Trial, point: string): Promise<undefined> {
  const { tried, run, place } = trial;
  const [other, ours] = trial.amounts;
  const [what = '', calls = '', ids = ''] = point.split(', ');
  const answers = new Map<string, Answer>();
  const seen = new WeakSet<object>();
  const isNameless = ids === 'a bank without X-Request-ID';
  let own: { id: string | undefined; link: string | undefined } | undefined;
  let isOff = true;
  tried.reached = false;
  const treatment: Treatment = async (call, toBank) => {
    const honest = await toBank();
    const answer = isNameless ? withoutId(honest) : honest;
    const isFirst = !seen.has(call.connection);
    seen.add(call.connection);
    if (isInitiation(call) && call.body.includes(`"${other}"`))
      await playCustomer(linkIn(answer) ?? '', { refuse: true });
    if (isInitiation(call) && call.body.includes(`"${ours}"`))
      own ??= { id: idIn(answer), link: linkIn(answer) };
    const asked = askedOf(call);
    if (asked === undefined) return answer;
    if (!own?.id || !call.path.includes(own.id)) answers.set(asked, answer);
    const others = answers.get(asked);
    const isMixedUp = isOff && own?.id && call.path.includes(own.id) && calls.split(' and ').includes(asked);
    // Without ids, only a connection of its own is safe from the answers to others.
    if (!isMixedUp || !others || (isNameless && isFirst)) return answer;
    tried.reached = true;
    return ids === 'no X-Request-ID' ? withoutId(others) : others;
  };
  trial.gateway(treatment);
  const isLine = what === 'a line';
  const batch = isLine ? await added(trial) : '';
  const order = transferOf(trial, 'Ada Lovelace', ours);
  if (isLine) await run(runOf(batch, 'single'), NOBODY);
  else {
    await run(transferOf(trial, 'Ada Lovelace', other, `${place.name}-other`), NOBODY);
    await run(order, NOBODY);
  }
  await expectNone(trial, ours, UNPAID, 'before the customer has come');
  await playCustomer(own?.link ?? '');
  if (isLine) {
    const again = await run(['batch', 'retry', batch, '--json']);
    for (const second of batchIn(again)) await run(runOf(second, 'single'), IMPATIENT);
  } else await run(order, IMPATIENT);
  isOff = false;
  await run(isLine ? runOf(batch) : await resumeOf(trial, ours));
  await run(isLine ? runOf(batch) : order);
  if (!(await trial.states(ours)).some((state) => DONE.includes(state)))
    tried.problems.push('psd2 does not find out that it is paid');
  return undefined;
}

const CB_CALLS = ['status', 'execution status'] as const;
const OFF_AT_CB = ['status', 'execution status', 'status and execution status'].flatMap((calls) =>
  ['the bank has done it', 'the answer to execute is lost'].map((fate) => `${calls}, ${fate}`),
);

/** An instant transfer gets the answers about another one, which has failed. */
async function playOffAtCb(trial: Trial, point: string): Promise<undefined> {
  const { tried, run, place } = trial;
  const [other, ours] = trial.amounts;
  const [calls = '', fate] = point.split(', ');
  const answers = new Map<string, Answer>();
  let isOther = true;
  let isOff = true;
  let isSent = false;
  tried.reached = false;
  trial.gateway(async (call, toBank) => {
    const answer = await toBank();
    if (isCall('execute', call) && !isOther) {
      const isLost = !isSent && fate === 'the answer to execute is lost';
      isSent = true;
      return isLost ? undefined : answer;
    }
    const asked = CB_CALLS.find((name) => isCall(name, call));
    if (asked === undefined) return answer;
    if (isOther) answers.set(asked, answer);
    const others = answers.get(asked);
    if (!isOff || !isSent || !others || !calls.split(' and ').includes(asked)) return answer;
    tried.reached = true;
    return others;
  });
  const failed = transferOf(trial, 'INSTANT KO', other, `${place.name}-other`);
  await run(failed);
  await run(['transfer', 'status', await flowOf(trial, other), '--json']);
  isOther = false;
  const order = transferOf(trial, 'INSTANT NOW', ours);
  await run(order, IMPATIENT);
  await expectNone(trial, ours, UNPAID, 'after the answers of another');
  await run(order, IMPATIENT);
  isOff = false;
  await run(await resumeOf(trial, ours));
  await run(order);
  return undefined;
}

async function flowOf({ run }: Trial, amount: string): Promise<string> {
  const { stdout } = await run(['transfer', 'list', '--json', '--quiet']);
  return listShape.parse(JSON.parse(stdout)).find((each) => each.amount === amount)?.flow ?? 'none';
}

function withBody(answer: Answer, text: string): Answer {
  const body = Buffer.from(text);
  return { ...without(answer, /^(?:content-length|digest|transfer-encoding)$/i, body.length), body };
}

const withoutId = (answer: Answer) => without(answer, /^x-request-id$/i);

function without({ status, headers, body }: Answer, name: RegExp, length?: number): Answer {
  const kept = headers.flatMap((value, index) =>
    index % 2 === 0 && !name.test(value) ? [value, headers[index + 1] ?? ''] : [],
  );
  return { status, headers: length === undefined ? kept : [...kept, 'content-length', `${length}`], body };
}

// Clocks that are wrong

const HOUR = 60;
const CLOCKS = [0, -HOUR, HOUR].flatMap((first) =>
  [0, -10, 10, -HOUR, HOUR].flatMap((second) =>
    [0, 5, 11, 45].map((passed) => `${first} and ${second} minutes wrong, after ${passed} minutes`),
  ),
);

/** The answer to an initiation is lost, time passes at the bank, and somebody with another clock goes on. */
async function playClocks(trial: Trial, point: string): Promise<undefined> {
  const { tried, place, elsewhere, start, bank } = trial;
  const [ours] = trial.amounts;
  const [first = 0, second = 0, passed = 0] = point.match(/-?\d+/g)?.map(Number) ?? [];
  const clock = (minutes: number) => ({
    NODE_OPTIONS: `--import=${CLOCK}`,
    FLEET_CLOCK_MS: String(minutes * 60_000),
  });
  let isLost = false;
  let now = 0;
  trial.gateway(async (call, toBank) => {
    const answer = dated(await toBank(), now);
    if (isLost || !isInitiation(call)) return answer;
    isLost = true;
    return undefined;
  });
  const order = transferOf(trial, 'Ada Lovelace', ours);
  await start(place, order, clock(first));
  tried.reached = isLost;
  if (passed > 0) {
    const moved = await bank.operator.psd2(['sandbox', 'clock', `+${passed}m`]);
    if (moved.code !== 0) throw new Error(moved.stderr);
    now = passed;
  }
  const resumed = await start(elsewhere, await resumeOf(trial, ours), clock(second + passed));
  if (first === second && passed < REPEAT_MINUTES) expectCode(trial, 'resume within the minutes', resumed, 0);
  await start(elsewhere, order, clock(second + passed));
  return undefined;
}

/** The sandbox's `Date` is the machine's, but that of a bank is its own. */
function dated(answer: Answer, minutes: number): Answer {
  const { status, headers, body } = without(answer, /^date$/i);
  const date = new Date(Date.now() + minutes * 60_000).toUTCString();
  return { status, headers: [...headers, 'date', date], body };
}

// A second signatory

const SIGNED = ['failed', 'finalised', 'received', 'exempted'];
const SECOND_SIGNATORY = ['a transfer', 'single', 'bulk', 'basket'].flatMap((as) =>
  SIGNED.map((sca) => `${as}, PATC and ${sca}`),
);

/** The bank says that somebody has authorised it, and of the authorisation that psd2 began, this. The other comes late. */
async function playSignatory(trial: Trial, point: string): Promise<undefined> {
  const { tried, run } = trial;
  const [as = '', sca = ''] = point.split(/, PATC and /);
  const [, ours] = trial.amounts;
  const links: string[] = [];
  let isPartly = true;
  tried.reached = false;
  trial.gateway(async (_, toBank) => {
    const answer = await toBank();
    const link = linkIn(answer);
    if (link !== undefined) links.push(link);
    const text = answer.body.toString('utf8');
    if (!isPartly || !/RCVD|"scaStatus":"(?:received|psuIdentified)"/.test(text)) return answer;
    tried.reached ||= text.includes('RCVD');
    return withBody(
      answer,
      text
        .replace(/(?<="transactionStatus":"|<(?:GrpSts|TxSts)>)RCVD/g, 'PATC')
        .replace(/(?<="scaStatus":")(?:received|psuIdentified)/g, sca),
    );
  });
  const isTransfer = as === 'a transfer';
  const batch = isTransfer ? '' : await added(trial);
  const order = transferOf(trial, 'Ada Lovelace', ours);
  await run(isTransfer ? order : runOf(batch, as), NOBODY);
  const goOn = isTransfer ? await resumeOf(trial, ours) : runOf(batch, as);
  await expectNone(trial, ours, [...UNPAID, ...DONE], 'while one has authorised it');
  await run(goOn, NOBODY);
  const retried = isTransfer ? await run(order, NOBODY) : await run(['batch', 'retry', batch, '--json']);
  expectCode(trial, 'the same again', retried, 2);
  for (const second of isTransfer ? [] : batchIn(retried)) await run(runOf(second, as), IMPATIENT);
  isPartly = false;
  // Whatever was begun in vain may be over.
  for (const link of links) await playCustomer(link).catch(() => {});
  await run(isTransfer ? goOn : runOf(batch));
  await run(isTransfer ? order : runOf(batch));
  return undefined;
}

// A rejection that comes late

const LATE = [
  ...['transfer resume', 'transfer resume --all', 'transfer status'].map((by) => `a transfer, ${by}`),
  ...['single', 'bulk', 'basket'].flatMap((as) => ['batch run', 'batch status'].map((by) => `${as}, ${by}`)),
  'single, transfer resume --all',
];
/** There, no status asks for what a question has not brought before. */
const LATE_AT_CB = LATE.filter((point) => /^(?:a transfer|single), .* (?:resume|run)/.test(point));

/** The bank accepts it, and rejects it later. */
async function playLate(trial: Trial, point: string): Promise<undefined> {
  const { door, run, tried, place } = trial;
  const [as = '', by = ''] = point.split(', ');
  const isCb = door === 'cb';
  let isLate = false;
  trial.gateway(async (call, toBank) => {
    const answer = await toBank();
    if (isLate) return answer;
    if (isCb) return settlesLate(call, answer);
    const text = answer.body.toString('utf8');
    const accepted = text.replace(/(?<="transactionStatus":"|<(?:GrpSts|TxSts)>)RJCT/g, 'ACSP');
    return text === accepted ? answer : withBody(answer, accepted);
  });
  const isTransfer = as === 'a transfer';
  const name = isCb ? 'INSTANT KO' : 'EXECUTE REFUSED';
  const [, ours] = trial.amounts;
  const batch = isTransfer ? '' : await added(trial, [name, name]);
  const ways = isCb ? [] : [as];
  const begin = isTransfer ? transferOf(trial, name, ours) : runOf(batch, ...ways);
  const begun = await (isCb ? trial.start(place, begin, { CRASH_FAST: '20' }) : run(begin));
  expectCode(trial, 'the acceptance', begun, isCb ? 9 : 0);
  await expectNone(trial, ours, UNPAID, 'before the rejection');
  if (!isTransfer && /"paidAt":"/.test((await run(['batch', 'report', batch, '--json'])).stdout))
    tried.problems.push('the report says when it was paid, before it is final');
  isLate = true;
  const flow = await flowOf(trial, ours);
  const asks: Record<string, string[]> = {
    'transfer resume': await resumeOf(trial, ours),
    'transfer resume --all': ['transfer', 'resume', '--all', '--yes', '--json'],
    'transfer status': ['transfer', 'status', flow, '--json'],
    'batch run': runOf(batch),
    'batch status': ['batch', 'status', batch, '--json'],
  };
  const asked = await run(asks[by] ?? []);
  // A database also has what others have left unfinished.
  if (trial.backend === 'files' || by !== 'transfer resume --all') expectCode(trial, by, asked, 8);
  await expectNone(trial, ours, DONE, 'after the rejection');
  const payee = isCb ? 'INSTANT NOW' : 'Ada Lovelace';
  const again = isTransfer ? transferOf(trial, payee, ours) : ['batch', 'retry', batch, '--json'];
  expectCode(trial, 'paying it now', await run(again), 0);
  return undefined;
}

function settlesLate(call: Call, answer: Answer): Answer {
  if (answer.status !== 200 || !CB_CALLS.some((name) => isCall(name, call))) return answer;
  return changed(answer, (body) =>
    body.data?.executionStatus === 'KO'
      ? { ...body, data: { ...body.data, executionStatus: 'PENDING', executionStatusDescription: '' } }
      : body,
  );
}

const same: Omit<Way, 'door'> = {
  kind: 'same payments',
  points: FILES.flatMap((when) => [...Object.keys(SPELLINGS), ANOTHER].map((each) => `${when}: ${each}`)),
  play: playSame,
};
/** What is tried. Those with wrong clocks have a bank of their own, because its time moves. */
export const WAYS: readonly Way[] = [
  { ...same, door: 'cb' },
  { kind: 'off by one', door: 'cb', points: OFF_AT_CB, play: playOffAtCb },
  { kind: 'late rejection', door: 'cb', points: LATE_AT_CB, play: playLate },
  { ...same, door: 'NextGenPSD2' },
  {
    ...{ kind: 'foreign report', door: 'NextGenPSD2', play: playReport },
    points: REPORTS.flatMap((report) => ['paid', 'one refused'].map((fate) => `${report}: ${fate}`)),
  },
  { kind: 'off by one', door: 'NextGenPSD2', points: OFF_BY_ONE, play: playOffByOne },
  { kind: 'second signatory', door: 'NextGenPSD2', points: SECOND_SIGNATORY, play: playSignatory },
  { kind: 'late rejection', door: 'NextGenPSD2', points: LATE, play: playLate },
];
export const CLOCK_WAY: Way = {
  kind: 'wrong clocks',
  door: 'NextGenPSD2',
  points: CLOCKS,
  play: playClocks,
};
const HOWS: Partial<Record<Tried['kind'], string>> = {
  'same payments': 'the file is written in other words',
  'foreign report': 'the pain.002 is about another file, or says two statuses',
  'off by one': 'the answers are about another payment',
  'wrong clocks': 'up to an hour, before and after',
  'second signatory': 'PATC, and the other authorises elsewhere',
  'late rejection': 'accepted, then rejected',
};
