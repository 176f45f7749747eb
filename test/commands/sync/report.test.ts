import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CustomerReport } from '../../../src/commands/sync/customers.ts';
import { notifyOfFailed } from '../../../src/commands/sync/notify-failed.ts';
import { incomplete, progressLine, report, SyncTally, stopped } from '../../../src/commands/sync/report.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { type ErrorCode, Psd2Error } from '../../../src/errors.ts';
import type { OutputFormat } from '../../../src/terminal/output/output.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T11:00:00.000Z';
const synced = (customerId: string, more: Partial<CustomerReport> = {}): CustomerReport => ({
  ...{ customerId, status: 'synced', accounts: 2, newTransactions: 3, pending: 1 },
  ...{ skipped: [], checks: [], errors: [], ...more },
});
const refused = (productId: string | null, message = 'The bank says no') => ({
  ...{ productId, code: 'bank_failing', message },
});

const inPart = (customerId: string, ...skipped: string[]) =>
  synced(customerId, { status: 'partly', skipped });
const waiting = (customerId: string) =>
  synced(customerId, { status: 'waiting', accounts: 0, newTransactions: 0, pending: 0 });
const failed = (customerId: string) => synced(customerId, { status: 'failed', errors: [refused(null)] });

/** A tally of these customers, of whom every failure is one of the bank. */
function tallyOf(customers: CustomerReport[]) {
  const tally = new SyncTally(true);
  for (const each of customers)
    tally.add(each, each.errors[0] && new Psd2Error('bank_failing', each.errors[0].message));
  return tally;
}

type Plan = Parameters<typeof report>[1];

/** What psd2 prints and says of a round. */
function reported(
  customers: CustomerReport[],
  format: OutputFormat,
  own: Partial<Plan> = {},
  isTold = false,
) {
  const { context, printed, said } = openCommand(newConfigFolder(temporary), NOW, { format });
  const tally = Object.assign(tallyOf(customers), { isTold });
  const plan: Plan = {
    ...{ out: '/banking', since: parseDate('--since', '2026-11-01') },
    ...{ unattendedReads: 4, isByConsent: false, every: undefined, ...own },
  };
  report(context, plan, tally, 7);
  return { printed: printed(), said: said() };
}

const TOMORROW = '2026-11-21T23:00:00.000Z';
const NEXT_TURN = '2026-11-21T17:00:00.000Z';

describe('the report of a sync', () => {
  const NONE = { accounts: 0, newTransactions: 0, pending: 0 };
  const nothing = synced('2', { status: 'failed', ...NONE, errors: [refused(null)] });
  const customers = [nothing, synced('1'), waiting('3'), inPart('4', 'A1')];

  it('has each customer in order, and the totals, of which a skipped account makes no complete customer', () => {
    const { printed, said } = reported(customers, 'json');
    expect(JSON.parse(printed)).toEqual({
      ...{ out: '/banking', since: '2026-11-01', nextReadsAt: TOMORROW },
      customers: [customers[1], customers[0], ...customers.slice(2)],
      totals: { customers: 4, synced: 1, accounts: 4, newTransactions: 6, pending: 2, calls: 7 },
    });
    expect(said).toMatch(/^Skipped: 1 customer and 1 account, .*\nCustomer 2: The bank says no\n$/);
    expect(reported(customers, 'json', {}, true).said).toBe('');
    expect(reported(customers, 'table').printed).toBe(
      'Folder\t/banking\nCustomers\t4\nCompletely synced\t1\nAccounts\t4\nNew transactions\t6\nPending\t2\nCalls\t7\n',
    );
  });

  it('warns of each failure once, with all products that have it', () => {
    const errors = [refused('A'), refused('B'), refused('C', 'Another\nreason'), refused(null)];
    const { said } = reported([synced('1', { status: 'partly', errors })], 'json');
    expect(said).toBe('Customer 1, accounts A, B: The bank says no\nCustomer 1, account C: Another reason\n');
  });

  const check = (productId: string, more: Partial<CustomerReport['checks'][number]> = {}) => ({
    ...{
      productId,
      balanced: null,
      difference: null,
      complete: true,
      certainFrom: null,
      certainThrough: null,
    },
    ...{ late: 0, coming: 0, cancelled: 0, replaced: 0, vanished: 0, changed: 0, takenFor: null, ...more },
  });

  it('warns of what is not certain of an account, also of one that was synced, and keeps that report', () => {
    const doubtful = synced('2', {
      checks: [
        check('A'),
        check('B', { late: 1, changed: 1 }),
        check('C', { balanced: false, difference: '1.00' }),
      ],
    });
    const certain = synced('1', { checks: [check('A'), check('B', { coming: 1, balanced: true })] });
    expect(reported([doubtful, certain], 'json').said).toBe(
      'Customer 2, account B: 1 transaction arrived late, for days that had been read; 1 transaction changed text or day, and no id of the bank names them for certain.\n' +
        "Customer 2, account C: the bank's balance differs by 1.00 from the stored transactions.\n",
    );
    expect(reported([doubtful, certain], 'json', {}, true).said).toBe('');
    const tally = new SyncTally(false);
    for (const each of [certain, doubtful]) tally.add(each, undefined);
    expect(tally.reports).toEqual([doubtful]);
    expect(tally.takeResults().map(({ customerId, doubts }) => [customerId, doubts?.length])).toEqual([
      ['1', undefined],
      ['2', 2],
    ]);
  });

  const ONE = [inPart('1', 'A1')];
  const SPREAD = 'spread over the day, and pauses after failed reads. The next turn begins at ';
  const TODAY = 'today without the customer';
  const OPTION = '(--unattended-reads)';
  const BY_CONSENT = `an account as often as the consent allows a day, ${SPREAD}`;
  const TURNS = { every: 60_000, isByConsent: true };
  it.each<[string, CustomerReport[], Partial<Plan>, string, string | null]>([
    ['nothing', [synced('1')], {}, '', null],
    ['an account', ONE, {}, `Skipped: 1 account, read 4 times ${TODAY} ${OPTION}.`, TOMORROW],
    ['accounts', [inPart('1', 'A1', 'A2'), inPart('2', 'A1')], {}, 'Skipped: 3 accounts, read', TOMORROW],
    ['a customer', [synced('1'), waiting('2')], {}, 'Skipped: 1 customer, read 4 times', TOMORROW],
    ['both', [waiting('1'), waiting('2'), ...ONE], {}, 'Skipped: 2 customers and 1 account, read', TOMORROW],
    ['one read a day', ONE, { unattendedReads: 1 }, `read 1 time ${TODAY} ${OPTION}.`, TOMORROW],
    ['by the consent', ONE, { isByConsent: true }, `read as often as the consent allows ${TODAY}.`, TOMORROW],
    ['in turns', ONE, { every: 60_000 }, `an account 4 times a day ${OPTION}, ${SPREAD}`, NEXT_TURN],
    ['in turns by the consent', ONE, TURNS, BY_CONSENT, NEXT_TURN],
  ])('says what psd2 skipped, and when it can be read: %s', (_, of, plan, text, at) => {
    const { said, printed } = reported(of, 'json', plan);
    expect([said.includes('Skipped'), JSON.parse(printed).nextReadsAt]).toEqual([text !== '', at]);
    expect(said).toContain(text);
  });
});

describe('the error of a sync', () => {
  const failing = (...codes: ErrorCode[]) => {
    const tally = new SyncTally(true);
    tally.add(synced('0'), undefined);
    for (const [index, code] of codes.entries())
      tally.add(failed(`${index}`), new Psd2Error(code, `It is ${code}`, { requestId: `r${index}` }));
    return tally;
  };

  it('is the first failure, and says how to go on', () => {
    const first = (share: string, code: ErrorCode, advice: string) =>
      new Psd2Error(code, `${share} customers could not be synced completely. First failure: It is ${code}`, {
        ...{ requestId: 'r0', hint: `The data that was written is valid. ${advice}` },
      });
    expect(incomplete(failing('bank_failing', 'sca_required'))).toEqual(
      first('2 of 3', 'bank_failing', 'Run the same psd2 sync again to continue.'),
    );
    const present =
      'The customer must be present once: psd2 accounts transactions <account> sends them to the bank (name the customer with --customer). Then run the same psd2 sync again.';
    const refused = new SyncTally(true);
    refused.add(failed('1'), new Psd2Error('forbidden', 'No', { hint: 'See the roles with:' }));
    refused.add(failed('2'), undefined);
    expect(incomplete(refused)?.hint).toBe('The data that was written is valid. See the roles with:');
    expect(incomplete(failing('bank_refused'))).toEqual(
      new Psd2Error(
        'bank_refused',
        '1 of 2 customers could not be synced completely. First failure: It is bank_refused',
        {
          ...{ requestId: 'r0', hint: 'The data that was written is valid.' },
        },
      ),
    );
    expect(incomplete(failing('sca_required'))).toEqual(first('1 of 2', 'sca_required', present));
    expect(incomplete(failing())).toBeUndefined();
  });

  it.each<[ErrorCode, boolean]>([
    ['bank_failing', true],
    ['bank_unreachable', true],
    ['too_many_calls', true],
    ['list_changed', true],
    ['overtaken', true],
    ['config', true],
    ['bank_refused', false],
    ['bank_answer', false],
    ['forbidden', false],
    ['not_logged_in', false],
    ['needs_attention', false],
    ['certificate', false],
  ])('of %s may pass: %s, else its own advice counts', (code, mayPass) => {
    const tally = new SyncTally(true);
    tally.add(failed('1'), new Psd2Error(code, 'No', { hint: 'Do this.' }));
    expect(incomplete(tally)?.hint).toBe(
      `The data that was written is valid. ${mayPass ? 'Run the same psd2 sync again to continue.' : 'Do this.'}`,
    );
  });

  const ALL_USED_UP = new Psd2Error(
    'reads_used_up',
    "Nothing was read: today's reads without the customer are used up",
    { hint: 'Run the same psd2 sync again tomorrow. If the customer is present, add --psu-ip <address>.' },
  );
  it('nobody was read, and consents say how often: one for one reading is read tomorrow neither', () => {
    expect(incomplete(tallyOf([waiting('1')]), true)?.hint).toContain(
      'needs a new one: psd2 consent request',
    );
  });

  it.each<[string, CustomerReport[], Psd2Error | undefined]>([
    ['nobody was read', [waiting('1')], ALL_USED_UP],
    ['each account was skipped', [waiting('1'), inPart('2', 'A1', 'A2')], ALL_USED_UP],
    ['some customers were read', [waiting('1'), synced('3', { accounts: 1 })], undefined],
    ['some accounts were read', [inPart('2', 'A1')], undefined],
    ['a customer has no accounts', [waiting('1'), synced('3', { accounts: 0 })], undefined],
    ['there was no customer', [], undefined],
  ])('is that the reads of the day are used up only if nothing was read: %s', (_, customers, error) => {
    expect(incomplete(tallyOf(customers))).toEqual(error);
  });

  it('is a failure before the reads that are used up', () => {
    expect(incomplete(tallyOf([waiting('1'), failed('3')]))?.code).toBe('bank_failing');
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

  it('the totals are those of a round, and the counts by result and by code go on', () => {
    const tally = new SyncTally(false);
    const refusals = [refused('A'), refused('B')];
    tally.add({ ...inPart('1', 'A1'), errors: refusals }, new Psd2Error('forbidden', 'No'));
    tally.add(waiting('2'), undefined);
    expect([tally.reports.length, tally.skipped]).toEqual([2, { customers: 1, accounts: 1 }]);
    tally.beginRound();
    expect(tally).toMatchObject({
      ...{ reports: [], skipped: { customers: 0, accounts: 0 }, totals: { customers: 0 }, incomplete: 0 },
      ...{ firstFailure: undefined, byStatus: { partly: 1, waiting: 1 } },
    });
    tally.add(waiting('2'), undefined);
    expect(tally.hasReadNothing).toBe(true);
    tally.add(failed('1'), undefined);
    expect([...tally.byCode]).toEqual([['bank_failing', 3]]);
  });

  it('of a thousand customers who were not synced are kept, and of all if that is asked for', () => {
    for (const keepsAll of [false, true]) {
      const tally = new SyncTally(keepsAll);
      tally.add(synced('0'), undefined);
      for (let index = 1; index <= 1002; index += 1) tally.add(failed(`${index}`), undefined);
      expect([tally.reports.length, tally.reports[0]?.customerId]).toEqual(
        keepsAll ? [1003, '0'] : [1000, '1'],
      );
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

describe("what the operator's command gets of the failures of a sync", () => {
  /** Tells of rounds, one after the other. @param one the customer of a sync of one alone */
  function notifier() {
    const folder = newConfigFolder(temporary);
    const file = join(folder.root, '..', 'notified.ndjson');
    const env = { PSD2_NOTIFY: `sh -c 'cat >> "$0"' ${file}` };
    return async (one: string | undefined, ...rounds: CustomerReport[][]): Promise<unknown[]> => {
      writeFileSync(file, '');
      const { context } = openCommand(folder, NOW, { env });
      const tally = new SyncTally(true);
      for (const round of rounds) {
        tally.beginRound();
        for (const each of round) tally.add(each, undefined);
        await notifyOfFailed(context, tally, one);
      }
      const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line));
    };
  }

  const failing = (customerId: string, ...errors: [product: string | null, code: string][]) =>
    synced(customerId, {
      status: 'failed',
      errors: errors.map(([productId, code]) => ({ productId, code, message: `It is ${code}` })),
    });
  const failure = (customerId: string, productId: string | null, code: string) => ({
    ...{ customerId, productId, code, message: `It is ${code}` },
  });
  const COMMAND = ['psd2', '--profile', 'env', 'sync', 'status', '--failed'];
  const ONE = failing('1', ['A', 'bank_failing']);
  const TWO = failing('2', [null, 'forbidden']);
  const [BOTH, WELL] = [[ONE, TWO], [synced('1')]];

  it('names what has failed in the first failed round, and the command that lists it', async () => {
    const round = [
      ...WELL,
      failing('2', ['A', 'sca_required'], ['B', 'bank_failing']),
      failing('3', [null, 'x']),
    ];
    expect(await notifier()(undefined, round)).toEqual([
      {
        ...{ profile: 'env', kind: 'sync', customerId: null, failed: 2, customers: 3, next: COMMAND },
        ...{ code: 'sca_required', message: 'It is sca_required' },
        failures: [
          ...[failure('2', 'A', 'sca_required'), failure('2', 'B', 'bank_failing'), failure('3', null, 'x')],
        ],
      },
    ]);
    expect(await notifier()('2', [TWO])).toMatchObject([{ customerId: '2', failed: 1, customers: 1 }]);
  });

  it('is the first twenty of many', async () => {
    const round = Array.from({ length: 25 }, (_, index) => failing(`c${index}`, [null, 'forbidden']));
    expect(await notifier()(undefined, round)).toMatchObject([{ failed: 25, failures: { length: 20 } }]);
  });

  it.each<[string, number, CustomerReport[][]]>([
    ['nothing has failed', 0, [WELL, WELL]],
    ['the same fails again', 1, [BOTH, BOTH]],
    ['the same fails in another order', 1, [BOTH, BOTH.toReversed()]],
    ['another customer fails too', 2, [[ONE], BOTH]],
    ['another account fails', 2, [[ONE], [failing('1', ['B', 'bank_failing'])]]],
    ['it fails for another reason', 2, [[ONE], [failing('1', ['A', 'sca_required'])]]],
    ['another customer fails', 2, [[ONE], [failing('2', ['A', 'bank_failing'])]]],
    ['it fails again after a good round', 2, [[ONE], WELL, [ONE]]],
  ])('if %s, comes %i times', async (_, times, rounds) => {
    expect(await notifier()(undefined, ...rounds)).toHaveLength(times);
  });

  it('is not forgotten of the others in a good round of one customer', async () => {
    const notify = notifier();
    expect(await notify(undefined, [ONE])).toHaveLength(1);
    expect(await notify('2', [TWO])).toHaveLength(1);
    expect(await notify('3', [synced('3')])).toHaveLength(0);
    expect(await notify('2', [TWO])).toHaveLength(0);
    expect(await notify(undefined, [ONE])).toHaveLength(0);
    expect(await notify('2', [synced('2')], [TWO])).toHaveLength(1);
  });
});
