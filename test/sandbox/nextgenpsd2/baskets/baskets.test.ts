import { describe, expect, test } from 'vitest';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import { type BankHere, bankHere } from '../bank-here.ts';
import { ANNA } from '../door-client.ts';
import { BRUNOS, paymentBody, SCT } from '../payment-client.ts';

const BRUNO = '2073915';
const BASKETS = '/v1/signing-baskets';
const EXPLICIT = { 'tpp-explicit-authorisation-preferred': 'true' };

/** The ids of payments: of anna, of bruno, or of nobody yet. */
function initiate({ serve }: BankHere, ...whose: ('anna' | 'bruno' | 'nobody')[]): string[] {
  return whose.map((user) => {
    const debtorAccount = { anna: paymentBody().debtorAccount, bruno: { iban: BRUNOS }, nobody: undefined }[
      user
    ];
    const { json } = serve(`POST ${SCT}`, { body: paymentBody({ debtorAccount }), headers: EXPLICIT });
    return String(json.paymentId);
  });
}

const put = ({ serve }: BankHere, ...paymentIds: string[]) =>
  serve(`POST ${BASKETS}`, { body: { paymentIds } });
const answer = (here: BankHere, ...paymentIds: string[]) =>
  here.answer(`POST ${BASKETS}`, { body: { paymentIds }, headers: EXPLICIT });
const statusOf = ({ serve }: BankHere, path: string) => serve(`GET ${path}/status`).json.transactionStatus;

const NOT_WAITING = 'The payment does not wait for a basket.';
const MIXED = '400 REFERENCE_MIX_INVALID paymentIds: The payments are of several customers.';

test('a basket says what it is, and what is in it', async () => {
  const here = await bankHere();
  const ids = initiate(here, 'anna', 'anna');
  const basket = put(here, ...ids);
  const id = String(basket.json.basketId);
  const self = `/nextgenpsd2${BASKETS}/${id}`;
  expect(basket).toMatchObject({
    status: 201,
    headers: { Location: self, 'ASPSP-SCA-Approach': 'REDIRECT' },
    json: {
      ...{ transactionStatus: 'RCVD', basketId: id },
      _links: { self: { href: self }, status: { href: `${self}/status` } },
    },
  });
  expect(Object.keys(basket.json._links ?? {}).toSorted()).toEqual([
    'scaRedirect',
    'scaStatus',
    'self',
    'status',
  ]);
  expect(here.serve(`GET ${BASKETS}/${id}`)).toMatchObject({
    ...{ status: 200, json: { payments: ids, transactionStatus: 'RCVD' } },
  });
});

test.each<[whose: ('anna' | 'bruno' | 'nobody')[], answer: string]>([
  [['anna'], 'taken'],
  [['anna', 'anna'], 'taken'],
  [['anna', 'bruno'], MIXED],
  [['bruno', 'anna'], MIXED],
  [['anna', 'anna', 'bruno'], MIXED],
  // Who has no account yet gets that of the customer who authorises.
  [['nobody'], 'taken'],
  [['anna', 'nobody'], 'taken'],
  [['nobody', 'bruno', 'nobody'], 'taken'],
  [['nobody', 'anna', 'bruno'], MIXED],
])('payments of %j are put together: %s', async (whose, expected) => {
  const here = await bankHere({ payments: { debtorAccount: 'optional' } });
  expect(answer(here, ...initiate(here, ...whose))).toBe(expected);
});

describe('a payment that cannot be put into a basket', () => {
  test('is one that the bank does not know', async () => {
    const here = await bankHere();
    const [id = ''] = initiate(here, 'anna');
    expect(answer(here, id, 'x')).toBe(
      '404 RESOURCE_UNKNOWN paymentIds[1]: The bank does not know this payment. Expected: a paymentId. Received: x.',
    );
  });

  test.each<[what: string, twice: (here: BankHere, ids: string[]) => string, index: number]>([
    ['stands twice in it', (here, [one = '', two = '']) => answer(here, one, two, one), 2],
    [
      'is in another one',
      (here, [one = '', two = '']) => {
        put(here, one);
        return answer(here, two, one);
      },
      1,
    ],
  ])('%s', async (_, twice, index) => {
    const here = await bankHere();
    expect(twice(here, initiate(here, 'anna', 'anna'))).toBe(
      `409 REFERENCE_STATUS_INVALID paymentIds[${index}]: ${NOT_WAITING}`,
    );
  });

  test('was authorised, or cancelled', async () => {
    const here = await bankHere({ payments: { cancel: 'direct' } });
    const authorised = here.serve(`POST ${SCT}`, { body: paymentBody() });
    here.approve(authorised, ANNA);
    const [cancelled = ''] = initiate(here, 'anna');
    here.serve(`DELETE ${SCT}/${cancelled}`);
    for (const id of [String(authorised.json.paymentId), cancelled])
      expect(answer(here, id)).toBe(`409 REFERENCE_STATUS_INVALID paymentIds[0]: ${NOT_WAITING}`);
  });

  test('is free again once its basket is deleted', async () => {
    const here = await bankHere();
    const [one = '', two = ''] = initiate(here, 'anna', 'anna');
    const { baskets } = doorOf(here.bank);
    const { json } = put(here, one, two);
    expect([baskets.withPayment(one)?.id, baskets.withPayment(two)?.id, baskets.withPayment('x')]).toEqual([
      ...[json.basketId, json.basketId, undefined],
    ]);
    expect(here.serve(`DELETE ${BASKETS}/${json.basketId}`)).toEqual({ status: 204, json: {} });
    expect(baskets.withPayment(one)).toBeUndefined();
    expect(answer(here, two)).toBe('taken');
  });
});

describe('the state of a basket', () => {
  test('is that of its authorisation, not of its payments', async () => {
    const here = await bankHere({ sca: { authorisationMinutes: 5 } });
    const [one = '', two = '', three = ''] = initiate(here, 'anna', 'anna', 'anna');
    const [given, late, deleted] = [put(here, one), put(here, two), put(here, three)];
    const path = ({ json }: typeof given) => `${BASKETS}/${json.basketId}`;
    here.approve(given, ANNA);
    here.serve(`DELETE ${path(deleted)}`);
    here.clock.advance(5 * 60_000);
    const states = () => [given, late, deleted].map((basket) => statusOf(here, path(basket)));
    expect(states()).toEqual(['ACTC', 'RCVD', 'CANC']);
    here.clock.advance(1);
    expect(states()).toEqual(['ACTC', 'RJCT', 'CANC']);
    expect(here.answer(`DELETE ${path(given)}`)).toBe(
      '409 STATUS_INVALID: A customer has authorised the basket.',
    );
    expect(here.answer(`DELETE ${path(late)}`)).toBe('taken');
  });

  test('a deleted basket cannot be authorised any more, and its payments can', async () => {
    const here = await bankHere();
    const [id = ''] = initiate(here, 'anna');
    const basket = put(here, id);
    const path = String(basket.json._links?.scaStatus?.href).replace('/nextgenpsd2', '');
    const scaStatus = () => here.serve(`GET ${path}`).json.scaStatus;
    expect(scaStatus()).toBe('received');
    here.serve(`DELETE ${BASKETS}/${basket.json.basketId}`);
    expect(() => here.approve(basket, ANNA)).toThrow('There is no open request');
    expect(scaStatus()).toBe('failed');
    const own = here.serve(`POST ${SCT}/${id}/authorisations`);
    here.approve(own, ANNA);
    expect(statusOf(here, `${SCT}/${id}`)).toBe('ACSP');
  });

  test('a basket waits for authorisations until it is authorised or deleted', async () => {
    const here = await bankHere();
    const [one = '', two = '', three = ''] = initiate(here, 'anna', 'anna', 'anna');
    const [open, given, deleted] = [put(here, one), put(here, two), put(here, three)];
    here.approve(given, ANNA);
    here.serve(`DELETE ${BASKETS}/${deleted.json.basketId}`);
    const over = '409 STATUS_INVALID: The basket does not wait for an authorisation.';
    expect(
      [open, given, deleted].map(({ json }) =>
        here.answer(`POST ${BASKETS}/${json.basketId}/authorisations`),
      ),
    ).toEqual(['taken', over, over]);
  });

  test('each payment of a basket is executed for the customer who authorises it', async () => {
    const here = await bankHere({ payments: { debtorAccount: 'optional' } });
    const ids = initiate(here, 'nobody', 'nobody');
    here.approve(put(here, ...ids), BRUNO);
    const payments = ids.map((id) => doorOf(here.bank).payments.find(id));
    expect(
      payments.map((payment) => [payment?.debtor?.customer.customerId, payment?.executions.length]),
    ).toEqual([
      ...[
        [BRUNO, 1],
        [BRUNO, 1],
      ],
    ]);
  });
});

test.each([
  [{}, 'paymentIds'],
  [{ paymentIds: [] }, 'paymentIds'],
  [{ paymentIds: [7] }, 'paymentIds[0]'],
  [{ paymentIds: ['x'], consentIds: ['y'] }, 'consentIds'],
])('%j is no basket', async (body, path) => {
  const here = await bankHere();
  expect(here.answer(`POST ${BASKETS}`, { body })).toContain(`400 FORMAT_ERROR ${path}: `);
});

test('a basket is forgotten with its customer, and the baskets of others are not', async () => {
  const here = await bankHere({ payments: { debtorAccount: 'optional' } });
  const baskets = (['anna', 'bruno', 'nobody'] as const).map((whose) =>
    String(put(here, ...initiate(here, whose)).json.basketId),
  );
  const known = () => baskets.map((id) => doorOf(here.bank).baskets.find(id) !== undefined);
  expect(known()).toEqual([true, true, true]);
  doorOf(here.bank).baskets.forgetCustomer(here.bank.customers.find(ANNA) ?? expect.unreachable());
  expect(known()).toEqual([false, true, true]);
});
