import { expect, it } from 'vitest';
import { helpOf } from '../../../src/commands/sync/failed.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const failure = (productId: string | null, code: string) => ({ productId, code, message: `It is ${code}` });

/** A store in which syncs have failed, and one has read an account again. */
async function withFailures(format: 'json' | 'table') {
  const command = openCommand(newConfigFolder(temporary), NOW, { format });
  const { results } = await command.context.store();
  await results.add([
    {
      ...{ customerId: '1000002', at: '2026-11-21T08:00:00.000Z', skipped: [] },
      failures: [failure('B', 'sca_required'), failure('A', 'bank_failing')],
    },
    {
      ...{ customerId: '1000001', at: '2026-11-21T08:00:00.000Z', skipped: [] },
      failures: [failure(null, 'not_logged_in')],
    },
    {
      ...{ customerId: '1000003', at: '2026-11-21T07:00:00.000Z', skipped: [] },
      failures: [failure('C', 'forbidden'), failure('D', 'forbidden')],
    },
  ]);
  await results.add([
    {
      ...{ customerId: '1000003', at: '2026-11-21T09:00:00.000Z', skipped: [] },
      failures: [failure('D', 'bank_failing')],
    },
  ]);
  return command;
}

it('what syncs could not read comes first, the latest failure first, and then what was read again', async () => {
  const { context, printed } = await withFailures('json');
  await runIn(context, 'sync', 'status', '--failed');
  const early = '2026-11-21T08:00:00.000Z';
  const once = { since: early, failures: 1, lastFailedAt: early, lastSuccess: null, readAgain: false };
  const psd2 = (customer: string, ...words: string[]) => ['psd2', '--customer', customer, ...words];
  expect(JSON.parse(printed())).toEqual([
    {
      ...{ customerId: '1000003', productId: 'D', code: 'bank_failing', message: 'It is bank_failing' },
      ...{ since: '2026-11-21T07:00:00.000Z', failures: 2, lastFailedAt: '2026-11-21T09:00:00.000Z' },
      ...{ lastSuccess: null, readAgain: false, next: psd2('1000003', 'sync') },
    },
    {
      ...{ customerId: '1000001', productId: null, code: 'not_logged_in', message: 'It is not_logged_in' },
      ...{ ...once, next: psd2('1000001', 'auth', 'login') },
    },
    {
      ...{ customerId: '1000002', productId: 'A', code: 'bank_failing', message: 'It is bank_failing' },
      ...{ ...once, next: psd2('1000002', 'sync') },
    },
    {
      ...{ customerId: '1000002', productId: 'B', code: 'sca_required', message: 'It is sca_required' },
      ...{ ...once, next: psd2('1000002', 'accounts', 'transactions', 'B') },
    },
    {
      ...{ customerId: '1000003', productId: 'C', code: 'forbidden', message: 'It is forbidden' },
      ...{ since: '2026-11-21T07:00:00.000Z', failures: 1, lastFailedAt: '2026-11-21T07:00:00.000Z' },
      ...{ lastSuccess: '2026-11-21T09:00:00.000Z', readAgain: true, next: psd2('1000003', 'doctor') },
    },
  ]);
});

it('the table has the same, with the command as a shell reads it', async () => {
  const { context, printed } = await withFailures('table');
  await runIn(context, 'sync', 'status', '--failed');
  const lines = printed().split('\n');
  expect([lines[1], lines.at(-2)]).toEqual([
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
])(
  'after %s of the product %s, with the folder %s, what helps is %j',
  async (code, productId, folder, words) => {
    const { context } = openCommand(newConfigFolder(temporary), NOW);
    expect(await helpOf(context, { customerId: '1000001', code, productId }, folder)).toEqual(words);
  },
);

it.each([
  [undefined, ['Why\t', 'Why\t']],
  [100, ['Why                          ', '                             ']],
])('each reason of a round has a line of its own, with a terminal of %s columns', async (columns, titles) => {
  const folder = newConfigFolder(temporary);
  const { context, printed } = openCommand(folder, NOW, { format: 'table', ...(columns && { columns }) });
  const store = await context.store();
  const customers = ['1000001', '1000002'];
  for (const customer of customers) await storeLogin(context, customer);
  const round = await (await store.rounds()).join();
  if ('dueIn' in round) throw new TypeError('The first round is due');
  const ends = ['not_logged_in', 'sca_required'].map((code, at) => ({
    ...{ customerId: customers[at] ?? '', status: 'failed' as const, code, message: `It is ${code}` },
  }));
  await round.note({ calls: 2, ends, isOver: true });
  await runIn(context, 'sync', 'status');
  expect(printed().split('\n').slice(8, 10)).toEqual([
    `${titles[0]}1 not_logged_in, for example customer 1000001: It is not_logged_in`,
    `${titles[1]}1 sca_required, for example customer 1000002: It is sca_required`,
  ]);
});
