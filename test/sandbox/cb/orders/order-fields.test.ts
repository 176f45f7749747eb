import { expect, test } from 'vitest';
import {
  checkTexts,
  readAmount,
  readBeneficiaryIban,
  readOrderDay,
  sepaCountries,
} from '../../../../src/sandbox/cb/orders/order-fields.ts';
import { readNumberOfExecutions } from '../../../../src/sandbox/cb/orders/standing-order.ts';
import { readTransferOrder, requireFunds } from '../../../../src/sandbox/cb/orders/transfer-order.ts';
import { accountOf, seeded } from '../../seeded.ts';
import { answerTo } from '../../strict/raw.ts';

const current = accountOf(seeded('anna'));
const now = new Date('2026-11-20T11:00:00Z');

/** The refusal of a field: its message and its detail follow from these. */
const wrong = (field: string, expected: string, received: string) => [
  ...['FIELD_INVALID', `data.${field} is not valid`, `Expected: ${expected}. Received: ${received}.`],
];

const CAPITALS = 'a valid IBAN in capitals without blanks';
test.each<[iban: string, expected: string | undefined]>([
  ['IT60X0542811101000000123456', undefined],
  ['IT31P0999001600000010482638', undefined],
  ['IT61X0542811101000000123456', CAPITALS],
  ['it60x0542811101000000123456', CAPITALS],
  ['IT60 X054 2811 1010 0000 0123 456', CAPITALS],
  ['', CAPITALS],
  ['SA0380000000608010167519', 'an IBAN of a SEPA country'],
  ['IT89F0999001600000010482620', 'an account other than the debited one'],
])('the IBAN "%s" is no %s', (iban, expected) => {
  const answer = answerTo(() => expect(readBeneficiaryIban(iban, current)).toBe(iban));
  expect(answer).toEqual(
    expected === undefined ? 'accepted' : wrong('ibanBeneficiary', expected, `"${iban}"`),
  );
});

const DECIMAL = 'a decimal from 0.01 to 999999999.99 with a point and at most two decimals';
test.each<[amount: string, currency: string, refusal: string[] | undefined]>([
  ['0.01', 'EUR', undefined],
  ['0', 'EUR', wrong('f.amount', DECIMAL, '"0"')],
  ['1,00', 'EUR', wrong('f.amount', DECIMAL, '"1,00"')],
  ['1.00', 'USD', wrong('f.currency', 'EUR', '"USD"')],
  ['x', 'eur', wrong('f.currency', 'EUR', '"eur"')],
])('the amount %s %s', (amount, currency, refusal) => {
  expect(answerTo(() => readAmount('f', { amount, currency }))).toEqual(refusal ?? 'accepted');
});

const SEPA = "a-z A-Z 0-9 / - ? : ( ) . , ' + and space";
const foreign = (field: string, received: string) => [
  'CHARACTER_NOT_ALLOWED',
  `data.${field} has a character that SEPA does not allow`,
  `Expected: ${SEPA}. Received: ${received}.`,
];
test.each<[beneficiaryName: string, description: string, refusal: string[] | undefined]>([
  ['A', '', undefined],
  ['A'.repeat(70), 'a'.repeat(140), undefined],
  ['A'.repeat(71), '', wrong('beneficiaryName', 'at most 70 characters', '71')],
  ['A', 'a'.repeat(141), wrong('description', 'at most 140 characters', '141')],
  ['', '', wrong('beneficiaryName', 'a name', 'blanks')],
  ['  ', '', wrong('beneficiaryName', 'a name', 'blanks')],
  ['é', '&', foreign('beneficiaryName', '"é" (U+00E9)')],
  ['', '&', foreign('description', '"&" (U+0026)')],
  ['A', '😀', foreign('description', '"😀" (U+1F600)')],
])('the name "%s" with the description "%s"', (beneficiaryName, description, refusal) => {
  expect(answerTo(() => checkTexts({ beneficiaryName, description }))).toEqual(refusal ?? 'accepted');
});

const RANGE = 'a day (DD/MM/YYYY) from 20/11/2026 to 20/11/2027';
const HOLIDAY = 'a day that is not in the holidays of the prepare answer';
test.each<[text: string, at: string, expected: string | undefined]>([
  ['20/11/2026', '2026-11-20', undefined],
  ['19/11/2026', '2026-11-20', RANGE],
  ['20/11/2027', '2026-11-20', undefined],
  ['21/11/2027', '2026-11-20', RANGE],
  ['2026-11-20', '2026-11-20', RANGE],
  ['', '2026-11-20', RANGE],
  ['25/12/2026', '2026-11-20', HOLIDAY],
  ['25/12/2026', '2026-12-25', undefined],
  ['26/12/2026', '2026-12-25', HOLIDAY],
  ['26/03/2027', '2026-11-20', HOLIDAY],
  ['21/11/2026', '2026-11-20', undefined],
])('the day "%s" on %s is no %s', (text, at, expected) => {
  const days = { first: '2026-11-20', last: '2027-11-20', now: new Date(`${at}T11:00:00Z`) };
  const answer = answerTo(() => readOrderDay('d', text, days));
  expect(answer).toEqual(expected === undefined ? 'accepted' : wrong('d', expected, `"${text}"`));
});

const data = {
  ...{ moneyTransferAmount: { currency: 'EUR', amount: '1.00' }, flagUrgency: false, beneficiaryName: 'Ada' },
  ...{ ibanBeneficiary: 'IT60X0542811101000000123456', description: 'rent' },
  moneyTransferExecutionDate: '20/11/2026',
};

test.each<[changes: Partial<typeof data> & { type?: string }, refusal: string[] | undefined]>([
  [{}, undefined],
  [{ type: 'INSTANT' }, undefined],
  [{ moneyTransferExecutionDate: '21/11/2026' }, undefined],
  [{ type: 'URGENT' }, wrong('type', 'INSTANT, or no type for a transfer that is not instant', '"URGENT"')],
  [
    { type: 'INSTANT', moneyTransferExecutionDate: '21/11/2026' },
    wrong('moneyTransferExecutionDate', '20/11/2026, the only day for an instant transfer', '"21/11/2026"'),
  ],
])('a transfer with %j', (changes, refusal) => {
  const order = { ...data, ...changes };
  const [day = '', month = '', year = ''] = order.moneyTransferExecutionDate.split('/');
  const answer = answerTo(() =>
    expect(readTransferOrder(order, current, now)).toEqual({
      ...{ instant: changes.type === 'INSTANT', amount: 1_00, commissions: 50, beneficiaryName: 'Ada' },
      ...{ executionDay: `${year}-${month}-${day}`, description: 'rent' },
      beneficiaryIban: 'IT60X0542811101000000123456',
    }),
  );
  expect(answer).toEqual(refusal ?? 'accepted');
});

test.each<[available: number, isEnough: boolean]>([
  [1_51, true],
  [1_50, true],
  [1_49, false],
  [-5, false],
])('an account with %i cents can pay 1.00 EUR: %s', (available, isEnough) => {
  const answer = answerTo(() => requireFunds(readTransferOrder(data, current, now), available));
  const has = available < 0 ? '-0.05' : '1.49';
  const detail = `Available: ${has} EUR. Needed, with commissions: 1.50 EUR.`;
  expect(answer).toEqual(
    isEnough
      ? 'accepted'
      : ['FUNDS_INSUFFICIENT', 'The available balance does not cover the transfer', detail],
  );
});

test.each<[count: number, isTaken: boolean]>([
  [1, true],
  [120, true],
  [0, false],
  [121, false],
  [-1, false],
])('%i payments of a standing order are taken: %s', (count, isTaken) => {
  const answer = answerTo(() => expect(readNumberOfExecutions({ numberOfExecutions: count })).toBe(count));
  const refusal = wrong('numberOfExecutions', 'a whole number from 1 to 120', String(count));
  expect(answer).toEqual(isTaken ? 'accepted' : refusal);
});

test('the countries have their names in capitals, and are in their order', () => {
  const countries = sepaCountries();
  const labels = countries.map(({ label }) => label);
  expect(labels).toEqual(labels.toSorted((a, b) => a.localeCompare(b, 'en')));
  expect([countries.length, countries[0], countries.at(-1)]).toEqual([
    ...[42, { label: 'ALBANIA', value: 'AL' }, { label: 'VATICAN CITY', value: 'VA' }],
  ]);
});
