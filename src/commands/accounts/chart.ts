import { parseRange } from '../../domain/calendar.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { Psd2Error } from '../../errors.ts';
import { day, decimal, flag, list, money, object, orNull, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { keptAccount, readAccount } from './account.ts';
import { assertWhole, fetchStatement, sayLeftOut } from './statement.ts';

/** The numbers of `--chart`. */
export const chart = object({
  productId: text("the bank's id of the account, card or deposit"),
  currency: text('ISO 4217 code'),
  from: day('the first day'),
  to: day('the last day'),
  opening: orNull(money('the balance before the first day')),
  closing: orNull(money('the balance after the last day')),
  balances: list(
    object({ date: day('the day'), balance: decimal('at the end of the day') }),
    'one for each day; empty if the bank gives no balance',
  ),
  months: list(
    object({
      month: text('2026-11'),
      in: decimal('incoming money'),
      out: decimal('outgoing money: negative or zero'),
      net: decimal('the sum of both'),
    }),
    'one for each month, including months without transactions',
  ),
  noBalance: orNull(text('why the balances are not known; null if they are, or the bank gives none')),
  creditLimitIncluded: orNull(
    flag("whether the bank's balance has a credit line in it; null if it does not say"),
  ),
  complete: flag('whether the bank showed all transactions of these days'),
  certainFrom: orNull(day('the first day from which that is certain, if it is not complete')),
});

/**
 * `psd2 accounts transactions <account> --chart`: the balance over time, and money in and out by month, from booked
 * transactions. As JSON, it prints the numbers of the chart.
 */
export async function accountsChart(
  context: Context,
  product: string,
  options: {
    from?: string | undefined;
    to?: string | undefined;
    limit?: string | undefined;
    export?: string | undefined;
    file?: string | undefined;
    pending: boolean;
  },
): Promise<void> {
  const named = await readAccount(context, product);
  const range = parseRange(options);
  const { limit, export: document, file, pending } = options;
  if (limit !== undefined || document !== undefined || file !== undefined || pending || context.globals.raw)
    throw new Psd2Error('usage', '--chart always shows all booked transactions in the range', {
      hint: 'Leave out --limit, --pending, --export, --file and --raw.',
    });
  const statement = await fetchStatement(context, named, range, await keptAccount(context, named));
  const { productId, currency, history, noBalance, creditLimitIncluded, certainFrom, certainThrough } =
    statement;
  sayLeftOut(context, statement, 'a chart');
  const { from, to, opening, closing, balances, months } = history;
  if (context.output.format === 'table') {
    const { drawAccountChart } = await import('../../terminal/output/chart.ts');
    context.output.lines(drawAccountChart(history, currency, readCanvas(context)));
    if (creditLimitIncluded && balances.length > 0)
      context.terminal.say("The bank's balance has a credit line in it, and so have those of the chart.");
    return assertWhole(statement, true);
  }
  const inCurrency = (amount: Decimal | null) => amount && { amount, currency };
  context.output.record(
    {
      productId,
      currency,
      from,
      to,
      opening: inCurrency(opening),
      closing: inCurrency(closing),
      balances,
      months,
      noBalance,
      creditLimitIncluded,
      complete: certainFrom === null && certainThrough === undefined,
      certainFrom,
    },
    chart,
  );
  assertWhole(statement, true);
}

/** The size of the chart. In a pipe, it uses no box characters and the width of a common terminal. */
function readCanvas({ env, stdoutIsTerminal, stdoutColumns }: Context) {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return {
    width: Math.min(stdoutColumns || 80, 120),
    blocks: stdoutIsTerminal && (/utf-?8/i.test(locale) || process.platform === 'win32'),
  };
}
