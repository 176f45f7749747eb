import type { Answer, Call, Treatment } from '../crash/relay.ts';

// A row is a case: a bank, what its calls meet, the words of commands, and what must come out. CONTRIBUTING.md shows how to write one.

/** A bank: today's, or one of NextGenPSD2 with these fields of a bank file. */
export type BankOfRow = 'cb' | { readonly file: object };

/** A command, and how it must end. In its words, `FLOW`, `BATCH`, `FILE`, `AMOUNT` and `REFERENCE` stand for those of the row. */
export interface Step {
  words: readonly string[];
  /** What happens to the calls of a name, one after the other. Afterwards, and to all others: what the bank does. */
  meets?: Partial<Record<CallName, readonly Treatment[]>>;
  /** What the customer does with an address of the bank. Default: approves. */
  customer?: 'approves' | 'refuses' | 'stays away';
  env?: Readonly<Record<string, string>>;
  /** Exit code, code of the error, and state of the flow, the batch or each payment: `0 executed`, `9 outcome_unknown unknown`. */
  ends: string;
  /** The names of its calls, in order. */
  calls?: string;
  /** Fields of the document on stdout. */
  prints?: object;
  /** Part of the message and the hint of the error, with what can be done next as `$ transfer resume FLOW`. */
  says?: string | RegExp;
  /** Part of what it tells the operator on stderr. */
  tells?: string | RegExp;
  /** The last events in the journal of the flow then, in order. */
  events?: string;
}

export interface Row {
  name: string;
  bank: BankOfRow;
  /** The payments in `FILE`, of `AMOUNT` each: a name, or a name and a reference (`Ada,RENT`). */
  payments?: readonly string[];
  /** The access token of the customer's login has ended. */
  tokenHasEnded?: true;
  /** Commands, one after the other. The first that prints a flow names `FLOW`, and the first that prints a batch `BATCH`. */
  steps: readonly Step[];
  /** How often the bank's ledger has the amount in the end. */
  paid: number;
  /** It waits for longer than a few seconds of the real time, or for a certain day, so that only the runner with a clock of its own plays it. */
  waits?: true;
}

/** The calls of both interfaces, by what they do. */
const CALLS = {
  verify: /^POST .*\/verify$/,
  verify2: /^PUT .*\/verify2$/,
  approach: /^GET .*\/approach$/,
  execute: /^PUT .*\/execute$/,
  settlement: /^GET .*\/execution\/status$/,
  request: /^POST .*\/(?:consent\/request|consents(?:\/confirmation-of-funds)?)$/,
  confirm: /^PUT .*\/confirm$/,
  authorize: /^GET .*\/authorize$/,
  token: /^POST .*\/token$/,
  revoke: /^POST .*\/revoke$/,
  customer: /^GET .*\/customerid-info$/,
  accounts: /^GET .*\/v1\/accounts$/,
  transactions: /^GET .*\/transactions\/retrieve$/,
  rows: /^GET .*\/v1\/accounts\/[^/]+\/transactions$/,
  initiate: /^POST .*\/v1\/(?:[a-z]+-)?payments\/[^/]+$/,
  payment: /^GET .*\/v1\/(?:[a-z]+-)?payments\/[^/]+\/[^/]+$/,
  basket: /^POST .*\/v1\/signing-baskets$/,
  sca: /^POST .*authorisations$/,
  update: /^PUT .*authorisations\/[^/]+$/,
  authorisations: /^GET .*\/authorisations$/,
  'sca-status': /^GET .*authorisations\/[^/]+$/,
  consent: /^GET .*\/(?:v1\/consents|confirmation-of-funds)\/[^/]+$/,
  status: /^GET .*\/status$/,
  cancel: /^DELETE /,
} as const;
export type CallName = keyof typeof CALLS;

/** The name of a call; the request line if it has none. */
export function nameOf({ method, path }: Pick<Call, 'method' | 'path'>): string {
  const line = `${method} ${path}`;
  return Object.entries(CALLS).find(([, pattern]) => pattern.test(line))?.[0] ?? line;
}

/** The bank does not see the call, and this is the answer. */
export const gets =
  (status: number, body: object | string = '', headers: Readonly<Record<string, string>> = {}): Treatment =>
  async () =>
    answerOf(status, body, headers);

/** The bank does what is asked, and this answer comes instead of its own. */
export const doneBut =
  (instead: Treatment): Treatment =>
  async (call, toBank) => {
    await toBank();
    return instead(call, toBank);
  };

/** The connection ends before an answer. */
export const cut: Treatment = async () => undefined;
/** The bank does what is asked, and the answer is lost. */
export const lost = doneBut(cut);
/** No answer comes before the call's time is over. */
export const silence: Treatment = () => new Promise(() => {});
/** The bank's own answer. */
export const asTheBankSays: Treatment = async (_, toBank) => toBank();
/** A fault of the sandbox, for this call alone. */
export const fault =
  (name: string): Treatment =>
  async (_, toBank) =>
    toBank({ 'x-sandbox-fault': name });

/** The bank's own answer with a changed body. */
export const changed =
  (change: (body: Envelope) => object): Treatment =>
  async (_, toBank) => {
    const own = await toBank();
    return answerOf(own.status, change(JSON.parse(own.body.toString('utf8'))), requestIdIn(own));
  };

function requestIdIn({ headers }: Answer): Record<string, string> {
  const at = headers.findIndex((name) => name.toLowerCase() === 'x-request-id');
  return at === -1 ? {} : { 'x-request-id': headers[at + 1] ?? '' };
}

interface Envelope {
  data?: object;
  resources?: { resourceId?: string };
}

/** The bank's own answer with changes to the data in its envelope, or to the body of a bank without one. */
export const saying = (data: object): Treatment =>
  changed((body) => (body.data ? { ...body, data: { ...body.data, ...data } } : { ...body, ...data }));

/** The bank's own report in XML, with changes. */
export const reporting =
  (change: (text: string) => string): Treatment =>
  async (_, toBank) => {
    const own = await toBank();
    const headers = { ...requestIdIn(own), 'content-type': 'application/xml' };
    return answerOf(own.status, change(own.body.toString('utf8')), headers);
  };

/** The bank's own answer, which names another resource. */
export const naming = (nameOfResource: (own: string) => string): Treatment =>
  changed((body) => ({
    ...body,
    resources: { resourceId: nameOfResource(body.resources?.resourceId ?? '') },
  }));

/** A success in the envelope of today's bank. The bank does not see the call. */
export const succeeded = (data: object, more: object = {}) =>
  gets(200, { result: { outcome: 'SUCCESS', requestId: '1', messages: [] }, data, ...more });

/** A refusal in the envelope of today's bank. The bank does not see the call. */
export const refused = (status: number, code = 'PSD2_TEST', message = 'The test says no') =>
  gets(status, {
    result: {
      ...{ outcome: 'ERROR', requestId: '1', flushMessages: true },
      messages: [{ code, message, type: 'ERROR', detail: '' }],
    },
  });

/** A refusal of a NextGenPSD2 bank. The bank does not see the call. */
export const rejected = (status: number, code: string, text = 'no') =>
  gets(status, { tppMessages: [{ category: 'ERROR', code, text }] });

function answerOf(
  status: number,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  const all = { 'content-type': type, 'content-length': String(bytes.length), ...headers };
  return { status, headers: Object.entries(all).flat(), body: bytes };
}

/** A step of a row: a command, how it must end, and what else must be so. */
export const step = (
  words: Step['words'],
  ends: Step['ends'],
  more: Omit<Step, 'words' | 'ends'> = {},
): Step => ({ words, ends, ...more });

/** A row at today's bank. */
export const atCb = (name: string, paid: Row['paid'], steps: Step[], more: Partial<Row> = {}): Row => ({
  ...{ name, bank: 'cb', steps, paid, ...more },
});

/** An order of today's bank that is not instant, and the same for an instant one. */
export const ORDER = [
  ...['transfer', 'create', '--yes', '--json', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', 'AMOUNT', '--reference', 'REFERENCE'],
];
export const INSTANT = [...ORDER, '--instant', '--payee-verified'];
/** The order with another payee: those in capitals choose an outcome (docs/sandbox.md, "Magic values"). */
export const orderTo = (name: string, ...more: string[]) => [
  ...ORDER.map((word) => (word === 'Ada Lovelace' ? name : word)),
  ...more,
];
export const RESUME = ['transfer', 'resume', 'FLOW', '--yes', '--json'];
