import { expect, it } from 'vitest';
import { fetchStatement } from '../../../src/commands/accounts/statement.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { answeringBank } from '../../bank/answering-bank.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const PRODUCT = parseProductId('0000012345');
const NOW = '2026-11-21T12:00:00.000Z';
const day = (text: string) => parseDate('--date', text);

/** A booked transaction, as the bank sends it. */
const booked = (date: string, amount: string, currency = 'EUR') => ({
  date,
  amountTransaction: { amount, currency },
  dateAccountingCurrency: `${date.replaceAll('-', '')}T00:00:00`,
});

/** Reads a statement. @param balances the balance at each call; the last one stays */
async function read(
  rows: ReturnType<typeof booked>[],
  balances: (string | null)[],
  range: Partial<Parameters<typeof fetchStatement>[2]> = {},
) {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  let reads = 0;
  const dataOf = ({ pathname, searchParams }: URL) => {
    if (pathname.includes('/transactions/')) {
      reads += 1;
      const until = searchParams.get('dateTo');
      const listed = rows.filter(
        ({ date }) => until === null || date <= until.split('/').reverse().join('-'),
      );
      return { transactionsAccounting: listed, numberTransactionsAccounting: listed.length };
    }
    if (!pathname.includes('/balance/')) return { accounts: [{ accountId: PRODUCT, currency: 'EUR' }] };
    const amount = balances.length > 1 ? balances.shift() : balances[0];
    return amount
      ? { accountBalance: { amount, currency: 'EUR' } }
      : { availableBalance: { amount: '1.00' } };
  };
  const bank = answeringBank((url) => ({ data: dataOf(url) }));
  const statement = await fetchStatement(
    { world: context.world, terminal: context.terminal, bank: async () => ({ bank, customerId: '1000001' }) },
    PRODUCT,
    { from: undefined, to: undefined, ...range },
  );
  return { ...statement.history, reads };
}

it('if the balance changes while psd2 reads a statement, it reads again, so that both are of one moment', async () => {
  const rows = [booked('2026-11-20', '-1.00')];
  expect(await read(rows, ['10.00', '9.00', '9.00'])).toMatchObject({
    ...{ reads: 2, opening: '10.00', closing: '9.00' },
  });
  await expect(read(rows, ['5.00', '4.00', '3.00', '2.00'])).rejects.toMatchObject({ code: 'list_changed' });
});

it('psd2 adds no amounts of two currencies', async () => {
  const rows = [booked('2026-11-20', '-1.00', 'USD')];
  await expect(read(rows, ['9.00'])).rejects.toMatchObject({
    code: 'bank_answer',
    message: expect.stringContaining('is in USD, but the account is in EUR'),
  });
});

it('a statement ends today at the latest, and its balance at the end leaves out what was booked later', async () => {
  const rows = [booked('2026-11-20', '-1.00'), booked('2026-11-10', '-2.00')];
  expect(await read(rows, ['7.00'], { to: day('2026-12-31') })).toMatchObject({
    ...{ to: '2026-11-21', closing: '7.00' },
  });
  expect(await read(rows, ['7.00'], { to: day('2026-11-19') })).toMatchObject({
    ...{ to: '2026-11-19', opening: '10.00', closing: '8.00' },
  });
  await expect(read(rows, ['7.00'], { from: day('2026-11-22') })).rejects.toMatchObject({
    code: 'invalid_date',
  });
});
