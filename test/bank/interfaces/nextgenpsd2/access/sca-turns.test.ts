import { describe, expect, it } from 'vitest';
import {
  linksOf,
  progressOf,
  scaOfConsents,
  timed,
} from '../../../../../src/bank/interfaces/nextgenpsd2/access/sca.ts';
import { consentsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/consents/consents.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { startAnswer } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/consent.ts';
import type { ScaLinks } from '../../../../../src/bank/ports/customer.ts';
import { isRefusal } from '../../../../../src/flows/refusals.ts';
import { silent, TRANSACTION_ID } from '../client.ts';
import {
  errorOf,
  failureOf,
  ORIGIN,
  PLAIN_FACTS,
  refused,
  type Scripted,
  said,
  scriptedCalls,
} from '../scripted.ts';

// What is next for the customer, by the bank's links: all of it without a connection.

const SITE = 'https://customers.bank.example/sca';
const BACK = 'http://127.0.0.1:8910/callback?state=s1';
const START = '/v1/consents/c1/authorisations';
const NOWHERE = 'psd2 follows scaRedirect, scaOAuth, startAuthorisation, and the decoupled approach.';
const OF_CONSENT = { ...PLAIN_FACTS, ofConsent: 'c1' };

const start = { method: 'POST', path: START, facts: OF_CONSENT, transactionId: TRANSACTION_ID } as const;
const resource = { start: 'startConsentAuthorisation', values: { consentId: 'c1' } } as const;
const { calls: CALLS } = scriptedCalls([]);
const LINKED = { ...CALLS, resource };

/** The links that psd2 keeps of an answer. */
const links = (_links: object, more: object = {}, headers: Record<string, string> = {}, isDone?: boolean) =>
  linksOf(startAnswer.parse({ _links, ...more }), headers, LINKED, isDone);

it.each([
  [['oauth'], { approach: null, oauth: `${ORIGIN}/meta` }],
  [['oauth', 'redirect'], { approach: null, redirect: `${ORIGIN}/meta` }],
] as const)('at a bank with the approaches %j, scaRedirect is %j', (approaches, kept) => {
  const { calls } = scriptedCalls([], { sca: { approaches: [...approaches] } });
  const answer = startAnswer.parse({ _links: { scaRedirect: `${ORIGIN}/meta` } });
  expect(linksOf(answer, {}, { ...calls, resource })).toEqual(kept);
});

const DATE = 'Sat, 21 Nov 2026 10:00:00 GMT';
it.each<[Record<string, string>, object]>([
  [{}, {}],
  [{ date: DATE }, { madeAt: '2026-11-21T10:00:00.000Z' }],
  [{ date: 'soon' }, {}],
  // What was stored on the way is of another time.
  [{ date: DATE, age: '0' }, {}],
  [{ age: '0' }, {}],
])('the headers %j say when an answer was made: %j', (headers, time) => {
  expect(timed('madeAt', headers)).toEqual(time);
});

const START_AND_STATUS = ['startAuthorisation', 'scaStatus'];

describe('the links of an answer', () => {
  const chosen = (approach: string) => ({ 'aspsp-sca-approach': approach });
  const byPassword = { updatePsuAuthentication: '/x' };
  const NAMING = { startAuthorisationWithPsuIdentification: '/v1/i' };
  const STARTS = { startAuthorisation: '/s', startAuthorisationWithPsuAuthentication: '/x' };
  const AT_Z = { scaStatus: '/v1/z' };
  const STATUS_Z = { status: '/v1/z' };
  const OWN = `${START}/a1`;
  const REST = { scaRedirect: SITE, scaStatus: OWN, confirmation: `${OWN}?c=1` };
  const KEPT = { id: 'a1', redirect: SITE, status: OWN, confirmation: `${OWN}?c=1` };
  const INNER = `http://xs2a:8080/core${OWN}?x=1`;
  const OTHERS = '/v1/consents/c2/authorisations/a2';
  const UNKEPT = { scaStatus: { href: `/v1/${'x'.repeat(9000)}` }, confirmation: { href: '/v1/\u0000' } };
  it.each<[string, object, object, object?, Record<string, string>?]>([
    ['none', {}, {}],
    ['a page', { scaRedirect: SITE }, { redirect: SITE }],
    ['a login', { scaOAuth: `${ORIGIN}/meta` }, { oauth: `${ORIGIN}/meta` }],
    ['a start', { startAuthorisation: '/v1/s' }, { start: '/v1/s' }],
    ['a start that names the customer', NAMING, { start: '/v1/i' }],
    ['two starts', { startAuthorisation: '/v1/s', ...NAMING }, { start: '/v1/s' }],
    ['a page with the rest', REST, { approach: 'redirect', ...KEPT }, {}, chosen(' redirect ')],
    ['a message', {}, { message: 'x'.repeat(500) }, { psuMessage: 'x'.repeat(501) }],
    ['a page, and two that a flow cannot keep', { scaRedirect: SITE, ...UNKEPT }, { redirect: SITE }],
    ['a way of the customer', AT_Z, { approach: 'decoupled', ...STATUS_Z }, {}, chosen('Decoupled')],
    ['a status where the standard has it', { scaStatus: OWN }, { id: 'a1', status: OWN }],
    ['a status at an inner host, with a query', { scaStatus: INNER }, { id: 'a1', status: INNER }],
    ['a status of another consent', { scaStatus: OTHERS }, { status: OTHERS }],
    ['a status beside the id', AT_Z, { id: 'a1', status: '/v1/z' }, { authorisationId: 'a1' }],
    ['no status beside the id', {}, { id: 'a1', status: OWN }, { authorisationId: 'a1' }],
    ['a confirmation alone', { confirmation: OWN }, { id: 'a1', status: OWN, confirmation: OWN }],
    ['a confirmation of another consent', { confirmation: OTHERS }, {}],
    ['a start that has begun', { startAuthorisation: OWN }, { start: OWN }],
    ['another approach', {}, {}, {}, chosen('OTHER')],
    ['an exemption', {}, { isDone: true }, { scaStatus: 'exempted' }],
    ['an exemption at embedded SCA', {}, { isDone: true }, { scaStatus: 'exempted' }, chosen('embedded')],
    ['an end', {}, { isDone: true }, { scaStatus: 'finalised' }],
    ['no end', {}, {}, { scaStatus: 'failed' }],
    ['a page beside a password', { scaRedirect: SITE, ...byPassword }, { redirect: SITE }],
    ['a login beside a password', { scaOAuth: SITE, ...byPassword }, { oauth: SITE }],
    ['a start beside a password', STARTS, { start: '/s' }],
    ['an end beside a password', byPassword, { isDone: true }, { scaStatus: 'exempted' }],
    [
      'a way beside an encrypted password',
      { updateEncryptedPsuAuthentication: '/x' },
      { approach: 'decoupled' },
      {},
      chosen('DECOUPLED'),
    ],
    ['a way beside a password', byPassword, { approach: 'decoupled' }, {}, chosen('DECOUPLED')],
    [
      'a way beside a password of one that has begun',
      { updatePsuAuthentication: OWN },
      { approach: 'decoupled' },
      {},
      chosen('DECOUPLED'),
    ],
  ])('%s', (_, given, expected, more, headers) => {
    expect(links(given, more, headers)).toEqual({ approach: null, ...expected });
  });

  it('lead nowhere if the answer says that the customer has nothing to do', () => {
    const given = { redirect: 'http://evil.example/', status: 'https://evil.example/' };
    expect(links({ scaRedirect: given.redirect, scaStatus: given.status }, {}, {}, true)).toEqual({
      ...{ approach: null, ...given, isDone: true },
    });
    expect(linksOf({ scaStatus: null, psuMessage: null }, {}, LINKED)).toEqual({ approach: null });
  });

  const METHOD = { authenticationMethodId: '942', authenticationType: 'SMS_OTP' };
  const KNOWN = { id: '942', type: 'SMS_OTP' };
  const BOTH = { selectAuthenticationMethod: OWN, authoriseTransaction: OWN };
  const at = (next: string, more: object = {}) => ({
    step: { next, link: OWN, ...more },
    id: 'a1',
    status: OWN,
  });
  it.each<[string, object, object, object?, Record<string, string>?]>([
    ['a password', { updatePsuAuthentication: OWN }, at('password')],
    [
      'a password that begins one',
      { startAuthorisationWithPsuAuthentication: START },
      { begins: START, step: { next: 'password', link: START } },
    ],
    [
      'a method',
      { selectAuthenticationMethod: OWN },
      at('method', { methods: [KNOWN] }),
      { scaMethods: [METHOD] },
    ],
    [
      'a method that begins one',
      { startAuthorisationWithAuthenticationMethodSelection: START },
      { step: { next: 'method', link: START } },
    ],
    [
      'a method without a link',
      {},
      { id: 'a1', status: OWN, step: { next: 'method', methods: [KNOWN] } },
      { scaStatus: 'psuAuthenticated', authorisationId: 'a1', scaMethods: METHOD },
    ],
    [
      'a method that was chosen already',
      {},
      { approach: null, id: 'a1', status: OWN },
      { scaStatus: 'psuAuthenticated', authorisationId: 'a1', scaMethods: METHOD, chosenScaMethod: METHOD },
    ],
    [
      'no method, in another status',
      {},
      { approach: null, id: 'a1', status: OWN },
      { scaStatus: 'started', authorisationId: 'a1', scaMethods: METHOD },
    ],
    ['a TAN', { authoriseTransaction: OWN }, at('code')],
    [
      'a TAN that begins one',
      { startAuthorisationWithTransactionAuthorisation: START },
      { step: { next: 'code', link: START } },
    ],
    ['another method, or the TAN', BOTH, at('code', { chosen: KNOWN }), { chosenScaMethod: METHOD }],
    ['the TAN, where there is nothing to choose', BOTH, at('code')],
    ['a method before the TAN', BOTH, at('method', { methods: [KNOWN] }), { scaMethods: [METHOD] }],
    [
      'a challenge',
      { authoriseTransaction: OWN },
      at('code', {
        challenge: { information: 'a<br>b', data: ['1'], otpMaxLength: '6', otpFormat: 'Integer' },
      }),
      {
        challengeData: {
          additionalInformation: ' a<br>b ',
          data: '1',
          otpMaxLength: 6,
          otpFormat: 'Integer',
          image: 7,
        },
      },
    ],
    [
      'a plain password beside an encrypted one',
      { updatePsuAuthentication: OWN, updateEncryptedPsuAuthentication: OWN },
      at('password'),
    ],
    ['a start, chosen so', { startAuthorisation: START }, { start: START }, {}, chosen('embedded')],
    ['nothing, chosen so', {}, {}, {}, chosen('embedded')],
    [
      'nothing of one that has begun, chosen so',
      {},
      { id: 'a1', status: OWN, step: { next: 'password' } },
      { authorisationId: 'a1' },
      chosen('EMBEDDED'),
    ],
  ])('the bank wants from psd2: %s', (_, given, expected, more, headers) => {
    expect(links(given, more, headers)).toEqual({ approach: 'embedded', ...expected });
  });

  it.each<[string, object, object]>([
    [
      'its status',
      { scaStatus: OWN },
      { approach: 'embedded', id: 'a1', status: OWN, step: { next: 'password' } },
    ],
    [
      'a confirmation, too',
      { scaStatus: OWN, confirmation: `${OWN}?c=1` },
      { id: 'a1', status: OWN, confirmation: `${OWN}?c=1` },
    ],
  ])(
    'of one that has begun, the bank wants a password only if it says nothing else: %s',
    (_, given, kept) => {
      expect(links(given, {}, chosen('EMBEDDED'))).toEqual({ approach: 'embedded', ...kept });
    },
  );

  it('a page is followed, whatever approach the bank has chosen', () => {
    expect(links({ scaRedirect: SITE }, {}, chosen('embedded'))).toEqual({ approach: null, redirect: SITE });
  });

  it.each([
    ['updateEncryptedPsuAuthentication', "the customer's password encrypted"],
    ['startAuthorisationWithEncryptedPsuAuthentication', "the customer's password encrypted"],
    ['updateAdditionalPsuAuthentication', 'a second password of the customer'],
  ])('%s alone is a dead end', (name, what) => {
    expect(errorOf(() => links({ [name]: OWN }))).toEqual({
      code: 'bank_answer',
      message: `The bank wants ${what} from psd2 (${name}), which psd2 does not send`,
      hint: 'Ask the bank to offer redirect or decoupled SCA to this application.',
      isDeadEnd: true,
    });
  });

  it('a page without https is refused before the customer acts', () => {
    expect(errorOf(() => links({ scaRedirect: 'http://x.example/' }))).toMatchObject({
      ...{ code: 'bank_answer', message: "The bank's link scaRedirect is not an https address" },
    });
  });

  it.each<[string, object, object, string[], string[]]>([
    ['own ones', { startAuthorisation: START, scaStatus: OWN, confirmation: OWN }, {}, [], []],
    ['own ones elsewhere', { startAuthorisation: INNER, scaStatus: INNER }, {}, START_AND_STATUS, []],
    ['those of another consent', { startAuthorisation: OTHERS, scaStatus: OTHERS }, {}, [], START_AND_STATUS],
    ['another operation', { startAuthorisation: '/admin/x' }, {}, [], ['startAuthorisation']],
    ['another authorisation', { confirmation: OWN }, { authorisationId: 'a2' }, [], ['confirmation']],
    ['those of a consent that is decided', { scaStatus: OTHERS }, { scaStatus: 'exempted' }, [], []],
  ])('say whether they are odd: %s', (_, given, more, rewritten, foreign) => {
    const { calls } = scriptedCalls([]);
    linksOf(startAnswer.parse({ _links: given, ...more }), {}, { ...calls, resource });
    expect([[...calls.odd.rewritten], [...calls.odd.foreign.keys()]]).toEqual([rewritten, foreign]);
  });

  it('of other things are kept whole, the first of each name', () => {
    const { calls } = scriptedCalls([]);
    for (const href of ['https://evil.example/a?b=c', '/v1/z'])
      linksOf(startAnswer.parse({ _links: { scaStatus: href } }), {}, { ...calls, resource });
    expect([...calls.odd.foreign]).toEqual([['scaStatus', 'https://evil.example/a?b=c']]);
  });
});

function opened(answers: Scripted[], file: Omit<BankFile, 'interface'> = {}) {
  const script = scriptedCalls(answers, file);
  const { status } = consentsOf(script.calls);
  return { ...script, sca: scaOfConsents(script.calls, script.oauth, status) };
}

/** Who the customer is, as the operator says. */
const psu = { id: 'PSU-1', idType: undefined, corporateId: undefined };

async function turned(
  given: ScaLinks | null,
  answers: Scripted[] = [],
  file: Omit<BankFile, 'interface'> = {},
) {
  const script = opened(answers, file);
  const turn = script.sca.proceed?.({
    ...{ resourceId: 'c1', links: given, redirectUri: BACK, transactionId: TRANSACTION_ID },
    login: { clientId: 'c', redirectUri: 'http://127.0.0.1/', state: 's1', codeVerifier: 'v'.repeat(43) },
    ...{ beforeSend: silent, psu },
  });
  return { turn: Promise.resolve(turn), sent: script.sent };
}

describe('the turn of the customer', () => {
  const addresses = {
    authorizationEndpoint: 'https://login.example/login',
    tokenEndpoint: `${ORIGIN}/token`,
  };
  const OAUTH = { oauth: { ...addresses, scope: { ais: 'A {consentId}' } } };
  const DECOUPLED = { sca: { approaches: ['decoupled' as const] } };
  const ALSO_DECOUPLED = { sca: { approaches: ['redirect' as const, 'decoupled' as const] } };

  const LOGIN_PAGE =
    'https://login.example/login?response_type=code&client_id=c&redirect_uri=http%3A%2F%2F127.0.0.1%2F&scope=A+c1&state=s1&code_challenge=7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM&code_challenge_method=S256';
  const META = `${ORIGIN}/meta`;
  const WANTS = { step: { next: 'password' as const, link: `${START}/a1` } };
  it.each<[string, Partial<ScaLinks>, object, Omit<BankFile, 'interface'>?]>([
    ['a page', { redirect: SITE, start: '/v1/s' }, { next: 'open', url: SITE }],
    ['a page on the host of the API', { redirect: '/sca' }, { next: 'open', url: `${ORIGIN}/sca` }],
    ['a page before a login', { redirect: SITE, oauth: SITE }, { next: 'open', url: SITE }],
    ['nothing, whatever else there is', { isDone: true, redirect: SITE }, { next: 'nothing' }],
    ['to give psd2 a password', WANTS, { next: 'give', step: WANTS.step }],
    ['a page before what psd2 wants', { ...WANTS, redirect: SITE }, { next: 'open', url: SITE }],
    ['to give a password before a start', { ...WANTS, start: '/v1/s' }, { next: 'give', step: WANTS.step }],
    ['to wait, at a bank that has chosen so', { approach: 'decoupled' }, { next: 'wait' }],
    ['to do what the bank says', { message: 'Use the app' }, { next: 'wait' }],
    ['to wait, where that is usual', { status: '/v1/z' }, { next: 'wait' }, DECOUPLED],
    ['a login', { oauth: META }, { next: 'log in', server: META, url: LOGIN_PAGE }, OAUTH],
  ])('is %s', async (_, more, expected, file) => {
    const given = { approach: null, ...more };
    const { turn, sent } = await turned(given, [], file);
    expect({ ...(await turn) }).toEqual({ ...expected, links: given });
    expect(sent).toEqual([]);
  });

  it.each(['http://customers.bank.example/', 'javascript:alert(1)', '//http:x', 'https://a b'])(
    'is no page at %s, wherever psd2 has the link from',
    async (redirect) => {
      const started = said({ _links: { scaRedirect: redirect } }, 201);
      for (const { turn } of [await turned({ approach: null, redirect }), await turned(null, [started])])
        expect(await failureOf(turn)).toMatchObject({ code: 'bank_answer' });
    },
  );

  it.each<[string, ScaLinks | null, Omit<BankFile, 'interface'>?]>([
    ['nothing is known', null],
    ['no link leads on', { approach: null }],
    ['the bank only tells how far it is', { approach: null, status: '/v1/z' }],
    ['waiting is possible, not usual', { approach: null, status: '/v1/z' }, ALSO_DECOUPLED],
    ['only the approach is known to be a page', { approach: 'redirect' }],
    ['nothing is known where waiting is usual', { approach: null }, DECOUPLED],
    ['a link offers it', { approach: null, start: START, status: '/v1/z' }, DECOUPLED],
    ['a link on an inner host offers it', { approach: null, start: `http://xs2a:8080${START}` }],
    ['a link is of another consent', { approach: null, start: '/v1/consents/c2/authorisations' }],
    ['a link is of another’s authorisation', { approach: null, start: '/v1/consents/c2/authorisations/a2' }],
    ['a link leads to an operator’s page', { approach: null, start: '/admin/users' }],
    ['a link leads to another host', { approach: null, start: 'https://evil.example/v1/x' }],
  ])('begins with a start at the own address if %s', async (_, given, file) => {
    const { turn, sent } = await turned(given, [said({ _links: { scaRedirect: SITE } }, 201)], file);
    expect(await turn).toEqual({ next: 'open', url: SITE, links: { approach: null, redirect: SITE } });
    expect(sent).toEqual([{ ...start, body: {}, redirectUri: BACK, beforeSend: silent, psu }]);
  });

  it('begins with the query that the bank wants', async () => {
    const page = said({ _links: { scaRedirect: SITE } }, 201);
    const { turn, sent } = await turned({ approach: null, start: `/inner${START}?tenant=7&x=%2f` }, [page]);
    expect((await turn)?.next).toBe('open');
    expect(sent).toMatchObject([{ method: 'POST', path: `${START}?tenant=7&x=%2f`, facts: OF_CONSENT }]);
  });

  it('begins with an update of the authorisation that the link names', async () => {
    const page = said({ _links: { scaRedirect: SITE } });
    const { turn, sent } = await turned({ approach: null, start: `${ORIGIN}/x${START}/a%201?q=1` }, [page]);
    const kept = { approach: null, id: 'a 1', status: `${START}/a%201`, redirect: SITE };
    expect(await turn).toEqual({ next: 'open', url: SITE, links: kept });
    expect(sent).toMatchObject([
      { method: 'PUT', path: `${START}/a%201?q=1`, body: {}, facts: OF_CONSENT, psu, beforeSend: silent },
    ]);
  });

  const fee = (amount: string) => ({ transactionFees: { amount, currency: 'EUR' } });
  const commissions = (amount: string) => ({
    totalAmount: null,
    commissions: { amount, currency: 'EUR' },
  });
  it.each<[string, object, object, object | undefined]>([
    ['nothing', {}, {}, undefined],
    ['what the start says', fee('1.50'), {}, commissions('1.50')],
    ['what the answer after the name says', {}, fee('2.50'), commissions('2.50')],
    ['what the bank says last', fee('1.50'), fee('2.50'), commissions('2.50')],
  ])('at a bank that only then asks who the customer is costs %s', async (_, first, last, cost) => {
    const page = { _links: { scaRedirect: SITE } };
    const { turn, sent } = await turned(null, [
      said({ _links: { updatePsuIdentification: `${START}/a1` }, ...first }, 201),
      said({ ...page, ...last }),
    ]);
    expect((await turn)?.next).toBe('open');
    expect((await turn)?.cost).toEqual(cost);
    // To say who the customer is begins nothing, so no flow announces it.
    expect(sent).toEqual([
      { ...start, body: {}, redirectUri: BACK, beforeSend: silent, psu },
      { ...start, method: 'PUT', path: `${START}/a1`, body: {}, redirectUri: BACK, psu },
    ]);
    const { turn: alone } = await turned(null, [said({ ...page, ...first }, 201)]);
    expect((await alone)?.cost).toEqual('transactionFees' in first ? commissions('1.50') : undefined);
  });

  it.each([{ startAuthorisation: '/v1/s' }, {}])('ends if the start leads nowhere: %j', async (_links) => {
    const { turn } = await turned(null, [said({ _links }, 201)]);
    expect(await failureOf(turn)).toEqual({
      code: 'bank_answer',
      message: 'The bank has started the authorisation, but names no way, so the customer cannot authorise',
      ...{ hint: NOWHERE, transactionId: TRANSACTION_ID },
    });
  });

  it('ends with the reason why psd2 does not follow the links', async () => {
    const { turn } = await turned({ approach: null, unusable: 'They lead elsewhere', redirect: SITE });
    expect(await failureOf(turn)).toEqual({
      ...{ code: 'bank_answer', message: 'They lead elsewhere', transactionId: TRANSACTION_ID },
      isDeadEnd: true,
    });
  });
});

describe('the links that a flow has kept', () => {
  const OWN = `${START}/a1`;
  const INNER = `http://xs2a:8080/core${OWN}`;
  const OTHERS = '/v1/consents/c2/authorisations/a2';
  const step = (next: 'password' | 'method' | 'code', link: string) => ({ step: { next, link } });
  it.each<[string, Partial<ScaLinks>, string[], [string, string][]]>([
    ['none', {}, [], []],
    ['own ones', { start: START, status: OWN, confirmation: OWN, ...step('code', OWN) }, [], []],
    ['an own start of another authorisation', { id: 'a9', start: OWN }, [], []],
    ['own ones elsewhere', { status: INNER, confirmation: INNER }, ['scaStatus', 'confirmation'], []],
    ['a start of others', { start: OTHERS }, [], [['startAuthorisation', OTHERS]]],
    ['a status of others', { status: OTHERS }, [], [['scaStatus', OTHERS]]],
    ['a status of another authorisation', { id: 'a9', status: OWN }, [], [['scaStatus', OWN]]],
    ['a confirmation of others', { confirmation: OTHERS }, [], [['confirmation', OTHERS]]],
    ['a password of others', step('password', OTHERS), [], [['updatePsuAuthentication', OTHERS]]],
    ['a method of others', step('method', OTHERS), [], [['selectAuthenticationMethod', OTHERS]]],
    ['a TAN of others', step('code', OTHERS), [], [['authoriseTransaction', OTHERS]]],
    ['a password that begins one', step('password', START), [], []],
    ['a TAN elsewhere', step('code', INNER), ['authoriseTransaction'], []],
  ])('say whether they are odd: %s', (_, given, rewritten, foreign) => {
    const odd = opened([]).sca.oddLinks?.('c1', { approach: null, ...given });
    expect([[...(odd?.rewritten ?? [])], [...(odd?.foreign ?? [])]]).toEqual([rewritten, foreign]);
  });
});

describe('an authorisation', () => {
  it('that has no page has no address for a browser', async () => {
    const { sca } = opened([said({ _links: { startAuthorisation: '/v1/s' } }, 201)]);
    const start = { resourceId: 'c1', redirectUri: BACK, transactionId: TRANSACTION_ID, beforeSend: silent };
    expect(await failureOf(sca.start(start))).toEqual({
      code: 'bank_answer',
      message: 'The bank names no page for the customer, so the customer cannot authorise',
      ...{ hint: NOWHERE, transactionId: TRANSACTION_ID },
    });
  });

  it('of a consent is neither listed, nor known without a link', () => {
    const { sca } = opened([]);
    expect([sca.authorisations, sca.progressWithoutLink]).toEqual([undefined, undefined]);
  });

  it.each<[string, Partial<ScaLinks>, string | null]>([
    ['the own link', { status: `${START}/a1` }, `${START}/a1`],
    [
      'one at an inner host, with a query',
      { status: `http://xs2a:1/x${START}/a1?q=%2f` },
      `${START}/a1?q=%2f`,
    ],
    ['one of another consent beside the id', { id: 'a1', status: '/v1/consents/c2/x/a2' }, `${START}/a1`],
    ['one of another authorisation beside the id', { id: 'a1', status: `${START}/a2?q=1` }, `${START}/a1`],
    ['one on another host beside the id', { id: 'a1', status: 'https://evil.example/' }, `${START}/a1`],
    ['that of an earlier version', { status: '/v1/z', usualStatus: `${START}/a1` }, `${START}/a1`],
    ['that of an earlier version, elsewhere', { status: '/v1/z', usualStatus: '/v1/consents/c2/x/a1' }, null],
    ['the confirmation', { status: '/v1/z', confirmation: `${START}/a1` }, `${START}/a1`],
    ['one of another consent', { status: '/v1/consents/c2/authorisations/a2' }, null],
    ['none', { id: 'a1' }, null],
  ])('is asked for at its own address, by %s', async (_, kept, path) => {
    const { sca, sent } = opened([said({ scaStatus: 'started' })]);
    const links = { approach: null, ...kept };
    expect((await sca.progress?.('c1', links, TRANSACTION_ID))?.means).toBe(path ? 'going on' : undefined);
    const call = { ...start, method: 'GET', path, decides: true };
    expect(sent).toEqual(path ? [call] : []);
  });

  it.each([
    ['its own words', refused('RESOURCE_UNKNOWN', 404)],
    ['a page', { status: 410, headers: {}, body: '<html></html>' }],
  ])('that the bank does not know, by %s, is not looked for elsewhere', async (_, gone) => {
    const { sca, sent } = opened([gone]);
    const kept = { approach: null, status: `/inner${START}/a1` };
    const asked = sca.progress?.('c1', kept, TRANSACTION_ID);
    await asked?.then(
      () => expect.unreachable(),
      (error) => expect(isRefusal(error)).toBe(true),
    );
    expect(sent).toHaveLength(1);
  });

  it.each<[string, Partial<ScaLinks>, string]>([
    ['where the link says', { confirmation: `/inner${START}/a1?q=1` }, `${START}/a1?q=1`],
    ['of the id', { id: 'a1', confirmation: '/v1/consents/c2/authorisations/a2' }, `${START}/a1`],
    ['of the status', { status: `${START}/a1`, confirmation: '/admin/x' }, `${START}/a1`],
  ])('is confirmed with the code of the browser, %s', async (_, kept, path) => {
    const { sca, sent } = opened([said({ scaStatus: 'finalised', psuMessage: 'Done' })]);
    const confirmed = { resourceId: 'c1', code: 'C0DE', transactionId: TRANSACTION_ID, beforeSend: silent };
    const done = { scaStatus: 'finalised', means: 'done', message: 'Done' };
    expect(await sca.confirmCode?.({ ...confirmed, links: { approach: null, ...kept } })).toEqual(done);
    expect(sent).toEqual([
      {
        ...{ method: 'PUT', path, facts: OF_CONSENT, transactionId: TRANSACTION_ID },
        ...{ body: { confirmationCode: 'C0DE' }, beforeSend: silent },
      },
    ]);
  });

  it.each<Partial<ScaLinks>>([
    {},
    { id: 'a1' },
    { confirmation: 'https://evil.example/v1/consents/c2/authorisations/a2' },
  ])('is not confirmed by the links %j', async (kept) => {
    const { sca, sent } = opened([]);
    const links = { approach: null, ...kept };
    const confirmed = { resourceId: 'c1', code: 'C0DE', transactionId: TRANSACTION_ID, beforeSend: silent };
    const unlinked = sca.confirmCode?.({ ...confirmed, links });
    expect(await failureOf(Promise.resolve(unlinked))).toEqual({
      code: 'bank_answer',
      message: 'The bank gave no address for the confirmation code, so the customer cannot authorise',
      ...{ hint: NOWHERE, transactionId: TRANSACTION_ID },
    });
    expect(sent).toEqual([]);
  });

  it('may cost something', async () => {
    const transactionFees = { amount: '1.50', currency: 'EUR' };
    const { sca } = opened([
      said({ scaStatus: 'received', transactionFees }),
      said({ scaStatus: 'received' }),
    ]);
    const links = { approach: null, status: `${START}/a1` };
    const progress = () => sca.progress?.('c1', links, TRANSACTION_ID);
    expect((await progress())?.cost).toEqual({ totalAmount: null, commissions: transactionFees });
    expect(await progress()).not.toHaveProperty('cost');
  });

  it.each<[Record<string, string>, string | undefined]>([
    [{ date: DATE }, '2026-11-21T10:00:00.000Z'],
    [{ date: DATE, age: '7' }, undefined],
    [{}, undefined],
  ])('has the time when the bank said it, by %j', async (headers, saidAt) => {
    const { sca } = opened([said({ scaStatus: 'received' }, 200, headers)]);
    const progress = await sca.progress?.('c1', { approach: null, status: `${START}/a1` }, TRANSACTION_ID);
    expect(progress).toEqual({
      ...{ scaStatus: 'received', means: 'going on', message: null },
      ...(saidAt !== undefined && { saidAt }),
    });
  });

  it('says no more than a bank tells a customer', () => {
    expect(progressOf({ scaStatus: 'received', psuMessage: 'x'.repeat(501) }).message).toBe('x'.repeat(500));
  });

  it.each([
    ...['received', 'psuIdentified', 'started', 'hasOwnProperty'].map((status) => [status, 'going on']),
    ['unconfirmed', 'needs code'],
    ['finalised', 'done'],
    ['exempted', 'done'],
    ['failed', 'failed'],
  ])('%s: %s', async (scaStatus, means) => {
    const { sca } = opened([said({ scaStatus, psuMessage: 'Wait' })]);
    const links = { approach: null, status: `${START}/z` };
    expect(await sca.progress?.('c1', links, TRANSACTION_ID)).toEqual({ scaStatus, means, message: 'Wait' });
  });

  it('the bank file says how often the bank is asked, and how long a link is good', () => {
    const timing = (sca: BankFile['sca']) => opened([], { sca }).sca.timing;
    expect(timing({})).toEqual({ pollSeconds: 3, authorisationMinutes: 10 });
    const own = { pollSeconds: 7, authorisationMinutes: 30 };
    expect(timing(own)).toEqual(own);
    const ofKinds = { authorisationMinutes: { payments: 15, consents: 1440 } };
    expect(timing(ofKinds)).toMatchObject({ authorisationMinutes: 1440 });
  });
});
