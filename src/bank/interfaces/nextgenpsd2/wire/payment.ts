import * as z from 'zod/mini';
import { accountReference } from './accounts.ts';
import { scaPart } from './consent.ts';
import { costPart } from './costs.ts';
import {
  amount,
  headerId,
  listOf,
  optionalFlag,
  optionalMessage,
  optionalStatusOf,
  optionalWords,
  statusOf,
  words,
} from './fields.ts';

/** The standard's words for the status of a payment. */
const TRANSACTION_STATUSES = [
  'RCVD',
  'PDNG',
  'PATC',
  'ACTC',
  'ACCP',
  'ACFC',
  'ACWC',
  'ACWP',
  'ACSP',
  'ACSC',
  'ACCC',
  'PART',
  'RJCT',
  'CANC',
];
export const transactionStatus = statusOf(TRANSACTION_STATUSES);

const optionalAmount = z.catch(z.nullish(amount), null);

/** The answer to an initiation. */
export const paymentAnswer = z.object({
  transactionStatus,
  paymentId: headerId,
  ...costPart,
  ...scaPart,
});

/** What an initiation has begun, whatever else is in the answer. */
export const begunAnswer = z.object({ paymentId: headerId });
/** The same of a signing basket. */
export const begunBasketAnswer = z.object({ basketId: headerId });

/** A bulk payment as the bank has it. Not every bank says what became of its entries. */
export const bulkAnswer = z.object({
  transactionStatus: optionalStatusOf(TRANSACTION_STATUSES),
  payments: z.catch(
    z.nullish(
      z.array(
        // Banks have fields of their own for why they have rejected an entry.
        z.looseObject({
          endToEndIdentification: optionalWords,
          transactionStatus: optionalStatusOf(TRANSACTION_STATUSES),
        }),
      ),
    ),
    null,
  ),
});

/** A payment as the bank has it, as far as it says which payment it is and what it debits. */
export const paymentInformation = z.object({
  paymentId: optionalWords,
  creditorAccount: z.catch(z.nullish(z.object({ iban: optionalWords })), null),
  instructedAmount: optionalAmount,
  debtorAccount: accountReference,
});

/** The status of a payment. One that names its payment must name the one that was asked for. */
export const paymentStatusAnswer = z.object({
  transactionStatus,
  paymentId: optionalWords,
  psuMessage: optionalMessage,
  ...costPart,
});

/** The answer to a cancellation that the customer must authorise. */
export const cancellationAnswer = z.object({
  transactionStatus: optionalStatusOf(TRANSACTION_STATUSES),
  ...scaPart,
});

/** The list of the authorisations of a payment. */
export const authorisationsAnswer = z.object({ authorisationIds: listOf(words) });

/** The answer to a confirmation of funds. */
export const fundsAnswer = z.object({ fundsAvailable: z.pipe(optionalFlag, z.boolean()) });
