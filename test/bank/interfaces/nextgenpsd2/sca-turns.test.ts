import { describe, expect, it } from 'vitest';
import { consentsOf } from '../../../../src/bank/interfaces/nextgenpsd2/consents.ts';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { linksOf, progressOf, scaOfConsents } from '../../../../src/bank/interfaces/nextgenpsd2/sca.ts';
import { startAnswer } from '../../../../src/bank/interfaces/nextgenpsd2/wire/consent.ts';
import type { ScaLinks } from '../../../../src/bank/ports/customer.ts';
import { silent, TRANSACTION_ID } from './client.ts';
import {
  errorOf,
  PLAIN_FACTS as FACTS,
  failureOf,
  ORIGIN,
  refused,
  type Scripted,
  said,
  scriptedCalls,
} from './scripted.ts';

// What is next for the customer, by the bank's links: all of it without a connection.

const SITE = 'https://customers.bank.example/sca';
const BACK = 'http://127.0.0.1:8910/callback?state=s1';
const START = '/v1/consents/c1/authorisations';
const NOWHERE = 'psd2 follows scaRedirect, scaOAuth, startAuthorisation, and the decoupled approach.';
const EMBEDDED = {
  code: 'bank_answer',
  message: "The bank wants the customer's password or code from psd2 (embedded SCA). psd2 never takes them",
  hint: 'Ask the bank to offer redirect or decoupled SCA to this application.',
  isDeadEnd: true,
};
const OF_CONSENT = { ...FACTS, ofConsent: 'c1' };

const start = { method: 'POST', path: START, facts: OF_CONSENT, transactionId: TRANSACTION_ID } as const;
const LINKED = { ...scriptedCalls([]).calls, start };

/** The links that psd2 keeps of an answer. */
const links = (_links: object, more: object = {}, headers: Record<string, string> = {}, isDone?: boolean) =>
  linksOf(startAnswer.parse({ _links, ...more }), headers, LINKED, isDone);

it.each([
  [['oauth'], { approach: null, oauth: `${ORIGIN}/meta` }],
  [['oauth', 'redirect'], { approach: null, redirect: `${ORIGIN}/meta` }],
] as const)('at a bank with the approaches %j, scaRedirect is %j', (approaches, kept) => {
  const { calls } = scriptedCalls([], { sca: { approaches: [...approaches] } });
  const answer = startAnswer.parse({ _links: { scaRedirect: `${ORIGIN}/meta` } });
  expect(linksOf(answer, {}, { ...calls, start })).toEqual(kept);
});

describe('the links of an answer', () => {
  const chosen = (approach: string) => ({ 'aspsp-sca-approach': approach });
  const byPassword = { updatePsuAuthentication: '/x' };
  const NAMING = { startAuthorisationWithPsuIdentification: '/v1/i' };
  const STARTS = { startAuthorisation: '/s', startAuthorisationWithPsuAuthentication: '/x' };
  const AT_Z = { scaStatus: '/v1/z' };
  const STATUS_Z = { status: '/v1/z', usualStatus: `${START}/z` };
  const REST = { scaRedirect: SITE, ...AT_Z, confirmation: '/v1/c' };
  const KEPT = { redirect: SITE, ...STATUS_Z, confirmation: '/v1/c' };
  const QUERY = `${ORIGIN}/sca/a1/?x=1`;
  const usualStatus = `${START}/a1`;
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
    ['a status where the standard has it', { scaStatus: `${START}/a1` }, { id: 'a1', status: `${START}/a1` }],
    ['a status elsewhere on the host, with a query', { scaStatus: QUERY }, { status: QUERY, usualStatus }],
    ['a status beside the id', AT_Z, { id: 'a1', status: '/v1/z', usualStatus }, { authorisationId: 'a1' }],
    ['another approach', {}, {}, {}, chosen('OTHER')],
    ['an exemption', {}, { isDone: true }, { scaStatus: 'exempted' }],
    ['an exemption at embedded SCA', {}, { isDone: true }, { scaStatus: 'exempted' }, chosen('embedded')],
    ['an end', {}, { isDone: true }, { scaStatus: 'finalised' }],
    ['no end', {}, {}, { scaStatus: 'failed' }],
    ['a page beside a password', { scaRedirect: SITE, ...byPassword }, { redirect: SITE }],
    ['a login beside a password', { scaOAuth: SITE, ...byPassword }, { oauth: SITE }],
    ['a start beside a password', STARTS, { start: '/s' }],
    ['an end beside a password', byPassword, { isDone: true }, { scaStatus: 'exempted' }],
    ['a way beside a password', byPassword, { approach: 'decoupled' }, {}, chosen('DECOUPLED')],
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

  it.each([
    'updatePsuAuthentication',
    'updateEncryptedPsuAuthentication',
    'selectAuthenticationMethod',
    'authoriseTransaction',
    'startAuthorisationWithPsuAuthentication',
    'startAuthorisationWithEncryptedPsuAuthentication',
    'startAuthorisationWithAuthenticationMethodSelection',
    'startAuthorisationWithTransactionAuthorisation',
  ])('%s alone wants a password', (name) => {
    expect(errorOf(() => links({ [name]: '/x', scaStatus: '/v1/z' }))).toEqual(EMBEDDED);
  });

  it.each([{ scaRedirect: SITE }, { startAuthorisation: '/s' }, {}])(
    '%j at a bank that has chosen the embedded approach wants a password, too',
    (given) => {
      expect(errorOf(() => links(given, {}, { 'aspsp-sca-approach': 'embedded' }))).toEqual(EMBEDDED);
    },
  );

  const EVIL = 'https://evil.example/';
  it.each([
    [{ scaRedirect: 'http://x.example/' }, "The bank's link scaRedirect is not an https address"],
    [{ scaStatus: EVIL }, `The bank's link scaStatus leads to another host: ${EVIL}`],
    [{ confirmation: EVIL }, `The bank's link confirmation leads to another host: ${EVIL}`],
  ])('%j is refused before the customer acts', (given, message) => {
    expect(errorOf(() => links(given))).toMatchObject({ code: 'bank_answer', message });
  });
});

function opened(answers: Scripted[], file: Omit<BankFile, 'interface'> = {}) {
  const script = scriptedCalls(answers, file);
  const { status } = consentsOf(script.calls);
  if (!status) throw new TypeError('A consent has a status');
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
  it.each<[string, Partial<ScaLinks>, object, Omit<BankFile, 'interface'>?]>([
    ['a page', { redirect: SITE, start: '/v1/s' }, { next: 'open', url: SITE }],
    ['a page on the host of the API', { redirect: '/sca' }, { next: 'open', url: `${ORIGIN}/sca` }],
    ['a page before a login', { redirect: SITE, oauth: SITE }, { next: 'open', url: SITE }],
    ['nothing, whatever else there is', { isDone: true, redirect: SITE }, { next: 'nothing' }],
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

  it.each(['http://customers.bank.example/', 'javascript:alert(1)', 'https://a b'])(
    'is no page at %s, wherever psd2 has the link from',
    async (redirect) => {
      const started = said({ _links: { scaRedirect: redirect } }, 201);
      for (const { turn } of [await turned({ approach: null, redirect }), await turned(null, [started])])
        expect(await failureOf(turn)).toMatchObject({ code: 'bank_answer' });
    },
  );

  it('leads no call to another host', async () => {
    const elsewhere = 'https://evil.example/v1/x';
    const { sca, sent } = opened([]);
    const links = { approach: null, start: elsewhere, status: elsewhere, confirmation: elsewhere };
    const { turn } = await turned(links);
    const code = { links, code: '1', transactionId: TRANSACTION_ID, beforeSend: silent };
    for (const call of [turn, sca.progress?.(links, TRANSACTION_ID), sca.confirmCode?.(code)])
      expect(await failureOf(Promise.resolve(call))).toMatchObject({ code: 'bank_answer' });
    expect(sent).toEqual([]);
  });

  it.each<[string, ScaLinks | null, Omit<BankFile, 'interface'>, string]>([
    ['nothing is known', null, {}, START],
    ['no link leads on', { approach: null }, {}, START],
    ['the bank only tells how far it is', { approach: null, status: '/v1/z' }, {}, START],
    ['waiting is possible, not usual', { approach: null, status: '/v1/z' }, ALSO_DECOUPLED, START],
    ['only the approach is known to be a page', { approach: 'redirect' }, {}, START],
    ['nothing is known where waiting is usual', { approach: null }, DECOUPLED, START],
    ['a link says where', { approach: null, start: '/v1/s', status: '/v1/z' }, DECOUPLED, '/v1/s'],
  ])('begins with a start if %s', async (_, given, file, path) => {
    const { turn, sent } = await turned(given, [said({ _links: { scaRedirect: SITE } }, 201)], file);
    expect(await turn).toEqual({ next: 'open', url: SITE, links: { approach: null, redirect: SITE } });
    const facts = path === START ? OF_CONSENT : FACTS;
    expect(sent).toEqual([{ ...start, path, facts, body: {}, redirectUri: BACK, beforeSend: silent, psu }]);
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

  it('of a consent is neither counted, nor known without a link', () => {
    const { sca } = opened([]);
    expect([sca.count, sca.progressWithoutLink]).toEqual([undefined, undefined]);
  });

  it('is as far as the link says', async () => {
    const { sca, sent } = opened([said({ scaStatus: 'started' })]);
    expect(await sca.progress?.({ approach: null, status: '/v1/accounts/a1/z' }, TRANSACTION_ID)).toEqual({
      ...{ scaStatus: 'started', means: 'going on', message: null },
    });
    expect(sent).toEqual([
      { ...start, method: 'GET', path: '/v1/accounts/a1/z', decides: true, facts: FACTS },
    ]);
  });

  it.each([
    ['its own words', refused('RESOURCE_UNKNOWN', 404)],
    ['a page', { status: 410, headers: {}, body: '<html></html>' }],
  ])('is asked at the standard’s address once the bank answers the link with %s', async (_, gone) => {
    const started = said({ scaStatus: 'started' });
    const { sca, sent } = opened([gone, started, started, gone, said({ scaStatus: 'finalised' }, 500)]);
    const found = { approach: null, status: '/v1/z', usualStatus: `${START}/a1`, redirect: SITE } as const;
    const ask = () => Promise.resolve(sca.progress?.(found, TRANSACTION_ID));
    expect(sca.linksLeft?.(found)).toBe(found);
    for (const _ of ['dead', 'alive']) expect((await ask())?.means).toBe('going on');
    expect(sca.linksLeft?.(found)).toEqual({ approach: null, status: `${START}/a1`, redirect: SITE });
    // The standard's address may be dead, too. Then the status of the consent decides.
    for (const _ of ['dead', 'not asked']) expect(await ask()).toBeNull();
    expect(sca.linksLeft?.(found)).toEqual({ approach: null, redirect: SITE });
    expect(sent.map(({ path }) => path)).toEqual(['/v1/z', `${START}/a1`, `${START}/a1`, `${START}/a1`]);
  });

  it('is not asked elsewhere while the bank fails', async () => {
    const { sca, sent } = opened([said({}, 503), said({ scaStatus: 'started' })]);
    const found = { approach: null, id: 'a1', status: '/v1/z', usualStatus: `${START}/a1` } as const;
    await failureOf(Promise.resolve(sca.progress?.(found, TRANSACTION_ID)));
    await sca.progress?.(found, TRANSACTION_ID);
    expect(sent.map(({ path }) => path)).toEqual(['/v1/z', '/v1/z']);
  });

  it('begins at the standard’s address if the bank does not know that of the link', async () => {
    const gone = refused('RESOURCE_UNKNOWN', 404);
    const given = { approach: null, start: '/v1/s' };
    const { turn, sent } = await turned(given, [gone, said({ _links: { scaRedirect: SITE } }, 201)]);
    expect(await turn).toMatchObject({ next: 'open', url: SITE });
    expect(sent.map(({ path }) => path)).toEqual(['/v1/s', START]);
    const usual = await turned({ approach: null, start: START }, [gone]);
    expect(await failureOf(usual.turn)).toMatchObject({ httpStatus: 404 });
    expect(usual.sent).toHaveLength(1);
    // A bank that fails may have begun one.
    const failing = await turned(given, [said({}, 503)]);
    expect(await failureOf(failing.turn)).toMatchObject({ httpStatus: 503 });
    expect(failing.sent).toHaveLength(1);
  });

  it('is confirmed with the code of the browser, where the link says', async () => {
    const { sca, sent } = opened([said({ scaStatus: 'finalised', psuMessage: 'Done' })]);
    const confirmed = { code: 'C0DE', transactionId: TRANSACTION_ID, beforeSend: silent };
    const links = { approach: null, confirmation: '/v1/c' };
    const done = { scaStatus: 'finalised', means: 'done', message: 'Done' };
    expect(await sca.confirmCode?.({ ...confirmed, links })).toEqual(done);
    expect(sent).toEqual([
      {
        ...{ method: 'PUT', path: '/v1/c', facts: FACTS, transactionId: TRANSACTION_ID },
        ...{ body: { confirmationCode: 'C0DE' }, beforeSend: silent },
      },
    ]);
    const unlinked = sca.confirmCode?.({ ...confirmed, links: { approach: null } });
    expect(await failureOf(Promise.resolve(unlinked))).toEqual({
      code: 'bank_answer',
      message: 'The bank gave no address for the confirmation code, so the customer cannot authorise',
      ...{ hint: NOWHERE, transactionId: TRANSACTION_ID },
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
    expect(await sca.progress?.(links, TRANSACTION_ID)).toEqual({ scaStatus, means, message: 'Wait' });
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
