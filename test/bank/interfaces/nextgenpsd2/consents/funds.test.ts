import { describe, expect, it } from 'vitest';
import {
  askForFunds,
  fundsConsentsOf,
} from '../../../../../src/bank/interfaces/nextgenpsd2/consents/funds.ts';
import type { CoveredFunds } from '../../../../../src/domain/consent.ts';
import { parsePaymentAmount } from '../../../../../src/domain/order/payment-amount.ts';
import { announcements } from '../../../client.ts';
import { TRANSACTION_ID } from '../client.ts';
import { failureOf, noBankHas, PLAIN_FACTS, type Scripted, said, scriptedCalls } from '../scripted.ts';

const IBAN = 'DE89370400440532013000';
const PATH = '/v2/consents/confirmation-of-funds';
const CREATED = said(
  {
    ...{ consentId: 'f1', consentStatus: 'received', psuMessage: 'Open the app' },
    _links: {
      scaRedirect: { href: 'https://bank.example/sca' },
      scaStatus: { href: `${PATH}/f1/authorisations/a1` },
    },
  },
  201,
);

function opened(answers: readonly Scripted[], file: Parameters<typeof scriptedCalls>[1] = {}) {
  const { calls, oauth, sent, notices } = scriptedCalls(answers, file);
  return { calls, sent, notices, ...fundsConsentsOf(calls, oauth) };
}

const request = (access: Omit<CoveredFunds, 'type'>) => ({
  ...{ customerId: 'shop', categories: [{ name: 'FUNDS_AVAILABILITY' as const, products: [] }] },
  ...{ terms: { access: { type: 'funds' as const, ...access } }, redirectUri: 'http://127.0.0.1:1/?state=s' },
  ...{ transactionId: TRANSACTION_ID, beforeSend: announcements().beforeSend },
});

describe('a consent for confirmations of funds', () => {
  const CARD = {
    ...{ cardNumber: '5254121234563241', cardInformation: 'Gold', registrationInformation: 'Contract 7' },
  };
  it.each([
    [{ account: IBAN }, { account: { iban: IBAN } }],
    [{ account: 'msisdn:+491701234567:EUR' }, { account: { msisdn: '+491701234567', currency: 'EUR' } }],
    [
      { account: 'pan:5254121234563241', ...CARD },
      { account: { pan: '5254121234563241' }, ...CARD },
    ],
  ])('is asked for at the path of the extended service: %j', async (access, body) => {
    const { consents, sent } = opened([CREATED]);
    const requested = await consents.request(request(access));
    expect(sent.map((call) => [call.method, call.path, call.body, call.facts.ofPayment])).toEqual([
      ['POST', PATH, body, TRANSACTION_ID],
    ]);
    expect(requested).toMatchObject({
      ...{ resourceId: 'f1', bankStatus: 'received', besideOthers: true },
      outcomes: [{ name: 'FUNDS_AVAILABILITY', outcome: true }],
      links: { redirect: 'https://bank.example/sca', id: 'a1', status: `${PATH}/f1/authorisations/a1` },
    });
    // No journal has the number of a card.
    expect(JSON.stringify(requested)).not.toContain('5254121234563241');
    expect(requested.terms).toBeUndefined();
  });

  it.each([
    { tppMessages: [{ category: 'WARNING', code: 'WARNING', text: 'Card 5254121234563242' }] },
    { psuMessage: 'Confirm 5254 1212 3456 3242 in the app' },
    { consentStatus: 'received for 5254121234563242' },
  ])('keeps and says no number that the bank repeats: %j', async (words) => {
    const body = { consentId: 'f1', consentStatus: 'received', ...words, _links: {} };
    const { consents, notices } = opened([said(body, 201)]);
    const requested = await consents.request(request({ account: IBAN, cardNumber: '5254121234563242' }));
    const kept = JSON.stringify([requested, notices]);
    expect(kept).toContain('525412******3242');
    expect(kept).not.toMatch(/5254 ?1212 ?3456 ?3242/);
  });

  it.each([
    JSON.stringify({
      tppMessages: [{ category: 'ERROR', code: 'FORMAT_ERROR', text: 'No card: 5254121234563242' }],
    }),
    '<h1>5254121234563242 refused</h1>',
  ])('has no number in the message of a refusal: %s', async (body) => {
    const { consents } = opened([{ status: 400, body }]);
    const failure = await failureOf(consents.request(request({ account: 'pan:5254121234563242' })));
    expect(failure).toMatchObject({ message: expect.stringContaining('525412******3242') });
    expect(JSON.stringify(failure)).not.toContain('5254121234563242');
  });

  it.each([{}, { terms: {} }, { terms: { access: { type: 'all-accounts' as const } } }])(
    'is for an account, and for nothing else: %j',
    async (terms) => {
      const { terms: _, ...others } = request({ account: IBAN });
      const asking = async () => opened([]).consents.request({ ...others, ...terms });
      expect(await failureOf(asking())).toEqual(noBankHas('such consents'));
    },
  );

  it('returns the browser only where somebody says whereto', async () => {
    const { consents, sent } = opened([CREATED, CREATED]);
    const { redirectUri, ...others } = request({ account: IBAN });
    await consents.request({ ...others, redirectUri });
    await consents.request(others);
    expect(sent.map((call) => ('redirectUri' in call ? call.redirectUri : 'none'))).toEqual([
      redirectUri,
      'none',
    ]);
  });

  it('grants confirmations of funds, and nothing else that was asked for', async () => {
    const categories = [
      { name: 'FUNDS_AVAILABILITY' as const, products: [] },
      { name: 'ACCOUNT_INFO' as const, products: [] },
    ];
    const requested = await opened([CREATED]).consents.request({ ...request({ account: IBAN }), categories });
    expect(requested.outcomes).toEqual([
      { name: 'FUNDS_AVAILABILITY', outcome: true },
      { name: 'ACCOUNT_INFO', outcome: false },
    ]);
  });

  it.each([
    ['received', { approach: null, unusable: "The bank's link scaRedirect is not an https address" }],
    ['valid', { approach: null, redirect: 'http://x.example', isDone: true }],
  ])('that is %s has these links: %j', async (consentStatus, links) => {
    const _links = { scaRedirect: { href: 'http://x.example' } };
    const { consents } = opened([said({ consentId: 'f1', consentStatus, _links }, 201)]);
    expect((await consents.request(request({ account: IBAN }))).links).toEqual(links);
  });

  it('does not hide a fault of psd2', async () => {
    await expect(opened([]).consents.request(request({ account: IBAN }))).rejects.toThrow(
      new TypeError(`The script has no answer to POST ${PATH}`),
    );
  });

  it('is asked about, also at a bank that tells no status of a consent for readings', async () => {
    const { consents, sca } = opened(
      [said({ consentStatus: 'received' }), said({ consentStatus: 'expired' })],
      {
        consent: { status: 'none' },
      },
    );
    expect(await consents.details?.('f1', TRANSACTION_ID)).toMatchObject({ means: 'open' });
    expect(await sca.status('f1', TRANSACTION_ID)).toMatchObject({ authorizationStatus: 'expired' });
  });

  it('is asked about and ended at its own paths', async () => {
    const { consents, sca, sent } = opened([
      said({ consentStatus: 'valid', account: { pan: 5254121234563241, maskedPan: '5254121234563241' } }),
      said({ consentStatus: 'expired' }),
      { status: 204 },
      said({ scaStatus: 'finalised', psuMessage: 'Card 5254121234563241' }),
    ]);
    expect(await consents.details?.('f1', TRANSACTION_ID)).toMatchObject({
      ...{
        means: 'valid',
        validUntil: null,
        access: { account: { pan: '525412******3241', maskedPan: '525412******3241' } },
      },
    });
    expect(await sca.status('f1', TRANSACTION_ID)).toMatchObject({ authorizationStatus: 'expired' });
    expect(await consents.delete?.('f1', TRANSACTION_ID, { wasTaken: false })).toMatchObject({
      bankStatus: 'terminatedByTpp',
    });
    const links = { approach: null, status: `http://inner:8080${PATH}/f1/authorisations/a1` };
    expect(await sca.progress?.('f1', links, TRANSACTION_ID)).toMatchObject({
      means: 'done',
      message: 'Card 525412******3241',
    });
    expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
      ...[`GET ${PATH}/f1`, `GET ${PATH}/f1/status`, `DELETE ${PATH}/f1`],
      `GET ${PATH}/f1/authorisations/a1`,
    ]);
  });

  it.each([
    [404, 'RESOURCE_UNKNOWN', /may have no consents for confirmations of funds, or has them at another path/],
    [400, 'SERVICE_INVALID', /funds\.consent never, or api\.paths/],
    [400, 'FORMAT_ERROR', /bank file may say how/],
  ])('that the bank refuses with %i %s says what may be wrong', async (status, code, hint) => {
    const { consents } = opened([said({ tppMessages: [{ category: 'ERROR', code }] }, status)]);
    expect(await failureOf(consents.request(request({ account: IBAN })))).toMatchObject({
      ...{ code: 'bank_refused', hint: expect.stringMatching(hint) },
    });
  });
});

it.each([
  ['AIS:{consentId}', 'PIIS:f1'],
  ['ais {consentId}', 'piis f1'],
  ['Ais', 'PIIS'],
  ['aisp', 'aisp'],
  ['read:AIS', 'read:AIS'],
])('a login with the scope %s for readings has %s for these consents', async (ais, scope) => {
  const oauth = {
    authorizationEndpoint: 'https://idp.example/a',
    tokenEndpoint: 'https://bank.example/t',
    scope: { ais },
  };
  const { sca } = opened([], { oauth, sca: { approaches: ['oauth'] } });
  const turn = await sca.proceed?.({
    ...{
      resourceId: 'f1',
      links: { approach: null, oauth: 'https://bank.example/m' },
      transactionId: TRANSACTION_ID,
    },
    ...{ redirectUri: 'http://127.0.0.1/', beforeSend: announcements().beforeSend, psu: undefined },
    login: { clientId: 'c', redirectUri: 'http://127.0.0.1/', state: 's', codeVerifier: 'v'.repeat(43) },
  });
  const url = new URL(turn && 'url' in turn ? turn.url : 'https://nowhere.example');
  expect(url.searchParams.get('scope')).toBe(scope);
});

const funds = (account: string, consentId?: string) => ({
  ...{ account, amount: parsePaymentAmount('12.50'), currency: 'EUR' },
  ...(consentId && { consent: { consentId, transactionId: 'of-the-consent' } }),
});

it('a confirmation of funds goes out with its consent, and the tokens of that', async () => {
  const { calls, sent } = scriptedCalls([said({ fundsAvailable: true }), said({ fundsAvailable: 'false' })]);
  expect(await askForFunds(calls, funds(IBAN), TRANSACTION_ID)).toBe(true);
  expect(await askForFunds(calls, funds('bban:37', 'f1'), TRANSACTION_ID)).toBe(false);
  const instructedAmount = { currency: 'EUR', amount: '12.50' };
  const call = {
    ...{ method: 'POST', path: '/v1/funds-confirmations', transactionId: TRANSACTION_ID, facts: PLAIN_FACTS },
    decides: true,
  };
  expect(sent).toEqual([
    { ...call, body: { account: { iban: IBAN }, instructedAmount } },
    {
      ...{ ...call, body: { account: { bban: '37' }, instructedAmount }, headers: { 'consent-id': 'f1' } },
      facts: { ...PLAIN_FACTS, ofPayment: 'of-the-consent' },
    },
  ]);
});

it.each([{}, { fundsAvailable: 'yes' }])('an answer of %j says nothing of funds', async (answer) => {
  const { calls } = scriptedCalls([said(answer)]);
  const unusable = /^The bank's answer to POST \/v1\/funds-confirmations has no usable fundsAvailable: /;
  expect(await failureOf(askForFunds(calls, funds(IBAN), TRANSACTION_ID))).toMatchObject({
    ...{ code: 'bank_answer', message: expect.stringMatching(unusable) },
  });
});

const message = (code: string, text?: string) => ({
  tppMessages: [{ category: 'ERROR', code, ...(text && { text }) }],
});
const ONLY_WITH =
  /^The bank confirms funds only with a consent of the customer\. The (?:bank|consent) .+: \S/;
const OTHER_THAN = /^The bank does not confirm funds with the consent that psd2 has\. The bank .+: \S/;
const MISSING = "Header 'consent-id' is missing";
it.each<[number, object, string | undefined, string, RegExp]>([
  [400, message('FORMAT_ERROR', `${MISSING} in request`), undefined, 'not_logged_in', ONLY_WITH],
  [400, { code: 400, message: MISSING }, undefined, 'not_logged_in', ONLY_WITH],
  [401, message('CONSENT_INVALID'), undefined, 'not_logged_in', ONLY_WITH],
  [403, message('CONSENT_UNKNOWN'), 'f1', 'not_logged_in', OTHER_THAN],
  [
    401,
    message('NO_PIIS_ACTIVATION', 'No consent'),
    undefined,
    'not_logged_in',
    /^The customer has not activated/,
  ],
  [400, message('FORMAT_ERROR', 'amount'), undefined, 'bank_refused', /amount/],
  [400, message('FORMAT_ERROR', 'consent'), 'f1', 'bank_refused', /consent/],
  [503, { text: 'consent service' }, undefined, 'bank_failing', /503/],
])('%i %j with the consent %s is %s', async (status, body, consentId, code, text) => {
  const { calls } = scriptedCalls([said(body, status)]);
  const failure = await failureOf(askForFunds(calls, funds(IBAN, consentId), TRANSACTION_ID));
  expect(failure).toMatchObject({ code, message: expect.stringMatching(text) });
  // The command knows which consent to ask for.
  if (code === 'not_logged_in') expect(failure).not.toHaveProperty('next');
});

it.each([
  ...['consent', 'Consent is missing', 'CONSENT', 'consentimiento', 'Consenso', 'Consents'],
  ...['Einwilligung fehlt', 'einwilligung', 'KEINE EINWILLIGUNG', 'Zustimmung des Kunden', 'ZUSTIMMUNG'],
  ...['Toestemming ontbreekt', 'geen toestemming', 'Zgoda klienta', 'brak zgody', 'BRAK ZGODY'],
])('a bank that says "%s" wants a consent, in whatever language and case', async (words) => {
  const { calls } = scriptedCalls([said(message('FORMAT_ERROR', words), 400)]);
  const failure = await failureOf(askForFunds(calls, funds(IBAN), TRANSACTION_ID));
  expect(failure).toMatchObject({ code: 'not_logged_in', message: expect.stringMatching(ONLY_WITH) });
});

it.each([
  [399, false],
  [400, true],
  [499, true],
  [500, false],
])('words of a consent with HTTP %i want one: %s', async (status, wantsOne) => {
  const { calls } = scriptedCalls([said(message('FORMAT_ERROR', 'consent'), status)]);
  const failure = await failureOf(askForFunds(calls, funds(IBAN), TRANSACTION_ID));
  expect('code' in failure && failure.code === 'not_logged_in').toBe(wantsOne);
});
