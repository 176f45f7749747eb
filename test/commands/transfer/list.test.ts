import { beforeEach, expect, it } from 'vitest';
import { type TransferListOptions, transferList } from '../../../src/commands/transfer/list.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import type { Flows } from '../../../src/store/ports/flows.ts';
import { newTransfer } from '../../flows/transfers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { type How, openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-22T12:00:00.000Z';

let transfer: Transfer;
beforeEach(async () => {
  transfer = (await newTransfer(newConfigFolder(temporary))).open.current;
});

type Stored = Partial<Pick<Transfer, 'flow' | 'createdAt' | 'state'>>;

/** What the command shows of a store with these transfers, and what it asks the store for. */
async function shownOf(stored: Stored[], options: Partial<TransferListOptions>, how: How = {}) {
  const command = openCommand(newConfigFolder(temporary), NOW, { format: 'table', ...how });
  const data = await command.context.store();
  const filters: unknown[] = [];
  const list: Flows['list'] = async function* (_kind, { onDamaged, ...filter } = {}) {
    filters.push(filter);
    for (const each of stored) yield { ...transfer, ...each };
  };
  const flows = Object.assign(Object.create(data.flows), { list });
  await transferList(
    { ...command.context, store: async () => ({ ...data, flows }) },
    { limit: undefined, state: [], since: undefined, attention: false, ...options },
  );
  return { flows: command.printed().match(/tr-\d+/g) ?? [], said: command.said(), filters };
}

it('--state may be repeated, and --limit counts the transfers that match', async () => {
  const stored: Stored[] = [
    { flow: 'tr-4', createdAt: '2026-11-22T10:00:00.000Z', state: 'unknown' },
    { flow: 'tr-3', createdAt: '2026-11-22T09:00:00.000Z', state: 'executed' },
    { flow: 'tr-2', createdAt: '2026-11-22T08:00:00.000Z', state: 'executing' },
    { flow: 'tr-1', createdAt: '2026-11-22T07:00:00.000Z', state: 'unknown' },
  ];
  const listed = async (limit?: string) => {
    const { flows, said } = await shownOf(stored, { state: ['unknown', 'executing'], limit });
    return [...flows, said];
  };
  expect(await listed()).toEqual(['tr-4', 'tr-2', 'tr-1', '']);
  expect(await listed('2')).toEqual(['tr-4', 'tr-2', '']);
});

it('--payee, --amount and --reference choose transfers', async () => {
  const listed = async (options: Partial<TransferListOptions>) =>
    (await shownOf([{ flow: 'tr-1', state: 'executed' }], options)).flows;
  const { amount, name, to } = transfer.order;
  for (const options of [{ payee: name.slice(2).toUpperCase() }, { payee: to }, { amount }])
    expect(await listed(options)).toEqual(['tr-1']);
  for (const options of [{ payee: 'nobody' }, { amount: '0.01' }, { reference: 'none' }])
    expect(await listed(options)).toEqual([]);
});

const TERMINAL = { columns: 200 };

/** So many transfers, the newest first. */
const newest = (count: number): Stored[] =>
  Array.from({ length: count }, (_, index) => ({ flow: `tr-${count - index}` }));

const NEWEST = 'These are the newest 30. --limit <n> shows more; --attention, --state and --since filter.\n';

it.each<[number, Partial<TransferListOptions>, How, number, string]>([
  [31, {}, TERMINAL, 30, NEWEST],
  [30, {}, TERMINAL, 30, ''],
  [31, { state: ['created'] }, TERMINAL, 30, NEWEST],
  [31, { limit: '31' }, TERMINAL, 31, ''],
  [31, { limit: '2' }, TERMINAL, 2, ''],
  [31, {}, {}, 31, ''],
  [31, {}, { ...TERMINAL, format: 'json' }, 31, ''],
  [0, {}, TERMINAL, 0, 'This profile has no transfers.\n'],
  [0, { state: ['created'] }, TERMINAL, 0, 'No transfer matches.\n'],
])('of %i, with %j and %j, the list shows %i, and says: %s', async (count, options, how, number, said) => {
  const { flows, said: words } = await shownOf(newest(count), options, how);
  const [first, last] = number === 0 ? [] : [`tr-${count}`, `tr-${count - number + 1}`];
  expect([flows.length, flows[0], flows.at(-1), words]).toEqual([number, first, last, said]);
});

it('the store is asked only for the transfers that the list shows', async () => {
  const wanted = {
    ...{ since: '2026-11-20', until: '2026-11-21', state: ['created', 'unknown'] },
    ...{ payee: 'Ada', amount: '12.5', reference: 'INV-1' },
  };
  const { filters } = await shownOf([], wanted, { globals: { customer: '1' } });
  expect([...filters, ...(await shownOf([], {})).filters]).toEqual([
    {
      ...{ customer: '1', attention: false, states: ['created', 'unknown'] },
      ...{ since: new Date('2026-11-19T23:00:00Z'), until: new Date('2026-11-21T23:00:00Z') },
      order: { payee: 'Ada', amount: '12.50', reference: 'INV-1' },
    },
    {
      ...{ customer: undefined, attention: false, states: undefined },
      ...{ since: undefined, until: undefined, order: undefined },
    },
  ]);
});
