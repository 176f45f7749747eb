import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { accessSide } from '../../../../src/sandbox/nextgenpsd2/access-side.ts';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import type { Variation } from '../../../../src/sandbox/nextgenpsd2/variations.ts';
import { bankHere } from '../bank-here.ts';
import { ANNA, CALLBACK, consentBody } from '../door-client.ts';
import { ANNAS, paymentBody, SCT } from '../payment-client.ts';

const CLIENT = 'PSDIT-BI-12345';
const EXPLICIT = { 'tpp-explicit-authorisation-preferred': 'true' };
const CHALLENGE = 'a-challenge-of-forty-three-characters-000000';

/** Opens the authorization endpoint. @returns where the browser goes, `error: text`, or what is wrong */
async function opened(oauth: BankFile['oauth'], variations: Variation[] = []) {
  const here = await bankHere({ oauth }, variations);
  const access = accessSide(here.bank);
  const authorize = (changes: Record<string, string | null> = {}): string => {
    const parameters = {
      ...{ response_type: 'code', client_id: CLIENT, redirect_uri: CALLBACK, state: 'the-state' },
      ...{
        scope: 'ais pis',
        code_challenge: CHALLENGE.slice(0, 43),
        code_challenge_method: 'S256',
        ...changes,
      },
    };
    const sent = Object.entries(parameters).filter((each): each is [string, string] => each[1] !== null);
    const page = access.authorize(new URLSearchParams(sent));
    if (!(page instanceof URL)) return page.wrong;
    const error = page.searchParams.get('error');
    if (error === null) return `${page.origin}${page.pathname}`;
    expect([
      `${page.origin}${page.pathname}`,
      page.searchParams.get('state'),
      page.searchParams.get('iss'),
    ]).toEqual([
      ...[CALLBACK, changes.state === null ? null : 'the-state', 'https://bank.example/nextgenpsd2'],
    ]);
    return `${error}: ${page.searchParams.get('error_description')}`;
  };
  return { ...here, access, authorize };
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const PAGE = 'https://customers.example/authorise';
const NEEDS = 'invalid_request: The bank needs a code_challenge with S256';
const NO_CHALLENGE = 'invalid_request: The bank takes no code_challenge';
const scope = (text: string) => `invalid_scope: The scope of a login is "${text}"`;
const none = { code_challenge: null, code_challenge_method: null };
const not = (name: string, expected: string, received: string) =>
  `${name} is not what the bank needs. Expected: ${expected}. Received: ${received}.`;

test.each<[what: string, oauth: BankFile['oauth'], changes: Record<string, string | null>, answer: string]>([
  ['a right request', {}, {}, PAGE],
  ['no state', {}, { state: null }, PAGE],
  ['another client', {}, { client_id: 'x' }, not('client_id', CLIENT, 'x')],
  ['no client', {}, { client_id: null }, not('client_id', CLIENT, 'nothing')],
  ['the client of the bank file', { clientId: 'ours' }, { client_id: 'ours' }, PAGE],
  ['the QWAC where the bank file has a client', { clientId: 'ours' }, {}, not('client_id', 'ours', CLIENT)],
  [
    'no address',
    {},
    { redirect_uri: null },
    expect.stringMatching(/^redirect_uri is not .* Received: nothing\.$/),
  ],
  [
    'an address elsewhere',
    {},
    { redirect_uri: 'http://tpp.example/' },
    expect.stringMatching(/^redirect_uri is not /),
  ],
  ['no challenge', {}, { code_challenge: null }, NEEDS],
  ['a short challenge', {}, { code_challenge: CHALLENGE.slice(0, 42) }, NEEDS],
  ['a long challenge', {}, { code_challenge: CHALLENGE }, NEEDS],
  ['a challenge of other letters', {}, { code_challenge: `${CHALLENGE.slice(0, 42)}.` }, NEEDS],
  ['another method', {}, { code_challenge_method: 'plain' }, NEEDS],
  ['no method', {}, { code_challenge_method: null }, NEEDS],
  ['no challenge, where the bank wants none', { pkce: 'none' }, none, PAGE],
  ['a challenge where the bank wants none', { pkce: 'none' }, {}, NO_CHALLENGE],
  ['another scope', {}, { scope: 'ais' }, scope('ais pis')],
  ['no scope', {}, { scope: null }, scope('ais pis')],
  ['an error without a state', {}, { scope: 'x', state: null }, scope('ais pis')],
  ['the scope of the bank', { scope: { preStep: 'api' } }, { scope: 'api' }, PAGE],
  ['one of two scopes', { scope: { preStep: { ais: 'A', pis: 'P' } } }, { scope: 'P' }, PAGE],
  ['none of two scopes', { scope: { preStep: { ais: 'A', pis: 'P' } } }, { scope: 'A P' }, scope('A" or "P')],
  ['a parameter of the bank', { parameters: { bank: '1' } }, { bank: '1' }, PAGE],
  [
    'another value of it',
    { parameters: { bank: '1' } },
    { bank: '2' },
    'invalid_request: The bank needs the parameter bank',
  ],
  ['no value of it', { parameters: { bank: '1' } }, {}, 'invalid_request: The bank needs the parameter bank'],
  // A login before everything has no id of a consent yet.
  ['a parameter with an id', { parameters: { consent: '{consentId}' } }, {}, PAGE],
  ['names of the bank', { names: { client_id: 'clientId' } }, { clientId: CLIENT, client_id: null }, PAGE],
  [
    'the name of the standard in its place',
    { names: { client_id: 'clientId' } },
    {},
    not('clientId', CLIENT, 'nothing'),
  ],
])('%s at a bank with %j and %j: %s', async (_, oauth, changes, answer) => {
  const { authorize } = await opened({ mode: 'pre-step', ...oauth });
  expect(authorize(changes)).toEqual(answer);
});

test.each(['none', 'client-credentials'] as const)('a bank with oauth.mode %s has no login', async (mode) => {
  const { authorize } = await opened({ mode });
  expect(authorize()).toBe('unauthorized_client: The bank has no login with OAuth');
});

test('another response type is refused', async () => {
  const { authorize } = await opened({ mode: 'pre-step' });
  expect(authorize({ response_type: 'token' })).toContain('unsupported_response_type');
});

describe('with OAuth in the authorisation', () => {
  const wrong =
    'invalid_scope: The scope of a waiting consent is "AIS:{consentId}", that of a payment "PIS:{paymentId}"';
  async function waiting(oauth: BankFile['oauth'] = {}) {
    const here = await opened({ mode: 'integrated', ...oauth });
    const consent = here.serve('POST /v1/consents', { body: consentBody() });
    const funds = here.serve('POST /v2/consents/confirmation-of-funds', {
      body: { account: { iban: ANNAS } },
    });
    const payment = here.serve(`POST ${SCT}`, { body: paymentBody() });
    return {
      ...here,
      ids: [consent.json.consentId, funds.json.consentId, payment.json.paymentId].map(String),
    };
  }

  test('the scope is that of what waits', async () => {
    const { authorize, ids } = await waiting();
    const [consent, funds, payment] = ids;
    const right = [`AIS:${consent}`, `PIIS:${funds}`, `PIS:${payment}`];
    expect(right.map((each) => authorize({ scope: each }))).toEqual([PAGE, PAGE, PAGE]);
    const others = [`PIS:${consent}`, `AIS:${funds}`, `AIS:${payment}`, 'AIS:x', '', 'ais pis'];
    expect(others.map((each) => authorize({ scope: each }))).toEqual(others.map(() => wrong));
  });

  test('a parameter of the bank has the id', async () => {
    const { authorize, ids } = await waiting({ parameters: { about: '{consentId}', pay: '{paymentId}' } });
    const [consent, , payment] = ids;
    const lacks = (name: string) => `invalid_request: The bank needs the parameter ${name}`;
    const ask = (of: string, more: Record<string, string>) => authorize({ scope: of, ...more });
    expect(ask(`AIS:${consent}`, { about: consent ?? '' })).toBe(PAGE);
    expect(ask(`AIS:${consent}`, { about: payment ?? '' })).toBe(lacks('about'));
    expect(ask(`PIS:${payment}`, { pay: payment ?? '' })).toBe(PAGE);
    expect(ask(`PIS:${payment}`, { about: payment ?? '' })).toBe(lacks('pay'));
  });

  test('what is decided waits no more', async () => {
    const { authorize, access, ids } = await waiting();
    const [consent] = ids;
    authorize({ scope: `AIS:${consent}` });
    const [request] = access.open();
    const back = access.approve(request?.id ?? '', ANNA).returnTo;
    expect(back?.searchParams.get('code')).toMatch(/^[\w-]{43}$/);
    expect(authorize({ scope: `AIS:${consent}` })).toBe(wrong);
  });

  test('of several authorisations of one consent the last one is decided, as long as it waits', async () => {
    const { authorize, access, serve, clock, ids } = await waiting();
    const [consent = ''] = ids;
    const scope = `AIS:${consent}`;
    const MINUTE = 60_000;
    clock.advance(9 * MINUTE);
    const second = serve(`POST /v1/consents/${consent}/authorisations`);
    const at = String(second.json._links?.scaStatus?.href).replace('/nextgenpsd2', '');
    const { authorisationIds } = serve(`GET /v1/consents/${consent}/authorisations`).json;
    expect(authorisationIds).toHaveLength(2);
    expect(authorize({ scope })).toBe(PAGE);
    // The time of the first one is over.
    clock.advance(2 * MINUTE);
    expect(authorize({ scope })).toBe(PAGE);
    clock.advance(8 * MINUTE + 1);
    expect(authorize({ scope })).toBe(wrong);
    const third = serve('POST /v1/consents', { body: consentBody() });
    serve(`POST /v1/consents/${third.json.consentId}/authorisations`);
    authorize({ scope: `AIS:${third.json.consentId}` });
    access.approve(access.open()[0]?.id ?? '', ANNA);
    const others = serve(`GET /v1/consents/${third.json.consentId}/authorisations`).json.authorisationIds;
    const statuses = list(others).map(
      (id) => serve(`GET /v1/consents/${third.json.consentId}/authorisations/${id}`).json.scaStatus,
    );
    expect([serve(`GET ${at}`).json.scaStatus, statuses]).toEqual(['failed', ['received', 'finalised']]);
  });

  test.each<
    [what: string, begin: (here: Awaited<ReturnType<typeof opened>>) => [scope: string, grant: object]]
  >([
    [
      'a consent',
      ({ serve }) => {
        const { json } = serve('POST /v1/consents', { body: consentBody() });
        return [`AIS:${json.consentId}`, { consentId: json.consentId, paymentId: undefined }];
      },
    ],
    [
      'a consent to confirmations of funds',
      ({ serve }) => {
        const { json } = serve('POST /v2/consents/confirmation-of-funds', {
          body: { account: { iban: ANNAS } },
        });
        return [`PIIS:${json.consentId}`, { consentId: json.consentId, paymentId: undefined }];
      },
    ],
    [
      'a payment',
      ({ serve }) => {
        const { json } = serve(`POST ${SCT}`, { body: paymentBody() });
        return [`PIS:${json.paymentId}`, { consentId: undefined, paymentId: json.paymentId }];
      },
    ],
    [
      'the cancellation of a payment',
      ({ serve }) => {
        const { json } = serve(`POST ${SCT}`, { body: paymentBody(), headers: EXPLICIT });
        serve(`POST ${SCT}/${json.paymentId}/cancellation-authorisations`);
        return [`PIS:${json.paymentId}`, { consentId: undefined, paymentId: json.paymentId }];
      },
    ],
    [
      'a signing basket',
      ({ serve }) => {
        const pay = () => serve(`POST ${SCT}`, { body: paymentBody(), headers: EXPLICIT }).json.paymentId;
        const { json } = serve('POST /v1/signing-baskets', { body: { paymentIds: [pay(), pay()] } });
        return [`PIS:${json.basketId}`, { consentId: undefined, paymentId: json.basketId }];
      },
    ],
  ])('the code is for %s that the customer authorises, and a refusal has none', async (_, begin) => {
    const here = await opened({ mode: 'integrated' });
    const decide = (decision: 'approve' | 'refuse') => {
      const [scope, grant] = begin(here);
      expect(here.authorize({ scope })).toBe(PAGE);
      const [request] = here.access.open();
      const back = here.access[decision](request?.id ?? '', ANNA).returnTo?.searchParams;
      const code = doorOf(here.bank).logins.code(back?.get('code') ?? '');
      return {
        grant: code?.grant,
        expected: { ...grant, scope, customerId: ANNA },
        error: back?.get('error'),
      };
    };
    const approved = decide('approve');
    expect([approved.grant, approved.error]).toEqual([approved.expected, null]);
    const refused = decide('refuse');
    expect([refused.grant, refused.error]).toEqual([undefined, 'access_denied']);
    expect(here.access.open()).toEqual([]);
  });

  test('payment-tokens: the customer may log in again for a payment, and not for a consent', async () => {
    const here = await opened({ mode: 'integrated' }, ['payment-tokens']);
    const consent = here.serve('POST /v1/consents', { body: consentBody() });
    const payment = here.serve(`POST ${SCT}`, { body: paymentBody() });
    const scopes = [`AIS:${consent.json.consentId}`, `PIS:${payment.json.paymentId}`];
    for (const each of scopes) {
      expect(here.authorize({ scope: each })).toBe(PAGE);
      here.access.approve(here.access.open()[0]?.id ?? '', ANNA);
    }
    expect(scopes.map((each) => here.authorize({ scope: each }))).toEqual([wrong, PAGE]);
  });
});
