import * as z from 'zod/mini';
import { day, list, number, oneOf, orNull, text, time, whole } from '../shared/fields.ts';

/** What a sync did. */
export const syncReport = () =>
  z.object({
    out: orNull(text('the folder; null where the rows are in the database alone')),
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
      'one for each; with PostgreSQL and all customers, or --every, those of the last round that were not synced completely, at most 1000',
    ),
    nextReadsAt: orNull(time('when what was skipped may be read again; null where nothing was')),
    totals: z.object({
      customers: whole('that had their turn'),
      synced: whole('customers that were synced completely'),
      accounts: whole('over all customers'),
      newTransactions: whole('over all customers'),
      pending: whole('over all customers'),
      calls: whole('made to the bank'),
    }),
  });

/** How far the round over all customers is. */
export const syncStatus = () =>
  z.object({
    begunAt: time('when the round began'),
    endedAt: orNull(time('when all customers had had their turn; null while some have not')),
    due: whole('customers whose turn is to come'),
    atWork: whole('customers that workers have'),
    done: z.object({
      synced: whole('customers that were synced completely'),
      partly: whole('customers with accounts that were not'),
      waiting: whole('customers who were read as often as they may be today'),
      failed: whole('customers who could not be synced'),
    }),
    failures: list(
      z.object({
        code: text('as in an error'),
        customers: whole('how many it happened to'),
        customerId: text('one of them'),
        message: text('what happened to that one'),
      }),
      'what went wrong, most often first',
    ),
    needSca: list(z.string(), 'customerId of those whose SCA the bank wants, at most 100'),
    workers: list(
      z.object({ worker: text('process and machine'), customers: whole('how many it has') }),
      'who takes part now',
    ),
    callsPerSecond: orNull(
      number('made to the bank by all workers, over the last minutes; null after the end'),
    ),
    customersPerSecond: orNull(number('that had their turn, over the last minutes; null after the end')),
    doneAt: orNull(time('when it will be done if it goes on like this')),
  });
