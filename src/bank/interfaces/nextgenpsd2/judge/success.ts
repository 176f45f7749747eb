import { isRecord } from '../../../../domain/json.ts';
import { begunAnswer, begunBasketAnswer } from '../wire/payment.ts';
import { DUPLICATE_REASON } from './duplicate.ts';
import type { Lookup } from './named-fields.ts';
import { type GivenAnswer, readOwnJson } from './own-answer.ts';
import { requestIdOf, withoutSent } from './sent.ts';
import { isSuccess } from './status.ts';
import { decoded } from './texts.ts';
import { duplicateIn } from './word-search.ts';

/** What an initiation begins. */
export type Begun = 'payment' | 'signing basket';

/** What a success says of an initiation. `isDuplicate`: the bank has rejected it because it has another one like it. */
export type SuccessVerdict =
  | { says: 'began' }
  | { says: 'nothing began' | 'unknown'; why: string; isDuplicate?: true };

/**
 * Reads an answer with 2xx: a payment, or a signing basket, began if the answer has its id and no error. With 201, a bank also says that
 * it has rejected one.
 */
export function judgeSuccess(
  answer: GivenAnswer,
  { sent, bank, content }: Lookup,
  what: Begun = 'payment',
): SuccessVerdict {
  const own = readOwnJson(answer, requestIdOf(sent, bank), bank);
  if ('nobodys' in own)
    return { says: 'unknown', why: `The answer is a success, but not the bank's own: ${own.nobodys}` };
  const { json } = own;
  if (String(json.transactionStatus).trim().toUpperCase() === 'RJCT') {
    const texts = textsIn(json).map((text) => withoutSent(decoded(text), content));
    const word = texts.map((text) => DUPLICATE_REASON.exec(text)?.[0] ?? duplicateIn(text)).find(Boolean);
    if (word !== undefined)
      return {
        says: 'unknown',
        why: `The bank rejected it as one of two, so there is another one: "${word}"`,
        isDuplicate: true,
      };
    return answer.status === 201
      ? { says: 'nothing began', why: 'The bank rejected the payment' }
      : {
          says: 'unknown',
          why: `The bank rejected the payment with HTTP ${answer.status}, and not with 201`,
        };
  }
  if (hasError(json)) return { says: 'unknown', why: 'The answer is a success and has an error' };
  return idOfBegun(json, what) === undefined
    ? { says: 'unknown', why: `The answer is a success without the id of a ${what}` }
    : { says: 'began' };
}

/**
 * The id of what an initiation has begun, as the log of calls keeps it, should psd2 be killed before the journal has it. Undefined: the
 * answer has none, or is not the bank's own.
 */
export function begunBy(
  answer: GivenAnswer,
  { sent, bank }: Pick<Lookup, 'sent' | 'bank'>,
  what: Begun,
): string | undefined {
  if (!isSuccess(answer)) return undefined;
  const own = readOwnJson(answer, requestIdOf(sent, bank), bank);
  return 'nobodys' in own ? undefined : idOfBegun(own.json, what);
}

function idOfBegun(json: Readonly<Record<string, unknown>>, what: Begun): string | undefined {
  return what === 'payment'
    ? begunAnswer.safeParse(json).data?.paymentId
    : begunBasketAnswer.safeParse(json).data?.basketId;
}

function hasError(json: Readonly<Record<string, unknown>>): boolean {
  const { tppMessages } = json;
  const messages: unknown[] = Array.isArray(tppMessages) ? tppMessages : [tppMessages];
  const isError = (message: unknown) =>
    isRecord(message) && String(message.category).trim().toUpperCase() === 'ERROR';
  return messages.some(isError) || (typeof json.code === 'string' && typeof json.title === 'string');
}

/** Members that are no words about the payment. */
const NO_WORDS = ['_links', 'paymentId', 'transactionStatus', 'scaStatus'];

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => (NO_WORDS.includes(name) ? [] : textsIn(each)));
}
