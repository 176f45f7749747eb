import { parseRange } from '../../domain/calendar.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import type { Statement } from '../../statements/statement.ts';
import type { Context } from '../context.ts';
import { requireFile, saveResult } from '../shared/save-document.ts';
import { fetchStatement } from './statement.ts';

export type ExportFormat = 'csv' | 'ofx' | 'camt053';

/** `psd2 accounts export <productId>`: booked transactions for spreadsheets and accounting programs, without pending ones. */
export async function accountsExport(
  context: Context,
  product: string,
  options: {
    format: ExportFormat;
    from?: string | undefined;
    to?: string | undefined;
    file: string | undefined;
  },
): Promise<void> {
  const productId = parseProductId(product);
  const range = parseRange(options);
  const file = requireFile(context, options.file, 'text');
  const statement = await fetchStatement(context, productId, range);
  const text = await writeStatement(statement, options.format);
  await saveResult(context, file, Buffer.from(text, 'utf8'));
  context.terminal.say(
    `${statement.history.bookings.length} booked transactions from ${statement.history.from} to ${statement.history.to}`,
  );
}

async function writeStatement(statement: Statement, format: ExportFormat): Promise<string> {
  if (format === 'csv') return (await import('../../statements/csv.ts')).writeCsvStatement(statement);
  const { productId, currency, history } = statement;
  const { opening, closing } = history;
  if (opening === null || closing === null) {
    throw new Psd2Error('usage', `The bank gives no balance for ${productId}, but ${format} needs one`, {
      hint: 'Use --format csv.',
    });
  }
  if (!/^[A-Z]{3}$/.test(currency)) {
    throw new Psd2Error('usage', `${format} does not support the currency ${JSON.stringify(currency)}`, {
      hint: 'Use --format csv.',
    });
  }
  return format === 'ofx'
    ? (await import('../../statements/ofx.ts')).writeOfxStatement(statement, closing)
    : (await import('../../statements/camt053.ts')).writeCamt053Statement(statement, { opening, closing });
}
