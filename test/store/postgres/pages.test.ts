import { beforeEach, expect, it } from 'vitest';
import type { StoredRecord } from '../../../src/store/ports/copy.ts';
import { databaseSide } from '../../../src/store/postgres/copy/side.ts';
import { NO_SOURCES } from '../../../src/store/secrets/vault.ts';
import { begun, TRANSFER_BEGIN } from '../flows.ts';
import { BANK, granting } from '../whole-store.ts';
import { useStores } from './stores.ts';

// What one statement does not read at once is read by the next one: nothing is left out, nothing comes twice.

const stores = useStores();
beforeEach(async () => {
  await stores.init();
});

const worker = () => stores.worker({ isPlain: true }).open('p', BANK);
/** Ids whose order depends on the locale. */
const ID = `to_char(n, 'FM0000') || case when n % 2 = 0 then 'a' else 'A' end`;

interface Paged {
  /** How many one statement reads. */
  page: number;
  /** Fills an empty store with so many. */
  fill(count: number): Promise<unknown>;
  idOf(record: StoredRecord): string | undefined;
}

const PAGED: Record<string, Paged> = {
  flows: {
    page: 100,
    fill: async (count) => {
      const { order, ...begin } = TRANSFER_BEGIN('');
      await begun(worker().flows, 'transfer', { ...begin, order: { ...order, reference: null } });
      stores.sql(`insert into psd2.flows
          select profile, left(flow, -5) || id, kind, state, standing, resource_id, transaction_id, reference, under_way,
            created_at, updated_at from psd2.flows, generate_series(10001, 10000 + ${count}) id;
        insert into psd2.flow_events
          select profile, left(flow, -5) || id, n, writer, at, event
          from psd2.flow_events, generate_series(10001, 10000 + ${count}) id;
        delete from psd2.flow_events where flow !~ '10[0-9]{3}$'; delete from psd2.flows where flow !~ '10[0-9]{3}$'`);
    },
    idOf: (record) => (record.kind === 'flow' ? record.flow : undefined),
  },
  customers: {
    page: 500,
    fill: async (count) => {
      await worker().customers.change('x', granting('co-1'));
      stores.sql(`insert into psd2.customers (profile, base_url, customer_id, generation, changes, kept)
          select 'p', 'https://' || n % 2, ${ID}, 1, '{}', kept from psd2.customers, generate_series(1, ${count}) n;
        delete from psd2.customers where customer_id = 'x'`);
    },
    idOf: (record) => (record.kind === 'customer' ? `${record.baseUrl} ${record.customer}` : undefined),
  },
  'results of syncs': {
    page: 500,
    fill: async (count) =>
      stores.sql(`insert into psd2.read_results (profile, customer_id, read_at, failed)
        select 'p', ${ID}, now(), '[]' from generate_series(1, ${count}) n`),
    idOf: (record) => (record.kind === 'reads' ? record.customerId : undefined),
  },
  'lines of the audit log': {
    page: 1_000,
    fill: async (count) =>
      stores.sql(`insert into psd2.audit (profile, n, at, line)
        select 'p', n, now(), 'line ' || n from generate_series(1, ${count}) n`),
    idOf: (record) =>
      record.kind === 'audit' ? record.text.replace(/\d+/, (n) => n.padStart(5, '0')) : undefined,
  },
};

it.each(
  Object.entries(PAGED).flatMap(([what, paged]) =>
    [0, 1, paged.page - 1, paged.page, paged.page + 1, 2 * paged.page].map((count) => ({
      what,
      count,
      ...paged,
    })),
  ),
)('$count $what', async ({ count, fill, idOf }) => {
  if (count > 0) await fill(count);
  const found: string[] = [];
  for await (const record of databaseSide(stores.database(undefined, true), NO_SOURCES, true)
    .open('p')
    .records())
    found.push(...[idOf(record)].filter((id) => id !== undefined));
  expect(found).toHaveLength(count);
  expect(found).toEqual([...new Set(found)].sort());
});
