import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalLine, contentHash, orderedForm, orderedHash } from '../../../src/domain/batch/content.ts';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { amountOf } from '../bookings.ts';
import { batchLine } from './lines.ts';

const ADDRESS = {
  ...{ country: 'IT', townName: 'Roma', postCode: '00100', streetName: 'Via A', buildingNumber: '1' },
  lines: ['Scala B'],
};

/** Another value for each field that decides what is paid. */
const CHANGES: Partial<BatchLine>[] = [
  { customer: '1234567' },
  { from: parseProductId('0000012345') },
  { fromIban: parseSepaIban('DE89370400440532013000') },
  { name: 'Maria Rossi' },
  { iban: parseSepaIban('DE89370400440532013000') },
  { amount: parsePaymentAmount('12.51') },
  { currency: 'CHF' },
  { description: 'Invoice 8' },
  { reference: 'R-1' },
  { creditorReference: { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' } },
  { executionDate: parseDate('--date', '2026-12-01') },
  { instant: true },
  { urgent: true },
  { batchBooking: true },
  { batchBooking: false },
  { payeeVerified: true },
  { address: ADDRESS },
];

/** Returns the hash of these lines. */
function hashOf(...lines: BatchLine[]): string {
  const hash = contentHash();
  for (const line of lines) hash.add(line);
  return hash.digest();
}

describe('the content of a batch', () => {
  test('has another hash if anything that decides what is paid is another', () => {
    const hashes = CHANGES.map((change) => hashOf(batchLine(change)));
    expect(new Set([hashOf(batchLine()), ...hashes]).size).toBe(CHANGES.length + 1);
  });

  test('has another hash if any part of the payee’s address is another', () => {
    const changes = [
      ...[{}, { country: 'SM' }, { townName: 'Milano' }, { postCode: '20100' }, { streetName: 'Via B' }],
      ...[{ buildingNumber: '2' }, { lines: [] }, { lines: ['Scala C'] }, { lines: ['Scala B', 'Int. 3'] }],
    ];
    const hashes = changes.map((change) => hashOf(batchLine({ address: { ...ADDRESS, ...change } })));
    expect(new Set(hashes).size).toBe(changes.length);
  });

  test('has another hash if any part of the payee’s reference is another, and none is not an empty one', () => {
    const reference = { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' };
    const lines = [
      ...[undefined, reference, { ...reference, reference: 'RF712348231' }, { ...reference, type: 'OCR' }],
      ...[
        { ...reference, issuer: null },
        { ...reference, issuer: 'BBA' },
      ],
    ].map((creditorReference) => batchLine(creditorReference && { creditorReference }));
    expect(new Set(lines.map((line) => hashOf(line))).size).toBe(lines.length);
    expect(canonicalLine(batchLine({ creditorReference: reference }))).toMatch(
      /,null,\["RF18539007547034","SCOR","ISO"\]\]$/,
    );
  });

  test('has the same hash wherever a line is in the file, and whatever the file calls it', () => {
    const ids = { paymentInformationId: 'P1', instructionId: 'I1', endToEndId: 'NOTPROVIDED' };
    expect(hashOf(batchLine({ line: 4, place: 'line 9', ids }))).toBe(hashOf(batchLine()));
  });

  test('has another hash if lines are missing, come twice, or come in another order', () => {
    const [one, other] = [batchLine(), batchLine({ name: 'Ada' })];
    const hashes = [[], [one], [other], [one, other], [other, one], [one, one], [one, other, other]];
    expect(new Set(hashes.map((lines) => hashOf(...lines))).size).toBe(hashes.length);
  });

  test('never joins two texts to the form of two other ones', () => {
    const text = fc.string({ maxLength: 6, unit: fc.constantFrom('a', '"', ',', '\\', '\n', '[', ']', ' ') });
    fc.assert(
      fc.property(text, text, text, text, (name, description, otherName, otherDescription) => {
        const form = canonicalLine(batchLine({ name, description }));
        const otherForm = canonicalLine(batchLine({ name: otherName, description: otherDescription }));
        expect(form === otherForm).toBe(name === otherName && description === otherDescription);
        expect(form).not.toContain('\n');
      }),
    );
  });

  test('has a hash that does not change from one version of psd2 to the next', () => {
    expect(hashOf(batchLine())).toMatchInlineSnapshot(
      `"0f4f6bf9e6448862302622fb4ef9c19b91b6358c2ff6bd43d8723932aee94388"`,
    );
  });
});

/** Another value for each field that says who gets how much for what, and in which the compared forms differ. */
const OTHER_ORDERS: Partial<BatchLine>[] = [
  ...[{ name: 'Maria Rossi' }, { iban: parseSepaIban('DE89370400440532013000') }],
  ...[{ amount: parsePaymentAmount('12.51') }, { currency: 'CHF' }, { description: 'Invoice 8' }],
  ...[{ reference: 'R-1' }, { reference: 'R-2' }],
  { creditorReference: { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' } },
  { creditorReference: { reference: 'RF712348231', type: 'SCOR', issuer: 'ISO' } },
];

/** A reference that psd2 has given to a line itself. */
const OWN = `B${'0123456789abcdef0123'}-12-3`;

describe('what a line orders', () => {
  test('is another order with another payee, amount, text or reference', () => {
    const forms = [{}, ...OTHER_ORDERS].map((change) => orderedForm(batchLine(change)));
    expect(new Set(forms).size).toBe(OTHER_ORDERS.length + 1);
  });

  test.each<Partial<BatchLine>>([
    ...[{ customer: '1234567' }, { from: parseProductId('0000012345') }],
    ...[{ fromIban: parseSepaIban('DE89370400440532013000') }, { instant: true }, { urgent: true }],
    ...[{ executionDate: parseDate('--date', '2026-12-01') }, { batchBooking: true }, { address: ADDRESS }],
    ...[{ payeeVerified: true }, { line: 4, place: 'line 9' }],
    // The compared form of the same texts.
    ...[{ name: ' mario  ROSSI ' }, { description: 'INVOICE  7' }],
    ...[{ reference: '' }, { reference: OWN }],
  ])('is the same order with %j', (change) => {
    expect(orderedForm(batchLine(change))).toBe(orderedForm(batchLine()));
  });

  test.each<[Partial<BatchLine>, Partial<BatchLine>]>([
    [{ reference: 'INV 1' }, { reference: ' inv  1 ' }],
    [
      { creditorReference: { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' } },
      { creditorReference: { reference: 'rf18539007547034', type: 'OCR', issuer: null } },
    ],
  ])('is the same order with %j and %j', (one, other) => {
    expect(orderedForm(batchLine(one))).toBe(orderedForm(batchLine(other)));
  });

  test.each(['12.5', '12.500', '012.50'])('is the same order of %s euros', (amount) => {
    const form = orderedForm(batchLine({ amount: amountOf(amount) }));
    expect(form).toBe(orderedForm(batchLine()));
  });

  test.each([
    `X${OWN}`,
    `${OWN}X`,
    OWN.slice(0, -2),
    OWN.replace('-12-', '--'),
    OWN.replace('-12-', '-12'),
    OWN.replace('-12-', '-x-'),
    OWN.replace('B0', 'B'),
    OWN.replace('B0', 'B00'),
    OWN.replace('B0', 'Bg'),
    OWN.replace('B0', 'b0'),
    OWN.replace(/3$/, 'c'),
  ])('has the reference %s, which psd2 has not given', (reference) => {
    expect(orderedForm(batchLine({ reference }))).not.toBe(orderedForm(batchLine()));
  });

  test.each([OWN, OWN.replace('-12-3', '-1-1'), OWN.replace('-12-3', '-123456-12')])(
    'has no reference where psd2 has given %s',
    (reference) => {
      expect(orderedForm(batchLine({ reference }))).toBe(orderedForm(batchLine()));
    },
  );
});

describe('what the lines of a batch order', () => {
  const orderedHashOf = (...lines: BatchLine[]) => {
    const hash = orderedHash();
    for (const line of lines) hash.add(line);
    return hash.digest();
  };
  const lines = [{}, ...OTHER_ORDERS].map((change) => batchLine(change));

  test('has the same hash in any order', () => {
    const all = orderedHashOf(...lines);
    fc.assert(
      fc.property(fc.shuffledSubarray(lines, { minLength: lines.length }), (shuffled) => {
        expect(orderedHashOf(...shuffled)).toBe(all);
      }),
    );
  });

  test('has another hash if a line is missing, is another, or comes twice', () => {
    const [one = batchLine(), two = batchLine(), three = batchLine()] = lines;
    const some = [[], [one], [two], [one, one], [one, two], [one, three], [one, two, three], [one, one, two]];
    const hashes = some.map((each) => orderedHashOf(...each));
    expect(new Set(hashes).size).toBe(some.length);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test('has a hash that does not change from one version of psd2 to the next', () => {
    expect([orderedHashOf(), orderedHashOf(batchLine()), orderedHashOf(...lines)]).toMatchInlineSnapshot(`
      ["5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
       "ba9881436f12994754b236a31ca2fd04a1c9da102c44fe05b419fa971cba9f3a",
       "1607205fa74d6d8244351c082e4636b63bb39c1f6a71dd128ec25f14c10151e2"]
    `);
  });
});
