import { beforeEach, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import type { SyncTarget } from '../../../src/store/ports/sync.ts';
import { append, rowOf } from '../row-of.ts';
import { BANK, granting, login, refusal } from '../whole-store.ts';
import { useStores } from './stores.ts';

// What the tables keep of a customer, whatever table it is. A table of which this test does not know fails it.

const stores = useStores();
beforeEach(async () => {
  await stores.init();
});
const DAY = parseDate('--date', '2026-11-21');
const worker = () => stores.worker({ isPlain: true }).open('p', BANK);

const synced = async (to: SyncTarget) => {
  const account = { productId: 'A1', iban: null, currency: 'EUR', name: 'n', productCode: null };
  to.replace('accounts', [{ ...account, productDescription: null }]);
  to.replace('balances', [{ productId: 'A1', accountBalance: { amount: '1.00', currency: 'EUR' } }]);
  to.replace('pending/A1', [{ amount: '-5.00', currency: 'EUR', description: 'coming' }]);
  await append(await to.booked('A1', true), [rowOf('a', DAY), rowOf('b', parseDate('--date', '2026-10-01'))]);
  to.remember('A1', { from: DAY, through: DAY }, DAY);
};

/** Writes a row or more into each table that has a customer. */
async function fill(data: ProfileData, customer: string): Promise<void> {
  const { tokens, customers, notes, reads, results, personal } = data;
  await tokens.change(customer, (slot) => slot.write(login));
  await tokens.remember(customer);
  await customers.change(customer, granting('co-1'));
  await notes.callRefused(customer, refusal);
  await reads.take({ day: DAY, customerId: customer, productId: 'A1' });
  await results.add([{ customerId: customer, at: refusal.at, failures: [], skipped: [] }]);
  await data.sync(undefined).run(new AbortController().signal, (run) => run.customer(customer, synced));
  await personal.pseudonymOf(customer, customer);
}

/** The tables with rows of a customer, with how many. */
function rowsOf(customer: string): string[] {
  const tables = stores.sql(`select table_name, column_name from information_schema.columns
    join pg_class on relname = table_name and relnamespace = 'psd2'::regnamespace and not relispartition
    where table_schema = 'psd2' and column_name in ('customer_id', 'holder') order by 1`);
  return tables.split('\n').flatMap((line) => {
    const [table = '', column = ''] = line.split('|');
    const count = stores.sql(`select count(*) from psd2.${table} where ${column} = '${customer}'`);
    return [`${table} ${count}`];
  });
}

const ONE = [
  ...['access_notes 1', 'accounts 1', 'balances 1', 'customers 1', 'last_logins 1'],
  ...['pending_transactions 1', 'pseudonyms 1', 'read_results 1', 'sync_customers 1', 'sync_progress 1'],
  ...['tokens 1', 'transactions 2', 'unattended_reads 1'],
];

it('each table with a customer is shown, but for secrets, and loses the rows of this one alone', async () => {
  const data = worker();
  for (const customer of ['42', '421']) await fill(data, customer);
  await data.tokens.remember('42');
  await (await data.rounds()).join();
  expect(rowsOf('42')).toEqual(ONE);
  const others = ONE.map((each) => (each === 'last_logins 1' ? 'last_logins 0' : each));
  expect(rowsOf('421')).toEqual(others);

  const shown = (await data.personal.collect('42')).rows.map(({ name, rows }) => `${name} ${rows.length}`);
  expect(shown).toEqual(ONE.filter((each) => !/^(pseudonyms|tokens) /.test(each)));
  const removed = await data.personal.removeRows('42');
  expect(removed.map(({ name, count }) => `${name} ${count}`)).toEqual(
    ONE.filter((each) => !each.startsWith('pseudonyms')),
  );
  await data.personal.forgetPseudonyms('42');
  expect(rowsOf('42')).toEqual(ONE.map((each) => each.replace(/\d$/, '0')));
  expect(rowsOf('421')).toEqual(others);
});
