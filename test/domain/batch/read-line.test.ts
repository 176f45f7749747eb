import { describe, expect, it } from 'vitest';
import {
  type LineRules,
  readDebit,
  readDebited,
  readLineOfBatch,
  type WrittenDebit,
  type WrittenPayment,
} from '../../../src/domain/batch/read-line.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';

// The texts of one line of a file: all their problems at once.

const WRITTEN: WrittenPayment = {
  ...{ name: 'Mario Rossi', iban: 'it60 X054 2811 1010 0000 0123 456', amount: '12.5' },
  ...{ currency: 'EUR', description: 'Invoice 7', reference: 'R-1' },
  creditorReference: null,
};

function read(changes: Partial<WrittenPayment>) {
  const reported: [string, string][] = [];
  const payment = readLineOfBatch({ ...WRITTEN, ...changes }, (...problem) => void reported.push(problem));
  return { payment, reported };
}

describe('a payment', () => {
  it('is read in its own form', () => {
    expect(read({})).toMatchInlineSnapshot(`
      { payment: { amount: "12.50", currency: "EUR", description: "Invoice 7", iban: "IT60X0542811101000000123456",
          name: "Mario Rossi", reference: "R-1" },
        reported: [] }
    `);
  });

  it('has a text or the reference of the payee, and not both', () => {
    const creditorReference = { reference: 'RF18 5390 0754 7034', type: 'SCOR', issuer: null };
    expect(read({ description: '', creditorReference }).payment).toMatchObject({
      creditorReference: { reference: 'RF18539007547034' },
    });
    expect(read({ creditorReference }).reported).toEqual([
      ['creditorReference', "SEPA carries a text or the payee's reference, and not both"],
    ]);
  });

  it('may have no description and no reference', () => {
    const { payment, reported } = read({ description: '', reference: null });
    expect(payment).toMatchObject({ description: '', reference: null });
    expect(reported).toEqual([]);
  });

  const EURO_SIGN =
    'The description contains the character "€" at position 2, which SEPA does not allow. Add --transliterate to pay it as "7EUR"';
  const PROBLEMS: [keyof WrittenPayment, string, string][] = [
    ['name', ' ', 'The name is empty'],
    ['iban', '', 'The IBAN "" is empty'],
    ['amount', '12,50', 'The amount "12,50" has a decimal comma'],
    ['currency', 'CHF', 'The currency "CHF" is not possible: SEPA transfers are in EUR'],
    ['description', '7€', EURO_SIGN],
    ['reference', '/R', 'The reference must not begin or end with a slash, or have two slashes in a row'],
  ];

  it.each(PROBLEMS)('has a problem in its field %s', (field, text, message) => {
    expect(read({ [field]: text })).toEqual({ payment: null, reported: [[field, message]] });
  });

  it('has all its problems reported', () => {
    const { payment, reported } = read(Object.fromEntries(PROBLEMS));
    expect(payment).toBeNull();
    expect(reported).toEqual(PROBLEMS.map(([field, , message]) => [field, message]));
  });
});

describe('a debit', () => {
  const RULES: LineRules = {
    today: parseDate('--date', '2026-11-24'),
    readAccountId: parseProductId,
    readCustomerId(text) {
      if (/^\d+$/.test(text)) return text;
      throw new Psd2Error('usage', `The customer ${text} has no digits`);
    },
  };
  const NOTHING: WrittenDebit = { customer: null, from: null, date: null };
  function readWith(changes: Partial<WrittenDebit>, rules = RULES) {
    const reported: [string, string][] = [];
    const debit = readDebit({ ...NOTHING, ...changes }, rules, (...problem) => void reported.push(problem));
    return { debit, reported };
  }
  const ALL = { customer: '1', from: '0000012345', date: '2026-12-01' };
  const UNSAID = { customer: null, from: null, fromIban: null, executionDate: null };

  it.each<[Partial<WrittenDebit>, object]>([
    [{}, {}],
    [{ customer: '1048262' }, { customer: '1048262' }],
    [{ from: '0000012345' }, { from: '0000012345' }],
    [{ from: 'de89 3704 0044 0532 0130 00' }, { fromIban: 'DE89370400440532013000' }],
    [{ date: '2026-11-24' }, { executionDate: '2026-11-24' }],
    [ALL, { customer: '1', from: '0000012345', executionDate: '2026-12-01' }],
  ])('is read from %o', (changes, expected) => {
    expect(readWith(changes)).toEqual({ debit: { ...UNSAID, ...expected }, reported: [] });
  });

  const PROBLEMS: [keyof WrittenDebit, string, string][] = [
    ['customer', 'anna', 'The customer anna has no digits'],
    ['from', 'DE88370400440532013000', expect.stringContaining('has wrong check digits')],
    ['date', '2026-11-23', 'The date 2026-11-23 is in the past: at the bank it is 2026-11-24'],
  ];
  it.each(PROBLEMS)('has a problem in its field %s', (field, text, message) => {
    expect(readWith({ [field]: text })).toEqual({ debit: null, reported: [[field, message]] });
  });

  it('has all its problems reported', () => {
    expect(readWith(Object.fromEntries(PROBLEMS)).reported).toEqual(
      PROBLEMS.map(([field, , message]) => [field, message]),
    );
  });

  it('a bug is no problem of the file', () => {
    const bug = new TypeError('A bug');
    const readCustomerId = () => {
      throw bug;
    };
    expect(() => readWith({ customer: '1' }, { ...RULES, readCustomerId })).toThrow(bug);
  });

  describe('of an account', () => {
    const anything = (text: string) => parseProductId(text.slice(0, 2) === 'AB' ? '0000000001' : text);
    const codeOf = (text: string) => {
      try {
        return readDebited(text, RULES.readAccountId);
      } catch (error) {
        return error instanceof Psd2Error ? error.code : error;
      }
    };

    it('with an id that looks like an IBAN is one with an id', () => {
      expect(readDebited('AB121234567890', anything)).toEqual({ from: '0000000001', fromIban: null });
    });

    it.each([
      ['de88 3704 0044 0532 0130 00', 'invalid_iban'],
      ['DE8837040044', 'invalid_product_id'],
      ['DE88370400440532013_', 'invalid_product_id'],
      ['x DE88370400440532013000', 'invalid_product_id'],
      ['D188370400440532013000', 'invalid_product_id'],
      ['DE8X370400440532013000', 'invalid_product_id'],
      ['', 'invalid_product_id'],
    ])('that is neither (%j): the problem is that of what it looks like', (text, code) => {
      expect(codeOf(text)).toBe(code);
    });
  });
});
