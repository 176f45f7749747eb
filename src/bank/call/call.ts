import { setTimeout as delay } from 'node:timers/promises';
import { Psd2Error } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import type { Bank, BankInterface, ComposedRequest, FreeCall, RequestSettings } from '../ports/bank.ts';
import type {
  BeforeSend,
  ConsentSource,
  FailureKind,
  Gives,
  Observation,
  PsuIdentification,
  Read,
  Route,
  TokenSource,
  Turns,
  Verdict,
} from '../ports/call.ts';
import type { BankClient, Decides } from '../ports/customer.ts';
import { type BankConnection, CallFailed } from '../transport/connection.ts';
import { pathOf, tlsFactsOf, type WireAnswer, type WireRequest } from '../transport/line.ts';
import { hideInHeaders } from './hidden-value.ts';
import {
  backoffOf,
  LONGEST_RETRY_AFTER,
  MAX_RETRIES,
  mayRetryAnswer,
  mayRetryFailure,
  type Repetition,
  retryAfter,
} from './retries.ts';

/** What to do about a 403 whose answer is a page: it says nothing of roles and consents. */
export const FIREWALL_ADVICE =
  'A firewall or gateway before the bank may have answered. Try again later. If it goes on, send the bank the ids of the call.';

/** What to do about a page where the bank's data should be. */
export const PAGE_ADVICE = 'A website answered. Is the base URL that of the interface?';

/** Whether an answer says that it is HTML. */
export function isPage({ headers }: Pick<WireAnswer, 'headers'>): boolean {
  return /^\s*[\w.+-]+\/x?html\b/i.test(headers['content-type'] ?? '');
}

/** What a call does, for all that wraps it. Only the interface knows its paths. */
export interface CallFacts {
  /** The account that the call reads, `list` for the list of all, null for neither. */
  reads: Read | null;
  /** The customer must have consented to this call. */
  needsConsent: boolean;
  /** It gets or revokes tokens. */
  login: boolean;
  /** It is about a payment, or a consent for confirmations of funds. This is the transaction whose SCA may have given tokens for it. */
  ofPayment?: string;
  /** It is about this consent of the bank's. The customer's login may have granted it. */
  ofConsent?: string;
}

/** A call of a bank's interface, without headers and signature. */
export interface BankCall extends Repetition {
  /** Relative to the base URL, with its query, percent-encoded. psd2 signs it exactly as given. */
  path: string;
  /** Scheme, host and port, if the call does not go below the base URL: then the path is the whole one. */
  origin?: string;
  facts: CallFacts;
  /** The ids in its path, by their names: an answer that names another is about something else. */
  ids?: Readonly<Record<string, string>>;
  /** Sent as JSON. A string is sent unchanged. */
  body?: object | string;
  /**
   * A credential of the customer, in place of the body. It goes once, over a connection that nothing else has used. Nothing of the body is
   * kept or shown, nor its digest, and no text of the answer that has the value.
   */
  credential?: Credential;
  /** What of the customer's it gives the bank: the log of calls marks such a call. */
  gives?: Gives;
  /** The same in all calls of one flow. */
  transactionId: string;
  /** Access token, without `Bearer`. */
  bearer?: string;
  /** Where the customer's browser returns to. */
  redirectUri?: string;
  /** Who is asked, if it is not the customer. */
  psu?: PsuIdentification | undefined;
  /** Additional headers, with names in lower case. They replace the standard headers. */
  headers?: Record<string, string>;
  /** The id of an earlier attempt, which this one repeats. Without it, each attempt has a new id. */
  requestId?: string;
  /**
   * The call does something that cannot be taken back (`execute`, `confirm`). It goes over a connection that nothing else has
   * used, and psd2 does not send it again after the bank has refused it: its caller asks for the status first.
   */
  irrevocable?: boolean;
  /** What it begins. A refusal may prove that it has begun nothing. */
  judged?: 'payment' | 'signing basket';
  /** The answers to earlier attempts with the same id, which are judged together with the next one. */
  earlier?: readonly WireAnswer[];
  /** The answer decides about an irrevocable call, so it comes over a connection of its own too. */
  decides?: Decides;
  /** Called before each attempt leaves. */
  beforeSend?: BeforeSend;
  /**
   * What the operator's Ctrl-C does. By default it ends the call. `until sent`: after the first byte has left, psd2 waits for
   * the answer (`--timeout`), because the bank gives the result only once. `never`: the call is made even after Ctrl-C.
   */
  interruptible?: 'until sent' | 'never';
}

/** What a customer has given psd2 for one call, and the body that has it. */
export interface Credential {
  value: Secret;
  /** @param value revealed */
  body(value: string): object;
}

/** A parsed answer: what the interface understood of its body, once, for all who look at it. */
export interface Said {
  /** The body as JSON, with all digits. Undefined for a firewall's page, a truncated or an empty answer. */
  json: unknown;
  /** The id that the bank gave its answer. */
  requestId: string | null;
  /** Why the bytes are not the text that they claim to be, after "The bank's answer". Then `json` is undefined in a success. */
  problem?: string;
  /** The answer asks for SCA. The bank has then processed the call, whatever the status. */
  asksForSca: boolean;
  /** The bank itself refused the call without processing it: the token was not valid, or there were too many calls. */
  turnedAway: boolean;
  /** The bank's refusal with 401 is about something else than the token. */
  keepsToken?: boolean;
  /** The id that the bank gave to what an irrevocable call has begun. */
  begun?: string;
  /** What the answer to a {@link BankCall.judged} call proves. */
  verdict?: Verdict;
  /** The refusal with 429 lasts (the readings of the day are used up): to wait and try again is useless. */
  lasts?: boolean;
}

/** The bank's answer, with the ids that its support asks for. */
export interface Answer<What extends Said = Said> extends WireAnswer {
  call: BankCall;
  route: Route;
  tppRequestId: string;
  reply: What;
  /** Tells whoever observes the calls that psd2 could not use the answer. Absent: nobody counts that. */
  wasUnusable?: () => void;
}

/** Sends a signed call and returns the answer, whatever its status. */
export type Exchange<What extends Said = Said> = (call: BankCall) => Promise<Answer<What>>;

/** A message of the bank for the operator. */
export interface Notice {
  text: string;
  code: string | null;
}

/** What was read from a successful answer. */
export interface Reading {
  notices: readonly Notice[];
}

/** Makes calls. Everything that wraps a call is one too. */
export interface Caller<What extends Said = Said> {
  /** Sends a call. @returns its answer, whatever its status */
  send(call: BankCall): Promise<Answer<What>>;
  /**
   * Sends a call and reads its answer.
   *
   * @throws Psd2Error if there is no answer, and what `read` throws if it is not a usable success
   */
  ask<R extends Reading>(call: BankCall, read: (answer: Answer<What>) => R): Promise<R>;
}

/** How an interface writes requests and understands answers. */
export interface Wire<What extends Said = Said> {
  /** Makes the request of an attempt: a new id, headers, digest, signature. */
  compose(call: BankCall): Promise<Signed>;
  /** Checks that an answer belongs to its request, its digest and its signature. @throws Psd2Error `bank_answer` */
  check(answer: WireAnswer, request: WireRequest, call: BankCall): void;
  /** Whether an answer may end a payment or a consent. Then psd2 first reads what follows it on its connection. Absent: never. */
  mayEnd?(answer: WireAnswer, call: BankCall): boolean;
  understand(answer: WireAnswer, call: BankCall, sent: Sent): Promise<What>;
  /** What a call is about, without its ids. */
  routeOf(call: BankCall): Route;
}

/** A request as it left. */
export interface Sent {
  request: WireRequest;
  firstByteAt: Date;
  /** What no text of the answer may show: the credentials of the customer that the bank has from psd2, with this call or before. */
  hidden: readonly Secret[];
}

/** A request that is ready to send, and its signing string. */
export interface Signed {
  request: WireRequest;
  tppRequestId: string;
  /** The `Digest` header, or null without a body. */
  digest: string | null;
  signingString: string;
}

/** What an interface needs to write requests and to check answers. */
export interface WireSettings extends RequestSettings {
  /** The id of the bank's session: the bank sends it with its first answer, and psd2 repeats it. */
  session: { apiTrackId: string | undefined };
  /** Who the customer is at the bank. Interfaces with ids of customers in their paths do not need it. */
  psu: PsuIdentification | undefined;
  /** The consents of readings, if the interface names them. */
  consents: ConsentSource | undefined;
}

/** An interface, as `bank/open.ts` finds it by its name. */
export interface KnownInterface extends BankInterface {
  /** @throws Psd2Error `certificate` */
  open(settings: WireSettings): OpenInterface;
}

/** An interface with the settings of one bank. */
export interface OpenInterface {
  /**
   * The OAuth client that the bank knows the application as. Null: the one in the profile.
   *
   * @throws Psd2Error `certificate` if the certificate that must name it does not
   */
  client(): BankClient | null;
  /**
   * @param over makes calls over the wire of the interface: the exchange, and all that wraps it. `bankOver` is the bank over the
   *   calls that are made so far, for what wraps them further
   */
  connect(
    over: <What extends Said>(wire: Wire<What>, bankOver: (calls: Caller<What>) => Bank) => Caller<What>,
  ): Bank;
  /** The request that psd2 would send for a free call. @param bearer what stands in place of the token */
  compose(call: FreeCall, bearer: string | undefined): Promise<ComposedRequest>;
}

/**
 * Makes calls over an exchange, and reads their answers.
 *
 * @param notice receives the warnings and infos of successful answers
 * @param onAnswer receives each answer before it is read
 */
export function openCaller<What extends Said>(
  exchange: Exchange<What>,
  notice: (message: Notice) => void,
  onAnswer: (answer: Answer<What>) => void = () => {},
): Caller<What> {
  return {
    send: exchange,
    async ask(call, read) {
      const answer = await exchange(call);
      onAnswer(answer);
      try {
        const reading = read(answer);
        reading.notices.forEach(notice);
        return reading;
      } catch (error) {
        tellUnusable(answer, error);
        throw error;
      }
    },
  };
}

/** The errors whose answers were told of. */
const toldErrors = new WeakSet<object>();

/** Tells whoever observes the calls if an error says that psd2 could not use the answer. An error is about one answer. */
function tellUnusable({ wasUnusable }: Pick<Answer, 'wasUnusable'>, error: unknown): void {
  if (!isUnusable(error) || toldErrors.has(error)) return;
  toldErrors.add(error);
  wasUnusable?.();
}

/** Uses what was read of an answer. What shows only then that psd2 cannot use the answer counts as if its reading had shown it. */
export async function usingAnswer<T>(read: Pick<Answer, 'wasUnusable'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    tellUnusable(read, error);
    throw error;
  }
}

/** Whether an answer came that psd2 could not use. */
function isUnusable(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && error.code === 'bank_answer';
}

/**
 * Adds a token to each call. If the bank refuses the token, a call that is not irrevocable is made again once with a renewed
 * one.
 */
export function withTokens<What extends Said>(exchange: Exchange<What>, tokens: TokenSource): Exchange<What> {
  /** The token that the bank refused for a call that this does not repeat. The next call renews it. */
  let refused: string | undefined;
  /** The token of such a renewal. If the bank refuses it for the same call, one more does not help. */
  let renewed: string | undefined;
  return async (call) => {
    const current = await tokens.current();
    const isRefused = current === refused;
    const token = isRefused ? await tokens.renewed(current) : current;
    if (isRefused) renewed = token;
    const answer = await exchange({ ...call, bearer: token });
    if (answer.status !== 401 || answer.reply.asksForSca || answer.reply.keepsToken) return answer;
    // Repeat a call that changes something only if the bank itself refused it without processing.
    if (call.method !== 'GET' && !answer.reply.turnedAway) return answer;
    if (call.irrevocable || call.credential) {
      if (token !== renewed) refused = token;
      return answer;
    }
    return exchange({ ...call, bearer: await tokens.renewed(token) });
  };
}

/** What an exchange needs. */
export interface ExchangeSettings<What extends Said> {
  connection: BankConnection;
  wire: Wire<What>;
  /** The id of the bank's session. The bank sends it with its first answer, and psd2 repeats it. */
  session: { apiTrackId: string | undefined };
  timeoutMs: number;
  /** Shared by all calls that the bank counts together. */
  pace: Turns;
  signal: AbortSignal;
  now: () => Date;
  /** A random number from 0 to 1. */
  random: () => number;
  sleep: (milliseconds: number) => Promise<void>;
  /** The exchange waits for it before it returns the answer. */
  observe: (observation: Observation) => Promise<void>;
  /** Told of an answer that was observed as usable, once psd2 finds that it cannot use it. Absent: nobody counts that. */
  unusable?: (observation: Observation) => void;
}

/**
 * Opens the exchange that all calls use: headers, digest, signature, retries (interface specification, "Headers"; command
 * contract, "Retries").
 *
 * @returns a function that throws Psd2Error `bank_unreachable` if there is no answer (its cause is a {@link CallFailed}).
 *   It returns answers with any status
 */
export function openExchange<What extends Said>(settings: ExchangeSettings<What>): Exchange<What> {
  const { pace, now, random, sleep } = settings;
  const credentials: Secret[] = [];

  return async (call) => {
    for (let retries = 0; ; retries += 1) {
      const backoff = backoffOf(retries, random());
      let answer: Answer<What>;
      try {
        answer = await sendOnce(call, settings, credentials);
      } catch (error) {
        if (retries === MAX_RETRIES || !mayRetryFailure(call, error)) throw error;
        await sleep(backoff);
        continue;
      }
      const delay = retryAfter(answer.headers['retry-after'], now());
      const tooMany = (answer.status === 420 || answer.status === 429) && !answer.reply.lasts;
      if (tooMany) await pace.slowDown(delay === null ? null : Math.min(delay, LONGEST_RETRY_AFTER));
      else await pace.goOn();
      if (retries === MAX_RETRIES || answer.reply.lasts || !mayRetryAnswer(call, answer)) return answer;
      if (delay !== null && delay > LONGEST_RETRY_AFTER) return answer;
      // After too many calls, the pace delays all calls, including this one.
      if (!tooMany) await sleep(delay ?? backoff);
    }
  };
}

/**
 * Sends a call once, in its turn. Reports the result to the observer before returning it.
 *
 * @param credentials what the bank has had of the customer; gets that of this call
 */
async function sendOnce<What extends Said>(
  call: BankCall,
  settings: ExchangeSettings<What>,
  credentials: Secret[],
): Promise<Answer<What>> {
  const { connection, wire, timeoutMs, signal } = settings;
  const hidden = hiddenAfter(call, credentials);
  await waitForTurn(call, settings);
  const { request, tppRequestId, digest } = await wire.compose(call);
  // A short credential could be guessed from its digest.
  const journalDigest = call.credential ? null : digest;
  const announced = await call.beforeSend?.({ requestId: tppRequestId, digest: journalDigest });
  const ending = endingOf(call, signal);
  const route = wire.routeOf(call);
  const times = new Times(settings.now);
  const report = reporterOf(call, { path: pathOf(request), tppRequestId, route }, times, settings);
  let mayHaveLeft = false;
  try {
    const answer = await connection.send(request, timeoutMs, ending.signal, {
      // Of what psd2 reads on, the connection is its own.
      alone: isAlone(call),
      beforeFirstByte: announced?.beforeFirstByte?.bind(announced),
      sent: () => {
        mayHaveLeft = true;
        times.sent();
        ending.sent();
      },
      connected: (socket) => times.connected(socket),
      answered: () => times.answered(),
      lingers: (received) => (wire.mayEnd?.(received, call) ? linger(call, settings) : null),
    });
    for (const each of hidden) hideInHeaders(answer.headers, each);
    wire.check(answer, request, call);
    const reply = await wire.understand(answer, call, { request, firstByteAt: times.firstByteAt, hidden });
    if (reply.turnedAway) await announced?.turnedAway?.();
    const wasUnusable = await report(answer.status, mayHaveLeft, { reply });
    return { ...answer, call, route, tppRequestId, reply, wasUnusable };
  } catch (error) {
    const failureKind = failureKindOf(error, mayHaveLeft);
    await report(error instanceof Error ? error.message : String(error), mayHaveLeft, { failureKind });
    // Whatever prevented it: nothing left. Only a flow that another psd2 has taken over is not ours to write to.
    if (!mayHaveLeft && !(error instanceof Psd2Error && error.code === 'overtaken'))
      await announced?.notBegun?.();
    if (!(error instanceof CallFailed)) throw error;
    signal.throwIfAborted();
    const what = error.wasReached ? 'The bank cannot be trusted' : 'The bank could not be reached';
    throw new Psd2Error('bank_unreachable', `${what}: ${error.message}`, {
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

/** What the answer to a call may not show. @param credentials gets that of this call */
function hiddenAfter({ credential, facts, judged }: BankCall, credentials: Secret[]): readonly Secret[] {
  if (credential) credentials.push(credential.value);
  // What is read of accounts has many digits, and nothing of a TAN. The answer to another payment decides about money by its id.
  return facts.reads === null && judged === undefined ? credentials : [];
}

function isAlone({ irrevocable = false, gives, decides, method }: BankCall): boolean {
  return irrevocable || gives !== undefined || Boolean(decides) || method === 'DELETE';
}

/** How long psd2 reads what follows an answer that may end something. */
const LINGER_MS = 1_000;

/** Whose a failure is. What psd2 found wrong before anything left is its own; after that, the answer was. */
function failureKindOf(error: unknown, mayHaveLeft: boolean): FailureKind {
  if (error instanceof CallFailed) return error.kind;
  const isAnswers = mayHaveLeft || isUnusable(error);
  return isAnswers ? 'unusable' : 'own';
}

async function waitForTurn(
  { interruptible }: BankCall,
  { pace, signal }: Pick<ExchangeSettings<Said>, 'pace' | 'signal'>,
): Promise<void> {
  const isNeverEnded = interruptible === 'never';
  await pace.turn().catch((error) => {
    if (!isNeverEnded) throw error;
  });
  // An announced call is sent, so an interrupted command must not announce another one.
  if (!isNeverEnded) signal.throwIfAborted();
}

/** When the parts of an attempt happened. It starts when this is made. */
class Times {
  readonly at: Date;
  readonly found: Pick<Observation, 'connectMs' | 'firstByteMs' | 'tls'> = {};
  readonly #now: () => Date;
  #sentAt: number | undefined;

  constructor(now: () => Date) {
    this.#now = now;
    this.at = now();
  }

  connected(socket: Parameters<typeof tlsFactsOf>[0]): void {
    this.found.connectMs = this.#now().getTime() - this.at.getTime();
    const tls = tlsFactsOf(socket);
    if (tls) this.found.tls = tls;
  }

  sent(): void {
    this.#sentAt = this.#now().getTime();
  }

  /** Once the request has left. */
  get firstByteAt(): Date {
    return this.#sentAt === undefined ? this.at : new Date(this.#sentAt);
  }

  answered(): void {
    if (this.#sentAt !== undefined) this.found.firstByteMs ??= this.#now().getTime() - this.#sentAt;
  }
}

/** @returns a function that tells the observer how an attempt ended, and returns what tells it that the answer was unusable. The attempt starts now. */
function reporterOf(
  { method, transactionId, bearer, irrevocable = false, gives, requestId: repeated, earlier }: BankCall,
  sent: Pick<Observation, 'path' | 'tppRequestId' | 'route'>,
  times: Times,
  {
    session,
    now,
    observe,
    unusable,
  }: Pick<ExchangeSettings<Said>, 'session' | 'now' | 'observe' | 'unusable'>,
) {
  const { at } = times;
  return async (
    outcome: number | string,
    mayHaveLeft: boolean,
    { reply, failureKind }: { reply?: Said; failureKind?: FailureKind },
  ): Promise<() => void> => {
    const observation: Observation = {
      method,
      ...sent,
      outcome,
      at,
      milliseconds: now().getTime() - at.getTime(),
      ...times.found,
      transactionId,
      requestId: reply?.requestId ?? null,
      apiTrackId: session.apiTrackId,
      isPrivate: bearer !== undefined,
      // An earlier attempt with the same id may have left, even from another machine.
      mayHaveLeft: mayHaveLeft || repeated !== undefined,
      irrevocable,
      ...(gives && { gives }),
      ...(reply?.begun !== undefined && { begun: reply.begun }),
      ...(reply?.verdict && {
        // Judged without the answers before it, a refusal of a repetition may be about the repetition alone.
        verdict:
          repeated !== undefined && earlier === undefined
            ? beganOrUnknown(reply.verdict)
            : reply.verdict.says,
      }),
      ...(failureKind && { failureKind }),
    };
    await observe(observation);
    return () => unusable?.(observation);
  };
}

function beganOrUnknown({ says }: Verdict): Verdict['says'] {
  return says === 'began' ? says : 'unknown';
}

/** The time for what may follow an answer. A call that nobody interrupts has it whole. */
function linger(
  { interruptible }: BankCall,
  { sleep }: Pick<ExchangeSettings<Said>, 'sleep'>,
): Promise<void> {
  const time = sleep(LINGER_MS);
  return interruptible === undefined ? time : time.catch(() => delay(LINGER_MS));
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
