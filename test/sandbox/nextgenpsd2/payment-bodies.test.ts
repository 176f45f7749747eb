import { describe, expect, test } from 'vitest';
import { type DoorReply, linkOf, newDoor, refusalOf, START, type TestDoor, useDoor } from './door-client.ts';
import {
  ANNAS,
  approve,
  BRUNOS,
  debitsOf,
  INSTANT,
  initiate,
  listed,
  PAYEE,
  pay,
  statusOf,
} from './payment-client.ts';

const door = await useDoor();
const DAY = 24 * 60 * 60_000;
const amount = (value: string | number, currency = 'EUR') => ({
  instructedAmount: { currency, amount: value },
});

const ADDRESS = { townName: 'Berlin', country: 'DE' };
const BULK = '/v1/bulk-payments/sepa-credit-transfers';
const PERIODIC = '/v1/periodic-payments/sepa-credit-transfers';

/** An entry of a bulk. */
const entry = (changes: Record<string, unknown> = {}) => ({
  ...amount('10.00'),
  ...{ creditorAccount: { iban: PAYEE }, creditorName: 'Beta GmbH' },
  ...changes,
});

function sendBulk({ client }: TestDoor, payments: object[], more: object = {}): Promise<DoorReply> {
  const body = { debtorAccount: { iban: ANNAS }, payments, ...more };
  return client.send({ method: 'POST', path: BULK, body, headers: START });
}

describe('a body', () => {
  // The path of the refusal is where the change is, unless a row names another one.
  test.each<[what: string, changes: Record<string, unknown>, path?: string]>([
    ['without the amount', { instructedAmount: undefined }],
    ['without the payee', { creditorName: undefined }],
    ['with a long name', { creditorName: 'x'.repeat(71) }],
    ['with a long text', { remittanceInformationUnstructured: 'x'.repeat(141) }],
    ['with a long reference', { endToEndIdentification: 'x'.repeat(36) }],
    ['with a reference that is none of SEPA', { endToEndIdentification: '/A' }],
    ['with characters that SEPA does not have', { creditorName: 'Müller' }],
    ['with a blank name', { creditorName: ' ' }],
    ['with another currency', amount('1.00', 'CHF'), 'instructedAmount.currency'],
    ['with three decimals', amount('1.005'), 'instructedAmount.amount'],
    ['with no amount', amount('0.00'), 'instructedAmount.amount'],
    ['with a negative amount', amount('-1.00'), 'instructedAmount.amount'],
    ['with a number as the amount', amount(1), 'instructedAmount.amount'],
    ['with a wrong IBAN', { creditorAccount: { iban: 'DE02120300000000202052' } }, 'creditorAccount.iban'],
    ['with an account elsewhere as the debtor', { debtorAccount: { iban: PAYEE } }, 'debtorAccount.iban'],
    ['with a field that is the bank’s own', { purposeCode: 'SALA' }],
    ['with an unknown field', { creditorAccount: { iban: PAYEE, bban: '1' } }, 'creditorAccount.bban'],
    ['with a day that the bank does not take', { requestedExecutionDate: '2026-11-23' }],
    ['with an address without a town', { creditorAddress: { country: 'DE' } }, 'creditorAddress.townName'],
    ['with no country', { creditorAddress: { townName: 'Berlin' } }, 'creditorAddress.country'],
    ['with an address in lines', { creditorNameAndAddress: 'A, B' }],
    ['with a wrong BIC', { creditorAgent: 'x' }],
  ])('%s is refused', async (_, changes, path = Object.keys(changes).join()) => {
    expect(refusalOf(await initiate(door, changes))).toBe(`400 FORMAT_ERROR ${path}`);
  });

  test('with all that the standard has is taken', async () => {
    const reply = await initiate(door, {
      creditorAgent: 'BYLADEM1001',
      creditorAddress: { ...ADDRESS, streetName: 'Weg', buildingNumber: '1', postCode: '10115' },
      creditorAccount: { iban: PAYEE, currency: 'EUR' },
    });
    expect(reply.status).toBe(201);
  });

  test('to the same account is PAYMENT_FAILED', async () => {
    const reply = await initiate(door, { creditorAccount: { iban: ANNAS } });
    expect(refusalOf(reply)).toBe('400 PAYMENT_FAILED creditorAccount.iban');
  });

  test('for a product that the bank does not have is PRODUCT_UNKNOWN, and nothing was initiated', async () => {
    const before = (await listed(door)).length;
    for (const path of ['/v1/payments/target-2-payments', '/v1/bulk-payments/sepa-credit-transfers']) {
      expect(refusalOf(await initiate(door, {}, { path }))).toBe('404 PRODUCT_UNKNOWN payment-product');
    }
    expect((await listed(door)).length).toBe(before);
  });

  test('needs PSU-IP-Address and a right signature', async () => {
    const noAddress = await initiate(door, {}, { headers: { 'psu-ip-address': [] } });
    expect(refusalOf(noAddress)).toBe('400 FORMAT_ERROR PSU-IP-Address');
    expect(refusalOf(await initiate(door, {}, { unsigned: true }))).toContain(' SIGNATURE_MISSING');
  });

  test('has no optional field of the standard but those that the bank names, if it names any', async () => {
    const at = await newDoor({ payments: { allowed: ['remittanceInformationUnstructured'] } });
    const taken = { endToEndIdentification: undefined, remittanceInformationUnstructured: 'Rent' };
    expect((await initiate(at, taken)).status).toBe(201);
    const reference = await initiate(at, { ...taken, endToEndIdentification: 'E2E-9' });
    expect(refusalOf(reference)).toBe('400 FORMAT_ERROR endToEndIdentification');
    const address = await initiate(at, { ...taken, creditorAddress: ADDRESS });
    expect(refusalOf(address)).toBe('400 FORMAT_ERROR creditorAddress');
  });

  test('has the fields that the bank demands, and may have those that it allows', async () => {
    const allowed = { required: ['creditorAddress.townName'], allowed: ['purposeCode'] };
    const at = await newDoor({ payments: { ...allowed, address: 'required' } });
    const creditorAddress = ADDRESS;
    expect(refusalOf(await initiate(at))).toBe('400 FORMAT_ERROR creditorAddress.townName');
    expect((await initiate(at, { creditorAddress, purposeCode: 'SALA' })).status).toBe(201);
    const other = await initiate(at, { creditorAddress, chargeBearer: 'SLEV' });
    expect(refusalOf(other)).toBe('400 FORMAT_ERROR chargeBearer');
  });
});

test('payments.constant, days and address say what else a body has', async () => {
  const products = { 'periodic-payments': ['sepa-credit-transfers'] };
  const constant = { chargeBearer: 'SLEV' };
  const at = await newDoor({ payments: { products, constant, days: 'two-digits', address: 'country' } });
  const creditorAddress = { country: 'DE' };
  expect(refusalOf(await initiate(at, { creditorAddress }))).toBe('400 FORMAT_ERROR chargeBearer');
  expect((await initiate(at, { ...constant, creditorAddress })).status).toBe(201);
  expect(refusalOf(await initiate(at, constant))).toBe('400 FORMAT_ERROR creditorAddress');
  const rule = { startDate: '2026-11-27', frequency: 'Monthly', ...constant, creditorAddress };
  const onDay = (dayOfExecution: string) => initiate(at, { ...rule, dayOfExecution }, { path: PERIODIC });
  expect(refusalOf(await onDay('1'))).toBe('400 FORMAT_ERROR dayOfExecution');
  expect((await onDay('01')).status).toBe(201);
});

test('a payment of another path or an unknown one is RESOURCE_UNKNOWN', async () => {
  const { json } = await initiate(door);
  for (const path of [`${INSTANT}/${json.paymentId}`, `${INSTANT}/x/status`]) {
    expect(refusalOf(await door.client.get(path))).toBe('404 RESOURCE_UNKNOWN paymentId');
  }
});

test('a payment for a later day is executed on it, within payments.futureDays', async () => {
  const at = await newDoor({ payments: { futureDays: 30 } });
  for (const requestedExecutionDate of ['2026-11-19', '2026-12-21']) {
    expect(refusalOf(await initiate(at, { requestedExecutionDate }))).toContain(' EXECUTION_DATE_INVALID');
  }
  const instant = await initiate(at, { requestedExecutionDate: '2026-11-23' }, { path: INSTANT });
  expect(refusalOf(instant)).toContain(' EXECUTION_DATE_INVALID');
  const reply = await pay(at, { requestedExecutionDate: '2026-11-24' });
  at.clock.advance(3 * DAY);
  expect([await statusOf(at, reply), await debitsOf(at, 'E2E-1')]).toEqual(['ACTC', 0]);
  at.clock.advance(DAY);
  expect([await statusOf(at, reply), await debitsOf(at, 'E2E-1')]).toEqual(['ACSC', 1]);
});

test('a periodic payment pays on each of its days, and no more once it is cancelled', async () => {
  const products = { 'periodic-payments': ['sepa-credit-transfers'] };
  const at = await newDoor({ payments: { products, cancel: 'direct' } });
  const path = PERIODIC;
  const rule = { startDate: '2026-11-27', frequency: 'Weekly' };
  const refusal = async (changes: object) => refusalOf(await initiate(at, { ...changes }, { path }));
  expect(await refusal({})).toBe('400 FORMAT_ERROR startDate');
  expect(await refusal({ ...rule, startDate: '2026-11-01' })).toContain(' EXECUTION_DATE_INVALID');
  expect(await refusal({ ...rule, endDate: '2026-11-26' })).toBe('400 EXECUTION_DATE_INVALID endDate');
  const reply = await pay(at, rule, { path });
  expect(await statusOf(at, reply)).toBe('ACTC');
  at.clock.advance(15 * DAY);
  expect([await statusOf(at, reply), await debitsOf(at, 'E2E-1')]).toEqual(['ACSP', 2]);
  expect((await at.client.send({ method: 'DELETE', path: linkOf(reply, 'self') })).status).toBe(204);
  at.clock.advance(30 * DAY);
  expect([await statusOf(at, reply), await debitsOf(at, 'E2E-1')]).toEqual(['CANC', 2]);
  const days = { startDate: '2027-01-05', endDate: '2027-02-10', frequency: 'Monthly' };
  const short = await pay(at, { ...days, endToEndIdentification: 'SHORT' }, { path });
  at.clock.advance(90 * DAY);
  expect([await statusOf(at, short), await debitsOf(at, 'SHORT')]).toEqual(['ACSC', 2]);
});

test('a bulk pays each transfer, and says which were refused', async () => {
  const products = { 'bulk-payments': ['sepa-credit-transfers'] };
  const at = await newDoor({ payments: { products, bulk: { maxEntries: 2 } } });
  const send = (payments: object[]) => sendBulk(at, payments);
  expect(refusalOf(await send([]))).toBe('400 FORMAT_ERROR payments');
  expect(refusalOf(await send([entry(), entry(), entry()]))).toBe('400 FORMAT_ERROR payments');
  const second = await send([entry(), entry({ purposeCode: 'X' })]);
  expect(refusalOf(second)).toBe('400 FORMAT_ERROR payments[1].purposeCode');
  const reply = await send([
    entry({ endToEndIdentification: 'A' }),
    entry({ endToEndIdentification: 'B', creditorName: 'EXECUTE REFUSED' }),
  ]);
  expect(reply.json.transactionFees).toEqual({ currency: 'EUR', amount: '1.00' });
  approve(at, reply);
  at.clock.advance(4 * DAY);
  expect(await statusOf(at, reply)).toBe('PART');
  const { json } = await at.client.get(linkOf(reply, 'self'));
  expect(json).toMatchObject({
    payments: [
      { endToEndIdentification: 'A', transactionStatus: 'ACSC' },
      { endToEndIdentification: 'B', transactionStatus: 'RJCT' },
    ],
  });
  expect([await debitsOf(at, 'A'), await debitsOf(at, 'B')]).toEqual([1, 0]);
});

test.each([
  ['required', {}, 400],
  ['required', { batchBookingPreferred: false }, 201],
  ['never', { batchBookingPreferred: true }, 400],
  ['never', {}, 201],
  ['optional', { batchBookingPreferred: true }, 201],
] as const)('a bulk at a bank with batchBooking %s and %o: %i', async (batchBooking, said, status) => {
  const products = { 'bulk-payments': ['sepa-credit-transfers'] };
  const at = await newDoor({ payments: { products, bulk: { batchBooking } } });
  const reply = await sendBulk(at, [entry()], said);
  expect(reply.status).toBe(status);
  if (status === 400) expect(refusalOf(reply)).toBe('400 FORMAT_ERROR batchBookingPreferred');
  else expect((await at.client.get(linkOf(reply, 'self'))).json).toMatchObject(said);
});

test('funds are confirmed by the available balance', async () => {
  const path = '/v1/funds-confirmations';
  const ask = (iban: string, value: string) =>
    door.client.send({ method: 'POST', path, body: { account: { iban }, ...amount(value) } });
  expect((await ask(BRUNOS, '1.00')).json).toEqual({ fundsAvailable: true });
  expect((await ask(BRUNOS, '9999999.00')).json).toEqual({ fundsAvailable: false });
  expect(refusalOf(await ask(PAYEE, '1.00'))).toBe('400 FORMAT_ERROR account.iban');
  expect(refusalOf(await ask(BRUNOS, 'x'))).toBe('400 FORMAT_ERROR instructedAmount.amount');
});

test('one SCA authorises all payments of a basket', async () => {
  const headers = { 'tpp-explicit-authorisation-preferred': 'true' };
  const one = await initiate(door, { endToEndIdentification: 'BASKET-1' }, { headers });
  const other = await initiate(door, { endToEndIdentification: 'BASKET-2' }, { headers });
  const bruno = await initiate(door, { debtorAccount: { iban: BRUNOS } }, { headers });
  const put = (...replies: DoorReply[]) => {
    const body = { paymentIds: replies.map(({ json }) => json.paymentId) };
    return door.client.send({ method: 'POST', path: '/v1/signing-baskets', body, headers: START });
  };
  expect(refusalOf(await put(one, bruno))).toBe('400 REFERENCE_MIX_INVALID paymentIds');
  const basket = await put(one, other);
  expect([basket.status, basket.json.transactionStatus]).toEqual([201, 'RCVD']);
  expect(refusalOf(await put(one))).toBe('409 REFERENCE_STATUS_INVALID paymentIds[0]');
  approve(door, basket);
  expect(await statusOf(door, basket)).toBe('ACTC');
  expect([await debitsOf(door, 'BASKET-1'), await debitsOf(door, 'BASKET-2')]).toEqual([1, 1]);
  const path = linkOf(basket, 'self');
  expect(refusalOf(await door.client.send({ method: 'DELETE', path }))).toBe('409 STATUS_INVALID');
  const second = await put(bruno);
  expect((await door.client.send({ method: 'DELETE', path: linkOf(second, 'self') })).status).toBe(204);
  expect(await statusOf(door, second)).toBe('CANC');
  expect(() => approve(door, second, '2073915')).toThrow('There is no open request');
  expect((await put(bruno)).status).toBe(201);
});
