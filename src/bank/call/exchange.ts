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
import { isOvertaken } from './failure.ts';

/** A call of the bank's interface, without headers and signature. */
export interface BankCall {
  method: WireRequest['method'];
  /** Relative to the base URL, with its query, percent-encoded. psd2 signs it exactly as given. */
  path: string;
  /** Sent as JSON. A string is sent unchanged. */
  body?: object | string;
  /** `TPP-Transaction-ID`: the same in all calls of one flow. */
  transactionId: string;
  /** Access token, without `Bearer`. */
  bearer?: string;
  /** `TPP-Redirect-URI` */
  redirectUri?: string;
  /** Additional headers, with names in lower case. They replace the standard headers. */
  headers?: Record<string, string>;
  /** The call may be repeated after a 5xx although it is not a GET (a token call). */
  repeatable?: boolean;
  /** The call is never repeated. For diagnosis, where the first error matters. */
  once?: boolean;
  /**
   * The call does something that cannot be taken back (`execute`, `confirm`). It goes over a connection that nothing else has
   * used, and psd2 does not send it again after the bank has refused it: its caller asks for the status first.
   */
  irrevocable?: boolean;
  /** The answer decides about an irrevocable call, so it comes over a connection of its own too. */
  decides?: boolean;
  /** Called before each attempt leaves. */
  beforeSend?: BeforeSend;
  /**
   * What the operator's Ctrl-C does. By default it ends the call. `until sent`: after the first byte has left, psd2 waits for
   * the answer (`--timeout`), because the bank gives the result only once. `never`: the call is made even after Ctrl-C.
   */
  interruptible?: 'until sent' | 'never';
}

/** Called with the identity of an attempt before it leaves. The attempt waits for it. */
export type BeforeSend = (intent: {
  requestId: string;
  digest: string | null;
}) => Promise<Announced | undefined>;

/** The callbacks of an announced attempt. */
export interface Announced {
  /**
   * Called after the connection is open, just before the first byte leaves.
   *
   * @throws an error that prevents the attempt
   */
  beforeFirstByte?(): Promise<void>;
  /** Called as soon as it is certain that no byte of the attempt left. Another attempt may follow. */
  notBegun?(): Promise<void>;
  /** Called if the bank says that it refused the attempt without processing it. Another attempt may follow. */
  turnedAway?(): Promise<void>;
}

/** The bank's answer, with the ids that its support asks for. */
export interface Answer extends WireAnswer {
  call: BankCall;
  tppRequestId: string;
}

/** What happened on the wire, for `--verbose` and the log. Contains no secrets. */
export interface Observation {
  method: string;
  path: string;
  /** The HTTP status, or the reason why there is none. */
  outcome: number | string;
  /** When the call was sent. */
  at: Date;
  milliseconds: number;
  tppRequestId: string;
  transactionId: string;
  /** `result.requestId` of the bank's answer. */
  requestId: string | null;
  apiTrackId: string | undefined;
  /** The call had an access token. */
  isPrivate: boolean;
  /** Bytes of the request may have left. */
  mayHaveLeft: boolean;
  /** As in {@link BankCall}. */
  irrevocable: boolean;
}

/** Decides when calls may go to the bank. Calls that the bank counts together share one object. */
export interface Turns {
  /** Resolves when the next call may start. @throws if the operator interrupts */
  turn(): Promise<void>;
  /** The bank refused a call because of its limit. @param asked the delay in milliseconds that it asked for, or null */
  slowDown(asked: number | null): Promise<void>;
  /** The bank accepted a call. */
  goOn(): Promise<void>;
}

/** What an exchange needs. */
export interface ExchangeSettings extends ComposeSettings {
  connection: BankConnection;
  timeoutMs: number;
  /** Checks the digest and signature of an answer. @throws Psd2Error `bank_answer` */
  checkAnswer: (answer: WireAnswer, request: WireRequest) => void;
  /** Shared by all calls that the bank counts together. */
  pace: Turns;
  signal: AbortSignal;
  /** A random number from 0 to 1. */
  random: () => number;
  sleep: (milliseconds: number) => Promise<void>;
  /** The exchange waits for it before it returns the answer. */
  observe: (observation: Observation) => Promise<void>;
}

/** Sends a signed call and returns the answer, whatever its status. */
export type Exchange = (call: BankCall) => Promise<Answer>;

const MOST_RETRIES = 3;
const FIRST_DELAY = 250;
/** If the bank asks for a longer delay, psd2 does not retry. The operator can run the command again later. */
const LONGEST_RETRY_AFTER = 30_000;

/**
 * Opens the exchange that all calls use: headers, digest, signature, retries (interface specification, "Headers"; command
 * contract, "Retries").
 *
 * @returns a function that throws Psd2Error `bank_unreachable` if there is no answer (its cause is a {@link CallFailed}).
 *   It returns answers with any status
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
      // After too many calls, the pace delays all calls, including this one.
      if (!tooMany) await sleep(asked ?? backoff);
    }
  };
}

/** Sends a call once, in its turn. Reports the result to the observer before returning it. */
async function attempt(call: BankCall, settings: ExchangeSettings): Promise<Answer> {
  const { connection, session, timeoutMs, signal, checkAnswer } = settings;
  await waitForTurn(call, settings);
  const { request, tppRequestId, digest } = await composeRequest(call, settings);
  const announced = await call.beforeSend?.({ requestId: tppRequestId, digest });
  const ending = endingOf(call, signal);
  const report = reporterOf(call, pathOf(request), tppRequestId, settings);
  let mayHaveLeft = false;
  try {
    const answer = await connection.send(request, timeoutMs, ending.signal, {
      alone: call.irrevocable || call.decides,
      beforeFirstByte: announced?.beforeFirstByte?.bind(announced),
      sent: () => {
        mayHaveLeft = true;
        ending.sent();
      },
    });
    checkAnswer(answer, request);
    session.apiTrackId ??= answer.headers['cb-apitrack-id'];
    if (await isTurnedAway(answer)) await announced?.turnedAway?.();
    await report(answer.status, mayHaveLeft, envelopeOf(await jsonOf(answer))?.requestId);
    return { ...answer, call, tppRequestId };
  } catch (error) {
    await report(error instanceof Error ? error.message : String(error), mayHaveLeft);
    // Whatever prevented it: nothing left. Only a flow that another psd2 has taken over is not ours to write to.
    if (!mayHaveLeft && !isOvertaken(error)) await announced?.notBegun?.();
    if (!(error instanceof CallFailed)) throw error;
    signal.throwIfAborted();
    throw new Psd2Error('bank_unreachable', `The bank could not be reached: ${error.message}`, {
      hint:
        error.hint ??
        (error.passing
          ? 'Try again later. Check the base URL and the network.'
          : 'Check the base URL and the certificates of the profile.'),
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
  // An announced call is sent, so an interrupted command must not announce another one.
  if (!isNeverEnded) signal.throwIfAborted();
}

/** @returns a function that tells the observer how an attempt ended. The attempt starts now. */
function reporterOf(
  { method, transactionId, bearer, irrevocable = false }: BankCall,
  path: string,
  tppRequestId: string,
  { session, now, observe }: ExchangeSettings,
) {
  const at = now();
  return (outcome: number | string, mayHaveLeft: boolean, requestId: string | null = null) =>
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
      mayHaveLeft,
      irrevocable,
    });
}

/**
 * Whether the bank refused the call without processing it: the token was not valid, or there were too many calls. Only the
 * bank's own envelope counts, because a gateway may answer the same to a call that the bank has processed.
 */
export async function isTurnedAway(answer: WireAnswer): Promise<boolean> {
  if (![401, 420, 429].includes(answer.status) || asksForSca(answer)) return false;
  return envelopeOf(await jsonOf(answer))?.isBanksError === true;
}

/** Whether an answer asks for SCA. The bank has then processed the call, whatever the status. */
export function asksForSca({ body }: WireAnswer): boolean {
  return body.includes('PSD2_SCA_REQUIRED');
}

/** The signal that ends a running call: the operator's Ctrl-C, if the call allows it. */
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

/** `Retry-After` in milliseconds (RFC 9110, section 10.2.3), or null if it is missing or invalid. */
function retryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  // Date.parse takes almost anything with a number in it.
  const date = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}
