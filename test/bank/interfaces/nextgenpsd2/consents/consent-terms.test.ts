import { describe, expect, it } from 'vitest';
import { scaOfConsents } from '../../../../../src/bank/interfaces/nextgenpsd2/access/sca.ts';
import {
  consentStatusOf,
  consentsOf,
} from '../../../../../src/bank/interfaces/nextgenpsd2/consents/consents.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { parseDate } from '../../../../../src/domain/calendar.ts';
import type { ConsentTerms } from '../../../../../src/domain/consent.ts';
import { silent, TRANSACTION_ID } from '../client.ts';
import {
  aboutAnother,
  errorOf,
  failureOf,
  IDS,
  noBankHas,
  refused as refusedBy,
  type Scripted,
  said,
  scriptedCalls,
} from '../scripted.ts';

// What a consent can be for, and each call about one: whole requests, whole answers, whole errors.

type Consent = NonNullable<BankFile['consent']>;
const date = (day: string) => parseDate('--until', day);
const IBAN = 'DE89370400440532013000';
const UNTAKEN = { wasTaken: false };
const FACTS_OF_CONSENT = { reads: null, needsConsent: false, login: false, ofConsent: 'c1' };
const CREATED = { consentId: 'c1', consentStatus: 'received' };
const REQUEST = {
  customerId: 'shop',
  categories: [{ name: 'ACCOUNT_INFO' as const, products: [] }],
  transactionId: TRANSACTION_ID,
  beforeSend: silent,
};

function opened(answers: Scripted[], consent: Consent = {}) {
  const script = scriptedCalls(answers, { consent });
  return { ...script, consents: consentsOf(script.calls) };
}

async function requested(
  terms: Partial<ConsentTerms>,
  consent: Consent = {},
  answer: Scripted = said(CREATED, 201),
) {
  const { consents, sent } = opened([answer], consent);
  const result = await consents.request({ ...REQUEST, terms });
  return { result, body: sent[0]?.body };
}

const refused = (terms: Partial<ConsentTerms>, consent: Consent = {}) =>
  errorOf(() => opened([], consent).consents.checkTerms?.(terms));

const USUAL = { recurring: true, validUntil: '2027-05-20', frequencyPerDay: 4 };
const OFFERED = { type: 'bank-offered', balances: true, transactions: true };
const ALL = { access: { type: 'all-accounts' } } as const;
const LIST = { access: { type: 'list-only' } } as const;
const WHOLE = { access: { type: 'list-with-balances' } };
const EVERY_TYPE: NonNullable<Consent['types']> = [
  ...(['bank-offered', 'dedicated', 'all-accounts', 'list-only', 'list-with-balances'] as const),
];
const endsOn = (day: string) => ({ validUntil: date(day) });

describe('the terms of a consent', () => {
  it.each<[string, Partial<ConsentTerms>, Consent, object]>([
    ['nothing', {}, {}, {}],
    ['fewer readings than the bank allows', { frequencyPerDay: 1 }, {}, { frequencyPerDay: 1 }],
    ['fewer days than the bank allows', endsOn('2026-11-21'), {}, { validUntil: '2026-11-21' }],
    ['as much as the bank allows', { frequencyPerDay: 4, ...endsOn('2027-05-20') }, {}, {}],
    ['one reading', { recurring: false, frequencyPerDay: 3 }, {}, { recurring: false, frequencyPerDay: 1 }],
    ["the bank's first type", {}, { types: ['list-only', 'dedicated'] }, LIST],
    ['the list, with balances where the bank has no other', LIST, { types: ['list-with-balances'] }, WHOLE],
    ['all accounts', {}, { types: ['all-accounts'] }, ALL],
    ['the list with balances', {}, { types: ['list-with-balances', 'dedicated'] }, WHOLE],
    ['the list alone, where the bank has both', LIST, { types: ['list-with-balances', 'list-only'] }, LIST],
    ['the list alone', {}, { types: ['list-only', 'list-with-balances'] }, LIST],
    ['the choice of the customer', {}, { types: ['all-accounts', 'bank-offered'] }, {}],
    ['as many days as this bank allows', {}, { maxDays: 1 }, { validUntil: '2026-11-22' }],
    ['as many readings as this bank allows', {}, { frequencyPerDay: 9 }, { frequencyPerDay: 9 }],
  ])('%s', async (_, terms, consent, expected) => {
    opened([], consent).consents.checkTerms?.(terms);
    const given = (await requested(terms, consent)).result.terms;
    expect(given).toEqual({ ...USUAL, access: OFFERED, ...expected });
  });

  const usage = (message: string, hint: string) => ({ code: 'usage', message, hint });
  const NO_ONCE = usage('This bank does not offer consents for one reading', 'Leave out --once.');
  const TYPES = 'It offers: list-only, dedicated.';
  const NO_ALL = usage('This bank does not offer consents of the type all-accounts', TYPES);
  const [NO_LIST, NO_FUNDS] = ['list-only', 'funds'].map((type) =>
    usage(`This bank does not offer consents of the type ${type}`, 'It offers: dedicated.'),
  );
  const NAME_EACH = 'Name each with --account <iban>.';
  const NO_ACCOUNT = usage('This bank wants to know for which accounts the consent is', NAME_EACH);
  const often = (count: number, most: number) =>
    usage(`This bank does not offer ${count} readings a day`, `It allows 1 to ${most}.`);
  const until = (day: string) => ({
    code: 'invalid_date',
    message: `The consent cannot be valid until ${day}`,
    hint: 'This bank takes a day from 2026-11-21 to 2027-05-20.',
  });
  it.each<[Partial<ConsentTerms>, Consent, object | undefined]>([
    [{ recurring: false }, { once: false }, NO_ONCE],
    [ALL, { types: ['list-only', 'dedicated'] }, NO_ALL],
    [LIST, { types: ['dedicated'] }, NO_LIST],
    [{ access: { type: 'funds', account: IBAN } }, { types: ['dedicated'] }, NO_FUNDS],
    [{}, { types: ['dedicated', 'list-only'] }, NO_ACCOUNT],
    [{ frequencyPerDay: 5 }, {}, often(5, 4)],
    [{ frequencyPerDay: 0 }, { frequencyPerDay: 2 }, often(0, 2)],
    [endsOn('2027-05-21'), {}, until('2027-05-21')],
    [endsOn('2026-11-20'), {}, until('2026-11-20')],
  ])('%j at a bank with %j', async (terms, consent, error) => {
    expect(refused(terms, consent)).toEqual(error);
    expect(await failureOf(opened([], consent).consents.request({ ...REQUEST, terms }))).toEqual(error);
  });
});

describe('a request for a consent', () => {
  const bank = (balances: boolean, transactions: boolean) => ({
    access: { type: 'bank-offered', balances, transactions } as const,
  });
  const dedicated = (accounts: string[], balances: string[], transactions: string[]) => ({
    access: { type: 'dedicated', accounts, balances, transactions } as const,
  });
  const ACCESS = { accounts: [], balances: [], transactions: [] };
  const CARDS = [{ maskedPan: '5254**41' }, { bban: '0815', currency: 'EUR' }, { msisdn: '491701234567' }];
  it.each<[Partial<ConsentTerms>, object]>([
    [ALL, { allPsd2: 'allAccounts' }],
    [LIST, { availableAccounts: 'allAccounts' }],
    [{ access: { type: 'list-with-balances' } }, { availableAccountsWithBalance: 'allAccounts' }],
    [bank(true, true), ACCESS],
    [bank(false, true), { accounts: [], transactions: [] }],
    [bank(true, false), { accounts: [], balances: [] }],
    [bank(false, false), { accounts: [] }],
    [dedicated([IBAN], [], []), { accounts: [{ iban: IBAN }] }],
    [dedicated([IBAN], [IBAN], []), { accounts: [{ iban: IBAN }], balances: [{ iban: IBAN }] }],
    [dedicated([IBAN], [], [IBAN]), { accounts: [{ iban: IBAN }], transactions: [{ iban: IBAN }] }],
    [dedicated(['maskedPan:5254**41', 'bban:0815:EUR', 'msisdn:491701234567'], [], []), { accounts: CARDS }],
  ])('for %j', async (terms, access) => {
    const { result, body } = await requested(terms, { types: EVERY_TYPE });
    expect(body).toEqual({
      ...{ access, recurringIndicator: true, validUntil: '2027-05-20', frequencyPerDay: 4 },
      combinedServiceIndicator: false,
    });
    expect(result.access).toEqual(access);
  });

  it('names a card to the bank alone', async () => {
    const { result, body } = await requested(dedicated(['pan:5254321098764141'], [], []));
    expect(body).toMatchObject({ access: { accounts: [{ pan: '5254321098764141' }] } });
    for (const told of [result.terms, result.access]) expect(JSON.stringify(told)).toContain('******4141');
  });

  it.each([{}, { redirectUri: 'http://127.0.0.1/' }])('returns the browser to %j', async (back) => {
    const status = '/v1/consents/c1/authorisations/z';
    const _links = { scaRedirect: { href: 'https://bank.example/sca?x=1' }, scaStatus: { href: status } };
    const { consents, sent } = opened([said({ ...CREATED, _links }, 201)]);
    const categories = [...REQUEST.categories, { name: 'PAYMENTS' as const, products: [] }];
    expect(await consents.request({ ...REQUEST, categories, ...back })).toEqual({
      ...{ resourceId: 'c1', bankStatus: 'received', besideOthers: false, access: ACCESS },
      outcomes: [
        { name: 'ACCOUNT_INFO', outcome: true },
        { name: 'PAYMENTS', outcome: false },
      ],
      terms: { ...USUAL, access: OFFERED },
      links: { approach: null, redirect: 'https://bank.example/sca?x=1', id: 'z', status },
    });
    expect(sent).toMatchObject([{ method: 'POST', path: '/v1/consents', beforeSend: silent, ...back }]);
    expect(Object.keys(sent[0] ?? {}).includes('redirectUri')).toBe('redirectUri' in back);
  });

  it.each([
    ['no id', { consentStatus: 'received' }],
    ['an id that no header can carry', { ...CREATED, consentId: 'a\nb' }],
    ['no status', { consentId: 'c1' }],
  ])('is not begun by an answer with %s', async (_, answer) => {
    expect(await failureOf(requested({}, {}, said(answer, 201)))).toMatchObject({ code: 'bank_answer' });
  });

  it.each([
    [' TRUE ', true],
    ['false', false],
    ['yes', false],
  ])('ends no other one if the bank says so: %j', async (header, besideOthers) => {
    const answer = said(CREATED, 201, { 'aspsp-multiple-consent-support': header });
    expect((await requested({}, {}, answer)).result.besideOthers).toBe(besideOthers);
  });

  it.each(['valid', 'rejected', 'expired', 'revokedByPsu', 'terminatedByTpp'])(
    'that is %s at once leaves nothing to authorise',
    async (consentStatus) => {
      const answer = said({ ...CREATED, consentStatus }, 201);
      expect((await requested({}, {}, answer)).result.links).toEqual({ approach: null, isDone: true });
    },
  );
});

describe('a consent that the bank refuses', () => {
  it.each([
    ['SERVICE_INVALID', { type: 'all-accounts' }, '--account <iban>, --list-only'],
    ['PARAMETER_NOT_SUPPORTED', { type: 'list-only' }, '--account <iban>, --all-accounts'],
    ['FORMAT_ERROR', undefined, '--account <iban>, --all-accounts, --list-only.'],
  ] as const)('%s: the sentence names the other kinds', async (code, access, others) => {
    const error = await failureOf(requested(access ? { access } : {}, {}, refusedBy(code, 400)));
    const hint = expect.stringContaining(`Other kinds: ${others}`);
    expect(error).toMatchObject({ bankCode: code, hint });
    expect(error).toMatchObject({ hint: expect.stringContaining('consent.types') });
  });

  it('another refusal is about something else', async () => {
    const answer = refusedBy('PSU_CREDENTIALS_INVALID', 401);
    expect(await failureOf(requested({}, {}, answer))).not.toMatchObject({
      hint: expect.stringContaining('--all-accounts'),
    });
  });

  const BANK_FILE = 'The bank file may say how this bank differs from the standard.';
  const others = (type: string, ...kinds: string[]) =>
    `${BANK_FILE} The bank may not take consents of the type ${type}. Other kinds: ${kinds.join(', ')}. What the bank takes belongs into consent.types of the bank file.`;
  const [ACCOUNT, ALL_ACCOUNTS, LIST_ONLY] = ['--account <iban>', '--all-accounts', '--list-only'];
  const AT_BANK = 'none of these options (the customer chooses at the bank)';
  const refusedFor = async (access: ConsentTerms['access'] | undefined, message: object) => {
    const body = { tppMessages: [{ category: 'ERROR', code: 'FORMAT_ERROR', ...message }] };
    const terms = access === undefined ? {} : { access };
    const failure = await failureOf(requested(terms, { types: EVERY_TYPE }, said(body, 400)));
    return 'hint' in failure ? failure.hint : undefined;
  };

  it.each<[ConsentTerms['access'], string[]]>([
    [
      { type: 'dedicated', accounts: [IBAN], balances: [], transactions: [] },
      [ALL_ACCOUNTS, LIST_ONLY, AT_BANK],
    ],
    [{ type: 'all-accounts' }, [ACCOUNT, LIST_ONLY, AT_BANK]],
    [{ type: 'list-only' }, [ACCOUNT, ALL_ACCOUNTS, AT_BANK]],
    [{ type: 'list-with-balances' }, [ACCOUNT, ALL_ACCOUNTS, AT_BANK]],
    [{ type: 'bank-offered', balances: true, transactions: true }, [ACCOUNT, ALL_ACCOUNTS, LIST_ONLY]],
  ])('of the type of %j has others beside it, each once', async (access, kinds) => {
    expect(await refusedFor(access, { text: 'No' })).toBe(others(access.type, ...kinds));
  });

  const DATE = 'The bank wants the header Date. Set headers.date of the bank file to "always".';
  it.each<[object, string]>([
    [{ text: 'No' }, others('all-accounts', ACCOUNT, LIST_ONLY, AT_BANK)],
    [{ text: 'No', path: 'access' }, others('all-accounts', ACCOUNT, LIST_ONLY, AT_BANK)],
    [{ text: 'The date is wrong' }, others('all-accounts', ACCOUNT, LIST_ONLY, AT_BANK)],
    [{ text: 'No subheader' }, others('all-accounts', ACCOUNT, LIST_ONLY, AT_BANK)],
    [{ text: 'No', path: 'dates' }, others('all-accounts', ACCOUNT, LIST_ONLY, AT_BANK)],
    [{ text: 'No', path: 'psu' }, others('all-accounts', ACCOUNT, LIST_ONLY, AT_BANK)],
    [{ text: 'Headers are missing' }, BANK_FILE],
    [{ text: 'HEADER x' }, BANK_FILE],
    [{ text: 'No', path: 'digest' }, BANK_FILE],
    [{ text: 'No', path: 'Signature' }, BANK_FILE],
    [{ text: 'No', path: 'psu-id' }, BANK_FILE],
    [{ text: 'No', path: 'TPP-Redirect-URI' }, BANK_FILE],
    [{ text: 'No', path: 'date' }, DATE],
    [{ text: 'Header Date' }, DATE],
    [{ text: 'Header updated' }, BANK_FILE],
  ])('for %j is of the kind of the consent, or of a header', async (message, hint) => {
    expect(await refusedFor({ type: 'all-accounts' }, message)).toBe(hint);
  });
});

describe('a consent at the bank', () => {
  const lacking = (status: number, code?: string) =>
    code === undefined ? said({}, status) : refusedBy(code, status);

  it('is replaced by a newer one, and not confirmed', async () => {
    const { consents } = opened([]);
    expect(consents.replaced).toBe('expired');
    const consent = { customerId: 'shop', resourceId: 'c1', transactionId: TRANSACTION_ID };
    const confirming = consents.confirm({ ...consent, beforeSend: silent });
    expect(await failureOf(confirming)).toEqual(noBankHas('confirmation of consents'));
  });

  it.each([
    ['status', '/v1/consents/c1/status'],
    ['details', '/v1/consents/c1'],
  ] as const)('has %s that decide', async (what, path) => {
    const { consents, sent } = opened([said({ consentStatus: 'valid', consentId: 'c1' })]);
    expect(await consents[what]?.('c1', TRANSACTION_ID)).toMatchObject(consentStatusOf('valid'));
    expect(sent).toEqual([
      { ...{ method: 'GET', path, facts: FACTS_OF_CONSENT }, transactionId: TRANSACTION_ID, decides: true },
    ]);
  });

  it('is read with blanks and lines around what is said of it', async () => {
    const { consents } = opened([{ body: ' \r\n{ "consentStatus": "valid" }\n ' }]);
    expect(await consents.status?.('c1', TRANSACTION_ID)).toMatchObject({ means: 'valid' });
  });

  const UNTOLD = { consentStatus: 'not told', means: 'valid' };
  const NOTHING = { validUntil: null, frequencyPerDay: null, recurring: null, access: null };
  it('of which the bank tells nothing is taken for valid, and nothing is asked', async () => {
    const { consents, sent } = opened([], { status: 'none' });
    expect(await consents.status?.('c1', TRANSACTION_ID)).toEqual(UNTOLD);
    expect(await consents.details?.('c1', TRANSACTION_ID)).toEqual({ ...UNTOLD, ...NOTHING });
    expect(sent).toEqual([]);
  });

  it.each(['status', 'details'] as const)('has %s that decide an end', async (what) => {
    const { consents, sent } = opened([said({ consentStatus: 'expired' })]);
    await consents[what]?.('c1', TRANSACTION_ID, 'an end');
    expect(sent).toMatchObject([{ decides: 'an end' }]);
  });

  it('without a call for it has a status that decides an end', async () => {
    const { consents, sent } = opened([lacking(405), said({ consentStatus: 'expired' })]);
    await consents.details?.('c1', TRANSACTION_ID, 'an end');
    expect(sent).toMatchObject([{ decides: 'an end' }, { decides: 'an end' }]);
  });

  it.each(['status', 'details'] as const)('whose %s is that of another one decides nothing', async (what) => {
    const { consents } = opened([said({ consentStatus: 'valid', consentId: 'c2' })]);
    const reading = Promise.resolve(consents[what]?.('c1', TRANSACTION_ID));
    expect(await failureOf(reading)).toEqual(aboutAnother('consent', 'c2', 'c1'));
  });

  it('never shows the number of a card, wherever the bank has it', async () => {
    const access = {
      accounts: [{ pan: '5254321098764141' }, { pan: '123' }, { pan: 7 }],
      more: { pan: '123456' },
    };
    const { consents } = opened([said({ consentStatus: 'valid', access })]);
    expect(await consents.details?.('c1', TRANSACTION_ID)).toEqual({
      ...{ consentStatus: 'valid', means: 'valid', validUntil: null, frequencyPerDay: null, recurring: null },
      access: {
        accounts: [{ pan: '525432******4141' }, { pan: '123' }, { pan: 7 }],
        more: { pan: '**3456' },
      },
    });
  });

  it.each([
    ['validUntil', '2026-12-31T10:00:00Z', 'validUntil', '2026-12-31'],
    ['validUntil', 'soon', 'validUntil', null],
    ['frequencyPerDay', 0, 'frequencyPerDay', 0],
    ['frequencyPerDay', -1, 'frequencyPerDay', null],
    ['frequencyPerDay', 1.5, 'frequencyPerDay', null],
    ['recurringIndicator', false, 'recurring', false],
    ['recurringIndicator', 'TRUE ', 'recurring', true],
    ['recurringIndicator', 'often', 'recurring', null],
    ['frequencyPerDay', '4', 'frequencyPerDay', 4],
    ['access', 'all', 'access', null],
    ['access', [], 'access', null],
    ['access', { accounts: [{ iban: IBAN }] }, 'access', { accounts: [{ iban: IBAN }] }],
    ['access', { allPsd2: 'x'.repeat(1_000_000) }, 'access', null],
  ])('with the %s %j', async (field, value, name, expected) => {
    const { consents } = opened([said({ consentStatus: 'valid', [field]: value })]);
    expect(await consents.details?.('c1', TRANSACTION_ID)).toMatchObject({ [name]: expected });
  });

  it.each([404, 405, 501])('without a call for it (%i) has its status alone', async (status) => {
    const { consents, sent } = opened([lacking(status), said({ consentStatus: 'expired' })]);
    expect(await consents.details?.('c1', TRANSACTION_ID)).toEqual({
      ...{ consentStatus: 'expired', means: 'expired', validUntil: null, frequencyPerDay: null },
      ...{ recurring: null, access: null },
    });
    expect(sent.map(({ path }) => path)).toEqual(['/v1/consents/c1', '/v1/consents/c1/status']);
  });

  it.each([
    ['is blocked', lacking(403, 'SERVICE_BLOCKED')],
    ['is unknown', lacking(404, 'CONSENT_UNKNOWN')],
    ['has expired', lacking(404, 'CONSENT_EXPIRED')],
  ])('that %s is not asked for its status', async (_, answer) => {
    const { consents, sent } = opened([answer]);
    await failureOf(Promise.resolve(consents.details?.('c1', TRANSACTION_ID)));
    expect(sent).toHaveLength(1);
  });

  it('that the bank shows in no way leaves what psd2 knows', async () => {
    const { consents } = opened([lacking(404), lacking(405, 'SERVICE_INVALID')]);
    expect(await failureOf(Promise.resolve(consents.details?.('c1', TRANSACTION_ID)))).toEqual({
      code: 'bank_refused',
      message:
        'The bank does not say how the consent c1 is, so psd2 keeps what it knows. The bank does not have the service of GET /v1/consents/c1/status (HTTP 405): No',
      ...{ httpStatus: 405, bankCode: 'SERVICE_INVALID', refusal: 'content', isBanks: true, ...IDS },
    });
  });

  it('whose status fails for another reason says that', async () => {
    const { consents } = opened([lacking(404), lacking(403, 'SERVICE_BLOCKED')]);
    expect(await failureOf(Promise.resolve(consents.details?.('c1', TRANSACTION_ID)))).toMatchObject({
      code: 'forbidden',
      message: 'The bank has blocked this service for the customer (HTTP 403): No',
    });
  });

  const TERMINATED = { bankStatus: 'terminatedByTpp' };
  const PAGE = 'https://customers.bank.example/end';
  it.each([
    [{ text: "Header 'date' is missing in request." }, /^The bank wants the header Date\. Set headers\.date/],
    [{ text: 'Missing', path: 'Date' }, /^The bank wants the header Date/],
    [{ text: 'The header PSU-ID is missing' }, /^The bank file may say/],
    [{ text: "Wrong value of 'validUntil': it is no date" }, /Other kinds: /],
  ])('whose request is refused for %j leads to what helps', async (message, hint) => {
    const body = { tppMessages: [{ category: 'ERROR', code: 'FORMAT_ERROR', ...message }] };
    const { consents } = opened([{ ...said(body), status: 400 }]);
    const request = consents.request({
      ...{ customerId: 'c', categories: [{ name: 'ACCOUNT_INFO', products: [] }] },
      ...{ transactionId: TRANSACTION_ID, beforeSend: silent },
    });
    expect(await failureOf(request)).toMatchObject({ hint: expect.stringMatching(hint) });
  });

  it.each([
    ['it has ended', lacking(401, 'CONSENT_EXPIRED'), false],
    ['it has ended', lacking(403, 'RESOURCE_EXPIRED'), false],
    ['the bank ends it', { status: 204 }, true],
    ['the bank ends it', said({}), true],
    ['the bank ends it, perhaps later', said({}, 202), true],
    ['the bank ends it, perhaps later', { status: 202 }, true],
  ])('%s: %j', async (_, answer, wasThere) => {
    const { consents, sent } = opened([answer]);
    const end = await consents.delete?.('c1', TRANSACTION_ID, UNTAKEN);
    expect(end).toMatchObject({ ...TERMINATED, ...(wasThere && { wasThere }) });
    expect(end?.wasThere === true).toBe(wasThere);
    expect(sent).toEqual([
      { method: 'DELETE', path: '/v1/consents/c1', facts: FACTS_OF_CONSENT, transactionId: TRANSACTION_ID },
    ]);
  });

  it.each([
    ...[lacking(404), lacking(403, 'SERVICE_BLOCKED'), lacking(401, 'CONSENT_INVALID')],
    ...[lacking(404, 'CONSENT_UNKNOWN'), { status: 200, body: '<html>' }],
  ])('does not end: %j', async (answer) => {
    const ending = Promise.resolve(opened([answer]).consents.delete?.('c1', TRANSACTION_ID, UNTAKEN));
    expect(await failureOf(ending)).toMatchObject({ httpStatus: answer.status });
  });

  it.each([
    ['received', 'open', 'PENDING', null],
    ['partiallyAuthorised', 'open', 'PENDING', null],
    ['toString', 'unknown', 'PENDING', null],
    ['valid', 'valid', 'AUTHORIZED', 'executed'],
    ['rejected', 'rejected', 'NOT_AUTHORIZED', null],
    ['expired', 'expired', 'EXPIRED', null],
    ['revokedByPsu', 'revoked', 'NOT_AUTHORIZED', null],
    ['terminatedByTpp', 'ended by us', 'NOT_AUTHORIZED', null],
  ])('with the status %s is %s: %s', async (consentStatus, means, status, became) => {
    const partly = consentStatus === 'partiallyAuthorised' && { isPartly: true };
    const known = { consentStatus, means, ...partly };
    expect(consentStatusOf(consentStatus)).toEqual(known);
    const { calls, oauth } = opened([]);
    const sca = scaOfConsents(calls, oauth, async () => consentStatusOf(consentStatus));
    expect(await sca.status('c1', TRANSACTION_ID)).toEqual({
      ...{ authorizationStatus: consentStatus, executionStatus: null, became },
      authorization: { type: 'authorization', status, bankStatus: consentStatus },
    });
  });

  it('has ended if the bank does not know it after a deletion that it has taken', async () => {
    const unknown = lacking(404, 'CONSENT_UNKNOWN');
    const deleted = (wasTaken: boolean) =>
      Promise.resolve(opened([unknown]).consents.delete?.('c1', TRANSACTION_ID, { wasTaken }));
    expect(await deleted(true)).toMatchObject(TERMINATED);
    expect(await failureOf(deleted(false))).toMatchObject({ isNotKnown: true });
  });

  it.each<[string, Scripted, object]>([
    ['at a page', said({ _links: { scaRedirect: { href: PAGE } } }, 202), { page: PAGE }],
    ['at a page, with 200', said({ _links: { scaRedirect: { href: PAGE } } }), { page: PAGE }],
    ['on their phone', { status: 202, headers: { 'aspsp-sca-approach': 'DECOUPLED' } }, { page: null }],
  ])('has not ended before the customer authorises that %s', async (_, answer, authorise) => {
    expect(await opened([answer]).consents.delete?.('c1', TRANSACTION_ID, UNTAKEN)).toMatchObject({
      ...{ bankStatus: 'terminatedByTpp', authorise },
    });
  });

  it('stays in force if the customer must authorise its end, and the bank does not say where', async () => {
    const links = { startAuthorisation: { href: '/v1/consents/c1/authorisations' } };
    const { consents } = opened([said({ _links: links }, 202)]);
    const deleted = Promise.resolve(consents.delete?.('c1', TRANSACTION_ID, UNTAKEN));
    expect(await failureOf(deleted)).toEqual({
      code: 'outcome_unknown',
      message: 'The bank wants the customer to authorise the end of the consent c1, so it stays in force',
      ...{ hint: 'The customer can end it at the bank.', transactionId: TRANSACTION_ID },
    });
  });

  it('is not ended before it is authorised, at a bank that deletes no other', async () => {
    const [received, valid] = ['received', 'valid'].map((consentStatus) => said({ consentStatus }));
    const answers = [received ?? {}, valid ?? {}, { status: 204 }, said({ consentStatus: 'expired' })];
    const { consents, sent } = opened(answers, { delete: 'authorised' });
    const deleted = () => Promise.resolve(consents.delete?.('c1', TRANSACTION_ID, UNTAKEN));
    expect(await failureOf(deleted())).toEqual({
      code: 'bank_refused',
      message: 'The bank deletes only a consent that the customer has authorised',
      hint: 'It calls this one received. Nothing can be read with it, and it ends by itself (consent.delete of the bank file).',
      transactionId: TRANSACTION_ID,
    });
    expect(await deleted()).toMatchObject(TERMINATED);
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'GET', 'DELETE']);
  });
});
