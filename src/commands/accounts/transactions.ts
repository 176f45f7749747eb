import type { Bank } from '../../bank/call/bank.ts';
import type { Transaction } from '../../bank/endpoints/customers.ts';
import { collectTransactions, streamTransactions } from '../../bank/endpoints/transaction-reading.ts';
import { fetchTransactionsDocument, type TransactionQuery } from '../../bank/endpoints/transactions.ts';
import { type IsoDate, parseRange } from '../../domain/calendar.ts';
import { normalDecimal } from '../../domain/decimal.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { keepHeapSmall } from '../shared/keep-heap-small.ts';
import { readLimit } from '../shared/read-limit.ts';
import { requireFile, saveResult } from '../shared/save-document.ts';
import { transactions } from './shape.ts';

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
    kind: 'state',
  },
  { title: 'VALUE', value: ({ valueDate }) => valueDate, whole: true, dispensable: 1 },
  { title: 'AMOUNT', value: ({ amount }) => normalDecimal(amount), kind: 'amount' },
  { title: '', value: ({ currency }) => currency },
  { title: 'DESCRIPTION', value: ({ description }) => description },
  { title: 'DETAILS', value: ({ details }) => details, dispensable: 2 },
];
/** `psd2 accounts transactions <productId>`: page by page, so that memory stays constant. */
export async function accountsTransactions(
  context: Context,
  product: string,
  options: TransactionsOptions,
): Promise<void> {
  const productId = parseProductId(product);
  const { from, to } = parseRange(options);
  refuseContradictions(options);
  const limit = readLimit(options.limit);
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
  await context.output.pages(atMost(limit, pages), TRANSACTION_COLUMNS, nothingIn(from, to), transactions);
}

/** @throws Psd2Error `usage` for options that contradict each other */
function refuseContradictions(options: TransactionsOptions): void {
  const { booked, pending, limit, file, export: document } = options;
  if (booked && pending) {
    throw new Psd2Error('usage', '--booked and --pending exclude each other', {
      hint: 'Leave out both to see both.',
    });
  }
  if (document === undefined && file !== undefined) {
    throw new Psd2Error('usage', '--file needs --export', { hint: 'Add --export xls or --export pdf.' });
  }
  if (document !== undefined && (limit !== undefined || booked || pending)) {
    throw new Psd2Error('usage', "--export always saves the bank's whole document", {
      hint: 'Leave out --limit, --booked and --pending.',
    });
  }
}

/** If psd2 prints all rows together, they are the list as of one moment. */
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
