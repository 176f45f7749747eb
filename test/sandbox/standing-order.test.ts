import { describe, expect, test } from 'vitest';
import { codeOf, detailOf, type Reply, refusalOf, resourceOf, useTestBank } from './tpp.ts';

const ACCOUNT = '/private/customers/1048262/products/0010482620';
const BASE = `${ACCOUNT}/standingOrder`;

const bank = await useTestBank();
const { accessToken: token } = await bank.tpp.login();

const order = {
  amount: { currency: 'EUR', amount: '50.00' },
  frequency: 'MONTHLY',
  firstExecutionDate: '30/11/2026',
  ibanBeneficiary: 'IT60X0542811101000000123456',
  beneficiaryName: 'Mario Rossi',
  description: 'rent',
};

function verify(changes: object = {}): Promise<Reply> {
  const body = { data: { ...order, ...changes } };
  return bank.tpp.send({ method: 'POST', path: `${BASE}/verify`, token, body });
}

async function verified(changes: object = {}): Promise<string> {
  return resourceOf(await verify(changes));
}

function put(id: string, step: string, body: object | string = '{}'): Promise<Reply> {
  return bank.tpp.send({ method: 'PUT', path: `${BASE}/${id}/${step}`, token, body });
}

function term(id: string, numberOfExecutions: number): Promise<Reply> {
  return put(id, 'verify2', { data: { numberOfExecutions } });
}

test('the flow is prepare, verify, verify2, SCA, execute, printer', async () => {
  const prepared = await bank.tpp.send({ path: `${BASE}/prepare`, token });
  expect(prepared.json.data).toMatchObject({
    today: '20/11/2026',
    firstExecutionDateMinimum: '21/11/2026',
    firstExecutionDateLimit: '20/11/2027',
    holidays: expect.arrayContaining(['25/12/2026', '26/03/2027']),
    frequencies: ['WEEKLY', 'MONTHLY'],
  });
  expect(prepared.json._links?.next).toEqual({ href: 'verify', method: 'POST' });

  const first = await verify();
  const id = resourceOf(first);
  expect(first.json.data).toEqual({
    amount: { amount: '50.000', currency: 'EUR' },
    commissions: { amount: '0.500', currency: 'EUR' },
    firstExecutionDate: '30/11/2026',
  });
  expect(first.json._links?.next).toEqual({ href: `${id}/verify2`, method: 'PUT' });

  const second = await term(id, 12);
  expect(second.json.data).toEqual({
    numberOfExecutions: 12,
    lastExecutionDate: '30/10/2027',
    totalAmount: { amount: '606.000', currency: 'EUR' },
  });
  expect(second.json._links?.next).toEqual({ href: `${id}/execute`, method: 'PUT' });

  await bank.tpp.startSca(token, id);
  expect(bank.sandbox.customers.scaRequest(id)?.request).toMatchObject({
    kind: 'payment',
    operation: 'standingOrder',
    instant: false,
    total: { amount: '50.50', currency: 'EUR' },
    executionDate: '2026-11-30',
    schedule: 'MONTHLY, 12 times, until 30/10/2027',
  });
  bank.sandbox.customers.approveSca(id);
  const executed = await put(id, 'execute');
  expect(executed.json.data).toEqual({ standingOrderId: expect.stringMatching(/^\d{10}$/) });
  const { data } = (await bank.tpp.send({ path: `/private/operations/${id}/status`, token })).json;
  expect(data).toMatchObject({ authorizationStatus: 'AUTHORIZED', executionStatus: 'OK' });
  const printer = new URL(String(executed.json._embedded?.printer?.href)).pathname;
  const receipt = await bank.tpp.send({ path: printer, token });
  expect(receipt.bytes.toString('latin1')).toContain(`${executed.json.data?.standingOrderId}`);
  expect(codeOf(await put(id, 'execute'))).toBe('ALREADY_EXECUTED');
});

describe('verify2', () => {
  test('the bank refuses SCA and execute before verify2', async () => {
    const id = await verified();
    for (const reply of [await bank.tpp.startSca(token, id), await put(id, 'execute')]) {
      expect(refusalOf(reply)).toBe('400 STEP_MISSING');
      expect(detailOf(reply)).toBe('Expected: PUT {resourceId}/verify2, as _links.next says.');
    }
  });

  test.each([0, -1, 121, 1.5])(
    'verify2 refuses %d executions, and can then be called again, but only once with success',
    async (count) => {
      const id = await verified();
      expect(refusalOf(await term(id, count))).toBe('417 FIELD_INVALID');
      expect((await term(id, 120)).status).toBe(200);
      expect(codeOf(await term(id, 2))).toBe('STEP_MISSING');
    },
  );
});

test.each([
  [{ firstExecutionDate: '20/11/2026' }],
  [{ firstExecutionDate: '25/12/2026' }],
  [{ firstExecutionDate: '21/11/2027' }],
  [{ frequency: 'DAILY' }],
  [{ amount: { currency: 'EUR', amount: '0' } }],
  [{ ibanBeneficiary: 'IT89F0999001600000010482620' }],
  [{ moneyTransferAmount: {} }],
])('verify refuses %j', async (changes) => {
  expect(refusalOf(await verify(changes))).toBe('417 FIELD_INVALID');
});

test("the bank does not execute a transfer under another operation's name", async () => {
  const id = await verified();
  const path = `${ACCOUNT}/moneyTransfer/${id}/execute`;
  expect(codeOf(await bank.tpp.send({ method: 'PUT', path, token, body: '{}' }))).toBe('RESOURCE_UNKNOWN');
});

test.each([
  ['MONTHLY', 1, '30/11/2026', 'MONTHLY, once, until 30/11/2026'],
  ['MONTHLY', 2, '30/12/2026', 'MONTHLY, 2 times, until 30/12/2026'],
  // February has no 30th.
  ['MONTHLY', 4, '28/02/2027', 'MONTHLY, 4 times, until 28/02/2027'],
  ['WEEKLY', 1, '30/11/2026', 'WEEKLY, once, until 30/11/2026'],
  ['WEEKLY', 6, '04/01/2027', 'WEEKLY, 6 times, until 04/01/2027'],
])('%s, %i payments: the last one is on %s', async (frequency, count, last, schedule) => {
  const id = await verified({ frequency });
  expect((await term(id, count)).json.data?.lastExecutionDate).toBe(last);
  await bank.tpp.startSca(token, id);
  expect(bank.sandbox.customers.scaRequest(id)?.request).toMatchObject({ schedule });
});

test('the bank refuses execute until the customer has authorised', async () => {
  const id = await verified();
  await term(id, 3);
  expect(refusalOf(await put(id, 'execute'))).toBe('400 NOT_AUTHORIZED');
});
