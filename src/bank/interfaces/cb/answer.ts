import * as z from 'zod/mini';
import { toldReasons } from '../../../domain/bank-reason.ts';
import { isRecord } from '../../../domain/json.ts';
import { type ErrorCode, type ErrorContext, Psd2Error } from '../../../errors.ts';
import {
  type Answer,
  type BankCall,
  type Caller,
  FIREWALL_ADVICE,
  isPage,
  PAGE_ADVICE,
  type Reading,
  type Said,
} from '../../call/call.ts';
import { answerText } from '../../call/charset.ts';
import { parseJson } from '../../call/json.ts';
import { pathOf, type WireAnswer } from '../../transport/line.ts';
import { text } from './wire/fields.ts';
import { findGrant } from './wire/oauth.ts';

/** What `cb` understands of an answer: its JSON, and the envelope of it. Both are parsed once. */
export interface CbSaid extends Said {
  /** Null if there is no envelope. */
  envelope: Envelope | null;
}

export type CbAnswer = Answer<CbSaid>;
export type CbCaller = Caller<CbSaid>;

const SCA_REQUIRED = 'PSD2_SCA_REQUIRED';

/** Parses an answer (interface specification, "Response envelope"). */
export async function understand(answer: WireAnswer, call: BankCall): Promise<CbSaid> {
  const { status, body } = answer;
  const { text: content, problem } = answerText(answer);
  const isReadable = problem === null || status >= 400;
  const json = isReadable ? await parseJson(content.trim()).catch(() => undefined) : undefined;
  const envelope = readEnvelope(json);
  const asksForSca = status >= 400 && body.includes(SCA_REQUIRED);
  return {
    json,
    envelope: withGrant(envelope, isGranted(call, status) ? findGrant(json) : undefined),
    requestId: envelope?.requestId ?? null,
    asksForSca,
    // Only the bank's own envelope counts: a gateway may answer the same to a call that the bank has processed.
    turnedAway: [401, 420, 429].includes(status) && !asksForSca && envelope?.isBanksError === true,
    ...(problem !== null && { problem }),
  };
}

/** Whether an answer is the success of a token call. */
function isGranted({ path }: BankCall, status: number): boolean {
  return path === TOKEN_PATH && status >= 200 && status <= 299;
}

/** A successful answer: its parsed content and its envelope. */
export interface CbReading<T> extends Reading {
  data: T;
  envelope: Envelope;
  /** Warnings and infos for the operator. */
  notices: BankMessage[];
}

/** The call that grants tokens (interface specification, "OAuth"). */
export const TOKEN_PATH = '/auth/oauth/v2/token';

/**
 * Makes a call and reads its answer. An answer without content (204) does not answer a question, and for a call that changes
 * something it may come from a gateway.
 *
 * @throws Psd2Error if there is no answer, it is not a success, or it does not match `schema`
 */
export function ask<T>(bank: CbCaller, call: BankCall, schema: z.ZodMiniType<T>): Promise<CbReading<T>> {
  return bank.ask(call, (answer) => {
    if (answer.status !== 204) return readAnswer(answer, schema);
    throw new Psd2Error('bank_answer', `The bank's answer to ${callName(answer)} is empty`, {
      httpStatus: answer.status,
      tppRequestId: answer.tppRequestId,
      transactionId: call.transactionId,
    });
  });
}

/**
 * Reads an answer: opens the envelope and checks `data` against `schema`.
 *
 * @throws Psd2Error for every unsuccessful answer (interface specification, "Errors"), and `bank_answer` for a success
 *   without a required field. The message names the field and the request.
 */
export function readAnswer<T>(answer: CbAnswer, schema: z.ZodMiniType<T>): CbReading<T> {
  const { envelope } = answer.reply;
  if (answer.status < 200 || answer.status > 299 || envelope?.outcome === 'ERROR')
    throw toError(answer, envelope);
  if (!envelope && answer.status !== 204) {
    const { json, problem } = answer.reply;
    const what = problem ?? `is ${json === undefined ? 'not JSON' : 'no JSON object'}${answerKind(answer)}`;
    throw new Psd2Error('bank_answer', `The bank's answer to ${callName(answer)} ${what}`, {
      ...answerIds(answer, envelope),
      ...(isPage(answer) && { hint: PAGE_ADVICE }),
    });
  }
  if (envelope?.outcome === null && needsEnvelope(answer))
    throw new Psd2Error(
      'bank_answer',
      `The bank's answer to ${callName(answer)} has no result.outcome`,
      answerIds(answer, envelope),
    );
  const read = envelope ?? NO_CONTENT;
  const result = schema.safeParse(read.data);
  if (!result.success) {
    const issue = result.error.issues[0];
    const field = ['data', ...(issue?.path ?? [])].join('.');
    throw new Psd2Error(
      'bank_answer',
      `The bank's answer to ${callName(answer)} has no usable ${field}: ${issue?.message ?? 'unreadable'}`,
      answerIds(answer, envelope),
    );
  }
  return {
    data: result.data,
    envelope: read,
    notices: read.messages.filter(({ type }) => type === 'WARNING' || type === 'INFO'),
  };
}

/**
 * The envelope of an answer with tokens. The bank has spent the code or the refresh token, so an envelope in an unknown form
 * does not matter, unless it says `ERROR`.
 */
function withGrant(envelope: Envelope | null, grant: object | undefined): Envelope | null {
  if (!grant || envelope?.isBanksError) return envelope;
  return { ...(envelope ?? NO_CONTENT), outcome: 'SUCCESS', data: grant };
}

/** A call that changes something counts as done only if the bank's envelope says so. OAuth calls have no envelope. */
function needsEnvelope({ call }: CbAnswer): boolean {
  return call.method !== 'GET' && !call.facts.login;
}

/**
 * Reads the bytes of an answer that is a document and has no envelope.
 *
 * @throws Psd2Error as {@link readAnswer} for an unsuccessful answer, `bank_answer` if there is no document
 */
export function readDocument(answer: CbAnswer): Buffer {
  const { envelope } = answer.reply;
  if (answer.status < 200 || answer.status > 299 || envelope?.outcome === 'ERROR')
    throw toError(answer, envelope);
  if (envelope || answer.body.length === 0 || isPage(answer))
    throw new Psd2Error(
      'bank_answer',
      `The bank answered ${callName(answer)} without a document`,
      answerIds(answer, envelope),
    );
  return answer.body;
}

const NO_CONTENT: Envelope = {
  outcome: 'SUCCESS',
  isBanksError: false,
  requestId: null,
  messages: [],
  data: {},
  resourceId: null,
  next: null,
  embedded: {},
};

/** The error for an unsuccessful answer (interface specification, "HTTP status codes"). */
function toError(answer: CbAnswer, envelope: Envelope | null): Psd2Error {
  const { status } = answer;
  const message =
    envelope?.messages.find(({ type }) => type === 'ERROR') ??
    envelope?.messages.find(({ code }) => code) ??
    envelope?.messages[0];
  const detail = message && shortened([message.text, message.detail].filter(Boolean).join(' – '));
  const code: ErrorCode = envelope?.messages.some(
    (item) => item.code === SCA_REQUIRED || item.text === SCA_REQUIRED,
  )
    ? 'sca_required'
    : errorCodeOf(status);
  const words: Record<string, string> = {
    sca_required: `The bank requires the customer to authenticate again before ${callName(answer)}`,
    not_logged_in: `The bank does not accept the token or the client for ${callName(answer)}`,
    forbidden: `The bank does not allow ${callName(answer)}`,
    too_many_calls: 'The bank allows no more calls at the moment',
    bank_failing: `The bank failed on ${callName(answer)}`,
    bank_answer: `The bank answered ${callName(answer)} with a redirect. psd2 does not follow it`,
    bank_refused: `The bank refused ${callName(answer)}`,
  };
  const advice: Partial<Record<ErrorCode, Pick<ErrorContext, 'hint' | 'next'>>> = {
    not_logged_in: answer.call.facts.login
      ? { hint: 'Check the client id and the client secret of the profile.' }
      : { next: [['auth', 'login']] },
    forbidden:
      !envelope && isPage(answer)
        ? { hint: FIREWALL_ADVICE }
        : {
            hint: 'The application may lack the PSD2 role for this call, or the customer has not consented. Ask for it with:',
            next: [['consent', 'request']],
          },
    too_many_calls: {
      hint: answer.headers['retry-after']
        ? `The bank says: retry after ${answer.headers['retry-after']}.`
        : 'Wait, then try again.',
    },
  };
  return new Psd2Error(
    code,
    `${words[code]} (HTTP ${status})${detail ? `: ${detail}` : answerKind(answer)}`,
    {
      ...answerIds(answer, envelope),
      ...advice[code],
      ...(message?.code && { bankCode: shortened(message.code) }),
      ...(answer.call.beforeSend && toldReasons(message ? [message, ...(envelope?.messages ?? [])] : [])),
      ...refusalIn(code, status, envelope, message?.code),
      ...(status === 501 && { isLacking: true }),
      ...(code === 'not_logged_in' && answer.call.bearer !== undefined && { hadToken: true }),
      ...(envelope?.resourceId && { resourceId: envelope.resourceId }),
    },
  );
}

/** Statuses with which the bank refuses what a request contains (interface specification, "HTTP status codes"). */
const REFUSED_CONTENT = [400, 417, 422];

/**
 * How definitely an error is a refusal. A success status without an outcome and without an error code (interface specification,
 * "Errors", rule 1), and a gateway timeout (408), are none. It is certainly the bank's own if `result.outcome` is `ERROR`.
 */
function refusalIn(
  code: ErrorCode,
  status: number,
  envelope: Envelope | null,
  bankCode: string | null | undefined,
): Pick<ErrorContext, 'refusal' | 'isBanks'> {
  const own = envelope?.isBanksError ? ({ isBanks: true } as const) : {};
  if (code === 'too_many_calls' || (code === 'not_logged_in' && status === 401))
    return envelope?.isBanksError ? { refusal: 'unread', ...own } : own;
  const isSuccess = status >= 200 && status <= 299;
  const isDefinite = status !== 408 && (!isSuccess || Boolean(bankCode) || envelope?.isBanksError === true);
  if (!isDefinite || !['bank_refused', 'forbidden', 'sca_required'].includes(code)) return own;
  return { refusal: REFUSED_CONTENT.includes(status) ? 'content' : 'other', ...own };
}

/** The maximum length of a message. `--raw` shows the whole answer. */
const LONGEST_MESSAGE = 1000;

function shortened(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}

function errorCodeOf(status: number): ErrorCode {
  if (status === 401) return 'not_logged_in';
  if (status === 403) return 'forbidden';
  if (status === 420 || status === 429) return 'too_many_calls';
  if (status >= 500) return 'bank_failing';
  if (status >= 300 && status < 400) return 'bank_answer';
  return 'bank_refused';
}

function answerIds(answer: CbAnswer, envelope: Envelope | null): ErrorContext {
  return {
    httpStatus: answer.status,
    ...(envelope?.requestId && { requestId: envelope.requestId }),
    tppRequestId: answer.tppRequestId,
    transactionId: answer.call.transactionId,
  };
}

function callName({ call }: CbAnswer): string {
  return `${call.method} ${pathOf({ target: call.path })}`;
}

function answerKind(answer: CbAnswer): string {
  if (answer.body.length === 0) return ': the answer is empty';
  const type = answer.headers['content-type']?.split(';')[0];
  return type && type !== 'application/json' ? `: the answer is ${type}` : '';
}

/** A HAL link. `href` is what the bank sent: it can be relative, blank, or on a host that must not be trusted. */
export const link = z.object({
  href: text,
  method: z.pipe(
    z.nullish(z.string()),
    z.transform((m) => m ?? 'GET'),
  ),
});
export type Link = z.infer<typeof link>;

/** One of the bank's messages. A plain string becomes its text. */
const message = z.pipe(
  z.union([
    z.string(),
    z.object({
      code: z.nullish(text),
      message: z.nullish(text),
      type: z.nullish(text),
      detail: z.nullish(text),
    }),
  ]),
  z.transform((value) =>
    typeof value === 'string'
      ? { code: null, text: value, type: null, detail: null }
      : {
          code: value.code ?? null,
          text: value.message ?? '',
          type: value.type ?? null,
          detail: value.detail ?? null,
        },
  ),
);
export type BankMessage = z.infer<typeof message>;

/** The parsed envelope of a bank's answer (interface specification, "Response envelope"). */
export interface Envelope {
  /** Null for an answer without an envelope, such as plain OAuth (RFC 6749, section 5.1). Then the HTTP status decides. */
  outcome: 'SUCCESS' | 'ERROR' | null;
  /**
   * The refusal is certainly the bank's own: `result.outcome` is exactly `ERROR`. A gateway's JSON can also have the outcome
   * `ERROR` above, but does not count here.
   */
  isBanksError: boolean;
  /** With all digits. Null if the answer has none. */
  requestId: string | null;
  messages: BankMessage[];
  /** The content of the answer, not checked yet. */
  data: unknown;
  resourceId: string | null;
  next: Link | null;
  embedded: Record<string, Link>;
}

/** The bank's ids have 24 digits. Longer than 200 characters counts as none, because psd2 shows and logs the id. */
const requestId = z.pipe(text, z.string().check(z.maxLength(200)));

type JsonObject = Record<string, unknown>;

/**
 * Parses the envelope of an answer. The bank nests a second `result`, sometimes with `data` and `_links` beside it, so this
 * takes each part from the outermost place that has it. A message, link or resource in an unknown form counts as absent. The
 * caller checks `data`.
 *
 * @param body the parsed JSON
 * @returns null if `body` is not an object
 */
export function readEnvelope(body: unknown): Envelope | null {
  if (!isRecord(body)) return null;
  const levels: JsonObject[] = [];
  for (let level: unknown = body; isRecord(level) && levels.length < 4; level = level.result)
    levels.push(level);
  const find = (name: string): unknown =>
    levels
      .map((level) => level[name])
      .find((value) => value !== undefined && value !== null && !isEmpty(value));

  const outcome = find('outcome');
  const plainError = 'result' in body ? null : (body.error ?? null);
  const oauthError = readOrNull(text, plainError);
  const links = find('_links');
  const resources = find('resources');
  const data = find('data');
  return {
    isBanksError: levels.slice(1).some((level) => level.outcome === 'ERROR'),
    outcome: outcome === 'SUCCESS' ? 'SUCCESS' : 'result' in body || plainError !== null ? 'ERROR' : null,
    requestId: readOrNull(requestId, find('requestId')),
    messages:
      oauthError === null
        ? asArray(find('messages')).flatMap((item) => readOrNull(message, item) ?? [])
        : [
            {
              code: oauthError,
              text: readOrNull(text, body.error_description) ?? oauthError,
              type: 'ERROR',
              detail: null,
            },
          ],
    data: data ?? ('result' in body ? {} : body),
    resourceId: isRecord(resources) ? readOrNull(text, resources.resourceId) : null,
    next: isRecord(links) ? readOrNull(link, links.next) : null,
    embedded: Object.fromEntries(
      Object.entries(asObject(find('_embedded'))).flatMap(([name, value]) => {
        const target = readOrNull(link, value);
        return target ? [[name, target]] : [];
      }),
    ),
  };
}

function readOrNull<T>(schema: z.ZodMiniType<T>, value: unknown): T | null {
  // Most answers lack most fields, and to collect why zod refuses one takes longer than all the rest.
  if (value === undefined || value === null) return null;
  const result = schema.safeParse(value);
  return result.success ? result.data : null;
}

function isEmpty(value: unknown): boolean {
  return isRecord(value) ? Object.keys(value).length === 0 : Array.isArray(value) && value.length === 0;
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function asObject(value: unknown): JsonObject {
  return isRecord(value) ? value : {};
}
