import * as z from 'zod/mini';
import { scaPart } from './consent.ts';
import { amount, headerId, optionalWords, words } from './fields.ts';

const optionalAmount = z.catch(z.nullish(amount), null);

/** The answer to an initiation. */
export const paymentAnswer = z.object({
  transactionStatus: words,
  paymentId: headerId,
  transactionFees: optionalAmount,
  currencyConversionFee: optionalAmount,
  estimatedTotalAmount: optionalAmount,
  transactionFeeIndicator: z.catch(z.nullish(z.boolean()), null),
  ...scaPart,
});

/** What an initiation has begun, whatever else is in the answer. */
export const begunAnswer = z.object({ paymentId: headerId });

/** A bulk payment as the bank has it. Not every bank says what became of its entries. */
export const bulkAnswer = z.object({
  payments: z.catch(
    z.nullish(z.array(z.object({ endToEndIdentification: optionalWords, transactionStatus: optionalWords }))),
    null,
  ),
});

/** The status of a payment. One that names its payment must name the one that was asked for. */
export const paymentStatusAnswer = z.object({
  transactionStatus: words,
  paymentId: optionalWords,
  psuMessage: optionalWords,
});

/** The answer to a cancellation that the customer must authorise. */
export const cancellationAnswer = z.object({ transactionStatus: optionalWords, ...scaPart });

/** The list of the authorisations of a payment. */
export const authorisationsAnswer = z.object({ authorisationIds: z.array(words) });

/** The answer to a confirmation of funds. */
export const fundsAnswer = z.object({ fundsAvailable: z.boolean() });
