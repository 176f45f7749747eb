// Figures of the calls to a bank, in the terms of RTS (EU) 2018/389, article 32, and EBA/GL/2018/07.

/** A call as the log has it, as far as figures need it. */
export interface CountedCall {
  /** ISO 8601, UTC. */
  at: string;
  host: string;
  method: string;
  /** Without ids. */
  route: string;
  kind: StatKind;
  /** Null: no usable answer. */
  status: number | null;
  /** Why there is none: this machine's own fault, an answer that psd2 could not use, or no reply. */
  failure: 'own' | 'unusable' | 'no reply' | null;
  milliseconds: number;
  isSmoke: boolean;
  /** It is no call, but what psd2 found out of one that counts already: it could not use the answer. */
  isFinding?: true;
}

export const STAT_KINDS = ['ais', 'pis', 'piis', 'consent', 'auth', 'other'] as const;
export type StatKind = (typeof STAT_KINDS)[number];

/** The kinds whose requests the law counts for downtime. */
const LAWFUL: readonly StatKind[] = ['ais', 'pis', 'piis'];
/** "within a total timeframe of 30 seconds" (GL 2.4). */
export const REPLY_MS = 30_000;
/** "five consecutive requests" (RTS, article 33 (1)). */
const CONSECUTIVE = 5;
const DAY_MS = 86_400_000;
/** Each class of times ends a third later than the one before: 40 of them reach 90 seconds. The last one has no end. */
const BUCKETS = 40;
const GROWTH = Math.log(90_000) / (BUCKETS - 1);

/** What was counted of a day, a kind of calls and a route. */
export interface Counts {
  calls: number;
  /** No reply although bytes may have left, or the bank refused the connection. */
  noReply: number;
  serverErrors: number;
  /** Answers that psd2 could not use. */
  unusable: number;
  clientErrors: number;
  /** 420 and 429. */
  limited: number;
  /** Calls that never left for reasons of our own. They count for nothing else. */
  own: number;
  /** Answered calls, and the sum and the largest of their times. */
  answered: number;
  sum: number;
  max: number;
  /** Answered calls by time. */
  times: number[];
}

export function noCounts(): Counts {
  return {
    calls: 0,
    noReply: 0,
    serverErrors: 0,
    unusable: 0,
    clientErrors: 0,
    limited: 0,
    own: 0,
    answered: 0,
    sum: 0,
    max: 0,
    times: Array<number>(BUCKETS).fill(0),
  };
}

/** What became of a call. */
export type Outcome = 'ok' | 'no reply' | 'server error' | 'unusable' | 'client error' | 'limited' | 'own';

export function outcomeOf({ status, failure }: Pick<CountedCall, 'status' | 'failure'>): Outcome {
  if (status === null) return failure ?? 'no reply';
  if (status >= 500) return 'server error';
  if (status === 420 || status === 429) return 'limited';
  return status >= 400 ? 'client error' : 'ok';
}

export function addCall(counts: Counts, call: CountedCall): void {
  if (call.isFinding) {
    counts.unusable += 1;
    return;
  }
  const outcome = outcomeOf(call);
  if (outcome === 'own') {
    counts.own += 1;
    return;
  }
  counts.calls += 1;
  if (outcome === 'no reply') counts.noReply += 1;
  if (outcome === 'server error') counts.serverErrors += 1;
  if (outcome === 'unusable') counts.unusable += 1;
  if (outcome === 'client error') counts.clientErrors += 1;
  if (outcome === 'limited') counts.limited += 1;
  if (outcome === 'no reply') return;
  counts.answered += 1;
  counts.sum += call.milliseconds;
  counts.max = Math.max(counts.max, call.milliseconds);
  const bucket = bucketOf(call.milliseconds);
  counts.times[bucket] = (counts.times[bucket] ?? 0) + 1;
}

export function addCounts(total: Counts, more: Counts): void {
  for (const key of NUMBERS) total[key] += more[key];
  total.max = Math.max(total.max, more.max);
  more.times.forEach((count, index) => {
    total.times[index] = (total.times[index] ?? 0) + count;
  });
}

const NUMBERS = [
  'calls',
  'noReply',
  'serverErrors',
  'unusable',
  'clientErrors',
  'limited',
  'own',
  'answered',
  'sum',
] as const;

function bucketOf(milliseconds: number): number {
  return Math.min(BUCKETS - 1, Math.max(0, Math.ceil(Math.log(Math.max(1, milliseconds)) / GROWTH)));
}

/** The upper end of the class of times in which a share of the answers is. Null without answers. */
export function percentile({ times, answered, max }: Counts, share: number): number | null {
  if (answered === 0) return null;
  let left = Math.ceil(answered * share);
  for (const [index, count] of times.entries()) {
    left -= count;
    if (left <= 0) return index === BUCKETS - 1 ? max : Math.min(max, Math.round(Math.exp(GROWTH * index)));
  }
  return max;
}

/** Calls that the bank answered with an error, or not at all, in percent. Null without calls. */
export function errorRate({ calls, noReply, serverErrors, unusable }: Counts): number | null {
  return calls === 0 ? null : ((noReply + serverErrors + unusable) / calls) * 100;
}

export function errorsOf({ noReply, serverErrors, unusable }: Counts): number {
  return noReply + serverErrors + unusable;
}

/** A time during which the bank was down, in milliseconds since 1970. */
export interface Down {
  from: number;
  to: number;
}

/**
 * Finds downtime: at least five consecutive requests of the law's kinds without a reply within 30 seconds, from the sending of the
 * first to the sending of the first that was answered. Requests in parallel are consecutive, too. They may come in any order.
 */
export class Downtime {
  /** The longest time between two calls, in milliseconds. */
  longestGap = 0;
  readonly #serverErrorsAreDown: boolean;
  /** The times of sending, each twice, and one more if there was no reply: a million of them are small. */
  readonly #calls: number[] = [];

  /** @param serverErrorsAreDown counts HTTP 5xx as no reply. The law does not (GL 2.4) */
  constructor(serverErrorsAreDown = false) {
    this.#serverErrorsAreDown = serverErrorsAreDown;
  }

  add(call: CountedCall): void {
    if (!LAWFUL.includes(call.kind) || call.isFinding) return;
    const outcome = outcomeOf(call);
    if (outcome === 'own') return;
    const isServerError = this.#serverErrorsAreDown && outcome === 'server error';
    const isReply = outcome !== 'no reply' && !isServerError && call.milliseconds <= REPLY_MS;
    this.#calls.push(Date.parse(call.at) * 2 + (isReply ? 0 : 1));
  }

  /** What is still down ends with the last call, because nothing is known after it. */
  find(): Down[] {
    const downs: Down[] = [];
    let first: number | undefined;
    let count = 0;
    let last: number | undefined;
    const end = (to: number) => {
      if (first !== undefined && count >= CONSECUTIVE) downs.push({ from: first, to });
      first = undefined;
      count = 0;
    };
    for (const call of Float64Array.from(this.#calls).sort()) {
      const at = Math.floor(call / 2);
      if (last !== undefined) this.longestGap = Math.max(this.longestGap, at - last);
      last = at;
      if (call % 2 === 0) end(at);
      else {
        first ??= at;
        count += 1;
      }
    }
    end(last ?? 0);
    return downs;
  }
}

/**
 * The seconds of a day during which the bank was down. The same time does not count twice.
 *
 * @param begin of the day, and its end, in milliseconds since 1970
 */
export function secondsDown(downs: readonly Down[], begin: number, end: number): number {
  let [milliseconds, until] = [0, begin];
  for (const { from, to } of downs.toSorted((one, other) => one.from - other.from)) {
    const last = Math.min(to, end);
    milliseconds += Math.max(0, last - Math.max(from, until));
    until = Math.max(until, last);
  }
  return Math.round(milliseconds / 1000);
}

/** 100 % minus the share of the day that the bank was down (GL 2.4). */
export function uptime(seconds: number, days = 1): number {
  return 100 - (seconds * 1000 * 100) / (DAY_MS * days);
}
