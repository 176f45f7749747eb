import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CustomerReport } from '../../../src/commands/sync/customers.ts';
import { helpOf } from '../../../src/commands/sync/failed.ts';
import { SyncTally } from '../../../src/commands/sync/report.ts';
import { doneAt } from '../../../src/commands/sync/status.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { type How, openCommand, runIn } from '../command.ts';
import { bankWhere } from '../named-bank.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const failure = (productId: string | null, code: string) => ({ productId, code, message: `It is ${code}` });

const EARLY = '2026-11-21T08:00:00.000Z';

/** A store in which syncs have failed, and one has read an account again. */
async function withFailures(format: 'json' | 'table') {
  const command = openCommand(newConfigFolder(temporary), NOW, { format });
  const { results } = await command.context.store();
  const add = (customerId: string, at: string, ...failures: ReturnType<typeof failure>[]) =>
    results.add([{ customerId, at, skipped: [], failures }]);
  const ofTwo = [failure('B', 'sca_required'), failure('A', 'bank_failing'), failure(null, 'not_logged_in')];
  await add('1000002', EARLY, ...ofTwo);
  await add('1000001', EARLY, failure(null, 'not_logged_in'));
  await add('1000003', '2026-11-21T07:00:00.000Z', failure('C', 'forbidden'), failure('D', 'forbidden'));
  await add('1000003', '2026-11-21T09:00:00.000Z', failure('D', 'bank_failing'));
  return command;
}

it('what syncs could not read comes first, the latest failure first, then by customer, the whole before the accounts', async () => {
  const { context, printed } = await withFailures('json');
  await runIn({ ...context, repeated: { profile: 'shop' } }, 'sync', 'status', '--failed');
  const failed = (customerId: string, productId: string | null, code: string, ...next: string[]) => ({
    ...{ customerId, productId, code, message: `It is ${code}` },
    ...{ since: EARLY, failures: 1, lastFailedAt: EARLY, lastSuccess: null, readAgain: false },
    next: ['psd2', '--profile', 'shop', '--customer', customerId, ...next],
  });
  const [since, late] = ['2026-11-21T07:00:00.000Z', '2026-11-21T09:00:00.000Z'];
  expect(JSON.parse(printed())).toEqual([
    {
      ...failed('1000003', 'D', 'bank_failing', 'sync'),
      ...{ since, failures: 2, lastFailedAt: late },
    },
    failed('1000001', null, 'not_logged_in', 'auth', 'login'),
    failed('1000002', null, 'not_logged_in', 'auth', 'login'),
    failed('1000002', 'A', 'bank_failing', 'sync'),
    failed('1000002', 'B', 'sca_required', 'accounts', 'transactions', 'B'),
    {
      ...failed('1000003', 'C', 'forbidden', 'doctor'),
      ...{ since, lastFailedAt: since, lastSuccess: late, readAgain: true },
    },
  ]);
});

it('the table has the same, with the command as a shell reads it, whatever the folder is called', async () => {
  const { context, printed } = await withFailures('table');
  const out = join(context.folder.root, 'my data');
  const { sync } = await context.store();
  await sync(out).run(new AbortController().signal, (run) =>
    run.customer('1000009', async (to) => to.replace('accounts', [])),
  );
  await runIn(context, 'sync', 'status', '--failed');
  const lines = printed().split('\n');
  expect([lines[0], lines[1], lines.at(-2)]).toEqual([
    expect.stringMatching(/\tpsd2 --customer 1000003 sync --out '.+\/my data'$/),
    '1000001\tall\tnot_logged_in: It is not_logged_in\t2026-11-21T08:00:00.000Z\t1\t\tno\tpsd2 --customer 1000001 auth login',
    '1000003\tC\tforbidden: It is forbidden\t2026-11-21T07:00:00.000Z\t1\t2026-11-21T09:00:00.000Z\tyes\tpsd2 --customer 1000003 doctor',
  ]);
});

it.each([
  ['not_logged_in', null, undefined, ['auth', 'login']],
  ['sca_required', null, undefined, ['accounts', 'list']],
  ['sca_required', 'A', '/banking', ['accounts', 'transactions', 'A']],
  ['forbidden', 'A', undefined, ['doctor']],
  ['bank_failing', 'A', undefined, ['sync']],
  ['bank_failing', null, '/banking', ['sync', '--out', '/banking']],
  ['anything', null, undefined, ['sync']],
])('after %s of product %s, with the folder %s, %j helps', async (code, productId, folder, words) => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  expect(await helpOf(context, { customerId: '1000001', code, productId }, folder)).toEqual(words);
});

/** A command after logins of these customers, whose round has begun. */
async function withRound(customers: string[], how: How = {}) {
  const folder = newConfigFolder(temporary);
  const clock = { now: Date.parse(NOW) };
  const { context, printed } = openCommand(folder, () => new Date(clock.now), { format: 'table', ...how });
  for (const customer of customers) await storeLogin(context, customer);
  const round = await (await (await context.store()).rounds()).join();
  if ('dueIn' in round) throw new TypeError('The first round is due');
  /** @returns the lines of `psd2 sync status` */
  const status = async () => {
    await runIn(context, 'sync', 'status');
    return printed().split('\n');
  };
  return { clock, round, status };
}
const failedWith = (customerId: string, code: string) => ({
  ...{ customerId, status: 'failed' as const, code, message: `It is ${code}` },
});

it.each([
  [undefined, ['Why\t', 'Why\t']],
  [100, ['Why                          ', '                             ']],
])('each reason of a round has a line of its own, with a terminal of %s columns', async (columns, titles) => {
  const { round, status } = await withRound(['1000001', '1000002'], columns === undefined ? {} : { columns });
  const ends = [failedWith('1000001', 'not_logged_in'), failedWith('1000002', 'sca_required')];
  await round.note({ calls: 2, ends, isOver: true });
  expect((await status()).slice(8, 10)).toEqual([
    `${titles[0]}1 not_logged_in, for example customer 1000001: It is not_logged_in`,
    `${titles[1]}1 sca_required, for example customer 1000002: It is sca_required`,
  ]);
});

it('an account that was read at the time of its failure or later is read again, an earlier read is its last success', async () => {
  const { context, printed } = openCommand(newConfigFolder(temporary), NOW);
  const { results } = await context.store();
  const [early, late] = ['2026-11-21T06:00:00.000Z', '2026-11-21T08:00:00.000Z'];
  const failures = [failure('A', 'bank_failing')];
  await results.add([{ customerId: '1', at: late, failures, skipped: [] }]);
  await results.add([{ customerId: '1', at: late, failures: [], skipped: [] }]);
  await results.add([{ customerId: '2', at: early, failures: [], skipped: [] }]);
  await results.add([{ customerId: '2', at: late, failures, skipped: [] }]);
  await runIn(context, 'sync', 'status', '--failed');
  expect(JSON.parse(printed())).toMatchObject([
    { customerId: '2', lastSuccess: early, lastFailedAt: late, readAgain: false },
    { customerId: '1', lastSuccess: late, lastFailedAt: late, readAgain: true },
  ]);
});

it('the table on a terminal has titles, and a narrow one shortens only the reason', async () => {
  const table = async (columns: number) => {
    const { context, printed } = openCommand(newConfigFolder(temporary), NOW, { format: 'table', columns });
    const { results } = await context.store();
    const failures = [failure('A', 'bank_failing')];
    await results.add([{ customerId: '1000001', at: EARLY, skipped: ['A', 'B'], failures }]);
    await runIn(context, 'sync', 'status', '--failed');
    // A terminal shows the time of its own zone.
    return printed().replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, 'YYYY-MM-DD hh:mm');
  };
  expect([await table(150), await table(110), await table(60)]).toMatchInlineSnapshot(`
    ["CUSTOMER  ACCOUNT  WHY                               SINCE             TIMES  READ AGAIN  NEXT
    1000001   A        bank_failing: It is bank_failing  YYYY-MM-DD hh:mm  1      no          psd2 --customer 1000001 sync
    ",
     "CUSTOMER  ACCOUNT  WHY                       SINCE             TIMES  READ AGAIN  NEXT
    1000001   A        bank_failing: It is       YYYY-MM-DD hh:mm  1      no          psd2 --customer 1000001 sync
                       bank_failing
    ",
     "CUSTOMER    1000001
    ACCOUNT     A
    WHY         bank_failing: It is bank_failing
    SINCE       YYYY-MM-DD hh:mm
    TIMES       1
    READ AGAIN  no
    NEXT        psd2 --customer 1000001 sync
    "]
  `);
});

const kept = {
  ...{ flow: 'co-1', consentId: 'c1', accounts: null, reads: ['accounts' as const], validUntil: null },
  ...{ recurring: true, frequencyPerDay: 4, grantedAt: NOW },
};
it.each([
  ['the application logs in', 'operator', 'application', [kept], ['consent', 'request']],
  ['nobody logs in', 'operator', 'nobody', [kept], ['consent', 'request']],
  ['the customer has no record', 'operator', 'customers', null, ['consent', 'request']],
  ['the customer has no consent', 'operator', 'customers', [], ['consent', 'request']],
  ['the customer has a consent', 'operator', 'customers', [kept], ['auth', 'login']],
  ['the bank names the customers', 'bank', 'application', null, ['auth', 'login']],
] as const)('if a login does not help: %s', async (_, by, logsIn, consents, words) => {
  const { context } = openCommand(newConfigFolder(temporary), NOW, {
    find: bankWhere({ customers: `named by the ${by}`, logsIn }),
  });
  const { customers } = await context.store();
  if (consents) await customers.change('ada', (before) => ({ ...before, consents }));
  const read = { customerId: 'ada', code: 'not_logged_in', productId: null };
  expect(await helpOf(context, read, undefined)).toEqual(words);
});

it('the progress of a round has a line for each worker, and its rates', async () => {
  const { clock, round, status } = await withRound(['1', '2', '3', '4']);
  clock.now += 4_000;
  const ends = ['1', '2'].map((customerId) => failedWith(customerId, 'sca_required'));
  await round.note({ calls: 10, ends, isOver: false });
  const lines = (await status()).map((line) => line.replace(/process \d+ on \S+:/, 'process:'));
  expect(lines).toEqual([
    ...[`Begun\t${NOW}`, 'Due\t2', 'At work\t0', 'Synced\t0', 'Synced in part\t0'],
    ...['Waiting for their next read\t0', 'Failed\t2'],
    ...['Why\t2 sca_required, for example customer 1: It is sca_required'],
    ...["Needing the customer's SCA\t1 2", 'Workers\tprocess: 2', 'Calls a second\t2.5'],
    ...[`Done at\t${new Date(clock.now + 4_000).toISOString()}`, ''],
  ]);
});

it.each([
  [{}, '2026-11-21T12:00:30.000Z'],
  [{ customersPerSecond: 0 }, null],
  [{ customersPerSecond: null }, null],
  [{ endedAt: NOW }, null],
])('with %j a round will be done at %s, when those at work are done too', (change, at) => {
  const status = { endedAt: null, due: 50, atWork: 10, customersPerSecond: 2 };
  expect(doneAt({ ...status, ...change }, new Date(NOW))).toBe(at);
});

const CHECK = {
  ...{
    productId: 'A1',
    balanced: null,
    difference: null,
    complete: true,
    certainFrom: null,
    certainThrough: null,
  },
  ...{ late: 0, coming: 0, cancelled: 0, replaced: 0, vanished: 0, changed: 0, takenFor: null },
};

const KEPT_BACK = "the bank's balance differs by -3.50 from the stored transactions";
const LATE =
  '1 transaction arrived late, for days that had been read; 2 transactions changed text or day, and no id of the bank names them for certain';
const COMING = '1 transaction of a day to come vanished, and is marked as cancelled';
const DAYS = 'only days from 2026-11-01 on are certain';
it.each<[string, Partial<CustomerReport['checks'][number]>, string]>([
  ['a row that the bank keeps back', { balanced: false, difference: '-3.50' }, KEPT_BACK],
  ['days that the bank does not show', { complete: false, certainFrom: '2026-11-01' }, DAYS],
  [
    'days that the bank refuses',
    { complete: false, certainThrough: '2026-11-05' },
    'only days up to 2026-11-05 are certain',
  ],
  ['rows that nothing names', { balanced: true, difference: '0.00', late: 1, changed: 2 }, LATE],
  ['rows to come', { coming: 1, cancelled: 1 }, COMING],
  ['a list that ends somewhere', { complete: false }, 'the list is not complete'],
  ['rows that are gone', { vanished: 1 }, '1 transaction of the store that the bank no longer shows'],
  [
    'an account with another id',
    { takenFor: 'B2' },
    'the bank called it B2 before: only its kind, currency and name say that it is the same',
  ],
  [
    'a row for which the bank shows another one',
    { replaced: 1 },
    '1 transaction that the bank no longer shows, and that its balance does not count, is marked as replaced',
  ],
  [
    'all of that, of two rows',
    {
      ...{ balanced: false, difference: '-3.50', complete: false, certainFrom: '2026-11-01', takenFor: 'B2' },
      ...{ late: 2, changed: 1, vanished: 2, replaced: 2, cancelled: 2 },
    },
    [
      KEPT_BACK,
      'the bank called it B2 before: only its kind, currency and name say that it is the same',
      '2 transactions arrived late, for days that had been read',
      '1 transaction changed text or day, and no id of the bank names them for certain',
      '2 transactions of the store that the bank no longer shows',
      '2 transactions that the bank no longer shows, and that its balance does not count, are marked as replaced',
      '2 transactions of a day to come vanished, and are marked as cancelled',
      DAYS,
    ].join('; '),
  ],
])('sync status says %s, and nothing after a sync that is certain', async (_, found, message) => {
  const folder = newConfigFolder(temporary);
  const status = async (format: 'json' | 'table') => {
    const { context, printed } = openCommand(folder, NOW, { format });
    await runIn(context, 'sync', 'status');
    return printed();
  };
  const synced = async (check: CustomerReport['checks'][number]) => {
    const tally = new SyncTally(true);
    const read = { accounts: 1, newTransactions: 0, pending: 0, skipped: [], errors: [] };
    tally.add({ customerId: '42', status: 'synced', ...read, checks: [check] }, undefined);
    const { results } = await openCommand(folder, NOW).context.store();
    await results.add(tally.takeResults().map((each) => ({ ...each, at: '2026-11-21T09:00:00.000Z' })));
  };
  await synced({ ...CHECK, ...found });
  expect(await status('table')).toContain(`Not certain\tcustomer 42, account A1: ${message}\n`);
  const { balanced = null, difference = null, complete = true, certainFrom = null } = found;
  expect(JSON.parse(await status('json'))).toEqual({
    // There was no round over all customers.
    ...{ begunAt: null, endedAt: null, due: 0, atWork: 0, failures: [], needSca: [], workers: [] },
    ...{ done: { synced: 0, partly: 0, waiting: 0, failed: 0 }, doneAt: null },
    ...{ callsPerSecond: null, customersPerSecond: null },
    doubts: [
      {
        ...{ customerId: '42', productId: 'A1', at: '2026-11-21T09:00:00.000Z' },
        ...{ balanced, difference, complete, certainFrom, message },
      },
    ],
  });
  await synced(CHECK);
  await expect(status('json')).rejects.toMatchObject({ code: 'usage' });
});
