import { describe, expect, test } from 'vitest';
import { doorOf } from '../../../src/sandbox/nextgenpsd2/door-state.ts';
import type { DoorGrant } from '../../../src/sandbox/nextgenpsd2/oauth/grant.ts';
import { type BankHere, bankHere, grantOf } from './bank-here.ts';
import { ANNA, CARD, CURRENT, consentBody } from './door-client.ts';
import { ANNAS, BRUNOS, INSTANT, paymentBody, SCT } from './payment-client.ts';

// Whose access token a call may have, and what a path must lead to.

const BRUNO = '2073915';
const BASKETS = '/v1/signing-baskets';
const EXPLICIT = { 'tpp-explicit-authorisation-preferred': 'true' };
const NOT_FOR_PAYMENT = '401 TOKEN_INVALID: The access token is not for this payment.';

type Grant = Partial<DoorGrant> | undefined;

async function openBank(...given: Parameters<typeof bankHere>) {
  const here = await bankHere(...given);
  const initiate = (changes: Record<string, unknown> = {}, grant?: Grant) =>
    String(
      here.serve(`POST ${SCT}`, { body: paymentBody(changes), headers: EXPLICIT, grant }).json.paymentId,
    );
  const basket = (...paymentIds: string[]) =>
    String(here.serve(`POST ${BASKETS}`, { body: { paymentIds }, headers: EXPLICIT }).json.basketId);
  /** A consent that anna gave. */
  const consent = () => {
    const id = String(here.serve('POST /v1/consents', { body: consentBody() }).json.consentId);
    const { consents } = doorOf(here.bank);
    const customer = here.bank.customers.find(ANNA) ?? expect.unreachable();
    consents.give(consents.find(id) ?? expect.unreachable(), customer, undefined);
    return id;
  };
  return { ...here, initiate, basket, consent };
}

const debtorAllowed = { payments: { debtorAccount: 'optional' } } as const;

describe('a payment', () => {
  test.each<[what: string, grant: Grant, isTaken: boolean]>([
    ['no token', undefined, true],
    ['a token of the application', {}, true],
    ["the customer's", { customerId: ANNA }, true],
    ["another customer's", { customerId: BRUNO }, false],
    ["the customer's, for a consent", { customerId: ANNA, consentId: 'c' }, false],
    ['one for a consent', { consentId: 'c' }, false],
    ["the customer's, for another payment", { customerId: ANNA, paymentId: 'p' }, false],
    ['one for another payment', { paymentId: 'p' }, false],
  ])('is initiated and read with %s: %s', async (_, grant, isTaken) => {
    const { serve, answer, initiate } = await openBank(debtorAllowed);
    const path = `${SCT}/${initiate()}`;
    const body = paymentBody();
    const answers = [
      answer(`POST ${SCT}`, { body, headers: EXPLICIT, grant }),
      answer(`GET ${path}`, { grant }),
      answer(`GET ${path}/status`, { grant }),
      answer(`POST ${path}/authorisations`, { grant }),
      answer(`DELETE ${path}`, { grant }),
    ];
    expect(answers).toEqual(answers.map(() => (isTaken ? 'taken' : NOT_FOR_PAYMENT)));
    if (isTaken) expect(serve(`GET ${path}`, { grant }).json.creditorName).toBe('Beta GmbH');
  });

  test("has its own token, and nobody else's", async () => {
    const { answer, initiate } = await openBank();
    const [one, other] = [initiate(), initiate()];
    const read = (id: string, grant: Grant) => answer(`GET ${SCT}/${id}`, { grant });
    for (const customerId of [ANNA, undefined]) {
      expect(read(one, { customerId, paymentId: one })).toBe('taken');
      expect(read(one, { customerId, paymentId: other })).toBe(NOT_FOR_PAYMENT);
    }
    expect(read(one, { customerId: BRUNO, paymentId: one })).toBe(NOT_FOR_PAYMENT);
  });

  test('without an account is read with the token of any customer, until one of them has authorised it', async () => {
    const { serve, answer, approve } = await openBank(debtorAllowed);
    const reply = serve(`POST ${SCT}`, { body: paymentBody({ debtorAccount: undefined }) });
    const read = (customerId: string) =>
      answer(`GET ${SCT}/${reply.json.paymentId}`, { grant: { customerId } });
    expect([read(ANNA), read(BRUNO)]).toEqual(['taken', 'taken']);
    approve(reply, BRUNO);
    expect([read(ANNA), read(BRUNO)]).toEqual([NOT_FOR_PAYMENT, 'taken']);
  });

  test('of a basket is read with the token of the basket, and of no other', async () => {
    const { answer, initiate, basket } = await openBank();
    const [one, two, three] = [initiate(), initiate(), initiate()];
    const [first, second] = [basket(one, two), basket(three)];
    const read = (id: string, paymentId: string) => answer(`GET ${SCT}/${id}`, { grant: { paymentId } });
    expect([read(one, first), read(two, first), read(three, second)]).toEqual(['taken', 'taken', 'taken']);
    expect([read(one, second), read(three, first)]).toEqual([NOT_FOR_PAYMENT, NOT_FOR_PAYMENT]);
    expect([read(one, one), read(one, two)]).toEqual(['taken', NOT_FOR_PAYMENT]);
  });

  test.each([
    [`${INSTANT}/{id}`, 'RESOURCE_UNKNOWN paymentId: The bank does not know this payment.'],
    [`${SCT}/x`, 'RESOURCE_UNKNOWN paymentId: The bank does not know this payment.'],
    [
      '/v1/bulk-payments/sepa-credit-transfers/{id}',
      'RESOURCE_UNKNOWN paymentId: The bank does not know this payment.',
    ],
    [
      '/v1/payments/target-2-payments/{id}',
      'PRODUCT_UNKNOWN payment-product: The bank has no such product of payments. Expected: sepa-credit-transfers, instant-sepa-credit-transfers. Received: target-2-payments.',
    ],
    [
      '/v1/periodic-payments/sepa-credit-transfers/{id}',
      'PRODUCT_UNKNOWN payment-product: The bank has no such product of periodic-payments. Expected: none: the bank does not have this service. Received: sepa-credit-transfers.',
    ],
    [`${SCT}/{id}?more=1`, 'PARAMETER_NOT_SUPPORTED more'],
  ])('is at its own path alone: %s', async (path, refusal) => {
    const products = { 'bulk-payments': ['sepa-credit-transfers'] };
    const { answer, initiate } = await openBank({ payments: { products } });
    expect(answer(`GET ${path.replace('{id}', initiate())}`)).toContain(refusal);
  });
});

describe('payment-tokens', () => {
  const LACKS_PAYMENT = '401 TOKEN_INVALID: The call needs the access token of this payment.';
  const LACKS_BASKET = '401 TOKEN_INVALID: The call needs the access token of this signing basket.';
  const oauth = { mode: 'integrated' } as const;

  /** The customer has logged in with this. */
  function loggedIn({ bank }: BankHere, paymentId: string): Grant {
    const grant = grantOf({ customerId: ANNA, paymentId });
    doorOf(bank).tokens.issue(grant);
    return grant;
  }

  test('a payment needs the token of its login, once there is one', async () => {
    const here = await openBank({ oauth }, ['payment-tokens']);
    const [one, other] = [here.initiate(), here.initiate()];
    const read = (id: string, grant: Grant) => here.answer(`GET ${SCT}/${id}/status`, { grant });
    const anna = { customerId: ANNA };
    expect([read(one, undefined), read(one, anna)]).toEqual(['taken', 'taken']);
    const grant = loggedIn(here, one);
    expect([read(one, undefined), read(one, anna), read(one, grant)]).toEqual([
      LACKS_PAYMENT,
      LACKS_PAYMENT,
      'taken',
    ]);
    expect([read(other, undefined), read(other, anna)]).toEqual(['taken', 'taken']);
  });

  test('a payment of a basket needs one of both', async () => {
    const here = await openBank({ oauth }, ['payment-tokens']);
    const id = here.initiate();
    const basket = here.basket(id);
    const read = (grant: Grant) => here.answer(`GET ${SCT}/${id}/status`, { grant });
    const readBasket = (grant: Grant) => here.answer(`GET ${BASKETS}/${basket}`, { grant });
    expect([read(undefined), readBasket(undefined)]).toEqual(['taken', 'taken']);
    const ofBasket = loggedIn(here, basket);
    expect([read(undefined), read(ofBasket)]).toEqual([LACKS_PAYMENT, 'taken']);
    expect([readBasket(undefined), readBasket({ customerId: ANNA }), readBasket(ofBasket)]).toEqual([
      ...[LACKS_BASKET, LACKS_BASKET, 'taken'],
    ]);
    const ofPayment = loggedIn(here, id);
    expect([read(undefined), read(ofPayment), read(ofBasket)]).toEqual([LACKS_PAYMENT, 'taken', 'taken']);
    expect(readBasket(ofPayment)).toBe(LACKS_BASKET);
  });

  test('other banks need none', async () => {
    const here = await openBank({ oauth });
    const id = here.initiate();
    loggedIn(here, id);
    expect(here.answer(`GET ${SCT}/${id}`)).toBe('taken');
  });
});

test.each([
  ['GET /v1/consents/x', '403 CONSENT_UNKNOWN: The bank does not know this consent.'],
  ['GET /v2/consents/confirmation-of-funds/x', '403 CONSENT_UNKNOWN: The bank does not know this consent.'],
  ['GET /v1/signing-baskets/x', '404 RESOURCE_UNKNOWN: The bank does not know this signing basket.'],
  ['GET /v1/consents/x?a=1', '400 PARAMETER_NOT_SUPPORTED a'],
  ['GET /v1/signing-baskets/x?a=1', '400 PARAMETER_NOT_SUPPORTED a'],
])('%s: %s', async (call, refusal) => {
  expect((await openBank()).answer(call)).toContain(refusal);
});

describe('a reading', () => {
  const OTHER = '401 TOKEN_INVALID: The access token is for another consent.';
  test.each<[what: string, grant: Grant, plain: string, withApplication: string]>([
    ['no token', undefined, 'taken', 'taken'],
    ['the token of its consent', { customerId: ANNA, consentId: 'own' }, 'taken', 'taken'],
    ['the token of another consent', { customerId: ANNA, consentId: 'x' }, OTHER, OTHER],
    ["the customer's", { customerId: ANNA }, 'taken', 'taken'],
    ["another customer's", { customerId: BRUNO }, OTHER, OTHER],
    ["another customer's, with the consent", { customerId: BRUNO, consentId: 'own' }, OTHER, OTHER],
    ["the customer's, for a payment", { customerId: ANNA, paymentId: 'p' }, OTHER, OTHER],
    ['one for a payment', { paymentId: 'p' }, OTHER, OTHER],
    // Where the customer has a token of their own, that of the application does not do.
    ['one of the application', {}, 'taken', OTHER],
  ])('with %s: %s, and with tokens of the application: %s', async (_, given, plain, withApplication) => {
    for (const [applicationToken, expected] of [
      [false, plain],
      [true, withApplication],
    ] as const) {
      const { answer, consent } = await openBank({ oauth: { mode: 'integrated', applicationToken } });
      const id = consent();
      const grant = given && { ...given, ...(given.consentId === 'own' && { consentId: id }) };
      const headers = { 'consent-id': id };
      expect(answer('GET /v1/accounts', { headers, grant })).toBe(expected);
      expect(answer(`GET /v1/accounts/${CURRENT}/balances`, { headers, grant })).toBe(expected);
    }
  });

  test.each([
    ['/v1/accounts', undefined, '400 FORMAT_ERROR Consent-ID: The reading has no Consent-ID.'],
    ['/v1/accounts', 'x', '400 CONSENT_UNKNOWN Consent-ID: The bank does not know this consent.'],
    [`/v1/accounts/${CARD}`, 'own', '404 RESOURCE_UNKNOWN: The consent has no such account.'],
    [`/v1/card-accounts/${CURRENT}`, 'own', '404 RESOURCE_UNKNOWN: The consent has no such account.'],
    ['/v1/accounts/0020739150', 'own', '404 RESOURCE_UNKNOWN: The consent has no such account.'],
    [`/v1/accounts/${CURRENT}`, 'own', 'taken'],
    [`/v1/card-accounts/${CARD}`, 'own', 'taken'],
  ])('of %s with the consent %s: %s', async (path, given, answer) => {
    const here = await openBank();
    const id = given === 'own' ? here.consent() : given;
    expect(here.answer(`GET ${path}`, { headers: id === undefined ? {} : { 'consent-id': id } })).toBe(
      answer,
    );
  });

  test.each<[access: object, path: string, answer: string]>([
    ...['accounts', 'balances', 'transactions'].map((right): [object, string, string] => [
      { [right]: [{ iban: ANNAS }] },
      `/v1/accounts/${CURRENT}/balances`,
      right === 'balances'
        ? 'taken'
        : '401 CONSENT_INVALID Consent-ID: The consent is not for the balances of this account.',
    ]),
    [{ balances: [{ iban: ANNAS }] }, '/v1/accounts?withBalance=true', 'taken'],
    [
      { transactions: [{ iban: ANNAS }] },
      '/v1/accounts?withBalance=true',
      '401 CONSENT_INVALID Consent-ID: The consent is not for the balances of this account.',
    ],
    [
      { balances: [{ iban: ANNAS }] },
      `/v1/accounts/${CURRENT}/transactions?bookingStatus=booked&dateFrom=2026-11-01`,
      '401 CONSENT_INVALID Consent-ID: The consent is not for the transactions of this account.',
    ],
    [
      { availableAccounts: 'allAccounts' },
      `/v1/accounts/${CURRENT}`,
      '401 CONSENT_INVALID Consent-ID: The consent is for the list of accounts only.',
    ],
  ])('with a consent to %j of %s: %s', async (access, path, answer) => {
    const here = await openBank();
    const reply = here.serve('POST /v1/consents', { body: consentBody({ access }) });
    here.approve(reply, ANNA);
    const headers = { 'consent-id': String(reply.json.consentId) };
    expect(here.answer(`GET ${path}`, { headers })).toBe(answer);
  });

  const COUNTED = '429 ACCESS_EXCEEDED Consent-ID';
  test.each<[ipAbsent: string | undefined, address: string | undefined, answers: string[]]>([
    [undefined, undefined, ['taken', COUNTED]],
    [undefined, '192.0.2.1', ['taken', 'taken']],
    ['0.0.0.0', '0.0.0.0', ['taken', COUNTED]],
    ['0.0.0.0', '192.0.2.1', ['taken', 'taken']],
    ...[
      [
        '0.0.0.0',
        undefined,
        Array(2).fill('400 FORMAT_ERROR PSU-IP-Address: The bank needs the header PSU-IP-Address.'),
      ] as [string, undefined, string[]],
    ],
  ])('at a bank with psu.ipAbsent %s, from %s, once a day: %j', async (ipAbsent, address, answers) => {
    const here = await openBank({ psu: { ...(ipAbsent !== undefined && { ipAbsent }) } });
    const reply = here.serve('POST /v1/consents', { body: consentBody({ frequencyPerDay: 1 }) });
    here.approve(reply, ANNA);
    const headers = {
      'consent-id': String(reply.json.consentId),
      ...(address !== undefined && { 'psu-ip-address': address }),
    };
    const read = () => here.answer('GET /v1/accounts', { headers }).replace(/(?<=Consent-ID): .*/, '');
    expect([read(), read()]).toEqual(answers);
  });

  test('shared-ids: a card has the id of the current account, and is another one', async () => {
    const here = await openBank({}, ['shared-ids']);
    const headers = { 'consent-id': here.consent() };
    const read = (path: string) => here.serve(`GET ${path}`, { headers }).json;
    expect(read(`/v1/accounts/${CURRENT}`).account).toMatchObject({ resourceId: CURRENT, iban: ANNAS });
    expect(read(`/v1/card-accounts/${CURRENT}`).cardAccount).toMatchObject({
      ...{ resourceId: CURRENT, maskedPan: '525412xxxxxx3017' },
    });
    expect(here.answer(`GET /v1/card-accounts/${CARD}`, { headers })).toContain('404 RESOURCE_UNKNOWN');
  });
});

describe('a confirmation of funds', () => {
  const PATH = '/v2/consents/confirmation-of-funds';
  const funds = (iban: string) => ({
    account: { iban },
    instructedAmount: { currency: 'EUR', amount: '1.00' },
  });
  const ofFunds = ({ serve, approve }: BankHere, iban = ANNAS, customerId = ANNA) => {
    const reply = serve(`POST ${PATH}`, { body: { account: { iban } } });
    approve(reply, customerId);
    return String(reply.json.consentId);
  };
  const OTHER = '401 TOKEN_INVALID: The access token is for another consent.';

  test.each<[what: string, grant: Grant, answer: string]>([
    ['no token', undefined, 'taken'],
    ['one of the application', {}, 'taken'],
    ["the customer's", { customerId: ANNA }, 'taken'],
    ['that of the consent', { customerId: ANNA, consentId: 'own' }, 'taken'],
    ['that of another consent', { customerId: ANNA, consentId: 'x' }, OTHER],
    ['that of a payment', { customerId: ANNA, paymentId: 'x' }, OTHER],
  ])('with a consent and %s: %s', async (_, given, answer) => {
    const here = await openBank();
    const id = ofFunds(here);
    const grant = given && { ...given, ...(given.consentId === 'own' && { consentId: id }) };
    const headers = { 'consent-id': id };
    expect(here.answer('POST /v1/funds-confirmations', { body: funds(ANNAS), headers, grant })).toBe(answer);
  });

  test.each<[what: string, iban: string, grant: Grant, answer: string]>([
    ['no token', ANNAS, undefined, 'taken'],
    ["the customer's", ANNAS, { customerId: ANNA }, 'taken'],
    ["another customer's", BRUNOS, { customerId: ANNA }, NOT_FOR_PAYMENT],
    ['one of a consent', ANNAS, { customerId: ANNA, consentId: 'x' }, NOT_FOR_PAYMENT],
    ['one of a payment', ANNAS, { customerId: ANNA, paymentId: 'x' }, NOT_FOR_PAYMENT],
  ])('without a consent and with %s of %s: %s', async (_, iban, grant, answer) => {
    const here = await openBank();
    expect(here.answer('POST /v1/funds-confirmations', { body: funds(iban), grant })).toBe(answer);
  });

  const said = (path: string, text: string, status = '400 FORMAT_ERROR') => `${status} ${path}: ${text}.`;
  test.each<[what: string, body: object, answer: string]>([
    [
      'of an account elsewhere',
      funds('DE02120300000000202051'),
      said(
        'account.iban',
        'The bank has no such account. Expected: an account of the customer. Received: DE02120300000000202051',
      ),
    ],
    [
      'of a card that the bank does not have',
      { ...funds(''), account: { maskedPan: '1' } },
      said(
        'account.maskedPan',
        'The bank has no such account. Expected: an account of the customer. Received: 1',
      ),
    ],
    ...['0.00', '0', '1.005', '-1.00', 'x'].map((amount): [string, object, string] => [
      `of ${amount}`,
      { ...funds(ANNAS), instructedAmount: { currency: 'EUR', amount } },
      said(
        'instructedAmount.amount',
        `The amount is not valid. Expected: a decimal above 0 with at most two decimals. Received: ${amount}`,
      ),
    ]),
    ['of a cent', { ...funds(ANNAS), instructedAmount: { currency: 'EUR', amount: '0.01' } }, 'taken'],
    [
      'with a number of a card',
      { ...funds(ANNAS), cardNumber: 'x'.repeat(35), payee: 'x'.repeat(70) },
      'taken',
    ],
  ])('%s: %s', async (_, body, answer) => {
    expect((await openBank()).answer('POST /v1/funds-confirmations', { body })).toBe(answer);
  });

  test.each([
    ['instructedAmount.currency', { instructedAmount: { currency: 'CHF', amount: '1.00' } }],
    ['cardNumber', { cardNumber: 'x'.repeat(36) }],
    ['payee', { payee: 'x'.repeat(71) }],
    ['more', { more: 1 }],
  ])('refuses a wrong %s', async (path, changes) => {
    const body = { ...funds(ANNAS), ...changes };
    expect((await openBank()).answer('POST /v1/funds-confirmations', { body })).toContain(
      `400 FORMAT_ERROR ${path}: `,
    );
  });

  test('needs a consent to the same account, where the bank wants one', async () => {
    const here = await openBank({}, ['funds-consents']);
    const brunos = ofFunds(here, BRUNOS, BRUNO);
    const reading = here.consent();
    const ask = (consentId?: string) =>
      here.answer('POST /v1/funds-confirmations', {
        body: funds(ANNAS),
        headers: consentId === undefined ? {} : { 'consent-id': consentId },
      });
    expect([ask(), ask(reading), ask(brunos), ask(ofFunds(here))]).toEqual([
      said('Consent-ID', 'The call has no Consent-ID'),
      said('Consent-ID', 'The bank does not know this consent', '400 CONSENT_UNKNOWN'),
      said('Consent-ID', 'The consent is for another account', '401 CONSENT_INVALID'),
      'taken',
    ]);
  });

  test('says whether the money is there, to the cent, with the credit of a card', async () => {
    const here = await openBank();
    const { ledger, customers } = here.bank;
    for (const [account, id] of [
      [{ iban: ANNAS }, CURRENT],
      [{ maskedPan: '525412xxxxxx3017' }, CARD],
    ] as const) {
      const { product } = customers.byProduct(id) ?? expect.unreachable();
      const most = ledger.balance(product, here.bank.now()).available + product.creditLimit;
      const ask = (cents: number) =>
        here.serve('POST /v1/funds-confirmations', {
          body: { account, instructedAmount: { currency: 'EUR', amount: (cents / 100).toFixed(2) } },
        }).json;
      expect([most - 1, most, most + 1].map(ask)).toEqual(
        [true, true, false].map((fundsAvailable) => ({ fundsAvailable })),
      );
    }
  });
});
