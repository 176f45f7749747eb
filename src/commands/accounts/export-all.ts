import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { addDays, type IsoDate, isIsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { leftOutOf } from '../../statements/statement.ts';
import { makePrivateFolder } from '../../store/disk/files.ts';
import type { Doubt } from '../../store/ports/read-results.ts';
import type { SyncedAccount, SyncedData } from '../../store/ports/synced.ts';
import {
  day,
  list,
  object,
  oneOf,
  orNull,
  seen,
  text,
  time,
  type ValueOf,
  whole,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { recordExport } from '../shared/record-in-audit.ts';
import { saveDocument } from '../shared/save-document.ts';
import { doubtsOf, gapsIn, storedPart, writeStatement } from './stored.ts';
import { type ExportFormat, FORMATS, writeExport } from './write-export.ts';

/** What people see counted. */
interface Counted {
  accounts: { file: string | null; rows: number; gaps: object[] }[];
}

/** What was written, and what is missing. */
export const manifest = object({
  profile: text('profile of the accounts'),
  month: text('YYYY-MM').as('Month'),
  format: oneOf(FORMATS, 'format of the files').as('Format'),
  createdAt: time('when it was written'),
  accounts: list(
    object({
      customerId: text('id of the customer'),
      productId: orNull(text('the account; null if no sync has stored any account of the customer')),
      iban: orNull(text('IBAN of the account')),
      file: orNull(text('path below the folder; null if there is no file')),
      rows: whole('booked transactions in the file'),
      days: whole('days of the month that the store has completely'),
      gaps: list(
        object({ from: day('first day'), to: day('last day') }),
        'days of the month that the store does not have, or not completely',
      ),
      sha256: orNull(text('SHA-256 of the file')),
      problem: orNull(text('why there is no file, or what it may lack')),
      doubt: orNull(text('what the last sync was not certain of, in words; null if of nothing')),
    }),
    'one for each account',
  )
    .as('Accounts')
    .written((accounts) => String(accounts.length)),
  files: seen('Files', ({ accounts }: Counted) => countMeant(accounts, ({ file }) => file !== null)),
  rows: seen('Rows', ({ accounts }: Counted) => String(accounts.reduce((sum, { rows }) => sum + rows, 0))),
  withGaps: seen('With gaps', ({ accounts }: Counted) => countMeant(accounts, ({ gaps }) => gaps.length > 0)),
});

function countMeant<Entry>(all: Entry[], isMeant: (entry: Entry) => boolean): string {
  return String(all.filter(isMeant).length);
}

type Manifest = ValueOf<typeof manifest>;
type Entry = Manifest['accounts'][number];

const ENDS: Readonly<Record<ExportFormat, string>> = { csv: 'csv', ofx: 'ofx', camt053: 'xml' };
/** The store knows a customer by its results for longer than any sync takes. */
const LATER_MS = 86_400_000;

/**
 * Writes a month of all accounts that syncs have stored, with a manifest. It asks no bank, so it costs no read.
 *
 * @throws Psd2Error `needs_attention` if days are missing, after everything was written; `usage`, `config`
 */
export async function exportAll(
  context: Context,
  data: SyncedData,
  { month, format, out }: { month: string; format: ExportFormat; out: string },
): Promise<void> {
  const range = monthRange(month, context.world.now());
  makePrivateFolder(out);
  const accounts: Entry[] = [];
  const quiet = { ...context, terminal: { ...context.terminal, say: () => {} } };
  for (const customerId of await customersOf(context, data)) {
    const stored = await data.accounts(customerId);
    if (stored.length === 0) accounts.push(nothingOf(customerId, range));
    else await recordExport(context, customerId, `${format} ${month}`);
    const doubts = await doubtsOf(context, customerId);
    for (const account of stored) {
      const of = { customerId, account, format, month, out, doubt: doubts.get(account.productId) };
      accounts.push(await exportOne(quiet, data, of, range));
    }
  }
  const written: Manifest = {
    profile: context.profile().name,
    month,
    format,
    createdAt: context.world.now().toISOString(),
    accounts,
  };
  await saveDocument(quiet, join(out, 'manifest.json'), Buffer.from(`${JSON.stringify(written, null, 2)}\n`));
  context.output.record(written, manifest, 'titles');
  const missing = accounts.filter(({ gaps, problem }) => gaps.length > 0 || problem !== null).length;
  if (missing === 0) return;
  throw new Psd2Error(
    'needs_attention',
    `${missing} of ${accounts.length} accounts are not complete for ${month}`,
    {
      hint: `The manifest in ${out} has the missing days. See what syncs could not read with:`,
      next: [['sync', 'status', '--failed']],
    },
  );
}

/** The customers of the profile: those with synced accounts, and those whom psd2 can or could read. */
async function customersOf(context: Context, data: SyncedData): Promise<string[]> {
  const { tokens, customers, results } = await context.store();
  const read = await results.outdated(new Date(context.world.now().getTime() + LATER_MS));
  const own = new Set([
    ...(await tokens.customers()),
    ...(await customers.list()),
    ...read.map(({ customerId }) => customerId),
  ]);
  const { needsFolder } = await context.wholeStore();
  // A folder may have customers of other profiles too. A database keeps them apart.
  const stored = (await data.customers()).filter((customerId) => !needsFolder || own.has(customerId));
  return [...new Set([...stored, ...own])].sort();
}

async function exportOne(
  context: Context,
  data: SyncedData,
  of: {
    customerId: string;
    account: SyncedAccount;
    format: ExportFormat;
    month: string;
    out: string;
    doubt: Doubt | undefined;
  },
  range: { from: IsoDate; to: IsoDate },
): Promise<Entry> {
  const { customerId, account, format, month, out, doubt } = of;
  const { productId, iban } = account;
  const stored = await data.days(customerId, productId);
  const gaps = gapsIn(stored, range);
  const days = lengthOf(range) - gaps.reduce((sum, gap) => sum + lengthOf(gap), 0);
  const entry = { customerId, productId, iban, days, gaps, doubt: doubt?.message ?? null };
  const part = storedPart(stored, range);
  if (!part) return { ...entry, ...NO_FILE, problem: 'no sync has stored a day of the month' };
  try {
    const statement = await writeStatement(context, data, { customerId, account, doubt }, part);
    const content = Buffer.from(await writeExport(statement, format), 'utf8');
    const folder = encodeURIComponent(customerId);
    const file = join(folder, `${encodeURIComponent(productId)}-${month}.${ENDS[format]}`);
    makePrivateFolder(join(out, folder));
    await saveDocument(context, join(out, file), content);
    const leftOut = format === 'ofx' ? leftOutOf(statement, 'OFX') : null;
    const [contradiction = null] = statement.contradictions;
    const problem = statement.doubt?.mayLackRows ? statement.doubt.message : (contradiction ?? leftOut);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const rows = statement.history.bookings.length + (format === 'ofx' ? 0 : statement.foreign.length);
    return { ...entry, file, rows, sha256, problem };
  } catch (error) {
    // An account that the format cannot carry must not stop the others.
    if (!(error instanceof Psd2Error) || error.code !== 'usage') throw error;
    return { ...entry, ...NO_FILE, problem: error.message };
  }
}

const NO_FILE = { file: null, rows: 0, sha256: null };

function nothingOf(customerId: string, range: { from: IsoDate; to: IsoDate }): Entry {
  return {
    customerId,
    productId: null,
    iban: null,
    days: 0,
    gaps: [range],
    ...NO_FILE,
    problem: 'no sync has stored any account of the customer',
    doubt: null,
  };
}

/** @throws Psd2Error `usage` */
function monthRange(month: string, now: Date): { from: IsoDate; to: IsoDate } {
  const first = `${month}-01`;
  if (!/^\d{4}-\d{2}$/.test(month) || !isIsoDate(first))
    throw new Psd2Error('usage', `--month ${JSON.stringify(month)} is not a month`, {
      hint: 'For example 2026-10.',
    });
  if (first > now.toISOString().slice(0, 10))
    throw new Psd2Error('usage', `The month ${month} has not begun yet`);
  let to = addDays(first, 27);
  while (addDays(to, 1).startsWith(month)) to = addDays(to, 1);
  return { from: first, to };
}

function lengthOf({ from, to }: { from: IsoDate; to: IsoDate }): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;
}
