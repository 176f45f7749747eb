import { parseRange } from '../../domain/calendar.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import type { Context } from '../context.ts';
import { requireFile, saveResult } from '../shared/save-document.ts';
import { fetchStatement } from './statement.ts';

/** `psd2 accounts report <productId> --file <path>`: one HTML page that works on its own. */
export async function accountsReport(
  context: Context,
  product: string,
  options: { from?: string | undefined; to?: string | undefined; file: string },
): Promise<void> {
  const productId = parseProductId(product);
  const range = parseRange(options);
  const file = requireFile(context, options.file, 'text');
  const statement = await fetchStatement(context, productId, range);
  const { writeReport } = await import('../../statements/report.ts');
  await saveResult(context, file, Buffer.from(writeReport(statement), 'utf8'));
}
