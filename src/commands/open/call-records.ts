import type { BankCall, Caller, Said } from '../../bank/call/call.ts';
import type { Observation, TokenSource } from '../../bank/ports/call.ts';
import { bankDay } from '../../domain/calendar.ts';
import { minuteOfDay, readsBy } from '../../domain/read-turns.ts';
import { type ErrorCode, Psd2Error } from '../../errors.ts';
import { CallLog, type LoggedCall, wordsOf } from '../../store/machine/call-log.ts';
import { baseUrlOf, dailyLimitOf } from '../../store/machine/settings.ts';
import type { AccessNotes, AccountRead, ReadLimit, Turns } from '../../store/ports/access.ts';
import type { GrantType, StoredLogin, TokenSlot } from '../../store/ports/tokens.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { AccountReads, Allowance, ProfileContext } from '../context.ts';

/** Records calls, and answers that psd2 could not use. */
export interface CallRecorder {
  call(call: Observation): Promise<void>;
  /** @param call which was recorded before its answer was read */
  unusable(call: Observation): void;
}

/**
 * Records the calls of an application: in the log, in the count of calls with client credentials, and with `--verbose` on
 * stderr. If it cannot record a call, it warns once, and the command continues.
 */
export async function callRecorder(
  context: ProfileContext,
  grant: GrantType,
  host: string,
): Promise<CallRecorder> {
  const { globals, terminal } = context;
  const log = callLogger(context, host);
  const count = grant === 'client_credentials' ? await callCounter(context) : async () => {};
  const record: CallRecorder['call'] = async (call) => {
    await log.call(call);
    context.calls?.heard?.(call);
    if (call.isPrivate) await count();
    if (!globals.verbose) return;
    const ids = `request ${call.tppRequestId} transaction ${call.transactionId}${call.apiTrackId ? ` track ${call.apiTrackId}` : ''}`;
    const { method, path, outcome, milliseconds, tppRequestId, transactionId, requestId } = call;
    const { apiTrackId = null } = call;
    terminal.tell(
      {
        event: 'call',
        method,
        path,
        outcome,
        milliseconds,
        tppRequestId,
        transactionId,
        requestId,
        apiTrackId,
      },
      cleanText(`${call.method} ${call.path} → ${call.outcome} in ${call.milliseconds} ms (${ids})`),
    );
  };
  return { call: record, unusable: log.unusable };
}

/** Writes to the log of calls. If it cannot, it warns once. */
function callLogger(context: ProfileContext, host: string): CallRecorder {
  const { folder, terminal } = context;
  const lineOf = liner(context, host);
  const log = openLog(context);
  let warned = false;
  const unlessItFails = (write: () => void) => {
    try {
      write();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!warned) terminal.warn(`The log of calls in ${folder.log} cannot be written (${reason}).`);
      warned = true;
    }
  };
  return {
    call: async (call) => unlessItFails(() => log.append(lineOf(call))),
    unusable: (call) => unlessItFails(() => log.appendUnusable(lineOf(call))),
  };
}

function openLog(context: ProfileContext): CallLog {
  const { folder, terminal } = context;
  const { name: profile } = context.profile();
  let counted = Promise.resolve();
  const rollUp = () => {
    counted = counted
      .then(() => import('../../store/machine/call-stats.ts'))
      .then(({ rollUpCalls }) => rollUpCalls(folder, context.world.now()))
      .catch((error: unknown) => terminal.warn(`Old calls could not be counted: ${String(error)}`));
  };
  const log = new CallLog(folder.log, rollUp, (call) => folder.forgotten.has(profile, () => wordsOf(call)));
  context.onEnd(async () => {
    log.close();
    await counted;
  });
  return log;
}

/** @returns a function that makes the line of a call */
function liner(context: ProfileContext, host: string): (call: Observation) => LoggedCall {
  const { openFlows } = context;
  const { name: profile } = context.profile();
  const run = context.calls?.run ?? runIn(context.env);
  return ({ outcome, ...call }) => ({
    at: call.at.toISOString(),
    profile,
    host,
    method: call.method,
    path: call.path,
    status: typeof outcome === 'number' ? outcome : null,
    failure: typeof outcome === 'number' ? null : outcome,
    milliseconds: call.milliseconds,
    tppRequestId: call.tppRequestId,
    transactionId: call.transactionId,
    requestId: call.requestId,
    apiTrackId: call.apiTrackId ?? null,
    flow: openFlows.get(call.transactionId) ?? null,
    ...(!call.mayHaveLeft && { neverLeft: true }),
    ...(call.irrevocable && { irrevocable: true }),
    ...(call.gives && { gives: call.gives }),
    ...(call.begun !== undefined && { begun: call.begun }),
    ...(call.verdict !== undefined && { verdict: call.verdict }),
    ...(call.customer !== undefined && { customer: call.customer }),
    ...(call.failureKind && { failureKind: call.failureKind }),
    ...(call.connectMs !== undefined && { connectMs: call.connectMs }),
    ...(call.firstByteMs !== undefined && { firstByteMs: call.firstByteMs }),
    route: call.route.path,
    kind: call.route.kind,
    ...(run !== undefined && { run }),
  });
}

/** The run that the operator's script gives to each of its commands. @throws Psd2Error `usage` */
function runIn({ PSD2_RUN: run }: ProfileContext['env']): string | undefined {
  if (!run) return undefined;
  if (/^[A-Za-z0-9._-]{1,64}$/.test(run)) return run;
  throw new Psd2Error('usage', `PSD2_RUN ${JSON.stringify(run)} is not the id of a run`, {
    hint: 'Choose 1 to 64 letters, digits, ".", "_" and "-".',
  });
}

/** Counts calls with client credentials. Warns before the bank's daily limit is reached, if the operator has set it. */
async function callCounter(context: ProfileContext): Promise<() => Promise<void>> {
  const { terminal, world } = context;
  const profile = context.profile();
  const { calls: counted } = (await context.wholeStore()).open(profile.name, baseUrlOf(profile));
  const limit = dailyLimitOf(profile);
  const calls = await counted.on(bankDay(world.now()));
  if (limit !== null && calls >= limit * 0.8)
    terminal.warn(`psd2 has made ${calls} of the ${limit} calls a day with client credentials.`);
  let failed = false;
  return async () => {
    try {
      await counted.count(bankDay(world.now()));
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      if (!failed) terminal.warn(error.message);
      failed = true;
    }
  };
}

/** Counts what the calls of an application do. Threads share the counters. */
export class CallTally {
  /** The counters, for other threads. */
  readonly state: SharedArrayBuffer;
  readonly #counts: BigInt64Array<SharedArrayBuffer>;

  constructor(state = new SharedArrayBuffer((2 + RESULTS.length) * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.state = state;
    this.#counts = new BigInt64Array(state);
  }

  /** How often tokens were renewed. */
  get renewals(): number {
    return Number(Atomics.load(this.#counts, RENEWALS));
  }

  /** The total time that calls have waited for their turn, in seconds. */
  get secondsWaited(): number {
    return Number(Atomics.load(this.#counts, WAITED)) / 1e6;
  }

  get byResult(): ReadonlyMap<string, number> {
    return new Map(RESULTS.map((name, index) => [name, Number(Atomics.load(this.#counts, 2 + index))]));
  }

  count(outcome: number | string): void {
    const index = typeof outcome === 'number' ? RESULTS.indexOf(`${Math.floor(outcome / 100)}xx`) : -1;
    Atomics.add(this.#counts, 2 + (index === -1 ? RESULTS.indexOf('none') : index), 1n);
  }

  /** Wraps a slot: counts the renewed tokens that it stores. */
  countingRenewals(slot: TokenSlot): TokenSlot {
    return {
      takenOverFrom: slot.takenOverFrom,
      read: () => slot.read(),
      isOurs: (read) => slot.isOurs(read),
      write: (tokens) => slot.write(tokens),
      replace: async (spent, tokens) => {
        const stored = await slot.replace(spent, tokens);
        Atomics.add(this.#counts, RENEWALS, 1n);
        return stored;
      },
      refuse: (tokens) => slot.refuse(tokens),
      prove: (tokens, isOwn) => slot.prove(tokens, isOwn),
    };
  }

  /** Wraps turns: counts the time that calls wait for them. */
  timing(turns: Turns): Turns {
    return {
      turn: async () => {
        // Loading `performance` would take as long as this call's signature.
        const begun = process.hrtime.bigint();
        try {
          await turns.turn();
        } finally {
          Atomics.add(this.#counts, WAITED, (process.hrtime.bigint() - begun) / 1000n);
        }
      },
      slowDown: (milliseconds) => turns.slowDown(milliseconds),
      goOn: () => turns.goOn(),
    };
  }
}

/** The results of calls. Their counters come after the others. */
const RESULTS: readonly string[] = ['2xx', '3xx', '4xx', '5xx', 'none'];
/** The indexes of the counters. `WAITED` is in microseconds. */
const [RENEWALS, WAITED] = [0, 1];

/** A read that this run has taken, and that has brought no data yet. */
interface OwnRead {
  read: AccountRead;
  /** Its calls that have not ended. */
  calls: number;
}

/** The failures after which psd2 pauses. After 420 all calls wait already. */
const PAUSED_AFTER: readonly ErrorCode[] = [
  'not_logged_in',
  'forbidden',
  'sca_required',
  'bank_refused',
  'bank_answer',
  'list_changed',
  'bank_unreachable',
  'bank_failing',
];

/** Whether it was useless to ask the bank, and would be again. Without a login, psd2 asks it only for a new token. */
function pausesAfter(error: unknown): boolean {
  if (!(error instanceof Psd2Error)) return false;
  if (error.lasts) return true;
  if (!PAUSED_AFTER.includes(error.code)) return false;
  return error.code !== 'not_logged_in' || error.httpStatus !== undefined;
}

/**
 * With `--psu-ip` the customer is present, so psd2 counts nothing. If it cannot count, it warns once and reads anyway.
 */
export async function openAccountReads(context: ProfileContext): Promise<AccountReads> {
  const { globals, terminal, world } = context;
  const { reads } = (await context.wholeStore()).open(context.profile().name);
  const takenReads = new Map<string, OwnRead>();
  const unlessItFails = warningOnce(terminal);
  const free = (name: string, own: OwnRead, error?: unknown) => {
    const { read } = own;
    if (takenReads.get(name) === own) takenReads.delete(name);
    const failedAt = pausesAfter(error) ? minuteOfDay(world.now()) : undefined;
    return unlessItFails(() => reads.giveBack(read, failedAt));
  };
  const take: AccountReads['take'] = async (customerId, productId, allowance) => {
    if (globals.psuIpAddress !== undefined) return 'taken';
    const now = world.now();
    const read = { day: bankDay(now), customerId, productId };
    const outcome = await unlessItFails(() => reads.take(read, allowance && limitAt(now, allowance)));
    const name = readName(customerId, productId);
    if (outcome === 'taken' && takenReads.get(name)?.read.day !== read.day)
      takenReads.set(name, { read, calls: 0 });
    return outcome ?? 'taken';
  };
  return {
    take,
    begin() {
      reads.begin();
      takenReads.clear();
    },
    async during({ customerId, productId, call, hasData }) {
      const name = readName(customerId, productId);
      await take(customerId, productId);
      const own = takenReads.get(name);
      if (!own) return call();
      own.calls += 1;
      const end = async (brought: boolean, error?: unknown) => {
        own.calls -= 1;
        if (brought) {
          takenReads.delete(name);
          await unlessItFails(() => reads.succeeded(own.read));
        } else if (own.calls === 0) await free(name, own, error);
      };
      let answer: Awaited<ReturnType<typeof call>>;
      try {
        answer = await call();
      } catch (error) {
        await end(false, error);
        throw error;
      }
      await end(hasData(answer));
      return answer;
    },
    async giveBack(customerId) {
      for (const [name, own] of takenReads)
        if (own.read.customerId === customerId && own.calls === 0) await free(name, own);
    },
  };
}

/** @returns a function that warns of the first failure to count, and returns undefined then */
function warningOnce({ warn }: ProfileContext['terminal']) {
  let hasFailed = false;
  return async <T>(count: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await count();
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      if (!hasFailed) warn(error.message);
      hasFailed = true;
      return undefined;
    }
  };
}

function limitAt(now: Date, { budget, isSpread }: Allowance): ReadLimit {
  return isSpread ? { budget: readsBy(now, budget), minute: minuteOfDay(now) } : { budget };
}

function readName(customerId: string, productId: string | null): string {
  return `${customerId} ${productId ?? '*'}`;
}

/** Counts the calls that read an account. */
export function countingReads<What extends Said>(
  bank: Caller<What>,
  reads: AccountReads,
  customerId: string,
): Caller<What> {
  const counted = <T>({ facts }: BankCall, call: () => Promise<T>, hasData: (answer: T) => boolean) => {
    if (facts.reads === null) return call();
    const productId = facts.reads === 'list' ? null : facts.reads.account;
    return reads.during({ customerId, productId, call, hasData });
  };
  return {
    // If the answer has no data, the call throws.
    ask: (call, read) =>
      counted(
        call,
        () => bank.ask(call, read),
        () => true,
      ),
    send: (call) =>
      counted(
        call,
        () => bank.send(call),
        ({ status }) => status >= 200 && status < 300 && status !== 204,
      ),
  };
}

/** Notes of what the bank refused to the profile's logins. */
export async function openAccessNotes({ wholeStore, profile }: ProfileContext): Promise<AccessNotes> {
  return (await wholeStore()).open(profile().name).notes;
}

/** Forgets the call that the bank did not allow: the customer has granted a consent since. The next refusal is noted again. */
export async function forgetRefusedCall(context: ProfileContext, holder: string): Promise<void> {
  await unlessItFails(async () => {
    const notes = await openAccessNotes(context);
    if (await notes.hasRefusedCall(holder)) await notes.callRefused(holder, undefined);
  });
}

/** Writes a note. A failure to write must not hide the error that is being reported. */
async function unlessItFails(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
  }
}

/** Notes when the bank refuses to renew these tokens. */
export function notingRefreshes(
  tokens: TokenSource,
  context: ProfileContext,
  holder: string | null,
  loginNow: () => Promise<StoredLogin | undefined>,
): TokenSource {
  const noting = async (get: () => Promise<string>) => {
    try {
      return await get();
    } catch (error) {
      const login = await loginNow();
      // Without a status, psd2 has not asked the bank.
      if (error instanceof Psd2Error && error.code === 'not_logged_in' && error.httpStatus && login) {
        const refused = { at: context.world.now().toISOString(), message: error.message };
        await unlessItFails(async () =>
          (await openAccessNotes(context)).refreshRefused(holder, login, refused),
        );
      }
      throw error;
    }
  };
  return {
    current: () => noting(() => tokens.current()),
    renewed: (old) => noting(() => tokens.renewed(old)),
  };
}

/** Notes a call that the bank does not allow (HTTP 403), until it allows one. */
export function notingCalls<What extends Said>(
  bank: Caller<What>,
  context: ProfileContext,
  holder: string | null,
): Caller<What> {
  let isRefused: boolean | undefined;
  const noteCall = async (message: string | undefined) => {
    const isNow = message !== undefined;
    // Nearly every call is allowed after one that was, so nothing is opened for it.
    if (isRefused === isNow) return;
    await unlessItFails(async () => {
      const notes = await openAccessNotes(context);
      const wasRefused = isRefused ?? (await notes.hasRefusedCall(holder));
      isRefused = isNow;
      if (wasRefused === isNow) return;
      await notes.callRefused(holder, isNow ? { at: context.world.now().toISOString(), message } : undefined);
    });
  };
  return {
    send: bank.send,
    async ask(call, read) {
      try {
        const reading = await bank.ask(call, read);
        if (call.facts.needsConsent) await noteCall(undefined);
        return reading;
      } catch (error) {
        if (error instanceof Psd2Error && error.code === 'forbidden') await noteCall(error.message);
        throw error;
      }
    },
  };
}
