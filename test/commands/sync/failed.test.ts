import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CustomerReport } from '../../../src/commands/sync/customers.ts';
import { SyncTally } from '../../../src/commands/sync/report.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

it('the command that helps with a failed sync can be pasted into a shell, whatever the folder is called', async () => {
  const folder = newConfigFolder(temporaryFolder());
  const out = join(temporaryFolder(), 'my data');
  const { context, printed } = openCommand(folder, '2026-11-21T10:00:00.000Z', { format: 'table' });
  const failures = [{ productId: null, code: 'bank_failing', message: 'The bank failed' }];
  const { results, sync } = await context.store();
  await sync(out).run(new AbortController().signal, (sync) =>
    sync.customer('1000001', async (to) => to.replace('accounts', [])),
  );
  await results.add([{ customerId: '1000001', at: '2026-11-21T09:00:00.000Z', failures, skipped: [] }]);
  await runIn(context, 'sync', 'status', '--failed');
  expect(printed()).toContain(`psd2 --customer 1000001 sync --out '${out}'`);
});

const CHECK = {
  ...{ productId: 'A1', balanced: null, difference: null, complete: true, certainFrom: null },
  ...{ late: 0, coming: 0, cancelled: 0, vanished: 0, changed: 0 },
};

it.each<[string, Partial<CustomerReport['checks'][number]>, string]>([
  [
    'a row that the bank keeps back',
    { balanced: false, difference: '-3.50' },
    "the bank's balance differs by -3.50 from the stored transactions",
  ],
  [
    'days that the bank does not show',
    { complete: false, certainFrom: '2026-11-01' },
    'only days from 2026-11-01 on are certain',
  ],
  [
    'rows that nothing names for certain',
    { balanced: true, difference: '0.00', late: 1, changed: 2 },
    '1 transaction arrived late, for days that had been read; 2 transactions changed text or day, and no id of the bank names them for certain',
  ],
  [
    'rows to come',
    { coming: 1, cancelled: 1 },
    '1 transaction of a day to come vanished, and marked cancelled',
  ],
])('sync status says %s, and nothing after a sync that is certain', async (_, found, message) => {
  const folder = newConfigFolder(temporaryFolder());
  const status = async (format: 'json' | 'table', columns?: number) => {
    const { context, printed } = openCommand(folder, '2026-11-21T10:00:00.000Z', {
      ...{ format, ...(columns !== undefined && { columns }) },
    });
    await runIn(context, 'sync', 'status');
    return printed();
  };
  const synced = async (check: CustomerReport['checks'][number]) => {
    const tally = new SyncTally(true);
    const read = { accounts: 1, newTransactions: 0, pending: 0, skipped: [], errors: [] };
    tally.add({ customerId: '42', status: 'synced', ...read, checks: [check] }, undefined);
    const { results } = await openCommand(folder, '2026-11-21T10:00:00.000Z').context.store();
    await results.add(tally.takeResults().map((each) => ({ ...each, at: '2026-11-21T09:00:00.000Z' })));
  };
  await synced({ ...CHECK, ...found });
  expect(await status('table')).toContain(`Not certain\tcustomer 42, account A1: ${message}\n`);
  const { balanced = null, difference = null, complete = true, certainFrom = null } = found;
  expect(JSON.parse(await status('json')).doubts).toEqual([
    {
      ...{ customerId: '42', productId: 'A1', at: '2026-11-21T09:00:00.000Z' },
      ...{ balanced, difference, complete, certainFrom, message },
    },
  ]);
  await synced(CHECK);
  await expect(status('json')).rejects.toMatchObject({ code: 'usage' });
});
