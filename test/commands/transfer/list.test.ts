import { beforeEach, expect, it, vi } from 'vitest';
import { type TransferListOptions, transferList } from '../../../src/commands/transfer/list.ts';
import type { OperationState } from '../../../src/domain/operation.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import type { Flows } from '../../../src/store/ports/flows.ts';
import { useCommands } from '../../cli/in-process.ts';
import { newTransfer } from '../../flows/transfers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const { run, said } = useCommands();
const temporary = temporaryFolder();
const NOW = '2026-11-22T12:00:00.000Z';

let transfer: Transfer;
beforeEach(async () => {
  vi.stubEnv('PSD2_BASE_URL', 'https://bank.example');
  transfer = (await newTransfer(newConfigFolder(temporary))).open.current;
});

/** The local ids of the transfers that the command prints, of a store with these. */
async function listed(
  options: Partial<TransferListOptions>,
  stored: [flow: string, createdAt: string, state: OperationState][],
): Promise<string[]> {
  const flows: string[] = [];
  await run(async (context) => {
    const data = await context.store();
    const all = stored.map(([flow, createdAt, state]) => ({ ...transfer, flow, createdAt, state }));
    const list = async function* () {
      yield* all;
    };
    const shown: Parameters<typeof transferList>[0] = {
      ...context,
      store: async () => ({ ...data, flows: { ...data.flows, list } }),
      output: {
        ...context.output,
        pages: async (pages, seen) => {
          const [flow] = seen.columns;
          for await (const page of pages)
            for (const row of page) flows.push(String(flow?.value(row, (time) => time)));
        },
      },
    };
    await transferList(shown, {
      ...{ limit: undefined, state: [], since: undefined, attention: false },
      ...options,
    });
  });
  expect(said()).toBe('');
  return flows;
}

it('--state may be repeated, and --limit counts the transfers that match', async () => {
  const stored: Parameters<typeof listed>[1] = [
    ['tr-4', '2026-11-22T10:00:00.000Z', 'unknown'],
    ['tr-3', '2026-11-22T09:00:00.000Z', 'executed'],
    ['tr-2', '2026-11-22T08:00:00.000Z', 'executing'],
    ['tr-1', '2026-11-22T07:00:00.000Z', 'unknown'],
  ];
  expect(await listed({ state: ['unknown', 'executing'] }, stored)).toEqual(['tr-4', 'tr-2', 'tr-1']);
  expect(await listed({ state: ['unknown', 'executing'], limit: '2' }, stored)).toEqual(['tr-4', 'tr-2']);
});

it('--payee, --amount and --reference choose transfers', async () => {
  const stored: Parameters<typeof listed>[1] = [['tr-1', '2026-11-22T10:00:00.000Z', 'executed']];
  const { amount, name, to } = transfer.order;
  for (const options of [{ payee: name.slice(2).toUpperCase() }, { payee: to }, { amount }])
    expect(await listed(options, stored)).toEqual(['tr-1']);
  for (const options of [{ payee: 'nobody' }, { amount: '0.01' }, { reference: 'none' }])
    expect(await listed(options, stored)).toEqual([]);
});

const TERMINAL = { columns: 200 };

/** What the command shows of so many transfers, and what it asks the store for. */
async function shownOf(
  count: number,
  options: Partial<TransferListOptions>,
  how: Parameters<typeof openCommand>[2],
) {
  const command = openCommand(newConfigFolder(temporary), NOW, { format: 'table', ...how });
  const data = await command.context.store();
  const filters: unknown[] = [];
  const list: Flows['list'] = async function* (_kind, { onDamaged, ...filter } = {}) {
    filters.push(filter);
    for (let at = count; at > 0; at -= 1) yield { ...transfer, flow: `tr-${at}` };
  };
  const flows = Object.assign(Object.create(data.flows), { list });
  await transferList(
    { ...command.context, store: async () => ({ ...data, flows }) },
    { limit: undefined, state: [], since: undefined, attention: false, ...options },
  );
  const found = command.printed().match(/tr-\d+/g) ?? [];
  return { flows: [found.length, found[0], found.at(-1)], said: command.said(), filters };
}

const NEWEST = 'These are the newest 30. --limit <n> shows more; --attention, --state and --since filter.\n';

it.each<[number, Partial<TransferListOptions>, Parameters<typeof openCommand>[2], number, string]>([
  [31, {}, TERMINAL, 30, NEWEST],
  [30, {}, TERMINAL, 30, ''],
  [31, { state: ['created'] }, TERMINAL, 30, NEWEST],
  [31, { limit: '31' }, TERMINAL, 31, ''],
  [31, { limit: '2' }, TERMINAL, 2, ''],
  [31, {}, {}, 31, ''],
  [31, {}, { ...TERMINAL, format: 'json' }, 31, ''],
  [0, {}, TERMINAL, 0, 'This profile has no transfers.\n'],
  [0, { state: ['created'] }, TERMINAL, 0, 'No transfer matches.\n'],
])(
  'of %i transfers, with %j and %j, the list shows %i, and says: %s',
  async (count, options, how, number, said) => {
    const shown = await shownOf(count, options, how);
    const [first, last] = number === 0 ? [] : [`tr-${count}`, `tr-${count - number + 1}`];
    expect([shown.flows, shown.said]).toEqual([[number, first, last], said]);
  },
);

it('the store is asked only for the transfers that the list shows', async () => {
  const wanted = {
    ...{ since: '2026-11-20', until: '2026-11-21', state: ['created', 'unknown'] },
    ...{ payee: 'Ada', amount: '12.5', reference: 'INV-1' },
  };
  const { filters } = await shownOf(0, wanted, { globals: { customer: '1' } });
  expect([...filters, ...(await shownOf(0, {}, {})).filters]).toEqual([
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
