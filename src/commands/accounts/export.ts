import { type Command, Option } from '@commander-js/extra-typings';
import { parseRange } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { type OptionsOf, verb } from '../declare.ts';
import { customerOf } from '../open/customer.ts';
import { recordExport } from '../shared/record-in-audit.ts';
import { requireFile, SAVED, saveResult } from '../shared/save-document.ts';
import { keptAccount, readAccount } from './account.ts';
import { manifest } from './export-all.ts';
import { assertWhole, fetchStatement, sayLeftOut } from './statement.ts';
import { openSynced, storedStatement, withStore } from './stored.ts';
import { FORMATS, writeExport } from './write-export.ts';

function withExportOptions(command: Command) {
  return withStore(
    command
      .argument('[account]')
      .addOption(new Option('--format <format>', 'format of the file').choices(FORMATS).makeOptionMandatory())
      .option('--file <path>', 'where to save it; default: standard output')
      .option('--from <date>', 'first day, YYYY-MM-DD')
      .option('--to <date>', 'last day, YYYY-MM-DD')
      .option(
        '--all-customers',
        'write a month of all accounts of all customers from the store, with a manifest',
      )
      .option('--month <month>', 'with --all-customers: YYYY-MM')
      .option('--out <folder>', 'with --all-customers: folder for the files'),
  );
}

type ExportOptions = OptionsOf<typeof withExportOptions>;

/** `psd2 accounts export <account>`: booked transactions for spreadsheets and accounting programs, without pending ones. */
export const exportBookings = verb(
  {
    prints: SAVED,
    printsWith: { '--all-customers': { what: 'the files of a month, and what is missing', shape: manifest } },
    help: `
A transaction has the same id in every export, so importing it twice makes no duplicate. Pending transactions are left out.

With --from-store, psd2 writes what psd2 sync has stored. It asks no bank, so it costs none of the day's reads.

--all-customers writes a month of every account that the store has: <out>/<customerId>/<account>-<month>.<ext>, and
<out>/manifest.json with the rows, days, gaps and SHA-256 of each file. The exit code is 12 if days are missing. A day counts
only if a sync has read it on a later day.

Examples:
  $ psd2 accounts export 0010482620 --format camt053 --from 2026-10-01 --to 2026-10-31 --file october.xml
  $ psd2 accounts export 0010482620 --format csv --from-store | head
  $ psd2 accounts export --all-customers --month 2026-10 --format camt053 --out october`,
  },
  withExportOptions,
  async (context, product, options) => {
    if (options.allCustomers) return exportEach(context, product, options);
    refuseOptionsOfAll(options);
    if (product === undefined)
      throw new Psd2Error('usage', 'The account is missing', { next: [['accounts', 'list']] });
    const named = await readAccount(context, product, options);
    const range = parseRange(options);
    const file = requireFile(context, options.file ?? '-', 'text');
    const stored = await openSynced(context, options);
    const statement = stored
      ? await storedStatement(context, stored, named, range)
      : await fetchStatement(context, named, range, await keptAccount(context, named));
    const text = await writeExport(statement, options.format);
    const customerId = stored ? await customerOf(context) : (await context.bank()).customerId;
    await recordExport(context, customerId, options.format, statement.productId);
    await saveResult(context, file, Buffer.from(text, 'utf8'));
    const isWhole = options.format !== 'ofx';
    if (!isWhole) sayLeftOut(context, statement, 'OFX');
    const { history, foreign } = statement;
    const count = history.bookings.length + (isWhole ? foreign.length : 0);
    context.terminal.say(`${count} booked transactions from ${history.from} to ${history.to}`);
    assertWhole(statement, false);
  },
);

/** @throws Psd2Error `usage` if options do not belong together, and what `exportAll` throws */
async function exportEach(
  context: Context,
  product: string | undefined,
  options: ExportOptions,
): Promise<void> {
  const { month, out, format, syncFolder } = options;
  const ofOne =
    (product !== undefined && 'the account') ||
    (['file', 'from', 'to'] as const)
      .filter((name) => options[name] !== undefined)
      .map((name) => `--${name}`)[0];
  if (ofOne) throw new Psd2Error('usage', `--all-customers and ${ofOne} cannot be used together`);
  // PSD2_CUSTOMER is only a default, and --all-customers counts more.
  if (context.globals.customer !== undefined && context.sourceOf('customer') === 'option')
    throw new Psd2Error('usage', '--customer and --all-customers cannot be used together', {
      hint: 'Leave one of them out.',
    });
  if (month === undefined)
    throw new Psd2Error('usage', '--all-customers needs --month', { hint: 'For example 2026-10.' });
  if (!out)
    throw new Psd2Error('usage', '--all-customers needs --out', { hint: 'It is the folder for the files.' });
  const stored = await openSynced(context, { fromStore: true, syncFolder });
  const { exportAll } = await import('./export-all.ts');
  if (stored) await exportAll(context, stored, { month, format, out });
}

/** @throws Psd2Error `usage` */
function refuseOptionsOfAll({ month, out }: ExportOptions): void {
  if (month === undefined && out === undefined) return;
  const hint =
    month === undefined
      ? 'The file of one account goes to --file.'
      : 'For one account, name the first and the last day with --from and --to.';
  const option = month === undefined ? '--out' : '--month';
  throw new Psd2Error('usage', `${option} needs --all-customers`, { hint });
}
