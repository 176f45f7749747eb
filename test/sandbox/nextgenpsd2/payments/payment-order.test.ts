import { expect, test } from 'vitest';
import { readOrder } from '../../../../src/sandbox/nextgenpsd2/payments/payment-order.ts';
import { answerTo } from '../refused.ts';

const PAYEE = 'DE02120300000000202051';
const DEBTOR = 'IT60X0542811101000000123456';
const BODY = {
  instructedAmount: { currency: 'EUR', amount: '12.50' },
  creditorAccount: { iban: PAYEE },
  creditorName: 'Beta',
};
const ADDRESS = { townName: 'Berlin', country: 'DE' };

type Rules = Parameters<typeof readOrder>[1];

const RULES: Rules = { product: 'sepa-credit-transfers', debtorIban: DEBTOR, address: 'optional' };

const read = (changes: object = {}, rules: Partial<Rules> = {}, at = '') =>
  readOrder({ ...BODY, ...changes }, { ...RULES, ...rules }, at);

const answer = (changes: object, rules: Partial<Rules> = {}) => [
  answerTo(() => read(changes, rules)),
  answerTo(() => read(changes, rules, 'payments[1].')),
];

/** A refusal with this path, in a payment alone and in the second entry of a bulk. */
const refused = (path: string, text: string, code = 'FORMAT_ERROR') =>
  ['', 'payments[1].'].map((at) => `400 ${code} ${at}${path}: ${text}.`);
const TAKEN = ['taken', 'taken'];

test.each<[what: string, changes: object, rules: Partial<Rules>, order: object]>([
  ['with no more than it needs', {}, {}, {}],
  ['with a text', { remittanceInformationUnstructured: 'Invoice 7' }, {}, { description: 'Invoice 7' }],
  ['with a reference', { endToEndIdentification: 'E2E-1' }, {}, { endToEndId: 'E2E-1' }],
  ['that is instant', {}, { product: 'instant-sepa-credit-transfers' }, { instant: true }],
  [
    'that is instant, in pain.001',
    {},
    { product: 'pain.001-instant-sepa-credit-transfers' },
    { instant: true },
  ],
  ['of a cent', { instructedAmount: { currency: 'EUR', amount: '0.01' } }, {}, { amount: 1 }],
  ['whose debtor nobody knows yet', {}, { debtorIban: undefined }, {}],
])('an order %s', (_, changes, rules, order) => {
  expect(read(changes, rules)).toEqual({
    ...{ instant: false, amount: 1250, commissions: 50, description: '', endToEndId: undefined },
    ...{ beneficiaryIban: PAYEE, beneficiaryName: 'Beta', ...order },
  });
});

const TEXTS = [
  ...['creditorName', 'endToEndIdentification', 'remittanceInformationUnstructured'],
  ...['creditorAddress.streetName', 'creditorAddress.buildingNumber', 'creditorAddress.townName'],
  'creditorAddress.postCode',
];

test.each(TEXTS)('%s has the characters of SEPA, and is not blank', (path) => {
  const [name = '', inner] = path.split('.');
  const withText = (text: string) => ({
    [name]: inner === undefined ? text : { ...ADDRESS, [inner]: text },
  });
  expect(answer(withText("a-Z/09?:().,'+ z"))).toEqual(TAKEN);
  expect(answer(withText(' '))).toEqual(refused(path, `${path} is blank`));
  for (const foreign of ['ü', '&', '_', '\n'])
    expect(answer(withText(`a${foreign}ß`))).toEqual(
      refused(
        path,
        `${path} has a character that SEPA does not allow. Expected: a-z A-Z 0-9 / - ? : ( ) . , ' + and space. Received: "${foreign}"`,
      ),
    );
});

test.each([
  ['A/B', true],
  ['A/B/C', true],
  ['/A', false],
  ['A/', false],
  ['A//B', false],
  ['/', false],
])('the reference %s is one of SEPA: %s', (endToEndIdentification, isRight) => {
  expect(answer({ endToEndIdentification })).toEqual(
    isRight
      ? TAKEN
      : refused(
          'endToEndIdentification',
          `endToEndIdentification is not an identification of SEPA. Expected: no "/" at the begin or the end, and no "//". Received: ${endToEndIdentification}`,
        ),
  );
});

const NO_TOWN = refused('creditorAddress.townName', 'An address has a town');
const NO_ADDRESS = refused('creditorAddress', "The bank needs the payee's address");
test.each<[address: Rules['address'], creditorAddress: object | undefined, answers: string[]]>([
  ['optional', undefined, TAKEN],
  ['optional', ADDRESS, TAKEN],
  ['optional', { country: 'DE' }, NO_TOWN],
  ['required', undefined, NO_ADDRESS],
  ['required', ADDRESS, TAKEN],
  ['required', { country: 'DE' }, NO_TOWN],
  ['country', undefined, NO_ADDRESS],
  ['country', ADDRESS, TAKEN],
  ['country', { country: 'DE' }, TAKEN],
])('at a bank where an address is %s, %j: %j', (address, creditorAddress, answers) => {
  expect(answer({ creditorAddress }, { address })).toEqual(answers);
});

const wrongAmount = (received: string) =>
  refused(
    'instructedAmount.amount',
    `The amount is not valid. Expected: a decimal from 0.01 to 999999999.99 with a point and at most two decimals. Received: ${received}`,
  );
test.each<[amount: string, currency: string, answers: string[]]>([
  ['0.01', 'EUR', TAKEN],
  ['999999999.99', 'EUR', TAKEN],
  ...['0.00', '0', '1000000000.00', '1.005', '1,00', '-1.00', '01.00', ''].map(
    (amount): [string, string, string[]] => [amount, 'EUR', wrongAmount(amount)],
  ),
  ...['CHF', 'eur', ''].map((currency): [string, string, string[]] => [
    '1.00',
    currency,
    refused('instructedAmount.currency', `The product is for euros. Expected: EUR. Received: ${currency}`),
  ]),
])('the amount %s %s: %j', (amount, currency, answers) => {
  expect(answer({ instructedAmount: { amount, currency } })).toEqual(answers);
});

test.each<[iban: string, debtorIban: string | undefined, answers: string[]]>([
  [
    DEBTOR,
    DEBTOR,
    refused('creditorAccount.iban', 'The payment stays on the same account', 'PAYMENT_FAILED'),
  ],
  [DEBTOR, undefined, TAKEN],
  ...[
    ...['DE02120300000000202052', 'de02120300000000202051', 'DE02 1203 0000 0000 2020 51', ''],
    // A right one of no SEPA country.
    'TR330006100519786457841326',
  ].map((iban): [string, string, string[]] => [
    iban,
    DEBTOR,
    refused(
      'creditorAccount.iban',
      `The account of the payee is not valid. Expected: a valid IBAN of a SEPA country, in capitals without blanks. Received: ${iban}`,
    ),
  ]),
])('a payment to %s from %s: %j', (iban, debtorIban, answers) => {
  expect(answer({ creditorAccount: { iban } }, { debtorIban })).toEqual(answers);
});
