import { describe, expect, it } from 'vitest';
import { loginOf } from '../../../../../src/bank/interfaces/nextgenpsd2/access/oauth.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { questionsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/probing/questions.ts';
import type { AskedConsent } from '../../../../../src/bank/ports/questions.ts';
import { parseDate } from '../../../../../src/domain/calendar.ts';
import { failureOf, ORIGIN, PLAIN_FACTS, refused, type Scripted, said, scriptedCalls } from '../scripted.ts';

// What each question of `psd2 bank learn` sends, and what it makes of an answer. What an answer shows is judge/question.test.ts.

function asking(answers: readonly Scripted[], file: Omit<BankFile, 'interface'> = {}, pathPrefix = '') {
  const { calls, oauth, sent } = scriptedCalls(answers, file);
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `id-${ids}`;
  };
  const at = { ...calls, base: { ...calls.base, pathPrefix } };
  const questions = questionsOf(at, { newId }, { ...loginOf(calls.bank, oauth, calls.description), probe });
  return { questions, sent };
}
const probe = () => Promise.reject(new TypeError('Nothing is probed here'));

const TODAY = parseDate('--date', '2026-11-21');
const BACK = 'http://127.0.0.1:8910/callback';
const WITH = { psu: { id: 'anna', idType: undefined, corporateId: undefined }, bearer: 't' };
const CONSENT: AskedConsent = {
  ...{ access: { type: 'all-accounts' as const }, recurring: true, validUntil: TODAY, frequencyPerDay: 4 },
  redirectUri: BACK,
};
const PAYMENT = { service: 'payments', product: 'x', paymentId: 'p1', redirectUri: BACK };
const [ONCE, BEGINS, ALWAYS] = [
  { once: true },
  { once: true, interruptible: 'until sent', body: {} },
  { once: true, interruptible: 'never' },
] as const;
const OF_C1 = { ...PLAIN_FACTS, ofConsent: 'c1' };
const done = said({});

type Questions = ReturnType<typeof questionsOf>;
it.each<[string, (questions: Questions) => Promise<unknown>, object]>([
  [
    'a consent',
    (questions) => questions.consent(CONSENT, WITH),
    {
      ...{ method: 'POST', path: '/v1/consents', redirectUri: BACK, facts: PLAIN_FACTS, ...BEGINS },
      body: {
        ...{ access: { allPsd2: 'allAccounts' }, recurringIndicator: true, validUntil: '2026-11-21' },
        ...{ frequencyPerDay: 4, combinedServiceIndicator: false },
      },
    },
  ],
  [
    'the consent',
    (questions) => questions.details('c1', WITH),
    { method: 'GET', path: '/v1/consents/c1', facts: OF_C1, ...ONCE },
  ],
  [
    'its status',
    (questions) => questions.status('c1', WITH),
    { method: 'GET', path: '/v1/consents/c1/status', facts: OF_C1, ...ONCE },
  ],
  [
    'its authorisation',
    (questions) => questions.authorisation('c1', WITH),
    { method: 'POST', path: '/v1/consents/c1/authorisations', facts: OF_C1, body: {}, ...ONCE },
  ],
  [
    'its end',
    (questions) => questions.deleteConsent('c1', WITH),
    { method: 'DELETE', path: '/v1/consents/c1', facts: OF_C1, ...ALWAYS },
  ],
  [
    'a product',
    (questions) => questions.product('bulk-payments', 'x', WITH),
    { method: 'POST', path: '/v1/bulk-payments/x', facts: PLAIN_FACTS, ...BEGINS },
  ],
  [
    'a consent for funds',
    (questions) => questions.fundsConsent(WITH),
    { method: 'POST', path: '/v2/consents/confirmation-of-funds', facts: PLAIN_FACTS, ...BEGINS },
  ],
  [
    'its end',
    (questions) => questions.deleteFundsConsent('c1', WITH),
    { method: 'DELETE', path: '/v2/consents/confirmation-of-funds/c1', facts: OF_C1, ...ALWAYS },
  ],
  [
    'the end of a payment',
    (questions) => questions.cancelPayment(PAYMENT, WITH),
    { method: 'DELETE', path: '/v1/payments/x/p1', facts: PLAIN_FACTS, redirectUri: BACK, ...ALWAYS },
  ],
])('asks for %s once', async (_, ask, call) => {
  const { questions, sent } = asking([done]);
  await ask(questions);
  expect(sent).toEqual([{ transactionId: 'id-1', ...call, ...WITH }]);
});

it('reads accounts with a consent that there is not', async () => {
  const { questions, sent } = asking([refused('CONSENT_UNKNOWN', 400), refused('TOKEN_INVALID', 401)]);
  expect(await questions.reading(WITH)).toMatchObject({ signature: 'accepted', asked: 'GET /v1/accounts' });
  expect(await questions.reading()).toMatchObject({ signature: 'wants a token' });
  expect(sent[0]).toEqual({
    ...{ method: 'GET', path: '/v1/accounts', transactionId: 'id-1', headers: { 'consent-id': 'id-2' } },
    ...{ facts: { reads: 'list', needsConsent: true, login: false }, ...ONCE, ...WITH },
  });
});

it.each([
  [{}, 'bookingStatus=both&dateFrom=2026-11-21'],
  [{ bookingStatus: 'status', dateTo: 'until' }, 'status=both&dateFrom=2026-11-21'],
  [{ dateFrom: 'since' }, 'bookingStatus=both&since=2026-11-21'],
])('asks for transactions of an account that there is not, at a bank with %j', async (parameters, query) => {
  const { questions, sent } = asking([refused('CONSENT_INVALID', 401)], { accounts: { parameters } });
  await questions.transactions({ consentId: 'c1', bookingStatus: 'both', dateFrom: TODAY }, WITH);
  expect(sent).toEqual([
    {
      ...{ method: 'GET', path: `/v1/accounts/id-1/transactions?${query}`, transactionId: 'id-2' },
      ...{ headers: { 'consent-id': 'c1' }, facts: PLAIN_FACTS, ...ONCE, ...WITH },
    },
  ]);
});

const SCA = { _links: { scaRedirect: { href: 'https://bank.example/sca' } } };
const REDIRECT = { approach: null, redirect: 'https://bank.example/sca' };

describe('what has begun', () => {
  const MADE = { consentId: 'c1', paymentId: 'p1', consentStatus: 'received', transactionStatus: 'RCVD' };
  it.each<[string, Scripted, begun: boolean, beganNothing: boolean]>([
    ['an answer that says so', said(MADE, 201), true, false],
    ['one without an id', said({ consentStatus: 'received', transactionStatus: 'RCVD' }, 201), false, false],
    ['a refusal', refused('FORMAT_ERROR', 400), false, true],
    [
      'a refusal with an id',
      said({ ...MADE, tppMessages: [{ category: 'ERROR', code: 'FORMAT_ERROR' }] }, 400),
      false,
      true,
    ],
    ['a failure', refused('INTERNAL_SERVER_ERROR', 500), false, false],
  ])('is known by %s', async (_, answer, begun, beganNothing) => {
    const { questions } = asking([answer, answer, answer]);
    expect(await questions.consent(CONSENT)).toMatchObject({ id: begun ? 'c1' : null, beganNothing });
    expect(await questions.product('payments', 'x')).toMatchObject({ id: begun ? 'p1' : null, beganNothing });
    expect(await questions.fundsConsent()).toMatchObject({ id: begun ? 'c1' : null, beganNothing });
  });

  it.each<[string, Scripted, object | null]>([
    ['its links', said({ ...MADE, ...SCA }, 201), REDIRECT],
    ['no links', said(MADE, 201), { approach: null }],
    [
      'a link that psd2 must not open',
      said({ ...MADE, _links: { scaRedirect: 'http://x.example' } }, 201),
      { approach: null, unusable: "The bank's link scaRedirect is not an https address" },
    ],
    ['no id', said({ consentStatus: 'received', ...SCA }, 201), null],
    ['a refusal', refused('FORMAT_ERROR', 400), null],
  ])('has %s', async (_, answer, links) => {
    expect((await asking([answer]).questions.consent(CONSENT)).links).toEqual(links);
  });

  it.each<[string, Scripted, object | null]>([
    ['its links', said(SCA, 201), REDIRECT],
    ['a refusal with links', said({ ...SCA, tppMessages: [{ category: 'ERROR', code: 'X' }] }, 400), null],
    ['no object', said('x'), null],
  ])('of an authorisation has %s', async (_, answer, links) => {
    expect((await asking([answer]).questions.authorisation('c1')).links).toEqual(links);
  });
});

it.each<[string, Scripted, object | null]>([
  [
    'shows it',
    said({ consentStatus: 'valid', validUntil: '2026-12-01', frequencyPerDay: 2, recurringIndicator: true }),
    {
      ...{ consentStatus: 'valid', means: 'valid', validUntil: '2026-12-01', frequencyPerDay: 2 },
      ...{ recurring: true, access: null },
    },
  ],
  ['does not show it', said({}), null],
  ['refuses', said({ consentStatus: 'valid', tppMessages: [{ category: 'ERROR', code: 'X' }] }, 400), null],
])('of a consent, the details are known if the bank %s', async (_, answer, details) => {
  expect((await asking([answer]).questions.details('c1')).details).toEqual(details);
});

describe('what ends', () => {
  it.each<[string, Scripted, isGone: boolean, isNotKnown: boolean]>([
    ['taken', { status: 204 }, true, false],
    ['taken for later', said({}, 202), true, false],
    ['gone already', refused('CONSENT_EXPIRED', 401), true, false],
    ['not known', refused('CONSENT_UNKNOWN', 403), false, true],
    ['to be authorised', said(SCA, 202), false, false],
    ['refused', refused('FORMAT_ERROR', 400), false, false],
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, false, false],
  ])('a consent: %s', async (_, answer, isGone, isNotKnown) => {
    const { questions } = asking([answer, answer]);
    expect(await questions.deleteConsent('c1')).toMatchObject({ isGone, isNotKnown });
    expect(await questions.deleteFundsConsent('c1')).toMatchObject({ isGone, isNotKnown });
  });

  const STATUS = '/v1/payments/x/p1/status';
  it.each<[string, Scripted[], isGone: boolean, asksForStatus: boolean]>([
    ['taken', [{ status: 204 }], true, false],
    // Of a payment, an expired one may have been executed.
    ['expired', [refused('RESOURCE_EXPIRED', 403)], false, false],
    ['refused', [refused('FORMAT_ERROR', 400)], false, false],
    ['cancelled', [said(SCA, 202), said({ transactionStatus: 'CANC' })], true, true],
    ['rejected', [said(SCA, 202), said({ transactionStatus: 'RJCT' })], true, true],
    [
      'cancelled, by its id',
      [said(SCA, 202), said({ transactionStatus: 'CANC', paymentId: 'p1' })],
      true,
      true,
    ],
    ['another one', [said(SCA, 202), said({ transactionStatus: 'CANC', paymentId: 'p2' })], false, true],
    ['open', [said(SCA, 202), said({ transactionStatus: 'RCVD' })], false, true],
    ['executed', [said(SCA, 202), said({ transactionStatus: 'ACSC' })], false, true],
    ['of no status', [said(SCA, 202), said({})], false, true],
    ['of a status that is refused', [said(SCA, 202), said({ transactionStatus: 'CANC' }, 400)], false, true],
  ])('a payment: %s', async (_, answers, isGone, asksForStatus) => {
    const { questions, sent } = asking(answers);
    expect((await questions.cancelPayment(PAYMENT, WITH)).isGone).toBe(isGone);
    expect(sent.slice(1)).toEqual(
      asksForStatus
        ? [
            {
              ...{ method: 'GET', path: STATUS, transactionId: 'id-2', facts: PLAIN_FACTS },
              ...{ ...ALWAYS, ...WITH },
            },
          ]
        : [],
    );
  });
});

describe('the OAuth server', () => {
  const WELL_KNOWN = '/.well-known/oauth-authorization-server';
  const TOKENS = { token_endpoint: `${ORIGIN}/token` };
  const NO = refused('RESOURCE_UNKNOWN', 404);
  const call = (path: string, transactionId = 'id-1') => ({
    ...{ method: 'GET', origin: ORIGIN, path, transactionId, once: true },
    facts: { ...PLAIN_FACTS, login: true },
  });
  const server = (address: string, more: object = {}) => ({
    ...{ address, grantTypes: null, clientAuth: null, hasAuthorization: false, ...more },
  });

  it.each<[string, string, Scripted[], calls: object[], object | null]>([
    ['at the host', '', [said(TOKENS)], [call(WELL_KNOWN)], server(`${ORIGIN}${WELL_KNOWN}`)],
    ['nowhere', '', [NO], [call(WELL_KNOWN)], null],
    [
      'before the path',
      '/xs2a',
      [said(TOKENS)],
      [call(`${WELL_KNOWN}/xs2a`)],
      server(`${ORIGIN}${WELL_KNOWN}/xs2a`),
    ],
    [
      'behind the path',
      '/xs2a',
      [NO, said(TOKENS)],
      [call(`${WELL_KNOWN}/xs2a`), call(`/xs2a${WELL_KNOWN}`, 'id-2')],
      server(`${ORIGIN}/xs2a${WELL_KNOWN}`),
    ],
    ['at neither', '/xs2a', [NO, NO], [call(`${WELL_KNOWN}/xs2a`), call(`/xs2a${WELL_KNOWN}`, 'id-2')], null],
  ])('is looked for where the standard has it: %s', async (_, prefix, answers, calls, found) => {
    const { questions, sent } = asking(answers, {}, prefix);
    expect((await questions.oauthServer())?.server ?? null).toEqual(found);
    expect(sent).toEqual(calls);
  });

  it.each<[string, Scripted, object | null]>([
    ['a server', said(TOKENS), server(`${ORIGIN}/m?a=b`)],
    [
      'all of it',
      said({
        ...{ ...TOKENS, authorization_endpoint: `${ORIGIN}/a`, grant_types_supported: ['g'] },
        token_endpoint_auth_methods_supported: ['m'],
      }),
      server(`${ORIGIN}/m?a=b`, { grantTypes: ['g'], clientAuth: ['m'], hasAuthorization: true }),
    ],
    ['no place for tokens', said({ authorization_endpoint: `${ORIGIN}/a` }), null],
    ['a refusal', said({ ...TOKENS, tppMessages: [{ category: 'ERROR', code: 'X' }] }, 400), null],
    ['no object', said('x'), null],
  ])('that the bank names is asked there: %s', async (_, answer, found) => {
    const { questions, sent } = asking([answer]);
    expect(await questions.oauthServer(`${ORIGIN}/m?a=b`)).toMatchObject({ server: found });
    expect(sent).toEqual([call('/m?a=b')]);
  });

  it('at another host gets nothing', async () => {
    const { questions, sent } = asking([]);
    expect(await questions.oauthServer('https://idp.example/m')).toBeNull();
    expect(sent).toEqual([]);
  });
});

it('the token of the application is that of its login, or the failure of that', async () => {
  const file: Omit<BankFile, 'interface'> = {
    oauth: { mode: 'client-credentials', tokenEndpoint: `${ORIGIN}/token` },
  };
  const client = { clientId: 'c', clientSecret: 'x' };
  const { questions, sent } = asking([said({ access_token: 'a', token_type: 'Bearer' })], file);
  expect(await questions.applicationToken(client)).toBe('a');
  expect(sent).toMatchObject([{ path: '/token', transactionId: 'id-1' }]);
  expect(String(sent[0]?.body)).toContain('grant_type=client_credentials');
  const none = asking([said({ error: 'invalid_client' }, 401)], file).questions;
  expect(await failureOf(none.applicationToken(client))).toMatchObject({ httpStatus: 401 });
});

describe('what a person hears of an answer', () => {
  const HEARD = { asked: 'GET /v1/consents/c1/status', hasOwnId: false };
  const errors = (...messages: object[]) =>
    said({ tppMessages: messages.map((each) => ({ category: 'ERROR', ...each })) }, 400);
  it.each<[string, Scripted, object]>([
    [
      'a success',
      said({ consentStatus: 'valid' }),
      {
        verdict: 'takes it',
        code: null,
        path: null,
        about: '',
        brief: '200',
        says: '200',
        refusal: null,
        form: 'json',
      },
    ],
    ['an empty success', { status: 204 }, { brief: '204', refusal: null, form: 'empty' }],
    [
      'a refusal',
      errors({ code: 'FORMAT_ERROR', path: 'Body.X', text: 'No X' }),
      {
        ...{
          verdict: 'minds the content',
          code: 'FORMAT_ERROR',
          path: 'body.x',
          about: 'format_error body.x no x',
        },
        ...{ brief: '400 FORMAT_ERROR', says: '400 FORMAT_ERROR, "No X"', form: 'json' },
        refusal: expect.objectContaining({ code: 'bank_refused' }),
      },
    ],
    [
      'two errors',
      errors({ code: 'FORMAT_ERROR', text: 'One' }, { code: 'SERVICE_INVALID', path: 'Y' }),
      { code: 'FORMAT_ERROR', about: 'format_error  one service_invalid y ', path: null },
    ],
    [
      'a refusal without words',
      errors({ code: 'FORMAT_ERROR' }),
      { brief: '400 FORMAT_ERROR', says: '400 FORMAT_ERROR', about: 'format_error  ' },
    ],
    ['a code of nobody', said({ code: 'E-17', message: 'No' }, 400), { code: null, brief: '400' }],
    [
      'a page',
      { status: 404, headers: { 'content-type': 'text/html' }, body: '<html>' },
      { code: null, brief: '404', says: '404, the answer is text/html', form: 'other' },
    ],
    ['a number', said(7, 400), { form: 'other' }],
    ['null', said(null, 400), { form: 'other' }],
    ['nothing', { status: 400 }, { brief: '400', form: 'empty' }],
    ['the step interface', said({ result: { outcome: 'ERROR' } }, 404), { form: 'step interface' }],
  ])('%s', async (_, answer, heard) => {
    expect(await asking([answer]).questions.status('c1')).toMatchObject({ ...HEARD, ...heard });
  });
});
