import type { Psd2Error } from '../../../../errors.ts';
import type { BankDescription } from '../description/schema.ts';
import { type GivenAnswer, readOwnError } from './own-answer.ts';
import { requestIdOf, type SentInitiation } from './sent.ts';

/** Statuses with which a server says that it does not have the operation at all. */
export const NO_OPERATION = [404, 405, 501];

/** Whether a bank may not have a call at all, whoever says so. Nothing follows from that but how psd2 asks otherwise. */
export function mayLackCall({ httpStatus = 0 }: Pick<Psd2Error, 'httpStatus'>): boolean {
  return NO_OPERATION.includes(httpStatus);
}

/** Codes about what the request names. A bank that does not have the operation has not looked at that. */
const OF_CONTENT = /^(RESOURCE|REFERENCE|STATUS|CONSENT|PAYMENT)_/;

/**
 * Whether a bank has no signing baskets, by its answer to a new one. Here it does not matter whose word it is: nobody has the link of a
 * basket without an answer, and the bank has the payments in it already. But a bank that does not know one of them has baskets.
 */
export function lacksBaskets(answer: GivenAnswer, sent: SentInitiation, bank: BankDescription): boolean {
  if (!NO_OPERATION.includes(answer.status)) return false;
  const own = readOwnError(answer, requestIdOf(sent, bank), bank);
  return 'nobodys' in own || !own.messages.some(({ code }) => code !== null && OF_CONTENT.test(code));
}
