import { Option } from '@commander-js/extra-typings';
import type { Accounts, Transaction, TransactionQuery } from '../../bank/ports/bank.ts';
import { bankDay, type DayRange, type IsoDate, parseRange } from '../../domain/calendar.ts';
import { normalDecimal } from '../../domain/decimal.ts';
import { FACT_NAMES, type Fact, TRANSACTION_FACTS } from '../../domain/transaction-facts.ts';
import { Psd2Error } from '../../errors.ts';
import { assertComplete, contradicts, isWithin, lacksDays, RangeWatch } from '../../flows/reading/range.ts';
import { collectTransactions, streamTransactions } from '../../flows/reading/transaction-reading.ts';
import {
  day,
  decimal,
  type Field,
  flag,
  list,
  object,
  oneOf,
  optional,
  orNull,
  record,
  text,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { verb } from '../declare.ts';
import { keepHeapSmall } from '../shared/keep-heap-small.ts';
import { readLimit } from '../shared/option-values.ts';
import { recordExport } from '../shared/record-in-audit.ts';
import { requireFile, SAVED, saveResult } from '../shared/save-document.ts';
import { openAccount, withinHistory } from './account.ts';
import { chart } from './chart.ts';

interface TransactionsOptions {
  from?: string | undefined;
  to?: string | undefined;
  limit?: string | undefined;
  booked: boolean;
  pending: boolean;
  /** Save the bank's own document instead of listing. */
  export?: 'xls' | 'pdf' | undefined;
  file?: string | undefined;
}

const fields = () => ({
  index: text("the bank's row number in this query; not an id"),
  status: oneOf(['booked', 'pending'], 'whether the bank has booked it'),
  bookingDate: orNull(day('null while it is pending'))
    .as('Booked', { kind: 'state' })
    .shown(({ status, bookingDate }: { status: string; bookingDate: string | null }) =>
      status === 'pending' ? 'pending' : bookingDate,
    ),
  valueDate: orNull(day('day from which it counts for interest')).as('Value', {
    whole: true,
    dispensable: 1,
  }),
  amount: decimal('negative for outgoing money').as('Amount', { kind: 'amount' }).written(normalDecimal),
  currency: orNull(text('ISO 4217 code')).as(''),
  description: text('short').as('Description'),
  details: text('long').as('Details', { dispensable: 2 }),
  code: orNull(text("the bank's code for this kind of transaction")),
  transferReference: orNull(text("the bank's id of the transfer")),
  feeCharge: orNull(flag('true for a fee')),
});

const isComing = optional(flag('true: booked for a day to come'));

/** The rows of the transaction list, at a bank that does not identify them. */
const plainRow = object({ ...fields(), future: isComing });

/** What a bank says of a row, where it says it. */
function facts(): Record<string, Field<unknown>> {
  return Object.fromEntries(
    FACT_NAMES.map((name) => {
      const fact: Fact = TRANSACTION_FACTS[name];
      const field = FIELD_OF[fact.kind](fact.means);
      return [name, optional(fact.isNullable ? orNull(field) : field)];
    }),
  );
}

const FIELD_OF: Readonly<Record<Fact['kind'], (what: string) => Field<unknown>>> = {
  text,
  decimal,
  payments: (what) => list(record(text()), what),
};

const row = object({
  ...fields(),
  ...facts(),
  internalTransactionId: optional(orNull(text("the bank's inner id of it, at few banks"))),
  future: isComing,
});

export const transactions = verb(
  {
    prints: { what: 'transactions', shape: list(row) },
    printsWith: {
      '--chart': { what: 'balances by day, money in and out by month', shape: chart },
      '--export': SAVED,
    },
    help: `
With -o ndjson, psd2 prints each transaction as soon as its page has arrived.

Examples:
  $ psd2 accounts transactions 0010482620 --from 2026-01-01 -o ndjson | jq -r .amount
  $ psd2 accounts transactions 0010482620 --chart --from 2026-01-01
  $ psd2 accounts transactions 0010482620 --export pdf --file transactions.pdf`,
    kind: 'inquiry',
  },
  (command) =>
    command
      .argument('<account>')
      .option('--from <date>', 'first day, YYYY-MM-DD')
      .option('--to <date>', 'last day, YYYY-MM-DD')
      .option('--limit <n>', 'maximum number of transactions to show')
      .option('--booked', 'show only booked transactions')
      .option('--pending', 'show only pending transactions')
      .addOption(
        new Option('--export <format>', "save the bank's own document").choices(['xls', 'pdf'] as const),
      )
      .option('--file <path>', 'file to save the document in')
      .option('--chart', 'draw the balance over time, and the money in and out by month'),
  async (context, productId, { booked = false, pending = false, chart = false, ...options }) =>
    chart
      ? (await import('./chart.ts')).accountsChart(context, productId, { ...options, pending })
      : listTransactions(context, productId, { ...options, booked, pending }),
);

/** Reads page by page, so that memory stays constant. */
async function listTransactions(
  context: Context,
  product: string,
  options: TransactionsOptions,
): Promise<void> {
  const period = parseRange(options);
  refuseContradictions(options);
  const limit = readLimit(options.limit);
  if (options.export !== undefined) await context.needs('documents');
  const file = options.export === undefined ? undefined : requireFile(context, options.file);

  const productId = await openAccount(context, product);
  const { bank, customerId } = await context.bank();
  const { from, to } = withinHistory(context, bank.accounts, period);
  const query = { customerId, productId, from, to, transactionId: context.world.newId() };
  if (options.export !== undefined && file !== undefined) {
    await recordExport(context, customerId, options.export, productId);
    return saveResult(context, file, await bank.accounts.document(query, options.export));
  }
  const status = options.booked ? 'booked' : options.pending ? 'pending' : undefined;
  if (options.pending && bank.accounts.lacksPending)
    context.terminal.warn('This bank gives booked transactions only, so psd2 knows of no pending ones.');
  const today = bankDay(context.world.now());
  const watch = new RangeWatch({ from, to, today });
  const accounts = watch.over(bank.accounts);
  const pages = context.output.collectsPages
    ? inOnePage(accounts, { ...query, status }, limit)
    : streamTransactions(
        accounts,
        { ...query, status },
        { tell: context.terminal.warn, mayAskAgain: !context.globals.raw },
      );
  await keepHeapSmall(() =>
    context.output.pages(
      atMost(limit, within(pages, { from, to }, today)),
      bank.accounts.identifiesRows ? row : plainRow,
      nothingIn(from, to),
    ),
  );
  assertComplete(productId, watch.certain);
  if (watch.contradictions.size > 0) throw contradicts(productId, watch.contradictions);
  if (watch.unreadDays > 0) throw lacksDays(productId, watch.unreadDays);
}

/** The rows of the days that were asked for, whatever the bank gives. */
async function* within(
  pages: AsyncIterable<Transaction[]>,
  range: DayRange,
  today: IsoDate,
): AsyncGenerator<(Transaction & { future?: true })[]> {
  for await (const page of pages) {
    const rows = page.filter((row) => isWithin(row, range));
    yield rows.map((row) =>
      row.bookingDate !== null && row.bookingDate > today ? { ...row, future: true } : row,
    );
  }
}

/** @throws Psd2Error `usage` for options that cannot be used together */
function refuseContradictions(options: TransactionsOptions): void {
  const { booked, pending, limit, file, export: document } = options;
  if (booked && pending)
    throw new Psd2Error('usage', '--booked and --pending cannot be used together', {
      hint: 'Leave out both to see both.',
    });
  if (document === undefined && file !== undefined)
    throw new Psd2Error('usage', '--file needs --export', { hint: 'Add --export xls or --export pdf.' });
  if (document !== undefined && (limit !== undefined || booked || pending))
    throw new Psd2Error('usage', "--export always saves the bank's whole document", {
      hint: 'Leave out --limit, --booked and --pending.',
    });
}

/** If psd2 prints all rows together, they are the list as of one moment. */
async function* inOnePage(
  accounts: Accounts,
  query: TransactionQuery,
  limit: number,
): AsyncGenerator<Transaction[]> {
  yield await collectTransactions(
    accounts,
    query,
    (rows) => rows.length >= limit && rows.filter((row) => isWithin(row, query)).length >= limit,
  );
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
