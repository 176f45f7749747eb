import { parseRange } from '../../domain/calendar.ts';
import { verb } from '../declare.ts';
import { customerOf } from '../open/customer.ts';
import { recordExport } from '../shared/record-in-audit.ts';
import { requireFile, SAVED, saveResult } from '../shared/save-document.ts';
import { keptAccount, readAccount } from './account.ts';
import { assertWhole, fetchStatement, sayLeftOut } from './statement.ts';
import { openSynced, storedStatement, withStore } from './stored.ts';

/** `psd2 accounts report <account> --file <path>`: one HTML page that works on its own. */
export const report = verb(
  {
    prints: SAVED,
    help: `
With --from-store, psd2 uses what psd2 sync has stored. It asks no bank, so it costs none of the day's reads.

Examples:
  $ psd2 accounts report 0012345678 --file report.html
  $ psd2 accounts report 0012345678 --from-store --file report.html`,
  },
  (command) =>
    withStore(
      command
        .argument('<account>')
        .requiredOption('--file <path>', 'HTML file to write; - for standard output')
        .option('--from <date>', 'first day, YYYY-MM-DD')
        .option('--to <date>', 'last day, YYYY-MM-DD'),
    ),
  async (context, product, options) => {
    const named = await readAccount(context, product, options);
    const range = parseRange(options);
    const file = requireFile(context, options.file, 'text');
    const stored = await openSynced(context, options);
    const statement = stored
      ? await storedStatement(context, stored, named, range)
      : await fetchStatement(context, named, range, await keptAccount(context, named));
    const { writeReport } = await import('../../statements/report.ts');
    const customerId = stored ? await customerOf(context) : (await context.bank()).customerId;
    await recordExport(context, customerId, 'report', statement.productId);
    await saveResult(context, file, Buffer.from(writeReport(statement), 'utf8'));
    sayLeftOut(context, statement, 'a report');
    assertWhole(statement, true);
  },
);
