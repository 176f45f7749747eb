import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import { bankHere } from '../bank-here.ts';
import { ANNAS, BRUNOS, INSTANT, PAYEE, paymentBody, SCT } from '../payment-client.ts';

// What the bank says of a payment that it does not take, and what it reads of one that it takes.

const IP = { 'psu-ip-address': '192.0.2.1' };
const PERIODIC = '/v1/periodic-payments/sepa-credit-transfers';
const BULK = '/v1/bulk-payments/sepa-credit-transfers';
const SERVICES = {
  'periodic-payments': ['sepa-credit-transfers'],
  'bulk-payments': ['sepa-credit-transfers'],
};

type Payments = NonNullable<BankFile['payments']>;

/** What the client reads about an initiation. */
async function answer(path: string, body: object | string, payments: Payments = {}): Promise<string> {
  const here = await bankHere({ payments: { products: SERVICES, ...payments } });
  return here.answer(`POST ${path}`, { body, headers: IP });
}

/** What the bank has read of an initiation. */
async function read(path: string, body: object | string, payments: Payments = {}) {
  const { serve, bank } = await bankHere({ payments: { products: SERVICES, ...payments } });
  const { json } = serve(`POST ${path}`, { body, headers: IP });
  return doorOf(bank).payments.find(String(json.paymentId)) ?? expect.unreachable();
}

const wrong = (path: string, text: string, code = 'FORMAT_ERROR') => `400 ${code} ${path}: ${text}.`;
const unexpected = (path: string, text: string, expected: string, received: string, code?: string) =>
  wrong(path, `${text}. Expected: ${expected}. Received: ${received}`, code);
const wrongDay = (path: string, text: string, expected: string, received: string) =>
  unexpected(path, text, expected, received, 'EXECUTION_DATE_INVALID');

const entry = (changes: object = {}) => ({
  ...{ instructedAmount: { currency: 'EUR', amount: '1.00' }, creditorAccount: { iban: PAYEE } },
  ...{ creditorName: 'Beta', ...changes },
});
const bulk = (changes: object = {}) => ({ debtorAccount: { iban: ANNAS }, payments: [entry()], ...changes });
const periodic = (changes: object = {}) =>
  paymentBody({ startDate: '2026-11-20', frequency: 'Monthly', ...changes });

describe('the product in the path', () => {
  const unknown = (service: string, expected: string, received: string) =>
    `404 PRODUCT_UNKNOWN payment-product: The bank has no such product of ${service}. Expected: ${expected}. Received: ${received}.`;
  test.each<[path: string, products: Payments['products'], answer: string]>([
    [SCT, {}, 'taken'],
    ['/v1/payments/x', { payments: ['a', 'b'] }, unknown('payments', 'a, b', 'x')],
    ['/v1/payments/x', { payments: ['a'] }, unknown('payments', 'a', 'x')],
    [
      PERIODIC,
      { 'periodic-payments': [] },
      unknown('periodic-payments', 'none: the bank does not have this service', 'sepa-credit-transfers'),
    ],
    ['/v1/bulk-payments/x', { 'bulk-payments': ['a'] }, unknown('bulk-payments', 'a', 'x')],
  ])('%s at a bank with %j: %s', async (path, products, expected) => {
    expect(await answer(path, paymentBody(), { products })).toBe(expected);
  });
});

describe('the debited account', () => {
  const RULE = 'debtorAccount';
  test.each<[rule: Payments['debtorAccount'], named: boolean, answer: string]>([
    ['required', true, 'taken'],
    ['required', false, wrong(RULE, 'The bank needs the field debtorAccount')],
    ['optional', true, 'taken'],
    ['optional', false, 'taken'],
    ['never', true, wrong(RULE, 'The bank does not take the field debtorAccount')],
    ['never', false, 'taken'],
  ])('is %s, and named (%s): %s', async (debtorAccount, named, expected) => {
    const changes = named ? {} : { debtorAccount: undefined };
    for (const [path, body] of [
      [SCT, paymentBody(changes)],
      [PERIODIC, periodic(changes)],
      [BULK, bulk(changes)],
    ] as const)
      expect(await answer(path, body, { debtorAccount })).toBe(expected);
  });

  test('is one of the bank', async () => {
    const refusal = unexpected(
      ...([
        'debtorAccount.iban',
        'The bank has no such account',
        'an account of the customer',
        PAYEE,
      ] as const),
    );
    expect(await answer(SCT, paymentBody({ debtorAccount: { iban: PAYEE } }))).toBe(refusal);
    const { debtor } = await read(SCT, paymentBody({ debtorAccount: { iban: BRUNOS } }));
    expect([debtor?.customer.user, debtor?.product.iban]).toEqual(['bruno', BRUNOS]);
  });

  test.each([
    ['anna', 'taken'],
    [
      'bruno',
      unexpected('debtorAccount.iban', "The account is not the customer's", 'an account of bruno', ANNAS),
    ],
  ])('is one of the customer whom the call names: %s', async (user, expected) => {
    const here = await bankHere();
    const headers = { ...IP, 'psu-id': user };
    expect(here.answer(`POST ${SCT}`, { body: paymentBody(), headers })).toBe(expected);
  });

  test.each([SCT, PERIODIC, BULK])('is not the one that gets the money: %s', async (path) => {
    const creditorAccount = { iban: ANNAS };
    const body =
      path === BULK
        ? bulk({ payments: [entry(), entry({ creditorAccount })] })
        : periodic({ creditorAccount });
    const at = path === BULK ? 'payments[1].creditorAccount.iban' : 'creditorAccount.iban';
    const sent = path === SCT ? paymentBody({ creditorAccount }) : body;
    expect(await answer(path, sent)).toBe(
      wrong(at, 'The payment stays on the same account', 'PAYMENT_FAILED'),
    );
  });
});

describe('the day of execution', () => {
  const MESSAGE = 'The bank does not execute payments on this day';
  const FIELD = 'requestedExecutionDate';
  const days = 'a day from 2026-11-20 to 2026-11-22';
  const instant = '2026-11-20: the payment is instant';
  test.each<[path: string, day: string | undefined, answer: string]>([
    [SCT, undefined, 'taken'],
    [SCT, '2026-11-19', wrongDay(FIELD, MESSAGE, days, '2026-11-19')],
    [SCT, '2026-11-20', 'taken'],
    [SCT, '2026-11-22', 'taken'],
    [SCT, '2026-11-23', wrongDay(FIELD, MESSAGE, days, '2026-11-23')],
    [INSTANT, '2026-11-19', wrongDay(FIELD, MESSAGE, instant, '2026-11-19')],
    [INSTANT, '2026-11-20', 'taken'],
    [INSTANT, '2026-11-21', wrongDay(FIELD, MESSAGE, instant, '2026-11-21')],
    [BULK, '2026-11-22', 'taken'],
    [BULK, '2026-11-23', wrongDay(FIELD, MESSAGE, days, '2026-11-23')],
  ])('of %s is %s: %s', async (path, requestedExecutionDate, expected) => {
    const body = path === BULK ? bulk({ requestedExecutionDate }) : paymentBody({ requestedExecutionDate });
    expect(await answer(path, body, { futureDays: 2 })).toBe(expected);
    if (expected === 'taken')
      expect((await read(path, body, { futureDays: 2 })).executionDay).toBe(requestedExecutionDate);
  });
});

describe('a standing order', () => {
  const rule = (changes: object) => ({
    ...{ startDate: '2026-11-20', endDate: undefined, frequency: 'Monthly' },
    ...{ dayOfExecution: undefined, executionRule: undefined, ...changes },
  });
  test.each<[sent: object, read: object, payments?: Payments]>([
    [{}, {}],
    [{ endDate: '2026-11-20' }, { endDate: '2026-11-20' }],
    [{ dayOfExecution: '7' }, { dayOfExecution: 7 }],
    [{ dayOfExecution: '31' }, { dayOfExecution: 31 }],
    [{ dayOfExecution: '07' }, { dayOfExecution: 7 }, { days: 'two-digits' }],
    [{ dayOfExecution: '31' }, { dayOfExecution: 31 }, { days: 'two-digits' }],
    [{ executionRule: 'following' }, { executionRule: 'following' }],
    [{ executionRule: 'preceding' }, { executionRule: 'preceding' }],
    [{ frequency: 'MNTH' }, { frequency: 'Monthly' }, { frequencies: { Monthly: 'MNTH' } }],
    [{ frequency: 'Weekly' }, { frequency: 'Weekly' }, { frequencies: { Monthly: 'MNTH' } }],
    ...['Daily', 'Weekly', 'EveryTwoWeeks', 'EveryTwoMonths', 'Quarterly', 'SemiAnnual', 'Annual'].map(
      (frequency): [object, object] => [{ frequency }, { frequency }],
    ),
  ])('with %j is read as %j', async (sent, fields, payments) => {
    const payment = await read(PERIODIC, periodic(sent), payments);
    expect([payment.service, payment.executionDay, payment.standing]).toEqual([
      ...['periodic-payments', undefined, rule(fields)],
    ]);
  });

  const ALL = [
    'Daily',
    'Weekly',
    'EveryTwoWeeks',
    'Monthly',
    'EveryTwoMonths',
    'Quarterly',
    'SemiAnnual',
    'Annual',
  ];
  const noWord = (words: string, received: string) =>
    unexpected('frequency', 'frequency is none of the words of the bank', words, received);
  const form = (expected: string, received: string) =>
    unexpected('dayOfExecution', 'dayOfExecution has another form', expected, received);
  test.each<[sent: object, answer: string, payments?: Payments]>([
    [
      { startDate: '2026-11-19' },
      wrongDay('startDate', 'startDate is in the past', '2026-11-20 or later', '2026-11-19'),
    ],
    [
      { startDate: '2026-11-25', endDate: '2026-11-24' },
      wrongDay('endDate', 'endDate is before startDate', '2026-11-25 or later', '2026-11-24'),
    ],
    [{ frequency: 'MonthlyVariable' }, noWord(ALL.join(', '), 'MonthlyVariable')],
    [
      { frequency: 'Monthly' },
      noWord(ALL.join(', ').replace('Monthly', 'MNTH'), 'Monthly'),
      { frequencies: { Monthly: 'MNTH' } },
    ],
    [{ dayOfExecution: '07' }, form('no leading zero', '07')],
    [{ dayOfExecution: '7' }, form('two digits', '7'), { days: 'two-digits' }],
    [
      { requestedExecutionDate: '2026-11-20' },
      wrong('requestedExecutionDate', 'The bank does not take the field requestedExecutionDate'),
      { futureDays: 2 },
    ],
  ])('with %j is refused: %s', async (sent, expected, payments) => {
    expect(await answer(PERIODIC, periodic(sent), payments)).toBe(expected);
  });
});

describe('a bulk', () => {
  const many = (count: number) => bulk({ payments: Array.from({ length: count }, () => entry()) });
  test.each<[count: number, maxEntries: number | undefined, answer: string]>([
    [3, undefined, 'taken'],
    [1, 2, 'taken'],
    [2, 2, 'taken'],
    [3, 2, unexpected('payments', 'The bulk has too many payments', 'at most 2', '3')],
    [0, 2, expect.stringContaining('400 FORMAT_ERROR payments: ')],
  ])('of %i payments where the bank takes %s: %s', async (count, maxEntries, expected) => {
    expect(
      await answer(BULK, many(count), { bulk: { ...(maxEntries !== undefined && { maxEntries }) } }),
    ).toEqual(expected);
  });

  const BOOKING = 'batchBookingPreferred';
  test.each<[rule: 'optional' | 'required' | 'never' | undefined, said: boolean | undefined, answer: string]>(
    [
      [undefined, undefined, 'taken'],
      [undefined, true, 'taken'],
      ['optional', undefined, 'taken'],
      ['optional', false, 'taken'],
      ['required', true, 'taken'],
      ['required', false, 'taken'],
      ['required', undefined, wrong(BOOKING, `The bank needs the field ${BOOKING}`)],
      ['never', undefined, 'taken'],
      ['never', true, wrong(BOOKING, `The bank does not take the field ${BOOKING}`)],
      ['never', false, wrong(BOOKING, `The bank does not take the field ${BOOKING}`)],
    ],
  )('at a bank with batchBooking %s, that says %s: %s', async (batchBooking, said, expected) => {
    const rules = batchBooking === undefined ? {} : { batchBooking };
    expect(await answer(BULK, bulk({ batchBookingPreferred: said }), { bulk: rules })).toBe(expected);
  });

  test('names the entry that is wrong, and has one order for each', async () => {
    const named = (creditorName: string) => entry({ creditorName });
    const foreign = bulk({ payments: [named('A'), entry({ purposeCode: 'X' })] });
    expect(await answer(BULK, foreign)).toBe(
      wrong('payments[1].purposeCode', 'The bank does not take the field purposeCode'),
    );
    const blank = bulk({ payments: [named('A'), named(' ')] });
    expect(await answer(BULK, blank)).toBe(wrong('payments[1].creditorName', 'creditorName is blank'));
    const { service, orders, standing } = await read(BULK, bulk({ payments: [named('A'), named('B')] }));
    expect([service, orders.map(({ beneficiaryName }) => beneficiaryName), standing]).toEqual([
      ...['bulk-payments', ['A', 'B'], undefined],
    ]);
  });

  test.each([
    ['x', '400 FORMAT_ERROR: The body is not JSON in UTF-8.'],
    ['[]', expect.stringContaining('400 FORMAT_ERROR : The body does not have the shape of this call.')],
  ])('whose body is %s is refused: %s', async (body, expected) => {
    expect(await answer(BULK, body)).toEqual(expected);
  });
});

describe('in pain.001', () => {
  const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:';
  const xml = (version: string, count = 1) =>
    `<Document xmlns="${NAMESPACE}${version}"><CstmrCdtTrfInitn><GrpHdr><MsgId>M1</MsgId></GrpHdr><PmtInf><PmtInfId>G1</PmtInfId>` +
    `<DbtrAcct><Id><IBAN>${ANNAS}</IBAN></Id></DbtrAcct>${`<CdtTrfTxInf><PmtId><EndToEndId>A</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt><Cdtr><Nm>Beta</Nm></Cdtr><CdtrAcct><Id><IBAN>${PAYEE}</IBAN></Id></CdtrAcct></CdtTrfTxInf>`.repeat(count)}</PmtInf></CstmrCdtTrfInitn></Document>`;
  const products = { payments: ['pain.001-sepa-credit-transfers'], ...SERVICES };
  const SINGLE = '/v1/payments/pain.001-sepa-credit-transfers';
  const version = (expected: string, received: string) =>
    `400 FORMAT_ERROR: The body is not ${expected}. Received: Document of ${NAMESPACE}${received}.`;
  const [V03, V09] = ['pain.001.001.03', 'pain.001.001.09'] as const;

  test.each<
    [path: string, sent: string, format: typeof V09 | typeof V03 | 'json' | undefined, answer: string]
  >([
    [BULK, V09, V09, 'taken'],
    [BULK, V03, V09, version(V09, V03)],
    [BULK, V03, V03, 'taken'],
    // A payment alone has the version of the bulks, or the oldest one.
    [SINGLE, V03, undefined, 'taken'],
    [SINGLE, V09, undefined, version(V03, V09)],
    [SINGLE, V03, 'json', 'taken'],
    [SINGLE, V09, V09, 'taken'],
    [SINGLE, V03, V09, version(V09, V03)],
  ])('%s of the version %s, where bulks have %s: %s', async (path, sent, format, expected) => {
    const payments = { products, ...(format !== undefined && { bulk: { format } }) };
    expect(await answer(path, xml(sent), payments)).toBe(expected);
    if (expected !== 'taken') return;
    const { file, orders } = await read(path, xml(sent), payments);
    expect([file, orders.length]).toEqual([{ message: 'M1', information: 'G1' }, 1]);
  });

  test.each([
    [SCT, paymentBody()],
    [PERIODIC, periodic()],
    [BULK, bulk()],
  ])('nothing of %s in JSON has ids of a file', async (path, body) => {
    expect(await read(path, body)).not.toHaveProperty('file');
  });
});
