import { isRecord } from '../../../../domain/json.ts';
import { textOf } from '../../../../domain/odd-values.ts';
import { isPage } from '../../../call/call.ts';
import type { BankMessage } from '../wire/messages.ts';

/** An answer, as far as it decides what it proves. */
export interface JudgedAnswer {
  call: {
    /** The ids of what was asked about, by their names in the path. */
    ids?: Ids;
  };
  status: number;
  headers: Readonly<Record<string, string>>;
  body: { readonly length: number };
  reply: {
    /** Undefined: it is not JSON. */
    json: unknown;
    messages: readonly BankMessage[];
    /** Its error is the bank's own, in the standard's form. */
    isBanks: boolean;
  };
}

/**
 * What an answer about a status, an authorisation or a list of them proves:
 *
 * - `says this about ours`: what it says counts
 * - `is not known`: the bank itself does not know what was asked about, with this certificate and at this minute. That is not gone
 * - `says nothing`
 */
export type StatusVerdict = 'says this about ours' | 'is not known' | 'says nothing';

/** Judges the answer to a question about a consent, a payment, an authorisation, or a list of authorisations. */
export function judgeStatus(answer: JudgedAnswer): StatusVerdict {
  if (isUnknownThere(answer)) return 'is not known';
  const isAnswer = whyNoAnswer(answer) === null && isRecord(answer.reply.json);
  return isAnswer && anotherIn(answer) === null ? 'says this about ours' : 'says nothing';
}

type Ids = Readonly<Record<string, string>>;

/** The names with which an answer says what it is about, and what that is. */
const NAMED_BY: readonly (readonly [name: string, what: string, inPath: string])[] = [
  ['paymentId', 'payment', 'paymentId'],
  ['consentId', 'consent', 'consentId'],
  ['basketId', 'signing basket', 'basketId'],
  ['authorisationId', 'authorisation', 'authorisationId'],
  ['authorizationId', 'authorisation', 'authorisationId'],
];

/** What an answer is about, if it names something else than what was asked about. Null: it names that, or nothing. */
export function anotherIn({
  call: { ids = {} },
  reply: { json },
}: {
  call: { ids?: Ids };
  reply: { json: unknown };
}): { what: string; named: string; ours: string } | null {
  if (!isRecord(json)) return null;
  for (const [name, what, inPath] of NAMED_BY) {
    const [ours, named] = [ids[inPath], textOf(json[name])?.trim()];
    if (ours !== undefined && named && named !== ours) return { what, named, ours };
  }
  return null;
}

/** Why an answer is none to a question that decides something, after "the answer": a gateway may have made or changed it. Null: it is one. */
export function whyNoAnswer(answer: Pick<JudgedAnswer, 'status' | 'headers'>): string | null {
  if (isPage(answer)) return 'is a page';
  // 203 is what a proxy has changed, and 206 a part.
  return answer.status === 200 ? null : `has HTTP ${answer.status}`;
}

/** Whether a status says that a request was carried out, or taken. */
export function isSuccess({ status }: { status: number }): boolean {
  return status >= 200 && status <= 299;
}

/** Whether an answer to an initiation may say that nothing began: a refusal, or a payment that the bank has rejected at once. */
export function mayFree({ status, body }: { status: number; body: Buffer }): boolean {
  return !isSuccess({ status }) || /RJCT/i.test(body.toString('latin1'));
}

/** The last one says that it cannot be asked about any more, which is no end either: a payment may have been executed. */
const UNKNOWN = ['RESOURCE_UNKNOWN', 'CONSENT_UNKNOWN', 'RESOURCE_EXPIRED'];

/** Whether the bank's own word is that it does not know what a call is about. These codes come with 400, 401, 403, 404 and 410. */
export function isUnknownThere(answer: Pick<JudgedAnswer, 'status' | 'reply'>): boolean {
  return isBanksRefusal(answer) && hasOnly(answer, UNKNOWN);
}

/** Statuses that a gateway gives while the bank may do what was asked. */
const NO_REFUSAL = [408, 425, 429];

/** Whether the bank itself has refused a call. */
export function isBanksRefusal({ status, reply }: Pick<JudgedAnswer, 'status' | 'reply'>): boolean {
  return reply.isBanks && status >= 400 && status < 500 && !NO_REFUSAL.includes(status);
}

/** Whether all errors of an answer have one of these codes. */
export function hasOnly({ reply }: Pick<JudgedAnswer, 'reply'>, codes: readonly string[]): boolean {
  const errors = reply.messages.filter(({ isError }) => isError);
  return errors.length > 0 && errors.every(({ code }) => code !== null && codes.includes(code));
}
