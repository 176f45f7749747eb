import { describe, expect, it } from 'vitest';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import {
  OPERATIONS,
  type OperationId,
} from '../../../../../src/bank/interfaces/nextgenpsd2/description/operations.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import {
  callOf,
  factsOf,
  pathsOf,
  routeOf,
  variablesIn,
} from '../../../../../src/bank/interfaces/nextgenpsd2/wire/paths.ts';
import { described, PLAIN_FACTS, TRANSACTION_ID } from '../scripted.ts';

// Where each operation is called, which one a path calls, and what a call is about.

type Api = BankFile['api'];
const at = (api: Api = {}) => pathsOf(described({ api }));
const IDS = Object.keys(OPERATIONS).filter((id): id is OperationId => Object.hasOwn(OPERATIONS, id));

/** A value for each parameter of an operation. */
const valuesOf = (id: OperationId, value: string) =>
  Object.fromEntries(
    variablesIn(OPERATIONS[id].path).map((name, index) => [
      name,
      name === 'payment-service' ? 'bulk-payments' : `${value}${index}`,
    ]),
  );

describe.each<[string, Api]>([
  ['of the standard', {}],
  ['of another version', { version: 'v7' }],
  ['without a version', { version: '' }],
])('at the paths %s', (_, api) => {
  it.each(IDS)('%s is found where it is called', (id) => {
    const paths = at(api);
    const { method, path } = OPERATIONS[id];
    for (const value of ['a', 'a b/c?d', '100%']) {
      const values = valuesOf(id, value);
      const called = paths.to(id, values);
      const found = { operation: id, template: path.replace(/^\/v1/, versionOf(api)), values };
      expect(paths.find(method, called)).toEqual(found);
      expect(paths.find(method, `${called}?a=/b/c?d`)).toEqual(found);
    }
  });
});

function versionOf(api: Api): string {
  return api?.version === '' ? '' : `/${api?.version ?? 'v1'}`;
}

describe('a path', () => {
  it.each<[OperationId, Record<string, string>, string]>([
    ['getAccountList', {}, '/v1/accounts'],
    ['getAccountList', { 'account-id': 'a1' }, '/v1/accounts'],
    ['getBalances', { 'account-id': 'a1' }, '/v1/accounts/a1/balances'],
    ['getBalances', { 'account-id': '../a1' }, '/v1/accounts/..%2Fa1/balances'],
    ['getBalances', { 'account-id': '.' }, '/v1/accounts/%2E/balances'],
    ['getBalances', { 'account-id': '..' }, '/v1/accounts/%2E%2E/balances'],
    ['getBalances', { 'account-id': '...' }, '/v1/accounts/.../balances'],
    ['getBalances', { 'account-id': '.a' }, '/v1/accounts/.a/balances'],
    ['getBalances', { 'account-id': 'a.' }, '/v1/accounts/a./balances'],
    ['getBalances', {}, '/v1/accounts//balances'],
    ['getTransactionDetails', { 'account-id': 'a1', transactionId: 't1' }, '/v1/accounts/a1/transactions/t1'],
  ])('to %s with %j is %s', (operation, values, path) => {
    expect(at().to(operation, values)).toBe(path);
  });

  it('needs no values where the operation has no parameter', () => {
    expect(at().to('createConsent')).toBe('/v1/consents');
  });

  it.each([
    ['POST', '/v1/accounts'],
    ['get', '/v1/accounts'],
    ['GET', '/v1/accounts/'],
    ['GET', '/v1/accounts//balances'],
    ['GET', '/v1/accounts/a1/balances/x'],
    ['GET', '/v1/accounts/a1/balancesx'],
    ['GET', 'x/v1/accounts'],
    ['GET', '/psd2/v1/accounts'],
    ['GET', '/v2/accounts'],
    ['GET', '/accounts'],
    ['GET', '/v1/Accounts'],
    ['POST', '/v1/payment/x'],
    ['POST', '/v1/my-payments/x'],
    ['POST', '/v1/paymentsx/x'],
    ['POST', '/v1/payments'],
    ['GET', ''],
    ['GET', '?/v1/accounts'],
  ])('is none of the standard: %s %s', (method, path) => {
    expect(at().find(method, path)).toBeUndefined();
  });

  it.each([
    ['%zz', '%zz'],
    ['a%20b', 'a b'],
    ['a+b', 'a+b'],
    ['%E4', '%E4'],
    ['%C3%A4', 'ä'],
  ])('with the id %s is about %s', (written, id) => {
    expect(at().find('GET', `/v1/accounts/${written}`)?.values).toEqual({ 'account-id': id });
  });
});

describe('a path of the bank’s own', () => {
  it.each<[string, NonNullable<Api>['paths'], string, object | undefined]>([
    [
      'a word comes before a parameter',
      { getCardAccountList: '/v1/accounts/cards' },
      '/v1/accounts/cards',
      {},
    ],
    ['a point is a point', { getCardAccountList: '/v1.1/cards' }, '/v1.1/cards', {}],
    ['a point is nothing else', { getCardAccountList: '/v1.1/cards' }, '/v1x1/cards', undefined],
    ['brackets are brackets', { getCardAccountList: '/a(b)[c]+$/cards' }, '/a(b)[c]+$/cards', {}],
    ['that of the standard is none then', { getCardAccountList: '/cards' }, '/v1/card-accounts', undefined],
  ])('%s', (_, paths, path, values) => {
    const template = paths?.getCardAccountList;
    const found = { operation: 'getCardAccountList', template, values };
    expect(at({ paths }).find('GET', path)).toEqual(values && found);
  });

  it('has parameters within a segment', () => {
    const paths = at({ paths: { getConsentStatus: '/ais/consent-{consentId}.json' } });
    expect(paths.to('getConsentStatus', { consentId: 'c/1' })).toBe('/ais/consent-c%2F1.json');
    expect(paths.find('GET', '/ais/consent-c%2F1.json')?.values).toEqual({ consentId: 'c/1' });
    expect(paths.find('GET', '/ais/consent-c1xjson')).toBeUndefined();
  });
});

describe('the path of a link', () => {
  const OF_PAYMENT = '{paymentId}/authorisations/{authorisationId}';
  const OF_CONSENT = '{consentId}/authorisations/{authorisationId}';
  it.each<[OperationId, Api, string[]]>([
    [
      'getPaymentInitiationScaStatus',
      {},
      [`{payment-service}/{payment-product}/${OF_PAYMENT}`, `{payment-service}/${OF_PAYMENT}`],
    ],
    [
      'getPaymentInitiationScaStatus',
      { paths: { getPaymentInitiationScaStatus: '/own/pay/{paymentId}/sca/{authorisationId}' } },
      [
        'pay/{paymentId}/sca/{authorisationId}',
        `{payment-service}/{payment-product}/${OF_PAYMENT}`,
        `{payment-service}/${OF_PAYMENT}`,
      ],
    ],
    ['getConsentScaStatus', {}, [`consents/${OF_CONSENT}`]],
    ['getConsentScaStatus', { version: 'v7' }, [`consents/${OF_CONSENT}`]],
    [
      'getConsentScaStatus',
      { paths: { getConsentScaStatus: '/{consentId}/{authorisationId}' } },
      ['/{consentId}/{authorisationId}', `consents/${OF_CONSENT}`],
    ],
    ['getConsentConfirmationOfFundsScaStatus', {}, [`confirmation-of-funds/${OF_CONSENT}`]],
    ['getAccountList', {}, ['/v1/accounts']],
  ])('to %s at a bank with %j ends with %j', (operation, api, ends) => {
    expect(at(api).ends(operation)).toEqual(ends);
  });
});

describe('a call', () => {
  it.each<[string, string | undefined, string]>([
    ['/v1/accounts', undefined, '/v1/accounts'],
    ['/v1/accounts', '', '/v1/accounts'],
    ['/v1/accounts', 'a=1', '/v1/accounts?a=1'],
    ['/v1/accounts?b=2', 'a=1', '/v1/accounts?b=2&a=1'],
    ['/v1/accounts?b=2', undefined, '/v1/accounts?b=2'],
  ])('to %s with the query %s is sent to %s', (getAccountList, query, path) => {
    const paths = at({ paths: { getAccountList } });
    expect(callOf(paths, 'getAccountList', {}, TRANSACTION_ID, query)).toEqual({
      ...{ method: 'GET', path, ids: {}, transactionId: TRANSACTION_ID },
      facts: { reads: 'list', needsConsent: true, login: false },
    });
  });

  const ofConsent = (consentId: string) => ({ ...PLAIN_FACTS, ofConsent: consentId });
  const reading = (reads: unknown) => ({ reads, needsConsent: true, login: false });
  it.each<[OperationId, Record<string, string>, object]>([
    ['getAccountList', {}, reading('list')],
    ['getCardAccountList', {}, reading('list')],
    ['getBalances', { 'account-id': 'a1' }, reading({ account: 'a1' })],
    ['getBalances', {}, reading({ account: '' })],
    ['getConsentStatus', { consentId: 'c1' }, ofConsent('c1')],
    ['getConsentStatus', { consentId: '' }, ofConsent('')],
    ['getBalances', { 'account-id': 'a1', consentId: 'c1' }, ofConsent('c1')],
    ['getSigningBasket', { basketId: 'b1' }, PLAIN_FACTS],
    ['initiatePayment', { 'payment-service': 'payments', 'payment-product': 'x' }, PLAIN_FACTS],
  ])('of %s with %j does this: %j', (operation, values, facts) => {
    expect(factsOf({ operation, values })).toEqual(facts);
  });

  it('of no operation of the standard reads nothing', () => {
    expect(factsOf(undefined)).toEqual(PLAIN_FACTS);
  });

  it.each<[BankCall['method'], string, path: string, kind: string]>([
    ['GET', '/v1/accounts', '/v1/accounts', 'ais'],
    ['GET', '/v1/accounts/a1/balances?x=1', '/v1/accounts/{account}/balances', 'ais'],
    ['GET', '/v1/accounts/a1/transactions/t1', '/v1/accounts/{account}/transactions/{transactionId}', 'ais'],
    ['POST', '/v1/bulk-payments/x', '/v1/bulk-payments/{payment-product}', 'pis'],
    ['GET', '/v1/payments/x/p1', '/v1/payments/{payment-product}/{paymentId}', 'pis'],
    ['POST', '/v1/funds-confirmations', '/v1/funds-confirmations', 'piis'],
    ['GET', '/v1/consents/c1', '/v1/consents/{consentId}', 'consent'],
    ['GET', '/v1/consents/c1/x', '{other}', 'other'],
    ['PUT', '/v1/accounts', '{other}', 'other'],
  ])('%s %s is about %s, of the kind %s', (method, path, named, kind) => {
    const call = { method, path, facts: PLAIN_FACTS, transactionId: TRANSACTION_ID };
    expect(routeOf(at(), call)).toEqual({ path: named, kind });
    const login = { ...PLAIN_FACTS, login: true };
    expect(routeOf(at(), { ...call, facts: login })).toEqual({ path: '{login}', kind: 'auth' });
  });
});
