import type { Backend, Lodging } from './backends.ts';
import type { Place } from './bank.ts';
import {
  between,
  type CALLS,
  CONSENT_REQUEST,
  INSTANTLY,
  isCall,
  type Means,
  newFlows,
  resumeOf,
  type StatusKind,
  transferOrder,
} from './gateway.ts';
import type { Relay } from './relay.ts';
import { type Flow, type Followers, flowsAt, judgeEnd, newTry, type Tried } from './tried.ts';

/** What the client gets after the second delivery: the bank's own answer, or a refusal with this status in its envelope. */
export interface Second {
  at: string;
  status: number | undefined;
}

const REFUSED = [...Array.from({ length: 30 }, (_, n) => 400 + n), ...[500, 501, 502, 503, 504]];
export const SECONDS: Second[] = [
  { at: 'the bank’s own answer', status: undefined },
  ...REFUSED.map((status) => ({ at: `refused with ${status}`, status })),
];

/** A flow, one call of which is delivered twice. */
export interface Delivery {
  name: string;
  kind: 'transfer' | 'consent';
  call: keyof typeof CALLS;
  /** The state of a flow that succeeded. */
  end: string;
  begin(place: Place): string[];
  /** Options of `resume`. */
  resume?: string[];
}

/** Calls that the bank carries out once for a resource. */
export const DECISIVE: Delivery[] = [
  {
    name: 'execute',
    kind: 'transfer',
    call: 'execute',
    end: 'executed',
    begin: (place) => transferOrder(place),
  },
  {
    ...{
      name: 'execute, instant',
      kind: 'transfer',
      call: 'execute',
      end: 'settled',
      resume: ['--payee-verified'],
    },
    begin: (place) => transferOrder(place, INSTANTLY),
  },
  { name: 'confirm', kind: 'consent', call: 'confirm', end: 'confirmed', begin: () => CONSENT_REQUEST },
];

const FURTHER = ['--verify-data', '{"payeeAccepted":true}'];

/** Calls before them. */
export const EARLIER: Delivery[] = [
  {
    name: 'verify',
    kind: 'transfer',
    call: 'verify',
    end: 'executed',
    begin: (place) => transferOrder(place),
  },
  {
    ...{ name: 'further verify', kind: 'transfer', call: 'further verify', end: 'executed', resume: FURTHER },
    begin: (place) => transferOrder(place, FURTHER, 'VERIFY SECOND STEP'),
  },
  {
    ...{ name: 'consent request', kind: 'consent', call: 'consent request', end: 'confirmed' },
    begin: () => CONSENT_REQUEST,
  },
];

const KIND = 'delivered twice';
const EXIT = { done: 0, usage: 2, notLoggedIn: 4, refused: 7, unknown: 9, tooManyCalls: 10 };
/** Refusals of the content. Without a conclusive status, psd2 believes them. */
const OF_THE_CONTENT = [400, 417, 422];
/** The bank has not read the request, so psd2 sends it again, and the bank refuses that one as one too many (400). */
const UNREAD = [401, 420, 429];

/** Delivers the first such call of a place twice. @returns the variables for psd2, and whether it was delivered */
function deliver(
  relay: Relay,
  place: Place,
  statusKind: StatusKind,
  call: Delivery['call'],
  { status }: Second,
): { env: Record<string, string>; deliver(): void; delivered(): boolean } {
  let state: 'before' | 'now' | 'delivered' = 'before';
  const fault = status === undefined ? 'delivered-twice' : `delivered-twice-status=${status}`;
  const env = between(relay, place, statusKind, (asked, toBank) => {
    if (state !== 'now' || !isCall(call, asked)) return toBank();
    state = 'delivered';
    return toBank({ 'x-sandbox-fault': fault });
  });
  return {
    env,
    deliver: () => {
      state = 'now';
    },
    delivered: () => state === 'delivered',
  };
}

/** Delivers a call of a payment or of a consent twice. It must be done once, and psd2 must not call it failed. */
export async function tryDelivery(
  { relay, followers }: Means,
  { place, env: ofHome }: Lodging,
  { name, kind, call, end, begin, resume }: Delivery,
  { statusKind, backend }: { statusKind: StatusKind; backend: Backend },
  second: Second,
): Promise<Tried> {
  const how = `${statusKind}, ${backend}`;
  const tried = newTry(KIND, name, how, second.at, kind === 'transfer' ? place.amount : '');
  const gateway = deliver(relay, place, statusKind, call, second);
  const env = { ...gateway.env, ...ofHome };
  const before = await flowsAt(followers, place, kind, env);
  const flows = () => newFlows(followers, place, kind, env, before);
  const isDecisive = call === 'execute' || call === 'confirm';
  // After a 401 psd2 renews the login, which the places in files share at first.
  if (second.status === 401) await logIn(followers, place, env, tried);

  gateway.deliver();
  const first = await followers.psd2(place, begin(place), env);
  tried.reached = gateway.delivered();
  judgeEnd('it', first, tried.problems);
  const expected = { statusKind, end, second };
  if (isDecisive) judgeReported('it', first, await flows(), expected, tried);
  for (const { flow } of isDecisive ? await flows() : []) {
    judgeEnd('cancel', await followers.psd2(place, [kind, 'cancel', flow, '--json'], env), tried.problems);
    const states = (await flows()).map(({ state }) => state);
    if (states.includes('cancelled'))
      tried.problems.push('reported failed though done: it could be cancelled');
  }
  if (kind === 'transfer') {
    const again = await followers.psd2(place, begin(place), env);
    judgeEnd('the same again', again, tried.problems);
    if (isDecisive && again.code !== EXIT.usage)
      tried.problems.push(`its reference was free: the same again ended with ${again.code}: ${again.stderr}`);
  }
  for (const flow of await flows()) {
    const resumed = await followers.psd2(place, resumeOf(kind, flow, resume), env);
    judgeEnd('resume', resumed, tried.problems);
    if (isDecisive) judgeReported('resume', resumed, await flows(), expected, tried);
  }
  const ended = await flows();
  tried.ends = ended.map(({ state }) => state);
  if (!isDecisive && ended.filter(({ state }) => state === end).length !== 1) {
    // A consent whose request was refused is requested again. A transfer was already ordered again.
    const last = kind === 'consent' ? await followers.psd2(place, begin(place), env) : undefined;
    if (last?.code !== EXIT.done) tried.problems.push(`it is not done: ${tried.ends.join(', ')}`);
  }
  return tried;
}

/** The bank has done it. psd2 must show so if the bank's status does, and otherwise may not know. */
function judgeReported(
  who: string,
  { code, stderr }: { code: number; stderr: string },
  flows: Flow[],
  { statusKind, end, second }: { statusKind: StatusKind; end: string; second: Second },
  { problems }: Tried,
): void {
  const mayFail =
    statusKind === 'status is inconclusive' &&
    (second.status === undefined || [...OF_THE_CONTENT, ...UNREAD].includes(second.status));
  const allowed: [string, number][] = [
    ...(statusKind === 'status is conclusive' ? ([[end, EXIT.done]] satisfies [string, number][]) : []),
    ...(statusKind === 'status is inconclusive'
      ? ([['unknown', EXIT.unknown]] satisfies [string, number][])
      : []),
    ...(mayFail ? ([['failed', EXIT.refused]] satisfies [string, number][]) : []),
    // The bank says that it has not read it. psd2 believes that only as far as it may ask and send again.
    ...(mayFail && [420, 429].includes(second.status ?? 0)
      ? ([
          ['authorized', EXIT.tooManyCalls],
          ['authorizing', EXIT.tooManyCalls],
        ] satisfies [string, number][])
      : []),
  ];
  const state = flows.map((flow) => flow.state).join(', ');
  if (allowed.some(([right, exit]) => state === right && code === exit)) return;
  const what =
    /failed|rejected|cancelled/.test(state) || [5, 7].includes(code)
      ? 'reported failed though done'
      : 'reported wrongly';
  problems.push(`${what}: ${who} ended with ${code}, psd2 shows ${state}: ${stderr}`);
}

/** The token calls, each of which is delivered twice. */
export const TOKEN_CALLS = {
  'token (refresh)': { call: 'token', args: ['auth', 'refresh', '--json'] },
  'token (code)': { call: 'token', args: ['auth', 'login', '--json'] },
  revoke: { call: 'revoke', args: ['auth', 'logout', '--revoke', '--json'] },
} as const;
export type TokenCall = keyof typeof TOKEN_CALLS;

/** Delivers a token call twice. A login that the bank has not ended must work, and a new one must be possible. */
export async function tryTokenCall(
  { relay, followers }: Means,
  { place, env: ofHome }: Lodging,
  name: TokenCall,
  backend: Backend,
  second: Second,
): Promise<Tried> {
  const tried = newTry(KIND, name, backend, second.at, '');
  const { call, args } = TOKEN_CALLS[name];
  const gateway = deliver(relay, place, 'status is conclusive', call, second);
  const env = { ...gateway.env, ...ofHome };
  // A login of its own: the other tries go on with theirs.
  await logIn(followers, place, env, tried);
  gateway.deliver();
  judgeEnd('it', await followers.psd2(place, [...args], env), tried.problems);
  tried.reached = gateway.delivered();
  if (name === 'token (code)') {
    // The earlier login has nothing to do with the code.
    const { code, stderr } = await followers.psd2(place, ['customer', 'id', '--json'], env);
    tried.lost = code !== EXIT.done;
    if (tried.lost) tried.problems.push(`the earlier login is lost: ${code}: ${stderr}`);
  }
  await logIn(followers, place, env, tried);
  return tried;
}

async function logIn(
  followers: Followers,
  place: Place,
  env: Record<string, string>,
  { problems }: Tried,
): Promise<void> {
  for (const args of [
    ['auth', 'login', '--json'],
    ['customer', 'id', '--json'],
  ]) {
    const { code, stderr } = await followers.psd2(place, args, env);
    if (code !== EXIT.done) problems.push(`psd2 ${args.join(' ')} ended with ${code}: ${stderr}`);
  }
}
