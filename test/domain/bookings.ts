import fc from 'fast-check';
import type { Booking } from '../../src/domain/account-history.ts';
import { type IsoDate, isIsoDate } from '../../src/domain/calendar.ts';
import { type Decimal, isDecimal } from '../../src/domain/decimal.ts';
import { DECIMAL_FACTS, TEXT_FACTS } from '../../src/domain/transaction-facts.ts';
import { anyCharacter } from '../support/any-character.ts';

export function dayOf(text: string): IsoDate {
  if (!isIsoDate(text)) throw new TypeError(`${text} is not a day`);
  return text;
}

export function amountOf(text: string): Decimal {
  if (!isDecimal(text)) throw new TypeError(`${text} is not a decimal`);
  return text;
}

/** Returns an amount in cents as a decimal. */
export function decimalOf(cents: number): Decimal {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return amountOf(`${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`);
}

export function range(from: string, to: string): { from: IsoDate; to: IsoDate } {
  return { from: dayOf(from), to: dayOf(to) };
}

let made = 0;

export function booking(day: string, amount: string, description = '', details = ''): Booking {
  made += 1;
  return {
    ...{ id: String(made).padStart(32, '0'), day: dayOf(day), valueDate: dayOf(day) },
    ...{ amount: amountOf(amount), description, details },
    ...{ code: null, transferReference: null, feeCharge: null },
  };
}

/** A text that could be the worst a bank sends. */
const text = fc.oneof(
  fc.constantFrom(
    '',
    'PAGAMENTO POS',
    '=1+1',
    "L'ARTE & CO <1>",
    'Caffè',
    '日本',
    ']]>',
    '\u0000\u001b[2J',
    '\ud800',
  ),
  // Without `size`, fast-check makes texts of only about ten units, whatever the maximum length.
  fc.string({ unit: anyCharacter, maxLength: 600, size: 'max' }),
);

const textOfFact = fc.oneof(
  fc.constantFrom(
    'USD',
    'DE02100100109307118603',
    'PMNT-RCDT-ESCT',
    'RF18539007547034',
    'SALA',
    '=1+1',
    ']]>',
    '\ud800',
  ),
  fc.string({ unit: anyCharacter, maxLength: 40, size: 'max' }),
);
const numberOfFact = fc.stringMatching(/^-?\d{1,20}(\.\d{1,20})?$/).map(amountOf);
/** What the bank of a NextGenPSD2 interface adds. */
const facts = fc.record(
  {
    ...Object.fromEntries(TEXT_FACTS.map((fact) => [fact, textOfFact])),
    ...Object.fromEntries(DECIMAL_FACTS.map((fact) => [fact, numberOfFact])),
  },
  { requiredKeys: [] },
);

/** All bookings of an account from January to March 2026, newest first. */
export const bookings: fc.Arbitrary<Booking[]> = fc
  .array(
    fc.record({
      day: fc.integer({ min: 0, max: 80 }),
      cents: fc.integer({ min: -10_000_000, max: 10_000_000 }),
      description: text,
      details: text,
      code: fc.option(text),
      transferReference: fc.option(text),
      feeCharge: fc.option(fc.boolean()),
      facts,
    }),
    { maxLength: 30 },
  )
  .map((rows) =>
    rows
      .sort((a, b) => b.day - a.day)
      .map(({ day, cents, facts, ...row }, number) => {
        const date = dayOf(new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10));
        const id = String(number).padStart(32, '0');
        return {
          ...facts,
          ...row,
          id,
          day: date,
          valueDate: day % 3 === 0 ? null : date,
          amount: decimalOf(cents),
        };
      }),
  );
