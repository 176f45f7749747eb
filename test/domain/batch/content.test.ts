import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalLine, contentHash } from '../../../src/domain/batch/content.ts';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
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
