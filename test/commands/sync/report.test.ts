import { describe, expect, it } from 'vitest';
import type { CustomerReport } from '../../../src/commands/sync/customers.ts';
import { incomplete, progressLine, report, SyncTally, stopped } from '../../../src/commands/sync/report.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { type ErrorCode, Psd2Error } from '../../../src/errors.ts';
import type { OutputFormat } from '../../../src/terminal/output/output.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const synced = (customerId: string, more: Partial<CustomerReport> = {}): CustomerReport => ({
  ...{
    customerId,
    status: 'synced',
    accounts: 2,
    newTransactions: 3,
    pending: 1,
    skipped: [],
    checks: [],
    errors: [],
  },
  ...more,
});
const refused = (productId: string | null, message = 'The bank says no') => ({
  ...{ productId, code: 'bank_failing', message },
});

/** What psd2 prints and says of a round. */
function reported(customers: CustomerReport[], format: OutputFormat, isTold = false) {
  const { context, printed, said } = openCommand(newConfigFolder(temporary), '2026-11-21T11:00:00.000Z', {
    format,
  });
  const tally = new SyncTally(true);
  for (const each of customers)
    tally.add(each, each.errors[0] && new Psd2Error('bank_failing', each.errors[0].message));
  tally.isTold = isTold;
  const plan = {
    ...{ out: '/banking', since: parseDate('--since', '2026-11-01') },
    ...{ unattendedReads: 4, isByConsent: false, every: undefined },
  };
  report(context, plan, tally, 7);
  return { printed: printed(), said: said() };
}

describe('the report of a sync', () => {
  const customers = [
    synced('2', { status: 'failed', accounts: 0, newTransactions: 0, pending: 0, errors: [refused(null)] }),
    synced('1'),
    synced('3', { status: 'waiting', accounts: 0, newTransactions: 0, pending: 0 }),
  ];

  it('has each customer in order, and the totals', () => {
    const { printed } = reported(customers, 'json');
    expect(JSON.parse(printed)).toEqual({
      ...{ out: '/banking', since: '2026-11-01', nextReadsAt: '2026-11-21T23:00:00.000Z' },
      customers: [customers[1], customers[0], customers[2]],
      totals: { customers: 3, synced: 1, accounts: 2, newTransactions: 3, pending: 1, calls: 7 },
    });
  });

  it('has the totals in a table', () => {
    expect(reported(customers, 'table').printed).toBe(
      'Folder\t/banking\nCustomers\t3\nCompletely synced\t1\nAccounts\t2\nNew transactions\t3\nPending\t1\nCalls\t7\n',
    );
  });

  it('warns of each failure once, with all products that have it', () => {
    const errors = [refused('A'), refused('B'), refused('C', 'Another\nreason'), refused(null)];
    const { said } = reported([synced('1', { status: 'partly', errors })], 'json');
    expect(said).toBe('Customer 1, accounts A, B: The bank says no\nCustomer 1, account C: Another reason\n');
    const whole = reported([synced('1', { status: 'failed', errors: [refused(null)] })], 'json');
    expect(whole.said).toBe('Customer 1: The bank says no\n');
  });

  it('says nothing again that the operator has seen', () => {
    expect(reported(customers, 'json', true).said).toBe('');
  });
});

describe('the error of a sync', () => {
  const failing = (...codes: ErrorCode[]) => {
    const tally = new SyncTally(true);
    tally.add(synced('0'), undefined);
    codes.forEach((code, index) => {
      tally.add(
        synced(String(index + 1), { status: 'failed', errors: [refused(null)] }),
        new Psd2Error(code, `It is ${code}`, { requestId: `r${index}` }),
      );
    });
    return tally;
  };
  const VALID = 'The data that was written is valid.';

  it('is the first failure, and says how to go on', () => {
    expect(incomplete(failing('bank_failing', 'sca_required'))).toEqual(
      new Psd2Error(
        'bank_failing',
        '2 of 3 customers could not be synced completely. First failure: It is bank_failing',
        { requestId: 'r0', hint: `${VALID} Run the same psd2 sync again to continue.` },
      ),
    );
    expect(incomplete(failing('sca_required'))).toEqual(
      new Psd2Error(
        'sca_required',
        '1 of 2 customers could not be synced completely. First failure: It is sca_required',
        {
          requestId: 'r0',
          hint: `${VALID} The customer must be present once: psd2 accounts transactions <account> sends them to the bank (name the customer with --customer). Then run the same psd2 sync again.`,
        },
      ),
    );
    expect(incomplete(failing())).toBeUndefined();
  });

  it('is that the reads of the day are used up, if nothing was read', () => {
    const tally = new SyncTally(true);
    tally.add(synced('1', { status: 'waiting', accounts: 0 }), undefined);
    expect(incomplete(tally)).toEqual(
      new Psd2Error('reads_used_up', "Nothing was read: today's reads without the customer are used up", {
        hint: 'Run the same psd2 sync again tomorrow. If the customer is present, add --psu-ip <address>.',
      }),
    );
  });

  it('after Ctrl-C says how far it came, with the first failure', () => {
    const again = 'What was read is stored. Run the same psd2 sync again to continue.';
    expect(stopped(failing(), 5)).toEqual(
      new Psd2Error('interrupted', 'Interrupted: 1 of 5 customers were done', { hint: again }),
    );
    expect(stopped(failing('forbidden'), 5)).toEqual(
      new Psd2Error('interrupted', 'Interrupted: 2 of 5 customers were done', {
        hint: `${again} First failure: It is forbidden.`,
      }),
    );
  });
});

describe('the results of customers', () => {
  const used = { code: 'reads_used_up', message: "today's reads without the customer are used up" };

  it('are what was read, and what was not, since the last time', () => {
    const tally = new SyncTally(false);
    tally.add(synced('1', { status: 'partly', errors: [refused('A')], skipped: ['B'] }), undefined);
    tally.add(synced('2', { status: 'waiting' }), undefined);
    const results = [
      { customerId: '1', failures: [refused('A'), { productId: 'B', ...used }], skipped: ['B'] },
      { customerId: '2', failures: [{ productId: null, ...used }], skipped: [] },
    ];
    expect(tally.takeResults()).toEqual(results);
    expect(tally.takeResults()).toEqual([]);
    tally.add(synced('3'), undefined);
    tally.bringBack(results);
    expect(tally.takeResults()).toEqual([...results, { customerId: '3', failures: [], skipped: [] }]);
    expect(tally.takeEnds()).toEqual([
      { customerId: '1', status: 'partly', code: 'bank_failing', message: 'The bank says no' },
      { customerId: '2', status: 'waiting', code: null, message: null },
      { customerId: '3', status: 'synced', code: null, message: null },
    ]);
    expect(tally.takeEnds()).toEqual([]);
  });

  it('spread over the day, an account that waits for its turn is not late', () => {
    const tally = new SyncTally(false, true);
    tally.add(synced('1', { status: 'partly', errors: [refused('A')], skipped: ['B'] }), undefined);
    tally.add(synced('2', { status: 'waiting' }), undefined);
    expect(tally.takeResults()).toEqual([{ customerId: '1', failures: [refused('A')], skipped: ['B'] }]);
  });

  it('count the errors by code, over all rounds', () => {
    const tally = new SyncTally(false);
    for (const customer of ['1', '2']) {
      tally.add(synced(customer, { errors: [refused('A'), refused('B')] }), undefined);
      tally.beginRound();
    }
    expect([...tally.byCode]).toEqual([['bank_failing', 4]]);
  });

  it('of a thousand customers who were not synced are kept, and of all if that is asked for', () => {
    for (const [keepsAll, kept] of [
      [false, 1000],
      [true, 1003],
    ] as const) {
      const tally = new SyncTally(keepsAll);
      tally.add(synced('0'), undefined);
      for (let index = 1; index <= 1002; index += 1)
        tally.add(synced(String(index), { status: 'failed', errors: [refused(null)] }), undefined);
      expect([tally.reports.length, tally.reports[0]?.customerId]).toEqual([kept, keepsAll ? '0' : '1']);
    }
  });
});

it.each([
  [0, 0, 0, 0, '[====================] 0 of 0 customers'],
  [500, 0, 0, 0, '[>                   ] 0 of 500 customers'],
  [500, 0, 10, 999, '[>                   ] 0 of 500 customers'],
  [500, 0, 10, 1_000, '[>                   ] 0 of 500 customers, 10.0 calls/s'],
  [500, 125, 70, 2_000, '[=====>              ] 125 of 500 customers, 35.0 calls/s, 6 s left'],
  [100, 50, 0, 89_000, '[==========>         ] 50 of 100 customers, 0.0 calls/s, 89 s left'],
  [100, 50, 0, 90_000, '[==========>         ] 50 of 100 customers, 0.0 calls/s, 2 min left'],
  [100, 50, 0, 5_399_000, '[==========>         ] 50 of 100 customers, 0.0 calls/s, 90 min left'],
  [100, 50, 0, 5_400_000, '[==========>         ] 50 of 100 customers, 0.0 calls/s, 1.5 h left'],
  [100, 100, 0, 10_000, '[====================] 100 of 100 customers, 0.0 calls/s, 0 s left'],
])('of %i customers %i were done, with %i calls in %i ms', (all, done, calls, milliseconds, line) => {
  expect(progressLine(all, done, calls, milliseconds)).toBe(line);
});
