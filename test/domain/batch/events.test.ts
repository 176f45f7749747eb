import { expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { batchAdded, batchEvent, batchLine } from '../../../src/domain/batch/events.ts';
import { batchLine as lineOf } from './lines.ts';

const SHA256 = 'a1'.repeat(32);
const person = { by: 'ada', user: 'ada', machine: 'tpp-1' };
const payee = { line: 1, result: 'match', name: 'Ada', problem: null };
const added = {
  ...{ type: 'added', sha256: SHA256, count: 1, format: 'csv', messageId: 'M-1', note: 'July', retryOf: 'b' },
  ...{ payees: [payee], ordered: SHA256, approvalsNeeded: 1, ...person },
};
const address = {
  ...{ country: 'DE', townName: 'Berlin', postCode: '10115', streetName: 'Allee', buildingNumber: '7' },
  lines: ['Door 3'],
};
const ids = { paymentInformationId: 'P-1', instructionId: 'I-1', endToEndId: 'E-1' };
const line = { ...lineOf(), address, ids };

/** What psd2 stores of a batch. */
const STORED: [string, z.ZodMiniType<object>, object[]][] = [
  [
    'the first event',
    batchAdded,
    [
      added,
      { ...added, messageId: null, note: null, retryOf: null, payees: [] },
      ...['pain.001.001.03', 'pain.001.001.09'].map((format) => ({ ...added, format })),
      ...['close', 'none', 'unavailable'].map((result) => ({
        ...{ ...added, payees: [{ ...payee, result, name: null, problem: 'late' }] },
      })),
    ],
  ],
  [
    'a later event',
    batchEvent,
    [
      { type: 'approved', sha256: SHA256, ...person },
      { type: 'rejected', sha256: SHA256, note: 'Twice', ...person },
      { type: 'line-begun', line: 1, flow: 'tr-1' },
      { type: 'bulk-begun', flow: 'op-1', lines: [1, 2] },
      { type: 'line-refused', line: 1, reason: 'No' },
      { type: 'link-given', line: 1, flow: 'tr-1' },
      { type: 'lines-cancelled', lines: [1], ...person },
      { type: 'pseudonymised', sha256: SHA256 },
    ],
  ],
  [
    'a line',
    batchLine,
    [
      line,
      {
        ...{ ...line, customer: '1000001', from: '0000012345', fromIban: line.iban, reference: 'R-1' },
        ...{ executionDate: '2026-12-01', instant: true, urgent: true, payeeVerified: true, address: null },
        ids: { paymentInformationId: null, instructionId: null, endToEndId: null },
      },
      { ...line, address: { ...address, postCode: null, streetName: null, buildingNumber: null, lines: [] } },
    ],
  ],
];

/** The object without each of its fields, and with something else in each. */
const damagedVersions = (object: object): object[] =>
  Object.keys(object).flatMap((name) => [
    { ...object, [name]: { not: 'this' } },
    Object.fromEntries(Object.entries(object).filter(([each]) => each !== name)),
  ]);

it.each(STORED)(
  'psd2 reads %s of a batch with every field, and refuses what it never stored',
  (_, schema, stored) => {
    for (const each of stored) {
      expect(schema.parse(each)).toEqual(each);
      for (const damaged of damagedVersions(each))
        expect(schema.safeParse(damaged).success, JSON.stringify(damaged)).toBe(false);
    }
  },
);

it.each<[string, z.ZodMiniType<object>, object[]]>([
  [
    'first event',
    batchAdded,
    [
      ...[`${SHA256}0`, SHA256.slice(1), `x${SHA256}`, SHA256.toUpperCase(), `${SHA256.slice(1)}g`].map(
        (sha256) => ({ ...added, sha256 }),
      ),
      { ...added, format: 'mt101' },
      ...[...damagedVersions(payee), { ...payee, result: 'perhaps' }].map((each) => ({
        ...{ ...added, payees: [payee, each] },
      })),
    ],
  ],
  ['later event', batchEvent, [{ type: 'unknown' }, {}, { type: 'bulk-begun', flow: 'op-1', lines: ['1'] }]],
  [
    'line',
    batchLine,
    [
      ...damagedVersions(address).map((each) => ({ ...line, address: each })),
      ...damagedVersions(ids).map((each) => ({ ...line, ids: each })),
      { ...line, amount: '12,50' },
      { ...line, executionDate: '2026-11-31' },
    ],
  ],
])('a damaged %s of a batch is refused', (_, schema, damaged) => {
  for (const each of damaged) expect(schema.safeParse(each).success, JSON.stringify(each)).toBe(false);
});
