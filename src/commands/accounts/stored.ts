import type { Command, OptionValues } from '@commander-js/extra-typings';
import { accountHistory, byCurrency, type ForeignBooking } from '../../domain/account-history.ts';
import { dayOfRow } from '../../domain/booked-ids.ts';
import {
  addDays,
  bankTime,
  type DayRange,
  earlier,
  type IsoDate,
  isIsoDate,
  later,
} from '../../domain/calendar.ts';
import { isZero, normalDecimal } from '../../domain/decimal.ts';
import type { AccountId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import type { Statement } from '../../statements/statement.ts';
import type { Doubt } from '../../store/ports/read-results.ts';
import type {
  SyncedAccount,
  SyncedBalance,
  SyncedBooking,
  SyncedBookings,
  SyncedData,
  SyncedDays,
} from '../../store/ports/synced.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { customerOf } from '../open/customer.ts';
import { requireSyncFolder } from '../shared/sync-folder.ts';
import { findAccount } from './account.ts';

/** Adds the options that read from the store. */
export function withStore<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  return command
    .option('--from-store', 'read what psd2 sync has stored, and ask no bank')
    .option(
      '--sync-folder <folder>',
      'with --from-store: folder of psd2 sync --out; default: that of the last sync',
    );
}

/** What the options of {@link withStore} say. */
export interface StoreOptions {
  fromStore?: true | undefined;
  syncFolder?: string | undefined;
}

/**
 * Opens what syncs have stored, without a call to the bank. Undefined without `--from-store`.
 *
 * @throws Psd2Error `usage` if psd2 does not know the folder of the syncs, or a folder is given without `--from-store`
 */
export async function openSynced(context: Context, options: StoreOptions): Promise<SyncedData | undefined> {
  const { fromStore = false, syncFolder } = options;
  if (!fromStore) {
    if (syncFolder === undefined) return undefined;
    throw new Psd2Error('usage', '--sync-folder needs --from-store');
  }
  const { synced, lastSyncFolder } = await context.store();
  const { needsFolder } = await context.wholeStore();
  const folder = syncFolder ?? lastSyncFolder();
  if (needsFolder && folder === undefined)
    throw new Psd2Error('usage', 'No sync has stored anything yet, or psd2 does not know its folder', {
      hint: 'Name the folder of psd2 sync --out with --sync-folder <folder>, or run a sync first:',
      next: [['sync', '--out', 'banking']],
    });
  if (needsFolder && syncFolder !== undefined) requireSyncFolder(syncFolder);
  return synced(folder);
}

/** @throws Psd2Error `usage` if no sync has stored the balance, or the customer has no such account */
export async function storedBalance(
  context: Context,
  data: SyncedData,
  named: AccountId,
): Promise<SyncedBalance> {
  const customerId = await customerOf(context);
  const { productId } = await storedAccount(data, customerId, named);
  const balance = await data.balance(customerId, productId);
  if (balance) return balance;
  throw nothingStored(`the balance of ${productId}`);
}

/**
 * The statement of an account from what syncs have stored. It has only days that are stored, and warns if that is less than what
 * was asked for, or if the last sync was not certain of the rows.
 *
 * @throws Psd2Error `usage` if no sync has stored the account, or none of the days; `config` for a row that no statement can have
 */
export async function storedStatement(
  context: Context,
  data: SyncedData,
  named: AccountId,
  period: DayRange,
): Promise<Statement> {
  const customerId = await customerOf(context);
  const account = await storedAccount(data, customerId, named);
  const days = await data.days(customerId, account.productId);
  if (!days) throw nothingStored(`the transactions of ${account.productId}`);
  const { from, to } = { from: period.from ?? days.from, to: period.to ?? days.through };
  const part = storedPart(days, { from, to });
  if (!part)
    throw new Psd2Error(
      'usage',
      `The store has ${account.productId} from ${days.from} to ${days.through} only`,
      { hint: 'Choose days within this range, or leave out --from-store.' },
    );
  if (from < days.from || (period.to !== undefined && to >= days.through))
    context.terminal.warn(
      `The store has ${account.productId} from ${days.from} to ${days.through}. The last sync may not have seen the whole last day.`,
    );
  const doubt = (await doubtsOf(context, customerId)).get(account.productId);
  const statement = await writeStatement(context, data, { customerId, account, doubt }, part);
  if (doubt && !statement.doubt?.mayLackRows)
    context.terminal.warn(cleanText(`Not certain of ${account.productId}: ${doubt.message}.`));
  if (doubt?.complete !== false) return statement;
  const { certainFrom: certainDay } = doubt;
  const certain = certainDay !== null && isIsoDate(certainDay) ? later(certainDay, days.from) : days.from;
  return period.from !== undefined && period.from >= certain
    ? statement
    : { ...statement, certainFrom: certain };
}

/** What the last sync of each account of a customer could not know, by the id of the account. */
export async function doubtsOf(
  context: Pick<Context, 'store'>,
  customerId: string,
): Promise<ReadonlyMap<string, Doubt>> {
  const doubts = await (await context.store()).results.doubts();
  return new Map(doubts.flatMap((each) => (each.customerId === customerId ? [[each.productId, each]] : [])));
}

/**
 * Writes what is stored of an account.
 *
 * @param range stored days
 * @throws Psd2Error `config` for a row that no statement can have
 */
export async function writeStatement(
  { world }: Pick<Context, 'world'>,
  data: SyncedData,
  { customerId, account, doubt }: { customerId: string; account: SyncedAccount; doubt: Doubt | undefined },
  range: { from: IsoDate; to: IsoDate },
): Promise<Statement> {
  const { productId, iban, productCode } = account;
  const stored = await data.booked(customerId, productId, range.from);
  if (!stored) throw nothingStored(`the transactions of ${productId}`);
  const { rows, balance } = stored;
  const read = await data.balance(customerId, productId);
  const noBalance = whyNoBalance(stored, read);
  const currency = account.currency || balance?.currency || 'EUR';
  const inAll = rows.map((row) => toBooking(row, currency, productId));
  const { own: bookings, foreign } = byCurrency(inAll, currency, range);
  return {
    productId,
    iban,
    currency,
    productCode,
    name: account.name ?? account.productDescription,
    // The balance has the rows of all days up to the last sync.
    history: accountHistory(bookings, noBalance === null && balance ? normalDecimal(balance.amount) : null, {
      ...range,
      balanceDay: later(stored.through, range.to),
    }),
    foreign,
    noBalance,
    certainFrom: null,
    contradictions: stored.contradictions
      .filter(({ from, through }) => from <= range.to && through >= range.from)
      .map(({ says }) => says),
    creditLimitIncluded: read?.creditLimitIncluded?.accountBalance ?? null,
    doubt: doubt ? { message: doubt.message, mayLackRows: doubt.balanced === false } : null,
    createdAt: bankTime(world.now()),
  };
}

/** Why stored rows do not lead to balances. Null if they do, or the bank gives no balance. */
function whyNoBalance(
  { balance, difference }: Pick<SyncedBookings, 'balance' | 'difference'>,
  read: SyncedBalance | undefined,
): string | null {
  if (difference !== null && !isZero(difference))
    return `the bank's balance differs by ${difference} from the stored transactions`;
  if (balance || !read) return null;
  return read.reason ?? (read.accountBalance && 'no sync could say which transactions the balance has');
}

/** The part of a range that is stored; undefined if none is. */
export function storedPart(
  stored: SyncedDays | undefined,
  { from, to }: { from: IsoDate; to: IsoDate },
): { from: IsoDate; to: IsoDate } | undefined {
  if (!stored || to < stored.from || from > stored.through) return undefined;
  return { from: later(from, stored.from), to: earlier(to, stored.through) };
}

/** The days of a range that are not stored for sure: the day that was the last one during a sync may have got more rows. */
export function gapsIn(
  stored: SyncedDays | undefined,
  { from, to }: { from: IsoDate; to: IsoDate },
): { from: IsoDate; to: IsoDate }[] {
  if (!stored || stored.from > to || stored.through <= from) return [{ from, to }];
  return [
    ...(stored.from > from ? [{ from, to: addDays(stored.from, -1) }] : []),
    ...(stored.through <= to ? [{ from: stored.through, to }] : []),
  ];
}

async function storedAccount(data: SyncedData, customerId: string, named: AccountId): Promise<SyncedAccount> {
  const accounts = await data.accounts(customerId);
  if (accounts.length === 0) throw nothingStored(`the accounts of customer ${customerId}`);
  return findAccount(accounts, named, customerId);
}

function nothingStored(what: string): Psd2Error {
  return new Psd2Error('usage', `No sync has stored ${what}`, {
    hint: 'Run a sync first, or leave out --from-store.',
  });
}

/** @throws Psd2Error `bank_answer` for a row without a day */
function toBooking(
  { bookingDate, currency: own, ...row }: SyncedBooking,
  currency: string,
  productId: string,
): ForeignBooking {
  const day = dayOfRow({ bookingDate, valueDate: row.valueDate });
  const refuse = (what: string) =>
    new Psd2Error('bank_answer', `The stored transaction ${row.id} of ${productId} ${what}`, {
      hint: 'The bank gave neither a booking day nor a value day. See it in the rows of the sync.',
    });
  if (day === null) throw refuse('has no date');
  const isValueDay = bookingDate === null && { isValueDay: true as const };
  return { ...row, day, ...isValueDay, amount: normalDecimal(row.amount), currency: own ?? currency };
}
