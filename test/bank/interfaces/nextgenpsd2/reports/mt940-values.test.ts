import { describe, expect, it } from 'vitest';
import { readMt940 } from '../../../../../src/bank/interfaces/nextgenpsd2/reports/mt940.ts';

// What single values of MT940 mean: direction, day, amount, currency, reference. Each form, and what is next to it.

function fail(what: string): never {
  throw new Error(what);
}

const OWN = '37040044/0532013000';
/** A statement, or an interim report, of these fields. */
const read = (fields: string, listedCurrency?: string) =>
  readMt940(`:20:S\n:25:${OWN}\n${fields}\n-`, fail, listedCurrency);
const OPENING = ':60F:C261101EUR100,\n';
const CLOSING = '\n:62F:C261130EUR100,';
const statement = (entries: string) => read(OPENING + entries + CLOSING);
/** The row of a field `:61:`, and of what follows it. */
function rowOf(entry: string, information = 'x') {
  const [row, ...others] = statement(`:61:${entry}\n:86:${information}`).transactions.booked;
  expect(others).toEqual([]);
  return { ...row };
}
const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return error instanceof Error ? error.message : 'other';
  }
  return 'none';
};
const FORM = /^A field :61: has another form than MT940 has, at line 4$/;
const eur = (amount: string) => ({ amount, currency: 'EUR' });

describe('the direction of an entry', () => {
  it.each([
    ['C', '5', 'debtor'],
    ['D', '-5', 'creditor'],
    ['RC', '-5', 'creditor'],
    ['RD', '5', 'debtor'],
    ['EC', '5', 'debtor'],
    ['ED', '-5', 'creditor'],
  ])('%s is %s, and the %s is the other side', (mark, amount, side) => {
    const row = rowOf(`261121${mark}5,NTRFX`, '166?20x?31123?32Shop');
    expect(row).toMatchObject({
      transactionAmount: eur(amount),
      [`${side}Name`]: 'Shop',
    });
    expect(row).toHaveProperty(`${side}Account`, '123');
    expect(row).not.toHaveProperty(`${side === 'debtor' ? 'creditor' : 'debtor'}Name`);
  });

  it.each(['X', 'RX', 'CCC', 'E', 'R', 'CRD'])('%s is none', (mark) => {
    expect(refusal(() => rowOf(`261121${mark}5,NTRFX`))).toMatch(FORM);
  });
});

describe('the amount of an entry', () => {
  it.each([
    ['5,', '5'],
    ['5', '5'],
    ['5,1', '5.1'],
    ['5,123456', '5.123456'],
    [',5', '0.5'],
    [',123456', '0.123456'],
    ['123456789012345678,', '123456789012345678'],
    ['0,', '0'],
  ])('%s is %s', (text, amount) => {
    expect(rowOf(`261121C${text}NTRFX`).transactionAmount).toEqual(eur(amount));
    expect(rowOf(`261121D${text}NTRFX`).transactionAmount).toEqual(eur(amount === '0' ? '0' : `-${amount}`));
  });

  it.each(['', ',', '5,1234567', ',1234567', '1234567890123456789,', '5.1', '-5,', 'x'])(
    '%j is none',
    (text) => {
      expect(refusal(() => rowOf(`261121C${text}NTRFX`))).toMatch(FORM);
    },
  );
});

describe('the days of an entry', () => {
  it.each<[string, string | undefined, string]>([
    ['261121', undefined, '2026-11-21'],
    ['2611211120', '2026-11-20', '2026-11-21'],
    ['261121    ', undefined, '2026-11-21'],
    // The same year, the one before, the one after.
    ['2612310101', '2027-01-01', '2026-12-31'],
    ['2601011231', '2025-12-31', '2026-01-01'],
    // Half a year in both directions.
    ['2607020101', '2026-01-01', '2026-07-02'],
    ['2607030101', '2027-01-01', '2026-07-03'],
    ['2607021231', '2026-12-31', '2026-07-02'],
    ['2607011231', '2025-12-31', '2026-07-01'],
    // Days that only the calendar of German banks has.
    ['260229', undefined, '2026-02-28'],
    ['260230', undefined, '2026-02-28'],
    ['280229', undefined, '2028-02-29'],
    ['280230', undefined, '2028-02-29'],
    ['2603010230', '2026-02-28', '2026-03-01'],
  ])('%s are %s and %s', (text, bookingDate, valueDate) => {
    const row = rowOf(`${text}C5,NTRFX`);
    expect([row.bookingDate, row.valueDate]).toEqual([bookingDate, valueDate]);
  });

  it.each([
    ['260231', '2026-02-31'],
    ['261131', '2026-11-31'],
    ['261300', '2026-13-00'],
    ['2611211131', '2026-11-31'],
    ['2611210000', '2027-00-00'],
  ])('%s is refused', (text, day) => {
    expect(refusal(() => rowOf(`${text}C5,NTRFX`))).toBe(`${day} is not a day, at line 4`);
  });
});

describe('the references of an entry', () => {
  it.each<[string, string | undefined, string | undefined]>([
    ['NONREF', 'K-7', undefined],
    ['EREF', 'K-7', undefined],
    ['KREF+', 'K-7', undefined],
    ['MARF', 'K-7', undefined],
    ['', 'K-7', undefined],
    ['  ', 'K-7', undefined],
    ['NONREF1', 'NONREF1', undefined],
    ['XNONREF', 'XNONREF', undefined],
    ['KREF+1', 'KREF+1', undefined],
    ['AKREF', 'AKREF', undefined],
    ['MARF1', 'MARF1', undefined],
    [' OWN ', 'OWN', undefined],
    ['OWN//B-1', 'OWN', 'B-1'],
    ['OWN// B-1 ', 'OWN', 'B-1'],
    ['NONREF//B/1//2', 'K-7', 'B/1//2'],
    ['OWN//', 'OWN', undefined],
  ])('%j are %s of the customer and %s of the bank', (text, customers, banks) => {
    const row = rowOf(`261121C5,NTRF${text}`, '166?20KREF+K-7');
    expect([row.customerReference, row.transactionId]).toEqual([customers, banks]);
    expect(row.proprietaryBankTransactionCode).toBe('166');
    expect(rowOf(`261121C5,NTRF${text}`).proprietaryBankTransactionCode).toBe('NTRF');
  });

  it.each<[string, string, string, string | undefined]>([
    ['digits, and a line after them', 'B1\n23\nmore', 'B123', 'more'],
    ['digits at the end', 'B1\n23', 'B1', '23'],
    ['digits after a letter', 'B\n23\nmore', 'B', '23 more'],
    ['five digits', 'B1\n12345\nmore', 'B112345', 'more'],
    ['six digits', 'B1\n123456\nmore', 'B1', '123456 more'],
    ['other characters', 'B1\n2a\nmore', 'B1', '2a more'],
    ['16 characters at most', `${'1'.repeat(14)}\n23\nmore`, `${'1'.repeat(14)}23`, 'more'],
    ['no more than 16', `${'1'.repeat(15)}\n23\nmore`, '1'.repeat(15), '23 more'],
  ])('that of the bank goes on in the next line by %s', (_, lines, id, added) => {
    const row = rowOf(`261121C5,NTRFNONREF//${lines}`);
    expect([row.transactionId, row.additionalInformation]).toEqual([id, added]);
  });
});

describe('other amounts of an entry', () => {
  const usd = (amount: string) => ({ amount, currency: 'USD' });
  it.each<[string, object]>([
    ['/OCMT/USD14,/', { originalAmount: usd('14.') }],
    ['/CHGS/EUR0,50/', { transactionFees: eur('0.50') }],
    ['/OCMT/USD14,50//CHGS/EUR0,50/', { originalAmount: usd('14.50'), transactionFees: eur('0.50') }],
    ['/CHGS/EUR0,50//OCMT/USD14,50/', { originalAmount: usd('14.50'), transactionFees: eur('0.50') }],
    ['a/OCMT/USD14/b', { originalAmount: usd('14'), additionalInformation: 'a b' }],
    ['/OCMT/US14,/', { additionalInformation: '/OCMT/US14,/' }],
    ['/OCMT/USD14,', { additionalInformation: '/OCMT/USD14,' }],
    ['/OCMT/USD/', { additionalInformation: '/OCMT/USD/' }],
    ['/XCMT/USD14,/', { additionalInformation: '/XCMT/USD14,/' }],
    [`/OCMT/USD${'1'.repeat(15)},123456/`, { originalAmount: usd(`${'1'.repeat(15)}.123456`) }],
    [`/OCMT/USD${'1'.repeat(16)}/`, { additionalInformation: `/OCMT/USD${'1'.repeat(16)}/` }],
  ])('beside it, in %s', (added, expected) => {
    const { originalAmount, transactionFees, additionalInformation } = rowOf(`261121C5,NTRFX\n${added}`);
    const none = { originalAmount: undefined, transactionFees: undefined, additionalInformation: undefined };
    expect({ originalAmount, transactionFees, additionalInformation }).toEqual({ ...none, ...expected });
  });

  it.each<[string, object | undefined]>([
    ['11,85', eur('11.85')],
    ['11', eur('11')],
    ['USD11,85', usd('11.85')],
    ['USD 11,85', usd('11.85')],
    ['11,85USD', usd('11.85')],
    ['11,85 USD', usd('11.85')],
    ['USD11,85EUR', usd('11.85')],
    ['usd11,85', undefined],
    ['US11,85', undefined],
    ['11,1234567', undefined],
    ['1'.repeat(16), undefined],
    ['11.85', undefined],
  ])('in its text, in %s', (text, money) => {
    const row = rowOf('261121C5,NTRFX', `166?20OAMT+${text}?21COAM+${text}?22SVWZ+x`);
    expect([row.originalAmount, row.transactionFees]).toEqual([money, money]);
    expect(row.additionalInformation).toBe(money ? undefined : `OAMT+${text} COAM+${text}`);
  });

  it('beside it count before those in its text', () => {
    const row = rowOf('261121C5,NTRFX\n/OCMT/USD1,//CHGS/USD2,/', '166?20OAMT+3,00?21COAM+4,00');
    expect([row.originalAmount, row.transactionFees]).toEqual([usd('1.'), usd('2.')]);
  });
});

describe('a balance', () => {
  const rows = ':61:261121C5,NTRFX';
  const lead = (opening: string, closing: string) =>
    read(`:60F:${opening}\n${rows}\n:62F:${closing}`).contradictions;
  const says = (opening: string, closing: string, to: string) => [
    `The statement up to line 5 has the balances ${opening} and ${closing} EUR, and its rows lead to ${to}`,
  ];
  it.each<[string, string, string[]]>([
    ['C261101EUR100,', 'C261130EUR105,', []],
    ['D261101EUR5,', 'C261130EUR0,', []],
    ['D261101EUR100,', 'D261130EUR95,00', []],
    ['D261101EUR100,', 'C261130EUR95,', says('-100.00', '95.00', '-95.00')],
    ['C261101EUR 100, ', 'C261130 105,', []],
    ['C261101EUR,50', 'C261130EUR5,5', []],
  ])('from %s to %s', (opening, closing, contradictions) => {
    expect(lead(opening, closing)).toEqual(contradictions);
  });

  it.each([
    ['C261101EUR', 'C261130EUR5,'],
    ['X261101EUR1,', 'C261130EUR5,'],
    ['C261101100,', 'C261130EUR5,'],
    ['C26110EUR1,', 'C261130EUR5,'],
    ['C261101EUR1,1234567', 'C261130EUR5,'],
    [`C261101EUR${'1'.repeat(19)},`, 'C261130EUR5,'],
    ['C261101EUR1, x', 'C261130EUR5,'],
    ['xC261101EUR1,', 'C261130EUR5,'],
  ])('%s is none', (opening, closing) => {
    expect(refusal(() => lead(opening, closing))).toBe(
      'The opening balance has no currency, or no amount, at line 3',
    );
    expect(refusal(() => lead('C261101EUR1,', opening.replace('C261101100,', 'C26113')))).toBe(
      'The closing balance has no currency, or no amount, at line 5',
    );
  });
});

describe('the text of an entry', () => {
  const texts = (fields: string) =>
    statement(fields).transactions.booked.map((row) => row.remittanceInformationUnstructured);
  it.each<[string, string, (string | undefined)[]]>([
    ['what follows it', ':61:261121C5,NTRFX\n:86:a', ['a']],
    ['nothing', ':61:261121C5,NTRFX', [undefined]],
    ['nothing of what stands before the first entry', ':86:a\n:61:261121C5,NTRFX', [undefined]],
    ['each its own', ':61:261121C5,NTRFX\n:86:a\n:61:261121C5,NTRFX\n:86:b', ['a', 'b']],
    ['nothing of the next one', ':61:261121C5,NTRFX\n:61:261121C5,NTRFX\n:86:b', [undefined, 'b']],
    ['nothing of what follows another field', ':61:261121C5,NTRFX\n:64:C261130EUR1,\n:86:a', [undefined]],
    ['what follows a text outside of SWIFT', ':61:261121C5,NTRFX\n:NS:01y\n:86:a', ['a']],
  ])('is %s', (_, fields, expected) => {
    expect(texts(fields)).toEqual(expected);
  });

  it('is nothing of what follows the closing balance', () => {
    const { transactions } = read(`${OPENING}:61:261121C5,NTRFX\n:86:a${CLOSING}\n:86:b`);
    expect(transactions.booked).toMatchObject([{ remittanceInformationUnstructured: 'a' }]);
  });
});

describe('the currency of a report', () => {
  const at = (account: string, fields: string, listed?: string) => {
    const { transactions, account: named } = readMt940(
      `:20:S\n:25:${account}\n${fields}:61:261121C5,NTRFX\n-`,
      fail,
      listed,
    );
    return [...transactions.pending, ...transactions.booked].map(({ transactionAmount }) => [
      transactionAmount.currency,
      named?.currency,
    ])[0];
  };
  const TIME = ':13D:2611212210+0000\n';
  it.each<[string, string, string, string | undefined, (string | undefined)[]]>([
    ['its opening balance', OWN, ':60F:C261101USD1,\n:34F:EUR0\n', 'CHF', ['USD', 'USD']],
    ['its limit', OWN, ':34F:USD0\n', 'CHF', ['USD', 'USD']],
    ['its first limit', OWN, ':34F:USDD0\n:34F:USDC0\n', 'CHF', ['USD', 'USD']],
    ['its sums', OWN, `${TIME}:90D:1USD1,\n`, 'CHF', ['USD', 'USD']],
    ['its sums of money in', OWN, `${TIME}:90C:12345USD1,\n`, 'CHF', ['USD', 'USD']],
    ['its limit before its sums', OWN, ':34F:USD0\n:90D:1EUR1,\n', 'CHF', ['USD', 'USD']],
    ['its account', `${OWN}USD`, TIME, 'CHF', ['USD', 'USD']],
    ['its account after a stroke', `${OWN}/USD`, TIME, 'CHF', ['USD', 'USD']],
    ['its account, with a time of another form', `${OWN}USD`, ':13:2611212210\n', 'CHF', ['USD', 'USD']],
    ['the list, since its account has none', OWN, TIME, 'CHF', ['CHF', undefined]],
    ['the list, since the account ends otherwise', `${OWN}ABC`, TIME, 'CHF', ['CHF', undefined]],
    [
      'the list, since the letters are of the IBAN',
      'MT68MALT011000012345MTLCAST0EUR',
      TIME,
      'CHF',
      ['CHF', undefined],
    ],
  ])('is that of %s', (_, account, fields, listed, expected) => {
    expect(at(account, fields, listed)).toEqual(expected);
  });

  it.each([
    ['nowhere', TIME, 'The currency of the account is missing, at line 4'],
    ['not in the limit', ':34F:0\n', 'The floor limit has no currency, at line 3'],
    [
      'in sums of six digits',
      `${TIME}:90D:123456USD1,\n`,
      'The currency of the account is missing, at line 5',
    ],
  ])('is missing if it is %s', (_, fields, message) => {
    expect(refusal(() => at(OWN, fields))).toBe(message);
  });
});

describe('whose a report is', () => {
  const of = (...accounts: string[]) =>
    readMt940(
      accounts.map((account) => `:20:S\n${account}\n:60F:C261101EUR1,\n:62F:C261101EUR1,\n-`).join('\n'),
      fail,
    ).account;
  const IBAN = 'DE89370400440532013000';
  const MALTESE = 'MT68MALT011000012345MTLCAST0EUR';
  it.each<[string, string[], object]>([
    ['an IBAN', [`:25:${IBAN}`], { iban: IBAN, bban: undefined }],
    ['an IBAN in :25P:', [`:25P:${IBAN}`], { iban: IBAN, bban: undefined }],
    ['an IBAN with blanks', [':25:DE89 3704 0044 0532 0130 00'], { iban: IBAN, bban: undefined }],
    ['an IBAN and its currency', [`:25:${IBAN}EUR`], { iban: IBAN, bban: undefined }],
    ['an IBAN that ends as with a currency', [`:25:${MALTESE}`], { iban: MALTESE, bban: undefined }],
    ['an IBAN after a BIC', [`:25:COBADEFF/${IBAN}`], { iban: IBAN, bban: undefined }],
    ['a number', [`:25:${OWN}`], { iban: undefined, bban: OWN }],
    ['a number and an IBAN', [`:25:${OWN}`, `:25:${IBAN}`], { iban: IBAN, bban: OWN }],
    ['the same twice in a message', [`:25:${OWN}\n:25P:${OWN}`], { iban: undefined, bban: OWN }],
    ['the same in two messages', [`:25:${OWN}`, `:25:${OWN}`], { iban: undefined, bban: OWN }],
  ])('is said by %s', (_, accounts, expected) => {
    expect(of(...accounts)).toEqual({ currency: 'EUR', ...expected });
  });

  it.each<[string, string[], string]>([
    ['none', [':28C:1'], 'The statement names no account'],
    ['two numbers', [`:25:${OWN}`, ':25:37040044/1'], 'The file has statements of several accounts'],
    [
      'two IBANs',
      [`:25:${IBAN}`, ':25:DE02100100109307118603'],
      'The file has statements of several accounts',
    ],
    ['two currencies', [`:25:${OWN}USD`], 'The file has statements of several accounts'],
    ['two in one', [`:25:${OWN}\n:25:${IBAN}`], 'The statement names two accounts, at line 3'],
  ])('cannot be known with %s', (_, accounts, message) => {
    expect(refusal(() => of(...accounts))).toBe(message);
  });
});

describe('the number of a statement', () => {
  const two = (one: string, other: string) =>
    readMt940(
      [
        `:20:S\n:25:${OWN}\n${one}\n:60F:C261101EUR1,\n:62F:C261101EUR1,\n-`,
        `:20:S\n:25:${OWN}\n${other}\n:60F:C261101EUR2,\n:62F:C261101EUR2,\n-`,
      ].join('\n'),
      fail,
    ).contradictions.length;
  it.each([
    [':28C:7', ':28C:8', 1],
    [':28:7', ':28C:8', 1],
    [':28:7', ':28:8', 1],
    [':28C:7 ', ':28C:8  ', 1],
    [':28C:9', ':28C:10', 1],
    [':28C:99998', ':28C:99999', 1],
    [':28C:00007/1', ':28C:0008/1', 1],
    [':28C:8', ':28C:7', 0],
    [':28C:7', ':28C:9', 0],
    [':28C:7', ':28C:8x', 0],
    [':28C:x7', ':28C:8', 0],
    [':28C:123456', ':28C:123457', 0],
    [':28C:7', ':21:8', 0],
  ])('%s is followed by %s: %i', (one, other, gaps) => {
    expect(two(one, other)).toBe(gaps);
  });
});
