import { Option } from '@commander-js/extra-typings';
import { parseRange } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import type { Statement } from '../../statements/statement.ts';
import { verb } from '../declare.ts';
import { recordExport } from '../shared/record-in-audit.ts';
import { requireFile, SAVED, saveResult } from '../shared/save-document.ts';
import { readAccount } from './account.ts';
import { fetchStatement } from './statement.ts';

const FORMATS = ['csv', 'ofx', 'camt053'] as const;
type ExportFormat = (typeof FORMATS)[number];

/** `psd2 accounts export <productId>`: booked transactions for spreadsheets and accounting programs, without pending ones. */
export const exportBookings = verb(
  {
    prints: SAVED,
    help: `
A transaction has the same id in every export, so importing it twice makes no duplicate. Pending transactions are left out.

Examples:
  $ psd2 accounts export 0012345678 --format camt053 --from 2026-10-01 --to 2026-10-31 --file october.xml
  $ psd2 accounts export 0012345678 --format csv --file - | head`,
  },
  (command) =>
    command
      .argument('<productId>')
      .addOption(new Option('--format <format>', 'format of the file').choices(FORMATS).makeOptionMandatory())
      .requiredOption('--file <path>', 'file to write; - for standard output')
      .option('--from <date>', 'first day, YYYY-MM-DD')
      .option('--to <date>', 'last day, YYYY-MM-DD'),
  async (context, product, options) => {
    const named = await readAccount(context, product);
    const range = parseRange(options);
    const file = requireFile(context, options.file, 'text');
    const statement = await fetchStatement(context, named, range);
    const text = await writeStatement(statement, options.format);
    const { customerId } = await context.bank();
    await recordExport(context, customerId, options.format, statement.productId);
    await saveResult(context, file, Buffer.from(text, 'utf8'));
    context.terminal.say(
      `${statement.history.bookings.length} booked transactions from ${statement.history.from} to ${statement.history.to}`,
    );
  },
);

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
