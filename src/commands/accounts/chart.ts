import { parseRange } from '../../domain/calendar.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { chart } from './shape.ts';
import { fetchStatement } from './statement.ts';

/**
 * `psd2 accounts transactions <productId> --chart`: the balance over time, and money in and out by month, from booked
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
  const productId = parseProductId(product);
  const range = parseRange(options);
  const { limit, export: document, file, pending } = options;
  if (limit !== undefined || document !== undefined || file !== undefined || pending || context.globals.raw) {
    throw new Psd2Error('usage', '--chart always shows all booked transactions in the range', {
      hint: 'Leave out --limit, --pending, --export, --file and --raw.',
    });
  }
  const { currency, history } = await fetchStatement(context, productId, range);
  const { from, to, opening, closing, balances, months } = history;
  if (context.output.format === 'table') {
    const { drawAccountChart } = await import('../../terminal/output/chart.ts');
    context.output.lines(drawAccountChart(history, currency, readCanvas(context)));
    return;
  }
  const money = (amount: Decimal | null) => amount && { amount, currency };
  context.output.record(
    { productId, currency, from, to, opening: money(opening), closing: money(closing), balances, months },
    [],
    chart,
  );
}

/** The size of the chart. In a pipe, it uses no box characters and the width of a common terminal. */
function readCanvas({ env, stdoutIsTerminal, stdoutColumns }: Context) {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return {
    width: Math.min(stdoutColumns || 80, 120),
    blocks: stdoutIsTerminal && (/utf-?8/i.test(locale) || process.platform === 'win32'),
  };
}
