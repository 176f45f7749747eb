import { parseRange } from '../../domain/calendar.ts';
import { verb } from '../declare.ts';
import { recordExport } from '../shared/record-in-audit.ts';
import { requireFile, SAVED, saveResult } from '../shared/save-document.ts';
import { readAccount } from './account.ts';
import { fetchStatement } from './statement.ts';

/** `psd2 accounts report <productId> --file <path>`: one HTML page that works on its own. */
export const report = verb(
  { prints: SAVED, help: '\nExample:\n  $ psd2 accounts report 0012345678 --file report.html' },
  (command) =>
    command
      .argument('<productId>')
      .requiredOption('--file <path>', 'HTML file to write; - for standard output')
      .option('--from <date>', 'first day, YYYY-MM-DD')
      .option('--to <date>', 'last day, YYYY-MM-DD'),
  async (context, product, options) => {
    const named = await readAccount(context, product);
    const range = parseRange(options);
    const file = requireFile(context, options.file, 'text');
    const statement = await fetchStatement(context, named, range);
    const { writeReport } = await import('../../statements/report.ts');
    await recordExport(context, (await context.bank()).customerId, 'report', statement.productId);
    await saveResult(context, file, Buffer.from(writeReport(statement), 'utf8'));
  },
);
