import { describe, expect, it } from 'vitest';
import {
  type Base,
  browserLink,
  type Offerable,
  queryOf,
  readLink,
  serverLink,
} from '../../../../../src/bank/interfaces/nextgenpsd2/access/links.ts';
import { pathsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/paths.ts';
import { described, errorOf } from '../scripted.ts';

// What the links of a bank say: which operation of which resource they offer, and where they lead a browser.

const HOST = 'https://bank.example';
const BARE: Base = { origin: HOST, pathPrefix: '', version: 'v1', links: 'auto' };
const BELOW: Base = { ...BARE, pathPrefix: '/psd2' };

const invalid = (name: string) => ({
  code: 'bank_answer',
  message: expect.stringContaining(`The bank's link ${name} is not a valid address: `),
});

const PAYMENT = {
  'payment-service': 'payments',
  'payment-product': 'sepa-credit-transfers',
  paymentId: 'p1',
};
const STATUS: Offerable = { operation: 'getPaymentInitiationScaStatus', values: PAYMENT };
const CANCELLATION: Offerable = { operation: 'getPaymentCancellationScaStatus', values: PAYMENT };
const START: Offerable = { operation: 'startPaymentAuthorisation', values: PAYMENT };
const OF_CONSENT: Offerable = { operation: 'getConsentScaStatus', values: { consentId: 'c1' } };
const OF_FUNDS: Offerable = {
  ...{ operation: 'getConsentConfirmationOfFundsScaStatus', values: { consentId: 'c1' } },
};
const OF_BASKET: Offerable = { operation: 'getSigningBasketScaStatus', values: { basketId: 'b1' } };
const list = (account = 'a1'): Offerable => ({
  ...{ operation: 'getTransactionList', values: { 'account-id': account }, orBelow: true },
  calledPath: `/v1/accounts/${account}/transactions?bookingStatus=both`,
});
const SCT = 'payments/sepa-credit-transfers/p1/authorisations';

/** The id of the authorisation and the query that a link says. */
const said = (href: string, offerable: Offerable, api = {}) => {
  const offer = readLink(href, { paths: pathsOf(described({ api })), base: BELOW }, offerable);
  if (!offer) return null;
  const { ids, query, below, isElsewhere } = offer;
  const more = { ...(query && { query }), ...(below && { below }), ...(isElsewhere && { isElsewhere }) };
  return { ...('authorisationId' in ids && { id: ids.authorisationId }), ...more };
};

const ELSEWHERE = { id: 'a1', isElsewhere: true };
describe('a link to an authorisation', () => {
  it.each<[string, string, Offerable, object?]>([
    ['its path', `/v1/${SCT}/a1`, STATUS],
    ['its path below the base URL', `/psd2/v1/${SCT}/a1`, STATUS],
    ['its address', `${HOST}/psd2/v1/${SCT}/a1`, STATUS],
    ['its path without a slash', `v1/${SCT}/a1`, STATUS],
    ['its path with a slash behind', `/v1/${SCT}/a1/`, STATUS],
    ['http', `http://bank.example/psd2/v1/${SCT}/a1`, STATUS, ELSEWHERE],
    ['an inner host', `http://xs2a:8080/core/v1/${SCT}/a1`, STATUS, ELSEWHERE],
    ['another host', `https://evil.example/v1/${SCT}/a1`, STATUS, ELSEWHERE],
    ['another host alone', `//evil.example/${SCT}/a1`, STATUS, ELSEWHERE],
    ['two versions', `/v1/berlin-group/v1/${SCT}/a1`, STATUS, ELSEWHERE],
    ['no version', `/${SCT}/a1`, STATUS, ELSEWHERE],
    ['another version', `/v2/${SCT}/a1`, STATUS, ELSEWHERE],
    ['a segment in between', `/v1/de/${SCT}/a1`, STATUS, ELSEWHERE],
    ['an encoded prefix', `/to/https%3A%2F%2Fxs2a/v1/${SCT}/a1`, STATUS, ELSEWHERE],
    ['no product', '/v1/payments/p1/authorisations/a1', STATUS, ELSEWHERE],
    [
      'a query',
      `/v1/${SCT}/a1?correlationId=J%2BZ&b='`,
      STATUS,
      { id: 'a1', query: "correlationId=J%2BZ&b='" },
    ],
    ['a fragment', `/v1/${SCT}/a1#?x`, STATUS],
    ['dots', `/v1/x/../${SCT}/a1`, STATUS],
    ['an id with a percent sign', `/v1/${SCT}/a%252Bb`, STATUS, { id: 'a%2Bb' }],
    ['a cancellation', `/v1/payments/sepa-credit-transfers/p1/cancellation-authorisations/a1`, CANCELLATION],
    ['a consent', '/v1/consents/c1/authorisations/a1', OF_CONSENT],
    ['a consent for funds', '/v2/consents/confirmation-of-funds/c1/authorisations/a1', OF_FUNDS],
    ['a basket', '/v1/signing-baskets/b1/authorisations/a1', OF_BASKET],
  ])('is read with %s', (_, href, offerable, expected = { id: 'a1' }) => {
    expect(said(href, offerable)).toEqual(expected);
  });

  it.each<[string, string, Offerable]>([
    ['another payment', '/v1/payments/sepa-credit-transfers/p2/authorisations/a1', STATUS],
    ['another payment, with ours before it', `/v1/${SCT}/a1/payments/p2/authorisations/a1`, STATUS],
    ['another product', '/v1/payments/target-2-payments/p1/authorisations/a1', STATUS],
    ['another service', '/v1/bulk-payments/sepa-credit-transfers/p1/authorisations/a1', STATUS],
    ['its cancellation', '/v1/payments/sepa-credit-transfers/p1/cancellation-authorisations/a1', STATUS],
    ['the payment, not its cancellation', `/v1/${SCT}/a1`, CANCELLATION],
    ['its status', '/v1/payments/sepa-credit-transfers/p1/status', STATUS],
    ['its list of authorisations', `/v1/${SCT}`, STATUS],
    ['something below it', `/v1/${SCT}/a1/x`, STATUS],
    ['an authorisation, not its start', `/v1/${SCT}/a1`, START],
    ['another authorisation', `/v1/${SCT}/a2`, { ...STATUS, values: { ...PAYMENT, authorisationId: 'a1' } }],
    ['an id in other letters', '/v1/payments/sepa-credit-transfers/P1/authorisations/a1', STATUS],
    ['a path that dots make another one', `/v1/${SCT}/../../p2/authorisations/a1`, STATUS],
    ['an operator’s page', '/admin/users', STATUS],
    ['another consent', '/v1/consents/c2/authorisations/a1', OF_CONSENT],
    ['a consent for funds', '/v2/consents/confirmation-of-funds/c1/authorisations/a1', OF_CONSENT],
    ['a consent for readings', '/v1/consents/c1/authorisations/a1', OF_FUNDS],
    ['another basket', '/v1/signing-baskets/b2/authorisations/a1', OF_BASKET],
    ['no id', `/v1/${SCT}//`, STATUS],
    ['an id that hides a path', `/v1/${SCT}/a1%2f..%2fa2`, STATUS],
    ['an id that hides one twice', `/v1/${SCT}/..%252fa2`, STATUS],
    ['an id that hides a query', `/v1/${SCT}/a1%253Fx`, STATUS],
    ['an id that hides dots', `/v1/${SCT}/%25252e%25252e`, STATUS],
    ['an id that hides a backslash', `/v1/${SCT}/a%5c`, STATUS],
    ['an id that is encoded four times', `/v1/${SCT}/a%2525252Bb`, STATUS],
    ['a script', 'javascript:alert(1)', STATUS],
    ['nothing', '', STATUS],
    ['a blank', `/v1/${SCT}/a 1`, STATUS],
    ['a control character', `/v1/${SCT}/a\u0000`, STATUS],
    ['a backslash', `/v1\\${SCT}/a1`, STATUS],
    ['an unpaired surrogate', `/v1/${SCT}/\ud800`, STATUS],
    ['no address', 'https://', STATUS],
    ['more than 8192 characters', `/${'x'.repeat(8200)}/v1/${SCT}/a1`, STATUS],
  ])('is not read with %s', (_, href, offerable) => {
    expect(said(href, offerable)).toBeNull();
  });

  it.each([
    ['a%2Fb', 'a%2Fb'],
    ['a b', 'a%20b'],
    ['50%', '50%25'],
    ['CTR|1', 'CTR%25257C1'],
    ['CTR%7C1', 'CTR%7C1'],
    ['CTR%7C1', 'CTR%25257C1'],
  ])('about the id %s in hand, compared decoded with %s', (paymentId, written) => {
    const href = `/v1/payments/sepa-credit-transfers/${written}/authorisations/a1`;
    const offerable = { ...STATUS, values: { ...PAYMENT, paymentId } };
    expect(said(href, offerable)?.id).toBe(paymentId.includes('%2F') ? undefined : 'a1');
  });

  it('is read where the bank file says that it is, and where the standard has it', () => {
    const alone = { paths: { getConsentScaStatus: '/v1/scaStatus/{authorisationId}' } };
    const split = { paths: { getConsentScaStatus: '/ais/DE/consent-{consentId}/auth/{authorisationId}' } };
    expect(said('https://x/api/v1/scaStatus/a1', OF_CONSENT)).toBeNull();
    expect(said('https://x/api/v1/scaStatus/a1', OF_CONSENT, alone)).toEqual(ELSEWHERE);
    expect(said('/v1/consents/c1/authorisations/a1', OF_CONSENT, alone)).toEqual(ELSEWHERE);
    expect(said('/ais/DE/consent-c1/auth/a1', OF_CONSENT, split)).toEqual({ id: 'a1' });
    expect(said('/ais/DE/consent-c2/auth/a1', OF_CONSENT, split)).toBeNull();
  });
});

describe('a link to more transactions', () => {
  const LIST = '/v1/accounts/a1/transactions';
  it.each<[string, object]>([
    [`${LIST}?page=2`, { query: 'page=2' }],
    [`/psd2${LIST}?page=2&x=a%2Bb`, { query: 'page=2&x=a%2Bb' }],
    ['?page=2', { query: 'page=2' }],
    ['transactions?page=2', { query: 'page=2' }],
    [`${LIST}?q=ä`, { query: 'q=%C3%A4' }],
    [`${LIST}/?page=2`, { query: 'page=2' }],
    [`${LIST}/page/2`, { below: '/page/2' }],
    [`${LIST}/next?a=1`, { query: 'a=1', below: '/next' }],
    [`${LIST}/download/`, { below: '/download/' }],
    [`${LIST}/a%2Bb`, { below: '/a%2Bb' }],
    ['accounts/a1/transactions?page=2', { query: 'page=2', isElsewhere: true }],
    ['www.bank.example/xs2a/v1/accounts/a1/transactions/x', { below: '/x', isElsewhere: true }],
    ['http://xs2a:8080/inner/v1/accounts/a1/transactions?page=2', { query: 'page=2', isElsewhere: true }],
    [`/v1/accounts/a2/transactions${LIST}`, { isElsewhere: true }],
  ])('%s is of this account', (href, expected) => {
    expect(said(href, list())).toEqual(expected);
  });

  it.each([
    '/v1/accounts/a2/transactions?page=2',
    '/v1/accounts/a1/balances',
    '/v1/card-accounts/a1/transactions?page=2',
    '/v1/accounts/a1/transactionsNextPage',
    'accounts/a2/transactions?page=2',
    `${LIST}/../../a2/transactions`,
    `${LIST}/%2e%2e/%2e%2e/a2/transactions`,
    `${LIST}/..%2f..%2fa2%2ftransactions`,
    `${LIST}/..%252f..%252fa2`,
    `${LIST}/x%3Fpage=1`,
    `${LIST}/accounts/a2/transactions`,
    'next',
    'https://evil.example/',
  ])('%s is not', (href) => {
    expect(said(href, list())).toBeNull();
  });
});

it.each([
  ['/x?a=%2f&b=\'|"', 'a=%2f&b=\'|"'],
  ['?a=1?b#c?d', 'a=1?b'],
  ['https://evil.example/v1/accounts/a2?ä=1', '%C3%A4=1'],
  ['/x', ''],
  ['/x#?y', ''],
  ['/x?a b', null],
])('the query of %s is %j', (href, query) => {
  expect(queryOf(href)).toBe(query);
});

describe('a link for the browser', () => {
  it.each([
    ['https://other.example/sca?x=%2f#y', 'https://other.example/sca?x=%2f#y'],
    ['HTTPS://other.example', 'HTTPS://other.example'],
    ['http://127.0.0.1:9/x', 'http://127.0.0.1:9/x'],
    ['http://localhost/x', 'http://localhost/x'],
    ['/sca', 'https://bank.example/sca'],
    ['//other.example/sca', 'https://other.example/sca'],
    ['v1/sca', 'https://bank.example/psd2/v1/sca'],
    ['/v1/sca', 'https://bank.example/psd2/v1/sca'],
    ['/v12/sca', 'https://bank.example/v12/sca'],
  ])('%s opens %s', (href, opened) => {
    expect(browserLink(href, BELOW, 'scaRedirect')).toBe(opened);
  });

  it.each([
    ['host', '/sca', 'https://bank.example/sca'],
    ['host', '/v1/sca', 'https://bank.example/v1/sca'],
    ['base', '/sca', 'https://bank.example/psd2/sca'],
    ['base', '/v1/sca', 'https://bank.example/psd2/v1/sca'],
    ['base', '//other.example/sca', 'https://other.example/sca'],
  ] as const)('with links "%s", %s opens %s', (links, href, opened) => {
    expect(browserLink(href, { ...BELOW, links }, 'scaRedirect')).toBe(opened);
    const address = { origin: new URL(opened).origin, path: new URL(opened).pathname };
    const hosts = new Set([new URL(opened).host]);
    expect(serverLink(href, { ...BELOW, links }, hosts, 'metadata')).toEqual(address);
  });

  it.each([
    'http://other.example/',
    'javascript:alert(1)',
    'ftp://other.example/',
    'file:///etc/passwd',
    'custom+x.y-1:z',
  ])('%s opens nothing', (href) => {
    expect(errorOf(() => browserLink(href, BARE, 'scaRedirect'))).toEqual({
      code: 'bank_answer',
      message: "The bank's link scaRedirect is not an https address",
      hint: 'psd2 does not send the customer there.',
    });
  });

  it.each(['https://', 'https://a b/', '/v1/\u0000', '\\\\evil.example', `/${'x'.repeat(8192)}`])(
    '%j is no address, and opens nothing',
    (href) => {
      expect(errorOf(() => browserLink(href, BARE, 'scaRedirect'))).toMatchObject(invalid('scaRedirect'));
    },
  );
});

describe('the address of an OAuth server', () => {
  const hosts = new Set(['bank.example', 'login.example:8443']);

  it.each([
    ['https://login.example:8443/token?x=%2f', 'https://login.example:8443', '/token?x=%2f'],
    ['https://bank.example/a/../token', HOST, '/a/../token'],
    ['/token', HOST, '/token'],
    ['v1/token', HOST, '/psd2/v1/token'],
  ])('%s is on the host %s, at %s', (href, origin, path) => {
    expect(serverLink(href, BELOW, hosts, 'token_endpoint')).toEqual({ origin, path });
  });

  it.each([
    ['https://evil.example/token', 'evil.example'],
    ['https://login.example/token', 'login.example'],
    ['http://bank.example/token', 'bank.example'],
    ['data:x', 'data:'],
  ])('%s is unknown', (href, host) => {
    expect(errorOf(() => serverLink(href, BARE, hosts, 'token_endpoint'))).toEqual({
      code: 'bank_answer',
      message: `The OAuth address token_endpoint is on a host that psd2 does not know: ${host}`,
      hint: "psd2 sends codes and tokens only to hosts that the bank file (oauth) or the base URL names. If the host is the bank's, name oauth.tokenEndpoint in the bank file.",
    });
  });
});
