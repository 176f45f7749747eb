import * as z from 'zod/mini';
import { dayOfRow } from '../domain/booked-ids.ts';
import { type IsoDate, isIsoDate } from '../domain/calendar.ts';
import { type Decimal, isDecimal } from '../domain/decimal.ts';
import { isoDate } from '../domain/events.ts';
import { FACT_NAMES, TRANSACTION_FACTS } from '../domain/transaction-facts.ts';
import type { Contradiction, SyncedRow } from './ports/sync.ts';
import type { SyncedAccount, SyncedBalance, SyncedBooking } from './ports/synced.ts';

// Rows of a sync, as the backends keep them and a reader gets them back.

/** What a bank's own statements say, kept with the progress. */
export const contradiction: z.ZodMiniType<Contradiction> = z.object({
  says: z.string(),
  from: isoDate,
  through: isoDate,
});

const text = z.nullable(z.string());
const decimal = z.custom<Decimal>((value) => typeof value === 'string' && isDecimal(value));
const date = z.nullable(z.custom<IsoDate>((value) => typeof value === 'string' && isIsoDate(value)));

/** A field that is absent, or null in a database. */
function present<T>(schema: z.ZodMiniType<T>) {
  return z.pipe(
    z.nullish(schema),
    z.transform((value) => value ?? undefined),
  );
}

const money = z.nullish(z.object({ amount: decimal, currency: z.string() }));

export const syncedAccount: z.ZodMiniType<SyncedAccount> = z.object({
  productId: z.string(),
  iban: text,
  currency: z.string(),
  name: text,
  productCode: text,
  productDescription: text,
  card: present(z.boolean()),
  bban: present(z.string()),
  maskedPan: present(z.string()),
  status: present(z.string()),
  bankId: present(z.string()),
});

export const syncedBalance: z.ZodMiniType<SyncedBalance> = z.pipe(
  z.object({
    productId: z.string(),
    accountBalance: money,
    availableBalance: money,
    accountAvailability: money,
    accountAvailableCredit: money,
    asOf: z.nullish(z.string()),
    creditLimitIncluded: z.nullish(
      z.object({ accountBalance: z.optional(z.boolean()), availableBalance: z.optional(z.boolean()) }),
    ),
    reason: z.nullish(z.string()),
  }),
  z.transform(({ productId, accountBalance, availableBalance, asOf, reason, ...more }) => ({
    productId,
    accountBalance: accountBalance ?? null,
    availableBalance: availableBalance ?? null,
    accountAvailability: more.accountAvailability ?? null,
    accountAvailableCredit: more.accountAvailableCredit ?? null,
    asOf: asOf ?? null,
    ...(more.creditLimitIncluded && { creditLimitIncluded: more.creditLimitIncluded }),
    ...(reason && { reason }),
  })),
);

const rowFields = {
  id: z.string(),
  bookingDate: date,
  valueDate: date,
  amount: decimal,
  currency: text,
  description: z.string(),
  details: z.string(),
  code: text,
  transferReference: text,
};

const mayLack = z.optional(text);
const factOf = {
  text: mayLack,
  decimal: z.nullish(decimal),
  payments: z.nullish(
    z.array(z.looseObject({ amount: z.optional(decimal), currency: z.optional(z.string()) })),
  ),
};
const facts = Object.fromEntries(FACT_NAMES.map((name) => [name, factOf[TRANSACTION_FACTS[name].kind]]));

export const syncedBooking: z.ZodMiniType<SyncedBooking> = z.object({
  ...rowFields,
  ...facts,
  feeCharge: z.nullable(z.boolean()),
});

const flag = z.optional(z.nullable(z.boolean()));

const storedFields = {
  ...rowFields,
  transactionId: mayLack,
  entryReference: mayLack,
  internalTransactionId: mayLack,
  counterpartyIban: mayLack,
  future: flag,
  cancelled: flag,
  replaced: flag,
};
/** By which psd2 recognises a row again. */
export const FIELDS_OF_STORED_ROW: readonly string[] = Object.keys(storedFields);

/** A row as psd2 recognises it again. Other fields stay as they are. */
export const storedRow: z.ZodMiniType<SyncedRow> = z.looseObject(storedFields);

/** The newest first; rows of one day in the opposite order to that in which they were stored. */
export function newestFirst(stored: readonly SyncedBooking[]): SyncedBooking[] {
  const day = (row: SyncedBooking) => dayOfRow(row) ?? '';
  return stored.toReversed().sort((a, b) => (day(a) < day(b) ? 1 : day(a) > day(b) ? -1 : 0));
}
