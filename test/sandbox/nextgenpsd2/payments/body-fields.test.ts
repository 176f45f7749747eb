import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import {
  checkFields,
  type STANDARD_FIELDS,
} from '../../../../src/sandbox/nextgenpsd2/payments/body-fields.ts';
import { answerTo, bankOf } from '../refused.ts';

type Kind = keyof typeof STANDARD_FIELDS;

const KINDS: readonly Kind[] = ['payments', 'periodic-payments', 'bulk-payments', 'entry'];

/** A body with a value at each of these paths. */
function bodyWith(...paths: string[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const path of paths) {
    const [name = '', ...inner] = path.split('.');
    body[name] = inner.length === 0 ? 'x' : { ...Object(body[name]), ...bodyWith(inner.join('.')) };
  }
  return body;
}

const check = (
  body: Record<string, unknown>,
  payments: BankFile['payments'] = {},
  kind: Kind = 'payments',
  at?: string,
) => answerTo(() => checkFields(body, kind, bankOf({ payments }).payments, at));

const notTaken = (path: string, at = '') =>
  `400 FORMAT_ERROR ${at}${path}: The bank does not take the field ${path}.`;
const needed = (path: string, at = '') => `400 FORMAT_ERROR ${at}${path}: The bank needs the field ${path}.`;
const neededWith = (path: string, value: string, at = '') =>
  `400 FORMAT_ERROR ${at}${path}: The bank needs the field ${path} with ${value}.`;

const OPTIONAL = [
  ...['endToEndIdentification', 'creditorAgent', 'creditorAddress.streetName'],
  ...['creditorAddress.buildingNumber', 'creditorAddress.townName', 'creditorAddress.postCode'],
  ...['creditorAddress.country', 'remittanceInformationUnstructured'],
];
const TRANSFER = [
  ...['instructedAmount.currency', 'instructedAmount.amount', 'creditorAccount.iban'],
  ...['creditorAccount.currency', 'creditorName', ...OPTIONAL],
];
const DEBTOR = ['debtorAccount.iban', 'debtorAccount.currency'];
const STANDING = ['startDate', 'endDate', 'frequency', 'dayOfExecution', 'executionRule'];
const BULK = ['payments', 'batchBookingPreferred'];
const OTHERS = ['purposeCode', 'chargeBearer', 'creditorId', 'creditorNameAndAddress'];
const DAY = 'requestedExecutionDate';

test.each<[kind: Kind, taken: string[]]>([
  ['payments', [...DEBTOR, ...TRANSFER]],
  ['periodic-payments', [...DEBTOR, ...TRANSFER, ...STANDING]],
  ['bulk-payments', [...DEBTOR, ...BULK]],
  ['entry', TRANSFER],
])('the standard has for %s: %j', (kind, taken) => {
  const all = [...DEBTOR, ...TRANSFER, ...STANDING, ...BULK, ...OTHERS, DAY];
  const answers = all.map((path) => check(bodyWith(path), {}, kind));
  // A refusal names the outermost part that the bank does not take.
  const answer = (path: string) => (taken.includes(path) ? 'taken' : notTaken(path.split('.')[0] ?? ''));
  expect(answers).toEqual(all.map(answer));
  expect(check(bodyWith(...taken), {}, kind)).toBe('taken');
});

test.each([
  ['instructedAmount.more', notTaken('instructedAmount.more')],
  ['creditorAccount.bban', notTaken('creditorAccount.bban')],
  ['creditorAddress.addressLine', notTaken('creditorAddress.addressLine')],
  ['debtorAccount.iban.more', 'taken'],
  ['creditorNam', notTaken('creditorNam')],
])('%s: %s', (path, answer) => {
  expect(check(bodyWith(path))).toBe(answer);
});

test.each([null, ['x'], 'x', 7])('a part of a body that is %j is no place for a field', (part) => {
  expect(check({ creditorAccount: part })).toBe('taken');
  expect(check({ creditorAccount: part }, { required: ['creditorAccount.iban'] })).toBe(
    needed('creditorAccount.iban'),
  );
});

test.each(KINDS)('a day is taken of a payment, if the bank takes days: %s', (kind) => {
  const dated = kind === 'payments' || kind === 'bulk-payments';
  expect(check(bodyWith(DAY), { futureDays: 1 }, kind)).toBe(dated ? 'taken' : notTaken(DAY));
  expect(check(bodyWith(DAY), { futureDays: 0 }, kind)).toBe(notTaken(DAY));
  expect(check({}, { futureDays: 1 }, kind)).toBe('taken');
});

describe('fields that the bank allows', () => {
  test.each<[payments: BankFile['payments'], optional: string[], others: string[]]>([
    // Names that the standard does not have, or does not leave open, change nothing for the others.
    [{ allowed: [] }, OPTIONAL, []],
    [{ allowed: ['purposeCode'] }, OPTIONAL, ['purposeCode']],
    [{ allowed: ['creditorName'] }, OPTIONAL, []],
    [{ allowed: ['creditorAgentName'] }, OPTIONAL, ['creditorAgentName']],
    // An optional one makes the others not allowed.
    ...OPTIONAL.map((path): [BankFile['payments'], string[], string[]] => [{ allowed: [path] }, [path], []]),
    [{ allowed: ['creditorAgent', 'purposeCode'] }, ['creditorAgent'], ['purposeCode']],
    // Where an address is demanded, its fields stay.
    ...(['required', 'country'] as const).map((address): [BankFile['payments'], string[], string[]] => [
      { allowed: ['creditorAgent'], address },
      ['creditorAgent', ...OPTIONAL.filter((path) => path.startsWith('creditorAddress'))],
      [],
    ]),
  ])('%j: %j and %j', (payments, optional, others) => {
    const fields = [...OPTIONAL, ...OTHERS, 'creditorAgentName'];
    const taken = fields.filter((path) => check(bodyWith(path), payments) === 'taken');
    expect(taken).toEqual([
      ...OPTIONAL.filter((path) => optional.includes(path)),
      ...[...OTHERS, 'creditorAgentName'].filter((path) => others.includes(path)),
    ]);
    expect(check(bodyWith(...TRANSFER.filter((path) => !OPTIONAL.includes(path))), payments)).toBe('taken');
  });

  test.each<[payments: BankFile['payments']]>([
    [{ allowed: ['supplementaryData.purpose'] }],
    [{ required: ['supplementaryData.purpose'] }],
    [{ constant: { 'supplementaryData.purpose': 'x' } }],
  ])('%j allows a field within another one, and no other one there', (payments) => {
    expect(check(bodyWith('supplementaryData.purpose'), payments)).toBe('taken');
    expect(check(bodyWith('supplementaryData.purpose', 'supplementaryData.more'), payments)).toBe(
      notTaken('supplementaryData.more'),
    );
  });
});

describe('fields that the bank demands', () => {
  test.each<[kind: Kind, required: string, body: Record<string, unknown>, answer: string]>([
    ['payments', 'creditorAgent', {}, needed('creditorAgent')],
    ['payments', 'creditorAgent', { creditorAgent: 'x' }, 'taken'],
    [
      'payments',
      'creditorAddress.townName',
      bodyWith('creditorAddress.country'),
      needed('creditorAddress.townName'),
    ],
    ['payments', 'creditorAddress.townName', bodyWith('creditorAddress.townName'), 'taken'],
    ['entry', 'creditorAgent', {}, needed('creditorAgent', 'payments[1].')],
    // A bulk has the fields of a transfer in its entries.
    ['bulk-payments', 'creditorAgent', {}, 'taken'],
    ['periodic-payments', 'creditorAgent', {}, needed('creditorAgent')],
    ...STANDING.flatMap((path): [Kind, string, Record<string, unknown>, string][] => [
      ['payments', path, {}, 'taken'],
      ['entry', path, {}, 'taken'],
      ['periodic-payments', path, {}, needed(path)],
      ['periodic-payments', path, { [path]: 'x' }, 'taken'],
    ]),
  ])('%s with %s as %j: %s', (kind, required, body, answer) => {
    expect(check(body, { required: [required] }, kind, kind === 'entry' ? 'payments[1].' : undefined)).toBe(
      answer,
    );
  });

  test.each([
    ...['Daily', 'Weekly', 'EveryTwoWeeks'].map((frequency) => [frequency, 'taken']),
    ...['Monthly', 'EveryTwoMonths', 'Quarterly', 'SemiAnnual', 'Annual', undefined].map((frequency) => [
      frequency,
      needed('dayOfExecution'),
    ]),
  ])(
    'a standing order that pays %s without the day of the month that the bank demands: %s',
    (frequency, answer) => {
      expect(check({ frequency }, { required: ['dayOfExecution'] }, 'periodic-payments')).toBe(answer);
      expect(check({ frequency }, { required: ['executionRule'] }, 'periodic-payments')).toBe(
        needed('executionRule'),
      );
    },
  );

  test('the first one that lacks is named', () => {
    const required = ['creditorAgent', 'endToEndIdentification'];
    expect(check({}, { required })).toBe(needed('creditorAgent'));
    expect(check({ creditorAgent: 'x' }, { required })).toBe(needed('endToEndIdentification'));
  });
});

describe('fields with one value', () => {
  test.each<[kind: Kind, constant: Record<string, string>, body: Record<string, unknown>, answer: string]>([
    ['payments', { chargeBearer: 'SLEV' }, { chargeBearer: 'SLEV' }, 'taken'],
    ['payments', { chargeBearer: 'SLEV' }, { chargeBearer: 'SHAR' }, neededWith('chargeBearer', 'SLEV')],
    ['payments', { chargeBearer: 'SLEV' }, {}, neededWith('chargeBearer', 'SLEV')],
    ['entry', { chargeBearer: 'SLEV' }, {}, neededWith('chargeBearer', 'SLEV', 'payments[1].')],
    ['bulk-payments', { chargeBearer: 'SLEV' }, {}, 'taken'],
    ['periodic-payments', { chargeBearer: 'SLEV' }, {}, neededWith('chargeBearer', 'SLEV')],
    // What the standard has, the customer may have said otherwise.
    ['payments', { creditorAgent: 'A' }, { creditorAgent: 'B' }, 'taken'],
    ['payments', { creditorAgent: 'A' }, {}, neededWith('creditorAgent', 'A')],
    [
      'periodic-payments',
      { executionRule: 'following' },
      { executionRule: 'preceding' },
      neededWith('executionRule', 'following'),
    ],
  ])('%s with %j as %j: %s', (kind, constant, body, answer) => {
    expect(check(body, { constant }, kind, kind === 'entry' ? 'payments[1].' : undefined)).toBe(answer);
  });
});
