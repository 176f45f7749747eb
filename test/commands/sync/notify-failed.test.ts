import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { CustomerReport } from '../../../src/commands/sync/customers.ts';
import { notifyOfFailed } from '../../../src/commands/sync/notify-failed.ts';
import { SyncTally } from '../../../src/commands/sync/report.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

// What the operator's command gets of the failures of a sync.

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';

let notify: (one: string | undefined, ...rounds: CustomerReport[][]) => Promise<unknown[]>;
beforeEach(() => {
  const folder = newConfigFolder(temporary);
  const file = join(folder.root, '..', 'notified.ndjson');
  const env = { PSD2_NOTIFY: `sh -c 'cat >> "$0"' ${file}` };
  notify = async (one, ...rounds) => {
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
});

const NOTHING = { accounts: 0, newTransactions: 0, pending: 0, skipped: [], checks: [] };
const synced = (customerId: string): CustomerReport => ({
  ...{ customerId, status: 'synced', ...NOTHING, errors: [] },
});
const failed = (customerId: string, ...errors: [product: string | null, code: string][]): CustomerReport => ({
  ...{ customerId, status: 'failed', ...NOTHING },
  errors: errors.map(([productId, code]) => ({ productId, code, message: `It is ${code}` })),
});
const failure = (customerId: string, productId: string | null, code: string) => ({
  ...{ customerId, productId, code, message: `It is ${code}` },
});
const COMMAND = ['psd2', '--profile', 'env', 'sync', 'status', '--failed'];

it('the first failed round names what has failed, and the command that lists it', async () => {
  const round = [
    synced('1'),
    failed('2', ['A', 'sca_required'], ['B', 'bank_failing']),
    failed('3', [null, 'not_logged_in']),
  ];
  expect(await notify(undefined, round)).toEqual([
    {
      ...{ profile: 'env', kind: 'sync', customerId: null, failed: 2, customers: 3, next: COMMAND },
      ...{ code: 'sca_required', message: 'It is sca_required' },
      failures: [
        ...[failure('2', 'A', 'sca_required'), failure('2', 'B', 'bank_failing')],
        failure('3', null, 'not_logged_in'),
      ],
    },
  ]);
});

it('a sync of one customer names the customer', async () => {
  expect(await notify('2', [failed('2', [null, 'not_logged_in'])])).toEqual([
    {
      ...{ profile: 'env', kind: 'sync', customerId: '2', failed: 1, customers: 1, next: COMMAND },
      ...{ code: 'not_logged_in', message: 'It is not_logged_in' },
      failures: [failure('2', null, 'not_logged_in')],
    },
  ]);
});

it('with many failures it gets the first twenty', async () => {
  const round = Array.from({ length: 25 }, (_, index) => failed(`c${index}`, [null, 'forbidden']));
  const [content] = await notify(undefined, round);
  expect(content).toMatchObject({ failed: 25, failures: { length: 20 } });
});

const ONE = failed('1', ['A', 'bank_failing']);
const TWO = failed('2', [null, 'forbidden']);

const [BOTH, WELL] = [[ONE, TWO], [synced('1')]];
const failedAlone = (...of: Parameters<typeof failed>) => [failed(...of)];
it.each<[string, number, CustomerReport[][]]>([
  ['nothing has failed', 0, [WELL, WELL]],
  ['the same fails again', 1, [BOTH, BOTH]],
  ['the same fails in another order', 1, [BOTH, BOTH.toReversed()]],
  ['another customer fails too', 2, [[ONE], BOTH]],
  ['another account fails', 2, [[ONE], failedAlone('1', ['B', 'bank_failing'])]],
  ['it fails for another reason', 2, [[ONE], failedAlone('1', ['A', 'sca_required'])]],
  ['another customer fails', 2, [[ONE], failedAlone('2', ['A', 'bank_failing'])]],
  ['it fails again after a good round', 2, [[ONE], WELL, [ONE]]],
])('if %s, the command gets it %i times', async (_, times, rounds) => {
  expect(await notify(undefined, ...rounds)).toHaveLength(times);
});

it('a good round of one customer does not end what is known of the others', async () => {
  expect(await notify(undefined, [ONE])).toHaveLength(1);
  expect(await notify('2', [TWO])).toHaveLength(1);
  expect(await notify('3', [synced('3')])).toHaveLength(0);
  expect(await notify('2', [TWO])).toHaveLength(0);
  expect(await notify(undefined, [ONE])).toHaveLength(0);
  expect(await notify('2', [synced('2')], [TWO])).toHaveLength(1);
});
