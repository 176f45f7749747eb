import { describe, expect, test } from 'vitest';
import { nextgenpsd2Door } from '../../../src/sandbox/nextgenpsd2/door.ts';
import { doorOf } from '../../../src/sandbox/nextgenpsd2/door-state.ts';
import type { Passage } from '../../../src/sandbox/server/pipeline.ts';
import type { RawRequest } from '../../../src/sandbox/strict/raw-request.ts';
import { rawRequest } from '../strict/raw.ts';
import { bankHere, grantOf } from './bank-here.ts';
import { ANNA, CURRENT, consentBody } from './door-client.ts';

// What the door knows of a call before it checks it, and how it fails.

const BRUNO = '2073915';

async function opened(...given: Parameters<typeof bankHere>) {
  const here = await bankHere(...given);
  const door = nextgenpsd2Door(here.bank);
  const passageOf = (request: RawRequest): Passage => ({
    ...{ request, faults: [], refusal: undefined, caller: undefined, title: undefined, warnings: [] },
  });
  const clientCertificate = here.bank.tppCertificates.qwac.raw;
  /** What the door sees of a call. */
  const meet = (request: Parameters<typeof rawRequest>[0]) => {
    const passage = passageOf(rawRequest({ clientCertificate, ...request }));
    const { operation, step, customerId } = door.meet(passage);
    return { operation, step, customerId, title: passage.title };
  };
  return { ...here, door, meet, passageOf };
}

describe('whose call it is', () => {
  const TOKENS = { application: undefined, anna: ANNA, bruno: BRUNO } as const;
  test.each<
    [
      consent: 'none' | 'unknown' | 'open' | 'given',
      token: 'none' | 'unknown' | keyof typeof TOKENS,
      customer: string | undefined,
    ]
  >([
    ['none', 'none', undefined],
    ['none', 'unknown', undefined],
    ['none', 'application', undefined],
    ['none', 'anna', ANNA],
    ['unknown', 'none', undefined],
    ['unknown', 'bruno', BRUNO],
    // Nobody has given it yet.
    ['open', 'none', undefined],
    ['open', 'anna', ANNA],
    ['given', 'none', ANNA],
    ['given', 'unknown', ANNA],
    ['given', 'application', ANNA],
    ['given', 'anna', ANNA],
    // The consent is anna's, whoever the token is of.
    ['given', 'bruno', ANNA],
  ])('with the consent %s and the token %s: %s', async (consent, token, customer) => {
    const { bank, serve, approve, meet } = await opened();
    const reply = serve('POST /v1/consents', { body: consentBody() });
    if (consent === 'given') approve(reply, ANNA);
    const id = consent === 'unknown' ? 'x' : String(reply.json.consentId);
    const tokenOf = (whose: keyof typeof TOKENS) =>
      doorOf(bank).tokens.issue(grantOf({ customerId: TOKENS[whose] })).accessToken;
    const headers: [string, string][] = [
      ...(consent === 'none' ? [] : ([['Consent-ID', id]] satisfies [string, string][])),
      ...(token === 'none'
        ? []
        : ([['Authorization', `Bearer ${token === 'unknown' ? 'x' : tokenOf(token)}`]] satisfies [
            string,
            string,
          ][])),
    ];
    expect(meet({ target: '/nextgenpsd2/v1/accounts', headers }).customerId).toBe(customer);
  });
});

const PAYMENT = '/nextgenpsd2/v1/payments/sepa-credit-transfers';
test.each<[method: string, target: string, body: string, operation: string | undefined, title: string]>([
  ['GET', '/nextgenpsd2/v1/accounts?withBalance=true', '', 'getAccountList', 'getAccountList'],
  ['GET', `/nextgenpsd2/v1/accounts/${CURRENT}/balances`, '', 'getBalances', 'getBalances'],
  ['POST', PAYMENT, '{}', 'initiatePayment', 'initiatePayment'],
  [
    ...(['PUT', `${PAYMENT}/p/authorisations/a`, '{"psuData":{}}'] as const),
    ...(['updatePaymentPsuData', 'updatePaymentPsuData pin'] as const),
  ],
  [
    ...(['PUT', `${PAYMENT}/p/authorisations/a`, '{"authenticationMethodId":"1"}'] as const),
    ...(['updatePaymentPsuData', 'updatePaymentPsuData method'] as const),
  ],
  [
    ...(['PUT', `${PAYMENT}/p/authorisations/a`, '{"scaAuthenticationData":"1"}'] as const),
    ...(['updatePaymentPsuData', 'updatePaymentPsuData tan'] as const),
  ],
  ['PUT', '/nextgenpsd2/v1/accounts', '{"psuData":{}}', undefined, '/nextgenpsd2/v1/accounts'],
  ['GET', '/nextgenpsd2/v1/nothing?a=1', '', undefined, '/nextgenpsd2/v1/nothing'],
])('%s %s with the body "%s" is the operation %s', async (method, target, body, operation, title) => {
  const { meet } = await opened();
  const step = title.split(' ')[1];
  expect(meet({ method, target, body })).toEqual({ operation, step, customerId: undefined, title });
});

test('another client certificate than the registered one is not met', async () => {
  const { bank, meet } = await opened();
  for (const clientCertificate of [undefined, bank.tppCertificates.qseal.raw])
    expect(() => meet({ target: '/nextgenpsd2/v1/accounts', clientCertificate })).toThrow(
      'The TLS client certificate is not the registered QWAC',
    );
});

test.each<[status: number, code: string]>([
  [400, 'INTERNAL_SERVER_ERROR'],
  [401, 'TOKEN_INVALID'],
  [403, 'INTERNAL_SERVER_ERROR'],
  [420, 'ACCESS_EXCEEDED'],
  [429, 'ACCESS_EXCEEDED'],
  [500, 'INTERNAL_SERVER_ERROR'],
  [503, 'SERVICE_UNAVAILABLE'],
])('a fault with the status %i has the code %s', async (status, code) => {
  const { door, passageOf } = await opened();
  const { status: sent, body } = door.fail(status, passageOf(rawRequest()), { message: 'm', detail: 'd' });
  expect([sent, JSON.parse(body.toString())]).toEqual([
    status,
    { tppMessages: [{ category: 'ERROR', code, text: 'A fault made the bank fail.' }] },
  ]);
});
