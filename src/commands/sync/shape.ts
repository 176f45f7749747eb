import * as z from 'zod/mini';
import { day, list, number, oneOf, orNull, text, time, whole } from '../shared/fields.ts';

/** The result of a sync. */
export const syncReport = () =>
  z.object({
    out: orNull(text('the folder; null if the rows are only in the database')),
    since: day('first day that psd2 asked for'),
    customers: list(
      z.object({
        customerId: text('id of the customer'),
        status: oneOf(
          ['synced', 'partly', 'waiting', 'failed'],
          'result for the customer; waiting: psd2 may not read their accounts now (--unattended-reads)',
        ),
        accounts: whole('number of accounts'),
        newTransactions: whole('number of transactions that were added'),
        pending: whole('number of pending transactions now'),
        skipped: list(z.string(), 'productId of each account that psd2 may not read now'),
        errors: list(
          z.object({
            productId: orNull(text('null if the customer could not be synced at all')),
            code: text('error code'),
            message: text('error message'),
          }),
          'failures',
        ),
      }),
      'one for each customer. With --every, or with PostgreSQL and --all-customers: only those of the last round that were not synced completely, at most 1000',
    ),
    nextReadsAt: orNull(time('when psd2 may read again what it skipped; null if it skipped nothing')),
    totals: z.object({
      customers: whole('customers who had their turn; with --every, all totals are those of the last round'),
      synced: whole('customers who were synced completely'),
      accounts: whole('accounts of all customers'),
      newTransactions: whole('new transactions of all customers'),
      pending: whole('pending transactions of all customers'),
      calls: whole('calls to the bank'),
    }),
  });

/** The progress of the round over all customers. */
export const syncStatus = () =>
  z.object({
    begunAt: time('when the round began'),
    endedAt: orNull(time('when the last customer had their turn; null while the round is open')),
    due: whole('customers who had no turn yet'),
    atWork: whole('customers that workers have taken'),
    done: z.object({
      synced: whole('customers who were synced completely'),
      partly: whole('customers with accounts that were not synced'),
      waiting: whole('customers whose accounts psd2 may not read now'),
      failed: whole('customers who could not be synced'),
    }),
    failures: list(
      z.object({
        code: text('error code'),
        customers: whole('number of customers with this failure'),
        customerId: text('one of these customers'),
        message: text('error message for that customer'),
      }),
      'failures, the most frequent first',
    ),
    needSca: list(z.string(), 'customerId of customers whose SCA the bank requires, at most 100'),
    workers: list(
      z.object({
        worker: text('process and machine'),
        customers: whole('number of customers that it has taken'),
      }),
      'workers that take part now',
    ),
    callsPerSecond: orNull(number('calls of all workers, over the last minutes; null after the end')),
    customersPerSecond: orNull(
      number('customers who had their turn, over the last minutes; null after the end'),
    ),
    doneAt: orNull(time('when the round will end at the current rate')),
  });
