import { expect, it } from 'vitest';
import type { CustomerReport } from '../../../src/commands/sync/customers.ts';
import { report, SyncTally } from '../../../src/commands/sync/report.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T11:00:00.000Z';
const PLAN = {
  ...{ out: undefined, since: parseDate('--since', '2026-11-01') },
  ...{ unattendedReads: 4, isByConsent: false, every: undefined },
};
const done = (customerId: string, more: Partial<CustomerReport> = {}): CustomerReport => ({
  ...{
    customerId,
    status: 'synced',
    accounts: 2,
    newTransactions: 1,
    pending: 0,
    skipped: [],
    checks: [],
    errors: [],
  },
  ...more,
});
const inPart = (customerId: string, ...skipped: string[]) => done(customerId, { status: 'partly', skipped });
const waiting = (customerId: string) =>
  done(customerId, { status: 'waiting', accounts: 0, newTransactions: 0 });
const failed = (customerId: string) =>
  done(customerId, {
    status: 'failed',
    errors: [{ productId: 'A9', code: 'bank_failing', message: 'The bank says no' }],
  });

/** What psd2 prints and says of these customers. */
function reported(customers: CustomerReport[], plan: Partial<Parameters<typeof report>[1]> = {}) {
  const { context, printed, said } = openCommand(newConfigFolder(temporary), NOW);
  const tally = new SyncTally(true);
  for (const each of customers)
    tally.add(each, each.errors[0] && new Psd2Error('bank_failing', each.errors[0].message));
  report(context, { ...PLAN, ...plan }, tally, 7);
  return { ...JSON.parse(printed()), said: said() };
}

const TOMORROW = '2026-11-21T23:00:00.000Z';

it.each([
  ['nothing', [done('1')], '', null],
  ['an account', [inPart('1', 'A1')], 'Skipped: 1 account, read 4 times', TOMORROW],
  [
    'accounts of two customers',
    [inPart('1', 'A1', 'A2'), inPart('2', 'A1')],
    'Skipped: 3 accounts, read',
    TOMORROW,
  ],
  ['a customer', [done('1'), waiting('2')], 'Skipped: 1 customer, read 4 times', TOMORROW],
  [
    'both',
    [waiting('1'), waiting('2'), inPart('3', 'A1')],
    'Skipped: 2 customers and 1 account, read',
    TOMORROW,
  ],
  ['an account, beside a failure', [inPart('1', 'A1'), failed('2')], 'Skipped: 1 account', TOMORROW],
])('a sync that skipped %s says so, and when it can be read', (_, customers, text, at) => {
  const { said, nextReadsAt } = reported(customers);
  if (text === '') expect(said).not.toContain('Skipped');
  else expect(said).toContain(text);
  expect(nextReadsAt).toBe(at);
});

it('a customer with a skipped account does not count as synced', () => {
  const { totals } = reported([done('1'), inPart('2', 'A1'), waiting('3'), failed('4')]);
  expect(totals).toEqual({ customers: 4, synced: 1, accounts: 6, newTransactions: 3, pending: 0, calls: 7 });
});

it('psd2 warns of a failure beside what it skipped', () => {
  const { said } = reported([inPart('1', 'A1'), failed('2')]);
  expect(said).toContain('Skipped: 1 account');
  expect(said).toContain('Customer 2, account A9: The bank says no');
});

it.each<[Partial<Parameters<typeof report>[1]>, string, string]>([
  [{ unattendedReads: 1 }, 'read 1 time today without the customer (--unattended-reads)', TOMORROW],
  [{ isByConsent: true }, 'read as often as the consent allows today without the customer.', TOMORROW],
  [
    { every: 60_000 },
    'reads an account 4 times a day (--unattended-reads), spread',
    '2026-11-21T17:00:00.000Z',
  ],
  [
    { every: 60_000, isByConsent: true },
    'reads an account as often as the consent allows a day, spread',
    '2026-11-21T17:00:00.000Z',
  ],
])('with %j psd2 says how often it may read', (plan, text, at) => {
  const { said, nextReadsAt } = reported([inPart('1', 'A1')], plan);
  expect(said).toContain(text);
  expect(nextReadsAt).toBe(at);
});
