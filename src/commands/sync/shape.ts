import * as z from 'zod/mini';
import { day, list, oneOf, orNull, text, time, whole } from '../shared/fields.ts';

/** What a sync did. */
export const syncReport = () =>
  z.object({
    out: text('the folder'),
    since: day('the first day that was asked for'),
    customers: list(
      z.object({
        customerId: text('whose folder it is'),
        status: oneOf(
          ['synced', 'partly', 'waiting', 'failed'],
          'how far psd2 came; waiting: all accounts were read as often as they may be today',
        ),
        accounts: whole('how many there are'),
        newTransactions: whole('how many were added'),
        pending: whole('how many there are now'),
        skipped: list(z.string(), 'productId of each account that was read as often as it may be today'),
        errors: list(
          z.object({
            productId: orNull(text('null: the customer as a whole could not be synced')),
            code: text('as in an error'),
            message: text('in words'),
          }),
          'what went wrong',
        ),
      }),
      'one for each',
    ),
    nextReadsAt: orNull(time('when what was skipped may be read again; null where nothing was')),
    totals: z.object({
      synced: whole('customers that were synced completely'),
      accounts: whole('over all customers'),
      newTransactions: whole('over all customers'),
      pending: whole('over all customers'),
      calls: whole('made to the bank'),
    }),
  });
