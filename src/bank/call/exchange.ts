import { Psd2Error } from '../../errors.ts';
import {
  type BankConnection,
  CallFailed,
  pathOf,
  type WireAnswer,
  type WireRequest,
} from '../transport/connection.ts';
import { envelopeOf, jsonOf } from './answer-json.ts';
import { type ComposeSettings, composeRequest } from './compose.ts';

/** A call of the bank's interface, before headers and signature. */
export interface BankCall {
  method: WireRequest['method'];
  /** Relative to the base URL, with its query, percent-encoded: it is signed exactly as given. */
  path: string;
  /** Sent as JSON; a text is sent as it is. */
  body?: object | string;
  /** `TPP-Transaction-ID`: the same in all calls of one flow. */
  transactionId: string;
  /** Access token, without `Bearer`. */
  bearer?: string;
  /** `TPP-Redirect-URI` */
  redirectUri?: string;
  /** Further headers, names in lower case; they take the place of those that are always sent. */
  headers?: Record<string, string>;
  /** May be sent again after the bank answered with a 5xx (a token call), although it is no GET. */
  repeatable?: boolean;
  /** Not sent again, whatever happens: who looks for a fault wants to see the first one. */
  once?: boolean;
  /** Called before every attempt leaves. */
  beforeSend?: BeforeSend;
  /**
   * What the operator's Ctrl-C does to it. By default it ends the call. `until sent`: once its first byte has left, its
   * answer is waited for (`--timeout`), since what the bank gives for it, it gives once. `never`: it is made even after
   * Ctrl-C.
   */
  interruptible?: 'until sent' | 'never';
}

/** Is told of an attempt before it leaves, with what identifies it. The attempt waits for it. */
export type BeforeSend = (intent: {
  requestId: string;
  digest: string | null;
}) => Promise<Announced | undefined>;

/** What an attempt that was announced is watched by. */
export interface Announced {
  /**
   * Called when the connection stands, right before the first byte leaves.
   *
   * @throws what keeps the attempt from leaving
   */
  beforeFirstByte?(): Promise<void>;
  /**
   * Called as soon as it is certain that the attempt did nothing at the bank, since not a byte of it left or the bank
   * turned it away unread. Another attempt may follow.
   */
  notBegun?(): Promise<void>;
}

/** The bank's answer together with the ids that its support asks for. */
export interface Answer extends WireAnswer {
  call: BankCall;
  tppRequestId: string;
}

/** What happened on the wire, for `--verbose` and the log. Nothing here is secret. */
export interface Observation {
  method: string;
  path: string;
  /** HTTP status, or why there is none. */
  outcome: number | string;
  /** When it was sent. */
  at: Date;
  milliseconds: number;
  tppRequestId: string;
  transactionId: string;
  /** `result.requestId` of the bank's answer. */
  requestId: string | null;
  apiTrackId: string | undefined;
  /** The call went with an access token. */
  isPrivate: boolean;
}

/** When calls may go to the bank: calls that it counts together share one. */
export interface Turns {
  /** Resolves when the next call may begin. @throws what ends waiting when the operator interrupts */
  turn(): Promise<void>;
  /** The bank has turned a call away. @param asked milliseconds that it wants to be left alone, or null */
  slowDown(asked: number | null): Promise<void>;
  /** The bank has taken a call. */
  goOn(): Promise<void>;
}

/** What an exchange needs of the world. */
export interface ExchangeSettings extends ComposeSettings {
  connection: BankConnection;
  timeoutMs: number;
  /** Checks what the bank signed. @throws Psd2Error `bank_answer` */
  checkAnswer: (answer: WireAnswer, request: WireRequest) => void;
  /** Shared by all calls that the bank counts together. */
  pace: Turns;
  signal: AbortSignal;
  /** From 0 to 1. */
  random: () => number;
  sleep: (milliseconds: number) => Promise<void>;
  /** Is waited for before the answer is given on. */
  observe: (observation: Observation) => Promise<void>;
}

/** Sends a call, signed, and takes the answer, whatever its status. */
export type Exchange = (call: BankCall) => Promise<Answer>;

const MOST_RETRIES = 3;
const FIRST_DELAY = 250;
/** A bank that wants to be left alone for longer is better asked by the operator, later. */
const LONGEST_RETRY_AFTER = 30_000;

/**
 * The way every call takes to the bank: headers, digest, signature, retries
 * (interface specification, "Headers"; command contract, "Retries").
 *
 * @returns a function that throws Psd2Error `bank_unreachable` when no answer came (its cause is a
 *   {@link CallFailed}) and lets every answered status through
 */
export function openExchange(settings: ExchangeSettings): Exchange {
  const { pace, now, random, sleep } = settings;

  return async (call) => {
    for (let retries = 0; ; retries += 1) {
      const backoff = FIRST_DELAY * 2 ** retries * (0.5 + random());
      let answer: Answer;
      try {
        answer = await attempt(call, settings);
      } catch (error) {
        if (retries === MOST_RETRIES || !mayRetryFailure(call, error)) throw error;
        await sleep(backoff);
        continue;
      }
      const asked = retryAfter(answer.headers['retry-after'], now());
      const tooMany = answer.status === 420 || answer.status === 429;
      if (tooMany) await pace.slowDown(asked === null ? null : Math.min(asked, LONGEST_RETRY_AFTER));
      else await pace.goOn();
      if (retries === MOST_RETRIES || !mayRetryAnswer(call, answer)) return answer;
      if (asked !== null && asked > LONGEST_RETRY_AFTER) return answer;
      // Too many calls hold up all of them, this one too.
      if (!tooMany) await sleep(asked ?? backoff);
    }
  };
}

/** Sends a call once, in its turn. What came of it is observed before it is given on. */
async function attempt(call: BankCall, settings: ExchangeSettings): Promise<Answer> {
  const { connection, session, timeoutMs, signal, checkAnswer } = settings;
  await waitForTurn(call, settings);
  const { request, tppRequestId, digest } = await composeRequest(call, settings);
  const announced = await call.beforeSend?.({ requestId: tppRequestId, digest });
  const ending = endingOf(call, signal);
  const report = reporterOf(call, pathOf(request), tppRequestId, settings);
  try {
    const answer = await connection.send(request, timeoutMs, ending.signal, {
      beforeFirstByte: announced?.beforeFirstByte?.bind(announced),
      sent: ending.sent,
    });
    checkAnswer(answer, request);
    session.apiTrackId ??= answer.headers['cb-apitrack-id'];
    if (await isTurnedAway(answer)) await announced?.notBegun?.();
    await report(answer.status, envelopeOf(await jsonOf(answer))?.requestId);
    return { ...answer, call, tppRequestId };
  } catch (error) {
    await report(error instanceof Error ? error.message : 'failed');
    if (!(error instanceof CallFailed)) throw error;
    if (error.neverSent) await announced?.notBegun?.();
    signal.throwIfAborted();
    throw new Psd2Error('bank_unreachable', `The bank could not be reached: ${error.message}`, {
      hint: error.passing
        ? 'Try again in a while; check the base URL and the network.'
        : 'Check the base URL and the certificates of the profile.',
      tppRequestId,
      transactionId: call.transactionId,
      cause: error,
    });
  } finally {
    ending.forget();
  }
}

async function waitForTurn({ interruptible }: BankCall, { pace, signal }: ExchangeSettings): Promise<void> {
  const isNeverEnded = interruptible === 'never';
  await pace.turn().catch((error) => {
    if (!isNeverEnded) throw error;
  });
  // What is announced is sent: an interrupted command announces nothing more.
  if (!isNeverEnded) signal.throwIfAborted();
}

/** @returns what tells the observer how an attempt ended that begins now */
function reporterOf(
  { method, transactionId, bearer }: BankCall,
  path: string,
  tppRequestId: string,
  { session, now, observe }: ExchangeSettings,
) {
  const at = now();
  return (outcome: number | string, requestId: string | null = null) =>
    observe({
      method,
      path,
      outcome,
      at,
      milliseconds: now().getTime() - at.getTime(),
      tppRequestId,
      transactionId,
      requestId,
      apiTrackId: session.apiTrackId,
      isPrivate: bearer !== undefined,
    });
}

/**
 * The bank did not look at the call: the token was not good, or there were too many calls. Only the bank's own word for it
 * counts: something on the way may say as much of a call that the bank has looked at.
 */
export async function isTurnedAway(answer: WireAnswer): Promise<boolean> {
  if (![401, 420, 429].includes(answer.status) || asksForSca(answer)) return false;
  return envelopeOf(await jsonOf(answer))?.isBanksError === true;
}

/** One that asks for SCA has been looked at, whatever its status. */
export function asksForSca({ body }: WireAnswer): boolean {
  return body.includes('PSD2_SCA_REQUIRED');
}

/** What ends a call that is under way: the operator's Ctrl-C, as far as the call lets it. */
function endingOf({ interruptible }: BankCall, signal: AbortSignal) {
  if (interruptible === undefined) return { signal, sent: () => {}, forget: () => {} };
  const ending = new AbortController();
  const end = () => ending.abort(signal.reason);
  const forget = () => signal.removeEventListener('abort', end);
  if (interruptible === 'until sent') {
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  }
  return { signal: ending.signal, sent: forget, forget };
}

function mayRetryFailure(call: BankCall, error: unknown): boolean {
  if (call.once) return false;
  const failure = error instanceof Psd2Error ? error.cause : undefined;
  return failure instanceof CallFailed && failure.passing && (failure.neverSent || call.method === 'GET');
}

function mayRetryAnswer(call: BankCall, { status }: Answer): boolean {
  if (call.once) return false;
  if ([500, 502, 503, 504].includes(status)) return call.method === 'GET' || call.repeatable === true;
  return (status === 420 || status === 429) && call.method === 'GET';
}

/** `Retry-After` in milliseconds (RFC 9110, section 10.2.3), or null without a usable one. */
function retryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}
