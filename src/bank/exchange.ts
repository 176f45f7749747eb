import { type KeyPair, type TppCertificateEncoding, tppCertificateHeader } from '../certificates/key-pair.ts';
import { Psd2Error } from '../errors.ts';
import { digestHeader } from '../signature/digest.ts';
import {
  SIGNED_WITH_BODY,
  SIGNED_WITHOUT_BODY,
  type Signer,
  signatureHeader,
} from '../signature/http-signature.ts';
import { type BankConnection, CallFailed, pathOf, type WireAnswer, type WireRequest } from './connection.ts';

/** A call of the bank's interface, before headers and signature. */
export interface BankCall {
  method: WireRequest['method'];
  /** Relative to the base URL, with its query, percent-encoded: it is signed exactly as given. */
  path: string;
  /** Sent as JSON. */
  body?: object;
  /** `TPP-Transaction-ID`: the same in all calls of one flow. */
  transactionId: string;
  /** Access token, without `Bearer`. */
  bearer?: string;
  /** `TPP-Redirect-URI` */
  redirectUri?: string;
  /** May be sent again after the bank answered with a 5xx (a token call), although it is no GET. */
  repeatable?: boolean;
  /** Called before every attempt leaves, with what identifies it. */
  beforeSend?: (intent: { requestId: string; digest: string | null }) => void;
}

/** The bank's answer together with the ids that its support asks for. */
export interface Answer extends WireAnswer {
  call: BankCall;
  tppRequestId: string;
}

/** What happened on the wire, for `--verbose`. Nothing here is secret. */
export interface Observation {
  method: string;
  path: string;
  /** HTTP status, or why there is none. */
  outcome: number | string;
  milliseconds: number;
  tppRequestId: string;
  transactionId: string;
  apiTrackId: string | undefined;
}

/** Who signs, for which application. */
export interface Identity {
  /** The application's name, as registered: the signature's `keyId`. */
  applicationName: string;
  signer: Signer;
  signingCertificate: KeyPair['certificate'];
  tppCertificate: TppCertificateEncoding;
}

/** What an exchange needs of the world. */
export interface ExchangeSettings {
  connection: BankConnection;
  /** Path of the base URL, put in front of every path; `''` or `/prefix`. */
  pathPrefix: string;
  identity: Identity;
  timeoutMs: number;
  /** `PSU-IP-Address` */
  psuIpAddress: string | undefined;
  /** `Accept-Language` */
  language: string | undefined;
  signal: AbortSignal;
  now: () => Date;
  newId: () => string;
  /** From 0 to 1. */
  random: () => number;
  sleep: (milliseconds: number) => Promise<void>;
  observe: (observation: Observation) => void;
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
  const { connection, pathPrefix, identity, signal, now, newId, random, sleep, observe } = settings;
  const tppCertificate = tppCertificateHeader(identity.signingCertificate, identity.tppCertificate);
  /** The session id that the bank gave with its first answer. */
  let apiTrackId: string | undefined;

  const attempt = async (call: BankCall): Promise<Answer> => {
    const tppRequestId = newId();
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const digest = body ? digestHeader(body) : null;
    const target = `${pathPrefix}${call.path}`;
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
      ...(digest && { digest }),
      date: now().toUTCString(),
      'tpp-transaction-id': call.transactionId,
      'tpp-request-id': tppRequestId,
      ...(tppCertificate && { 'tpp-certificate': tppCertificate }),
      ...(call.bearer && { authorization: `Bearer ${call.bearer}` }),
      ...(call.redirectUri && { 'tpp-redirect-uri': call.redirectUri }),
      ...(settings.psuIpAddress && { 'psu-ip-address': settings.psuIpAddress }),
      ...(settings.language && { 'accept-language': settings.language }),
      ...(apiTrackId && { 'cb-apitrack-id': apiTrackId }),
    };
    headers.signature = await signatureHeader(
      { method: call.method, target, headers },
      body ? SIGNED_WITH_BODY : SIGNED_WITHOUT_BODY,
      identity.applicationName,
      identity.signer,
    );
    call.beforeSend?.({ requestId: tppRequestId, digest });

    const begun = now().getTime();
    const report = (outcome: number | string) =>
      observe({
        method: call.method,
        path: pathOf({ target }),
        outcome,
        milliseconds: now().getTime() - begun,
        tppRequestId,
        transactionId: call.transactionId,
        apiTrackId,
      });
    try {
      const answer = await connection.send(
        { method: call.method, target, headers, body },
        settings.timeoutMs,
        signal,
      );
      apiTrackId ??= answer.headers['cb-apitrack-id'];
      report(answer.status);
      return { ...answer, call, tppRequestId };
    } catch (error) {
      report(error instanceof Error ? error.message : 'failed');
      if (!(error instanceof CallFailed)) throw error;
      throw new Psd2Error('bank_unreachable', `The bank could not be reached: ${error.message}`, {
        hint: error.passing
          ? 'Try again in a while; check the base URL and the network.'
          : 'Check the base URL and the certificates of the profile.',
        tppRequestId,
        transactionId: call.transactionId,
        cause: error,
      });
    }
  };

  return async (call) => {
    for (let retries = 0; ; retries += 1) {
      const backoff = FIRST_DELAY * 2 ** retries * (0.5 + random());
      let answer: Answer;
      try {
        answer = await attempt(call);
      } catch (error) {
        if (retries === MOST_RETRIES || !mayRetryFailure(call, error)) throw error;
        await sleep(backoff);
        continue;
      }
      if (retries === MOST_RETRIES || !mayRetryAnswer(call, answer)) return answer;
      const asked = retryAfter(answer.headers['retry-after'], now());
      if (asked !== null && asked > LONGEST_RETRY_AFTER) return answer;
      await sleep(asked ?? backoff);
    }
  };
}

function mayRetryFailure(call: BankCall, error: unknown): boolean {
  const failure = error instanceof Psd2Error ? error.cause : undefined;
  return failure instanceof CallFailed && failure.passing && (failure.neverSent || call.method === 'GET');
}

function mayRetryAnswer(call: BankCall, { status }: Answer): boolean {
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
