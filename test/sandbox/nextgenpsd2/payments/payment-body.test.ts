import { describe, expect, test } from 'vitest';
import {
  bulkBody,
  periodicBody,
  singleBody,
} from '../../../../src/sandbox/nextgenpsd2/payments/payment-body.ts';
import { parseBody } from '../../../../src/sandbox/nextgenpsd2/strict/body.ts';
import { answerTo } from '../refused.ts';

// The form of each field: the first and the last value that is taken, and those beside them.

const TRANSFER = {
  instructedAmount: { currency: 'EUR', amount: '12.50' },
  creditorAccount: { iban: 'DE02' },
  creditorName: 'Beta',
};
const PERIODIC = { ...TRANSFER, startDate: '2026-12-01', frequency: 'Monthly' };
const BULK = { payments: [TRANSFER] };
const ADDRESS = { country: 'DE' };

const READ = {
  single: (body: unknown) => parseBody(body, singleBody),
  periodic: (body: unknown) => parseBody(body, periodicBody),
  bulk: (body: unknown) => parseBody(body, bulkBody),
};
const WHOLE = { single: TRANSFER, periodic: PERIODIC, bulk: BULK };

/** The path of what has no right form. Null: all of it has. */
function wrongIn(kind: keyof typeof READ, changes: Record<string, unknown>): string | null {
  const body = { ...WHOLE[kind], ...changes };
  const answer = answerTo(() => READ[kind](body));
  if (answer === 'taken') return null;
  const [, path] =
    /^400 FORMAT_ERROR (\S*): The body does not have the shape of this call\. ./.exec(answer) ?? [];
  return path ?? answer;
}

const at = (path: string, value: unknown): Record<string, unknown> => {
  const [name = '', inner] = path.split('.');
  if (inner === undefined) return { [name]: value };
  return {
    [name]: {
      ...(name === 'creditorAddress' ? ADDRESS : Object(Reflect.get(TRANSFER, name))),
      [inner]: value,
    },
  };
};

describe('a text', () => {
  test.each<[path: string, longest: number]>([
    ['creditorName', 70],
    ['endToEndIdentification', 35],
    ['remittanceInformationUnstructured', 140],
    ['creditorAddress.streetName', 70],
    ['creditorAddress.buildingNumber', 16],
    ['creditorAddress.townName', 35],
    ['creditorAddress.postCode', 16],
  ])('%s has 1 to %i characters', (path, longest) => {
    for (const kind of ['single', 'periodic'] as const) {
      const lengths = [0, 1, longest, longest + 1].map((length) =>
        wrongIn(kind, at(path, 'x'.repeat(length))),
      );
      expect(lengths).toEqual([path, null, null, path]);
      expect(wrongIn(kind, at(path, 7))).toBe(path);
    }
    const entry = { ...TRANSFER, ...at(path, '') };
    expect(wrongIn('bulk', { payments: [TRANSFER, entry] })).toBe(`payments[1].${path}`);
  });
});

test.each<[kind: keyof typeof READ, needed: string[]]>([
  ['single', ['instructedAmount', 'creditorAccount', 'creditorName']],
  ['periodic', ['instructedAmount', 'creditorAccount', 'creditorName', 'startDate', 'frequency']],
  ['bulk', ['payments']],
])('a body of a payment (%s) needs %j', (kind, needed) => {
  const fields = [
    ...['debtorAccount', 'endToEndIdentification', 'instructedAmount', 'creditorAccount', 'creditorName'],
    ...['creditorAgent', 'creditorAddress', 'remittanceInformationUnstructured', 'startDate', 'endDate'],
    ...['frequency', 'dayOfExecution', 'executionRule', 'requestedExecutionDate', 'payments'],
    'batchBookingPreferred',
  ];
  expect(fields.filter((field) => wrongIn(kind, { [field]: undefined }) === field)).toEqual(needed);
  expect(wrongIn(kind, {})).toBeNull();
  expect(wrongIn(kind, { more: 'x' })).toBeNull();
});

test.each<[kind: keyof typeof READ, path: string, right: unknown[], wrong: unknown[]]>([
  ['single', 'instructedAmount', [], ['12.50', null, []]],
  ['single', 'instructedAmount.currency', ['EUR', 'CHF'], [undefined, 7]],
  ['single', 'instructedAmount.amount', ['12.50', 'x'], [undefined, 12.5]],
  ['single', 'creditorAccount.iban', ['x'], [undefined, 7]],
  ['single', 'creditorAccount.currency', ['EUR', undefined], ['CHF', '']],
  ['single', 'debtorAccount', [undefined, { iban: 'x' }, { iban: 'x', currency: 'EUR' }], ['x', null]],
  ['single', 'debtorAccount.iban', ['x'], [undefined, 7]],
  ['bulk', 'debtorAccount.iban', ['x'], [undefined, 7]],
  [
    'single',
    'creditorAgent',
    ['BYLADEM1001', 'BYLADEM1', 'BYLADEMM', 'BYLADE2AXXX', 'BYLADEZZ'],
    [
      '',
      'BYLADEM',
      'BYLADEM10',
      'BYLADEM10011',
      'byladem1001',
      'BYLADE01',
      'BYLADE11',
      'BYLADEMO',
      'BYLAD1M1',
      'xBYLADEM1',
    ],
  ],
  ['single', 'creditorAddress.country', ['DE', 'XX'], ['D', 'DEU', 'de', '', undefined]],
  ['single', 'creditorAddress.townName', ['Berlin', undefined], [null]],
  ['single', 'requestedExecutionDate', ['2026-11-20', undefined], ['2026-02-30', '20.11.2026', '']],
  ['bulk', 'requestedExecutionDate', ['2026-11-20', undefined], ['2026-02-30', '20.11.2026', '']],
  ['periodic', 'startDate', ['2026-11-20'], ['2026-02-30', '20.11.2026']],
  ['periodic', 'endDate', ['2026-11-20', undefined], ['2026-02-30', '']],
  ['periodic', 'frequency', ['Monthly', 'x'], [7]],
  [
    'periodic',
    'dayOfExecution',
    ['1', '01', '9', '09', '10', '19', '20', '29', '30', '31', undefined],
    ['0', '00', '32', '40', '001', '010', '-1', '1.', '', 1],
  ],
  ['periodic', 'executionRule', ['following', 'preceding', undefined], ['follow', 'Following', '']],
  ['bulk', 'payments', [[TRANSFER], [TRANSFER, TRANSFER]], [[], {}, undefined]],
  ['bulk', 'batchBookingPreferred', [true, false, undefined], ['true', 0]],
])('%s: %s may be %j, and not %j', (kind, path, right, wrong) => {
  expect(right.map((value) => wrongIn(kind, at(path, value)))).toEqual(right.map(() => null));
  expect(wrong.map((value) => wrongIn(kind, at(path, value)))).toEqual(wrong.map(() => path));
});
