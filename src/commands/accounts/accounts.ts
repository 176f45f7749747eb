import type { Bank } from '../../bank/call/bank.ts';
import {
  type Account,
  type Balance,
  fetchAccounts,
  fetchBalance,
  fetchCustomerId,
  type Transaction,
} from '../../bank/endpoints/customers.ts';
import { collectTransactions, streamTransactions } from '../../bank/endpoints/transaction-reading.ts';
import { fetchTransactionsDocument, type TransactionQuery } from '../../bank/endpoints/transactions.ts';
import { type IsoDate, parseRange } from '../../domain/calendar.ts';
import type { Money } from '../../domain/decimal.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import type { Column } from '../../terminal/output.ts';
import type { Context } from '../context.ts';
import { keepHeapSmall } from '../shared/keep-heap-small.ts';
import { readLimit } from '../shared/read-limit.ts';
import { requireFile, saveResult } from '../shared/save-document.ts';

/** `psd2 customer id`: whose token it is, asked of the bank. */
export async function customerId(context: Context): Promise<void> {
  const { bank } = await context.bank();
  const id = await fetchCustomerId(bank, context.world.newId());
  if (context.output.format === 'table') context.output.text(id);
  else context.output.record({ customerId: id }, []);
}

const ACCOUNT_COLUMNS: Column<Account>[] = [
  { title: 'PRODUCT ID', value: ({ productId }) => productId, whole: true },
  { title: 'IBAN', value: ({ iban }) => iban, whole: true },
  { title: 'CURRENCY', value: ({ currency }) => currency, whole: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'TYPE', value: ({ productDescription, productCode }) => productDescription ?? productCode },
];

/** `psd2 accounts list` */
export async function accountsList(context: Context): Promise<void> {
  const { bank, customerId } = await context.bank();
  const accounts = await fetchAccounts(bank, customerId, context.world.newId());
  await context.output.table(accounts, ACCOUNT_COLUMNS, 'The customer has no accounts.', ACCOUNT_CSV);
}

const ACCOUNT_CSV = ['productId', 'iban', 'currency', 'name', 'productCode', 'productDescription'];

const BALANCE_FIELDS: Column<Balance>[] = [
  { title: 'Product id', value: ({ productId }) => productId },
  { title: 'Account balance', value: ({ accountBalance }) => writeMoney(accountBalance) },
  { title: 'Available balance', value: ({ availableBalance }) => writeMoney(availableBalance) },
  { title: 'Availability', value: ({ accountAvailability }) => writeMoney(accountAvailability) },
  { title: 'Available credit', value: ({ accountAvailableCredit }) => writeMoney(accountAvailableCredit) },
  { title: 'As of', value: ({ asOf }) => asOf, kind: 'time' },
];
const BALANCE_CSV = [
  'productId',
  ...['accountBalance', 'availableBalance', 'accountAvailability', 'accountAvailableCredit'].flatMap(
    (name) => [`${name}.amount`, `${name}.currency`],
  ),
  'asOf',
];

/** `psd2 accounts balance <productId>` */
export async function accountsBalance(context: Context, product: string): Promise<void> {
  const productId = parseProductId(product);
  const { bank, customerId } = await context.bank();
  context.output.record(
    await fetchBalance(bank, customerId, productId, context.world.newId()),
    BALANCE_FIELDS,
    BALANCE_CSV,
  );
}

export interface TransactionsOptions {
  from?: string | undefined;
  to?: string | undefined;
  limit?: string | undefined;
  booked: boolean;
  pending: boolean;
  /** Save the bank's own document instead of listing. */
  export?: 'xls' | 'pdf' | undefined;
  file?: string | undefined;
}

const TRANSACTION_COLUMNS: Column<Transaction>[] = [
  {
    title: 'BOOKED',
    value: ({ status, bookingDate }) => (status === 'pending' ? 'pending' : bookingDate),
    whole: true,
  },
  { title: 'VALUE', value: ({ valueDate }) => valueDate, whole: true },
  { title: 'AMOUNT', value: ({ amount }) => writeAmount(amount), kind: 'amount' },
  { title: '', value: ({ currency }) => currency },
  { title: 'DESCRIPTION', value: ({ description }) => description },
  { title: 'DETAILS', value: ({ details }) => details },
];
const TRANSACTION_CSV = [
  ...['index', 'status', 'bookingDate', 'valueDate', 'amount', 'currency', 'description', 'details', 'code'],
  ...['transferReference', 'feeCharge'],
];

/** `psd2 accounts transactions <productId>`: page by page, so that memory stays the same however many there are. */
export async function accountsTransactions(
  context: Context,
  product: string,
  options: TransactionsOptions,
): Promise<void> {
  const productId = parseProductId(product);
  const { from, to } = parseRange(options);
  if (options.booked && options.pending) {
    throw new Psd2Error('usage', '--booked and --pending leave nothing to show together', {
      hint: 'Leave both out to see both.',
    });
  }
  const limit = readLimit(options.limit);

  if (options.export === undefined && options.file !== undefined) {
    throw new Psd2Error('usage', '--file goes with --export', { hint: 'Add --export xls or --export pdf.' });
  }
  if (options.export !== undefined && (options.limit !== undefined || options.booked || options.pending)) {
    throw new Psd2Error('usage', '--export saves the document of the bank, with all of its rows', {
      hint: 'Leave --limit, --booked and --pending out.',
    });
  }
  const file = options.export === undefined ? undefined : requireFile(context, options.file);

  const { bank, customerId } = await context.bank();
  const query = { customerId, productId, from, to, transactionId: context.world.newId() };
  if (options.export !== undefined && file !== undefined) {
    return saveResult(context, file, await fetchTransactionsDocument(bank, query, options.export));
  }
  const status = options.booked ? 'booked' : options.pending ? 'pending' : undefined;
  keepHeapSmall();
  const pages = context.output.collectsPages
    ? inOnePage(bank, { ...query, status }, limit)
    : streamTransactions(
        bank,
        { ...query, status },
        { tell: context.terminal.warn, mayAskAgain: !context.globals.raw },
      );
  await context.output.pages(atMost(limit, pages), TRANSACTION_COLUMNS, nothingIn(from, to), TRANSACTION_CSV);
}

/** Rows that are printed together are those of one moment. */
async function* inOnePage(bank: Bank, query: TransactionQuery, limit: number): AsyncGenerator<Transaction[]> {
  yield await collectTransactions(bank, query, (rows) => rows.length >= limit);
}

async function* atMost<T>(limit: number, pages: AsyncIterable<T[]>): AsyncGenerator<T[]> {
  let left = limit;
  for await (const page of pages) {
    yield page.slice(0, left);
    left -= page.length;
    if (left <= 0) return;
  }
}

function nothingIn(from: IsoDate | undefined, to: IsoDate | undefined): string {
  const range = [from && `from ${from}`, to && `to ${to}`].filter(Boolean).join(' ');
  return `There are no transactions${range && ` ${range}`}.`;
}

/** An amount of money as a table shows it. */
export function writeMoney(money: Money | null): string | null {
  return money && `${writeAmount(money.amount)} ${money.currency}`.trim();
}

/** At least two decimals; the zeros that the bank adds after them are left out of tables. */
function writeAmount(amount: string): string {
  const [whole = '', decimals = ''] = amount.split('.');
  return `${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}
