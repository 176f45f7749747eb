import type * as z from 'zod/mini';
import { type ErrorCode, type ErrorContext, Psd2Error } from '../../errors.ts';
import type { BankMessage, Envelope } from '../../wire/envelope.ts';
import { findGrant } from '../../wire/oauth.ts';
import { pathOf } from '../transport/connection.ts';
import { jsonOf, takeEnvelope } from './answer-json.ts';
import type { Answer } from './exchange.ts';

/** A successful answer: its parsed content and its envelope. */
export interface Reading<T> {
  data: T;
  envelope: Envelope;
  /** Warnings and infos for the operator. */
  notices: BankMessage[];
  /** When the bank answered, by the bank's clock (`Date`; RFC 9110, section 6.6.1). */
  answeredAt?: Date | undefined;
}

/** The call that grants tokens (interface specification, "OAuth"). */
export const TOKEN_PATH = '/auth/oauth/v2/token';

const SCA_REQUIRED = 'PSD2_SCA_REQUIRED';

/**
 * Reads an answer: opens the envelope and checks `data` against `schema`.
 *
 * @throws Psd2Error for every unsuccessful answer (interface specification, "Errors"), and `bank_answer` for a success
 *   without a required field. The message names the field and the request.
 */
export async function readAnswer<T>(answer: Answer, schema: z.ZodMiniType<T>): Promise<Reading<T>> {
  const grant = await grantIn(answer);
  const envelope = withGrant(await takeEnvelope(answer), grant);
  if (answer.status < 200 || answer.status > 299 || envelope?.outcome === 'ERROR')
    throw toError(answer, envelope);
  if (!envelope && answer.status !== 204) {
    const what = (await jsonOf(answer)) === undefined ? 'not JSON' : 'no JSON object';
    throw new Psd2Error(
      'bank_answer',
      `The bank's answer to ${nameOf(answer)} is ${what}${kindOf(answer)}`,
      idsOf(answer, envelope),
    );
  }
  if (envelope?.outcome === null && needsEnvelope(answer)) {
    throw new Psd2Error(
      'bank_answer',
      `The bank's answer to ${nameOf(answer)} has no result.outcome`,
      idsOf(answer, envelope),
    );
  }
  const read = envelope ?? NO_CONTENT;
  const result = schema.safeParse(read.data);
  if (!result.success) {
    const issue = result.error.issues[0];
    const field = ['data', ...(issue?.path ?? [])].join('.');
    throw new Psd2Error(
      'bank_answer',
      `The bank's answer to ${nameOf(answer)} has no usable ${field}: ${issue?.message ?? 'unreadable'}`,
      idsOf(answer, envelope),
    );
  }
  return {
    data: result.data,
    envelope: read,
    notices: read.messages.filter(({ type }) => type === 'WARNING' || type === 'INFO'),
    answeredAt: dateOf(answer),
  };
}

/** What a successful answer to a token call grants. */
async function grantIn(answer: Answer): Promise<object | undefined> {
  const isTokenCall = answer.call.path === TOKEN_PATH && answer.status >= 200 && answer.status <= 299;
  return isTokenCall ? findGrant(await jsonOf(answer)) : undefined;
}

/**
 * The envelope of an answer with tokens. The bank has spent the code or the refresh token, so an envelope in an unknown form
 * does not matter, unless it says `ERROR`.
 */
function withGrant(envelope: Envelope | null, grant: object | undefined): Envelope | null {
  if (!grant || envelope?.isBanksError) return envelope;
  return { ...(envelope ?? NO_CONTENT), outcome: 'SUCCESS', data: grant };
}

function dateOf({ headers }: Answer): Date | undefined {
  const date = new Date(headers.date ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** A call that changes something counts as done only if the bank's envelope says so. OAuth calls have no envelope. */
function needsEnvelope({ call }: Answer): boolean {
  return call.method !== 'GET' && !call.path.startsWith('/auth/oauth/');
}

/**
 * Reads the bytes of an answer that is a document and has no envelope.
 *
 * @throws Psd2Error as {@link readAnswer} for an unsuccessful answer, `bank_answer` if there is no document
 */
export async function readDocument(answer: Answer): Promise<Buffer> {
  const envelope = await takeEnvelope(answer);
  if (answer.status < 200 || answer.status > 299 || envelope?.outcome === 'ERROR')
    throw toError(answer, envelope);
  if (envelope || answer.body.length === 0 || /^text\/html\b/i.test(answer.headers['content-type'] ?? '')) {
    throw new Psd2Error(
      'bank_answer',
      `The bank answered ${nameOf(answer)} without a document`,
      idsOf(answer, envelope),
    );
  }
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
function toError(answer: Answer, envelope: Envelope | null): Psd2Error {
  const { status } = answer;
  const message =
    envelope?.messages.find(({ type }) => type === 'ERROR') ??
    envelope?.messages.find(({ code }) => code) ??
    envelope?.messages[0];
  const said = message && shortened([message.text, message.detail].filter(Boolean).join(' – '));
  const code: ErrorCode = envelope?.messages.some(
    (item) => item.code === SCA_REQUIRED || item.text === SCA_REQUIRED,
  )
    ? 'sca_required'
    : codeOf(status);
  const words: Record<string, string> = {
    sca_required: `The bank requires the customer to authenticate again before ${nameOf(answer)}`,
    not_logged_in: `The bank does not accept the token or the client for ${nameOf(answer)}`,
    forbidden: `The bank does not allow ${nameOf(answer)}`,
    too_many_calls: 'The bank allows no more calls at the moment',
    bank_failing: `The bank failed on ${nameOf(answer)}`,
    bank_answer: `The bank answered ${nameOf(answer)} with a redirect. psd2 does not follow it`,
    bank_refused: `The bank refused ${nameOf(answer)}`,
  };
  const advice: Partial<Record<ErrorCode, Pick<ErrorContext, 'hint' | 'next'>>> = {
    not_logged_in: answer.call.path.startsWith('/auth/oauth/')
      ? { hint: 'Check the client id and the client secret of the profile.' }
      : { next: [['auth', 'login']] },
    forbidden: {
      hint: 'The application may lack the PSD2 role for this call, or the customer has not consented. Ask for it with:',
      next: [['consent', 'request']],
    },
    too_many_calls: {
      hint: answer.headers['retry-after']
        ? `The bank says: retry after ${answer.headers['retry-after']}.`
        : 'Wait, then try again.',
    },
  };
  return new Psd2Error(code, `${words[code]} (HTTP ${status})${said ? `: ${said}` : kindOf(answer)}`, {
    ...idsOf(answer, envelope),
    ...advice[code],
    ...(message?.code && { bankCode: shortened(message.code) }),
    ...(envelope?.isBanksError && { outcome: 'ERROR' as const }),
    ...(envelope?.resourceId && { resourceId: envelope.resourceId }),
  });
}

/** The maximum length of a message. `--raw` shows the whole answer. */
const LONGEST_MESSAGE = 1000;

function shortened(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return 'not_logged_in';
  if (status === 403) return 'forbidden';
  if (status === 420 || status === 429) return 'too_many_calls';
  if (status >= 500) return 'bank_failing';
  if (status >= 300 && status < 400) return 'bank_answer';
  return 'bank_refused';
}

function idsOf(answer: Answer, envelope: Envelope | null): ErrorContext {
  return {
    httpStatus: answer.status,
    ...(envelope?.requestId && { requestId: envelope.requestId }),
    tppRequestId: answer.tppRequestId,
    transactionId: answer.call.transactionId,
  };
}

function nameOf({ call }: Answer): string {
  return `${call.method} ${pathOf({ target: call.path })}`;
}

function kindOf(answer: Answer): string {
  if (answer.body.length === 0) return ': the answer is empty';
  const type = answer.headers['content-type']?.split(';')[0];
  return type && type !== 'application/json' ? `: the answer is ${type}` : '';
}
