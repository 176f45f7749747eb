import { Psd2Error } from '../../errors.ts';
import type { Statement } from '../../statements/statement.ts';

export const FORMATS = ['csv', 'ofx', 'camt053'] as const;
export type ExportFormat = (typeof FORMATS)[number];

/** Writes a statement in a format. @throws Psd2Error `usage` if the format cannot say what the statement has */
export async function writeExport(statement: Statement, format: ExportFormat): Promise<string> {
  if (format === 'csv') return (await import('../../statements/csv.ts')).writeCsvStatement(statement);
  const { productId, currency, history, noBalance } = statement;
  const { opening, closing } = history;
  if (opening === null || closing === null)
    throw new Psd2Error(
      'usage',
      `There is no balance for ${productId}, but ${format} needs one${noBalance === null ? '' : `: ${noBalance}`}`,
      { hint: 'Use --format csv.' },
    );
  if (!/^[A-Z]{3}$/.test(currency))
    throw new Psd2Error('usage', `${format} does not support the currency ${JSON.stringify(currency)}`, {
      hint: 'Use --format csv.',
    });
  return format === 'ofx'
    ? (await import('../../statements/ofx.ts')).writeOfxStatement(statement, closing)
    : (await import('../../statements/camt053.ts')).writeCamt053Statement(statement, { opening, closing });
}
