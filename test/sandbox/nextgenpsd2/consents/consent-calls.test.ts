import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { accessSide } from '../../../../src/sandbox/nextgenpsd2/access-side.ts';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import { type BankHere, bankHere } from '../bank-here.ts';
import { ANNA, CALLBACK, CARD, consentBody } from '../door-client.ts';
import { ANNAS } from '../payment-client.ts';

const READING = '/v1/consents';
const FUNDS = '/v2/consents/confirmation-of-funds';

/** Asks for a consent of a kind. */
function ask({ serve }: BankHere, path: string) {
  const body = path === READING ? consentBody() : { account: { iban: ANNAS } };
  const answer = serve(`POST ${path}`, { body });
  return { answer, id: String(answer.json.consentId) };
}

type Consent = ReturnType<typeof ask>;
type State = 'received' | 'valid' | 'revokedByPsu' | 'expired';

/** A consent of a kind, in a state. @returns its path */
function consentIn(here: BankHere, path: string, state: State): string {
  const { answer, id } = ask(here, path);
  const { consents } = doorOf(here.bank);
  const consent = consents.find(id) ?? expect.unreachable();
  if (state !== 'received') here.approve(answer, ANNA);
  if (state === 'revokedByPsu') consents.end(consent, 'revokedByPsu');
  if (state === 'expired') consent.validUntil = '2026-11-19';
  return `${path}/${id}`;
}

const statusOf = ({ serve }: BankHere, path: string) => serve(`GET ${path}/status`).json.consentStatus;

test.each([
  [READING, [], undefined],
  [READING, ['multiple-consents'], 'true'],
  [FUNDS, [], undefined],
  // Such consents never end another one.
  [FUNDS, ['multiple-consents'], undefined],
] as const)('asking for a consent at %s, with %j', async (path, variations, several) => {
  const { answer, id } = ask(await bankHere({}, variations), path);
  const self = `/nextgenpsd2${path}/${id}`;
  const sca = String(answer.json._links?.scaStatus?.href);
  expect([answer.status, answer.headers]).toEqual([
    201,
    {
      ...{ Location: self, 'ASPSP-SCA-Approach': 'REDIRECT' },
      ...(several !== undefined && { 'ASPSP-Multiple-Consent-Support': several }),
    },
  ]);
  expect(sca).toMatch(new RegExp(`^${self}/authorisations/[0-9a-f-]{36}$`));
  expect(answer.json).toEqual({
    ...{ consentStatus: 'received', consentId: id },
    _links: {
      scaRedirect: { href: `https://customers.example/authorise?request=${sca.split('/').at(-1)}` },
      ...{ scaStatus: { href: sca }, self: { href: self }, status: { href: `${self}/status` } },
    },
  });
});

test.each<[state: State, hasLink: boolean]>([
  ['received', false],
  ['valid', true],
  ['revokedByPsu', false],
  ['expired', false],
])('a consent that is %s says what it is, and leads to the accounts: %s', async (state, hasLink) => {
  const here = await bankHere();
  const path = consentIn(here, READING, state);
  expect(here.serve(`GET ${path}`)).toMatchObject({ status: 200 });
  expect(here.serve(`GET ${path}`).json).toEqual({
    ...{ access: { allPsd2: 'allAccounts' }, recurringIndicator: true, frequencyPerDay: 4 },
    ...{ validUntil: state === 'expired' ? '2026-11-19' : '2027-01-31', lastActionDate: '2026-11-20' },
    consentStatus: state,
    ...(hasLink && { _links: { account: { href: '/nextgenpsd2/v1/accounts' } } }),
  });
  expect(statusOf(here, path)).toBe(state);
});

test.each<State>(['received', 'valid', 'revokedByPsu'])(
  'a consent to confirmations that is %s says so',
  async (state) => {
    const here = await bankHere();
    const path = consentIn(here, FUNDS, state);
    expect(here.serve(`GET ${path}`).json).toEqual({ account: { iban: ANNAS }, consentStatus: state });
    expect(statusOf(here, path)).toBe(state);
  },
);

test.each<[card: Record<string, string>]>([
  [{}],
  [{ cardNumber: '5254 **** 3017' }],
  [
    {
      cardNumber: '5254 **** 3017',
      cardExpiryDate: '2028-02-29',
      cardInformation: 'My Merchant Loyalty Card',
    },
  ],
  [{ registrationInformation: 'Your contract with the merchant 4711' }],
])('a consent to confirmations has what it was asked for with: %j', async (card) => {
  const { serve } = await bankHere();
  const body = { account: { iban: ANNAS }, ...card };
  const { json } = serve(`POST ${FUNDS}`, { body });
  expect(serve(`GET ${FUNDS}/${json.consentId}`).json).toEqual({ ...body, consentStatus: 'received' });
});

describe('the day of the last action', () => {
  const DAY = 24 * 60 * 60_000;
  // Asked for on the 20th, and given on the 21st.
  test.each<[what: string, act: (here: BankHere, consent: Consent) => void, status: string, day: string]>([
    ['that it was given', () => {}, 'valid', '2026-11-21'],
    [
      'that the TPP ended it',
      ({ serve }, { id }) => serve(`DELETE ${READING}/${id}`),
      'terminatedByTpp',
      '2026-11-23',
    ],
    [
      'that the customer withdrew it',
      ({ bank }, { id }) => accessSide(bank).revoke(id),
      ...(['revokedByPsu', '2026-11-23'] as const),
    ],
    [
      'that another one took its place',
      (here) => here.approve(ask(here, READING).answer, ANNA),
      ...(['expired', '2026-11-23'] as const),
    ],
    // One that was only asked for, or is of another kind, does nothing to it.
    [
      'that it was given, before another one is asked for',
      (here) => ask(here, READING),
      'valid',
      '2026-11-21',
    ],
    [
      'that it was given, before one to confirmations',
      (here) => here.approve(ask(here, FUNDS).answer, ANNA),
      ...(['valid', '2026-11-21'] as const),
    ],
    // Its time runs out without an action.
    [
      'that it was given, before its last day',
      ({ clock }) => clock.advance(70 * DAY),
      ...(['expired', '2026-11-21'] as const),
    ],
  ])('is %s', async (_, act, status, day) => {
    const here = await bankHere({ sca: { authorisationMinutes: 10_080 } });
    const consent = ask(here, READING);
    const read = () => {
      const { consentStatus, lastActionDate } = here.serve(`GET ${READING}/${consent.id}`).json;
      return [consentStatus, lastActionDate];
    };
    expect(read()).toEqual(['received', '2026-11-20']);
    here.clock.advance(DAY);
    expect(read()).toEqual(['received', '2026-11-20']);
    here.approve(consent.answer, ANNA);
    here.clock.advance(2 * DAY);
    act(here, consent);
    here.clock.advance(DAY);
    expect(read()).toEqual([status, day]);
  });

  test('is that the customer refused it', async () => {
    const here = await bankHere();
    const { answer, id } = ask(here, READING);
    const read = () => here.serve(`GET ${READING}/${id}`).json;
    here.clock.advance(13 * 60 * 60_000);
    expect(read()).toMatchObject({ consentStatus: 'rejected', lastActionDate: '2026-11-21' });
    expect(() => here.approve(answer, ANNA)).toThrow('There is no open request');
  });
});

test.each<[former: boolean, later: boolean, isEnded: boolean]>([
  [true, true, true],
  [true, false, false],
  [false, true, false],
  [false, false, false],
])(
  'of a consent that is recurring %s, a later one that is recurring %s ends it: %s',
  async (one, other, isEnded) => {
    const here = await bankHere();
    const give = (recurringIndicator: boolean) => {
      const body = consentBody({ recurringIndicator, frequencyPerDay: recurringIndicator ? 4 : 1 });
      const answer = here.serve(`POST ${READING}`, { body });
      here.approve(answer, ANNA);
      return `${READING}/${answer.json.consentId}`;
    };
    const former = give(one);
    const later = give(other);
    expect([statusOf(here, former), statusOf(here, later)]).toEqual([isEnded ? 'expired' : 'valid', 'valid']);
  },
);

test('each kind of consent is at its own path alone', async () => {
  const here = await bankHere();
  const [reading, funds] = [ask(here, READING).id, ask(here, FUNDS).id];
  const unknown = '403 CONSENT_UNKNOWN: The bank does not know this consent.';
  for (const rest of ['', '/status', '/authorisations']) {
    expect(here.answer(`GET ${READING}/${funds}${rest}`)).toBe(unknown);
    expect(here.answer(`GET ${FUNDS}/${reading}${rest}`)).toBe(unknown);
    expect(here.answer(`GET ${READING}/${reading}${rest}`)).toBe('taken');
    expect(here.answer(`GET ${FUNDS}/${funds}${rest}`)).toBe('taken');
  }
  expect(here.answer(`DELETE ${READING}/${funds}`)).toBe(unknown);
  expect(here.answer(`DELETE ${FUNDS}/${reading}`)).toBe(unknown);
});

test('at a bank that tells no status, that of a reading is refused, and that of a confirmation is not', async () => {
  const here = await bankHere({ consent: { status: 'none' } });
  const [reading, funds] = [consentIn(here, READING, 'valid'), consentIn(here, FUNDS, 'valid')];
  const refused = '405 SERVICE_INVALID: The bank does not tell how consents are.';
  const answers = (path: string) => [path, `${path}/status`].map((each) => here.answer(`GET ${each}`));
  expect([answers(reading), answers(funds)]).toEqual([
    [refused, refused],
    ['taken', 'taken'],
  ]);
});

describe('deleting a consent', () => {
  const NOBODY = '409 STATUS_INVALID: Nobody has authorised this consent.';
  test.each<[rule: NonNullable<BankFile['consent']>['delete'], state: State, answer: string, after: string]>([
    ['any', 'received', 'taken', 'terminatedByTpp'],
    ['any', 'valid', 'taken', 'terminatedByTpp'],
    ['any', 'revokedByPsu', 'taken', 'revokedByPsu'],
    ['any', 'expired', 'taken', 'expired'],
    ['authorised', 'received', NOBODY, 'received'],
    ['authorised', 'valid', 'taken', 'terminatedByTpp'],
    ['authorised', 'revokedByPsu', 'taken', 'revokedByPsu'],
  ])(
    'at a bank where that is %s possible, one that is %s: %s, and then it is %s',
    async (rule, state, answer, after) => {
      for (const kind of [READING, FUNDS]) {
        const here = await bankHere({ consent: { delete: rule } });
        const path = consentIn(here, kind, state);
        expect(here.answer(`DELETE ${path}`)).toBe(answer);
        expect(statusOf(here, path)).toBe(after);
      }
    },
  );

  test('has no body, and leaves the others alone', async () => {
    const here = await bankHere({}, ['multiple-consents']);
    const [one, other] = [consentIn(here, READING, 'valid'), consentIn(here, READING, 'valid')];
    expect(here.serve(`DELETE ${one}`)).toEqual({ status: 204, json: {} });
    expect([statusOf(here, one), statusOf(here, other)]).toEqual(['terminatedByTpp', 'valid']);
  });
});

describe('what a consent asks for', () => {
  const said = (path: string, text: string, code = 'FORMAT_ERROR') => `400 ${code} ${path}: ${text}.`;
  const shape = (path: string, text: string) =>
    said(path, `The body does not have the shape of this call. ${text}`).replace(/\.$/, '');
  const ONE = 'An account has one of iban, bban, maskedPan, pan and msisdn';
  const KIND =
    'access is not one kind of consent. Expected: accounts, balances, transactions; or allPsd2; or availableAccounts.';
  const account = { iban: ANNAS };
  const ALL = ['dedicated', 'bank-offered', 'all-accounts', 'list-only'] as const;
  const noSuch = (types: readonly string[], received: string) =>
    said(
      'access',
      `The bank has no such consent. Expected: ${types.join(', ')}. Received: ${received}`,
      'PARAMETER_NOT_SUPPORTED',
    );

  test.each<[changes: object, answer: string, consent?: BankFile['consent']]>([
    [{ access: {} }, said('access', KIND).replace(/\.\.$/, '.')],
    [
      { access: { allPsd2: 'allAccounts', availableAccounts: 'allAccounts' } },
      said('access', KIND).replace(/\.\.$/, '.'),
    ],
    [
      { access: { availableAccountsWithBalance: 'allAccounts', accounts: [] } },
      said('access', KIND).replace(/\.\.$/, '.'),
    ],
    [
      { access: { accounts: [account], balances: [] } },
      said('access', 'access has accounts in one list and none in another'),
    ],
    [{ access: { accounts: [account], balances: [account] } }, 'taken'],
    [{ access: { accounts: [{ ...account, bban: 'x' }] } }, shape('access.accounts[0]', ONE)],
    [{ access: { accounts: [account, { currency: 'EUR' }] } }, shape('access.accounts[1]', ONE)],
    [{ access: { accounts: [{ msisdn: 'x' }] } }, 'taken'],
    ...['accounts', 'balances', 'transactions'].map((right): [object, string] => [
      { access: { [right]: [account, { iban: 'IT60' }] } },
      said(`access.${right}[1].iban`, 'The bank has no such account. Received: IT60'),
    ]),
    [
      { access: { allPsd2: 'allAccounts', additionalInformation: { ownerName: [] } } },
      said('access.additionalInformation', 'This consent has no additionalInformation'),
    ],
    [
      { access: { allPsd2: 'allAccounts', restrictedTo: ['CACC'] } },
      said('access.restrictedTo', 'This consent has no restrictedTo'),
    ],
    [
      { recurringIndicator: false, frequencyPerDay: 1 },
      said('recurringIndicator', 'The bank gives recurring consents only. Expected: true. Received: false'),
      { once: false },
    ],
    [{ recurringIndicator: false, frequencyPerDay: 1 }, 'taken'],
    [
      { recurringIndicator: false, frequencyPerDay: 2 },
      said('frequencyPerDay', 'The bank allows fewer readings a day. Expected: at most 1. Received: 2'),
    ],
    [{ frequencyPerDay: 6 }, 'taken', { frequencyPerDay: 6 }],
    [
      { frequencyPerDay: 7 },
      said('frequencyPerDay', 'The bank allows fewer readings a day. Expected: at most 6. Received: 7'),
      { frequencyPerDay: 6 },
    ],
    [
      { combinedServiceIndicator: true },
      said(
        'combinedServiceIndicator',
        'The bank has no sessions of several services',
        'SESSIONS_NOT_SUPPORTED',
      ),
    ],
    [
      { validUntil: '2026-11-19' },
      said('validUntil', 'validUntil is in the past. Expected: 2026-11-20 or later. Received: 2026-11-19'),
    ],
    [{ validUntil: '2026-11-20' }, 'taken'],
    [
      { access: { accounts: [] } },
      noSuch(['dedicated', 'list-only'], 'bank-offered'),
      { types: ['dedicated', 'list-only'] },
    ],
    [{ access: { accounts: [account] } }, noSuch(ALL.slice(1), 'dedicated'), { types: [...ALL.slice(1)] }],
    [{ access: { allPsd2: 'allAccounts' } }, noSuch(['dedicated'], 'all-accounts'), { types: ['dedicated'] }],
    [
      { access: { availableAccounts: 'allAccounts' } },
      noSuch(['dedicated'], 'list-only'),
      { types: ['dedicated'] },
    ],
    [
      { access: { availableAccountsWithBalance: 'allAccounts' } },
      noSuch(['dedicated'], 'list-with-balances'),
      { types: ['dedicated'] },
    ],
    // Who shows the list also shows it with balances.
    [{ access: { availableAccountsWithBalance: 'allAccounts' } }, 'taken', { types: ['list-only'] }],
    [
      { access: { availableAccounts: 'allAccounts' } },
      noSuch(['list-with-balances'], 'list-only'),
      { types: ['list-with-balances'] },
    ],
  ] as [object, string, BankFile['consent']?][])('%j: %s', async (changes, answer, consent = {}) => {
    const here = await bankHere({ consent });
    expect(here.answer(`POST ${READING}`, { body: consentBody({ ...changes }) })).toBe(answer);
  });

  test.each([
    ['2026-11-20', 30, '2026-11-20'],
    ['2026-12-19', 30, '2026-12-19'],
    ['2026-12-20', 30, '2026-12-20'],
    ['2026-12-21', 30, '2026-12-20'],
    ['9999-12-31', 30, '2026-12-20'],
  ])('until %s where the bank allows %i days ends on %s', async (validUntil, maxDays, end) => {
    const here = await bankHere({ consent: { maxDays } });
    const { json } = here.serve(`POST ${READING}`, { body: consentBody({ validUntil }) });
    expect(here.serve(`GET ${READING}/${json.consentId}`).json.validUntil).toBe(end);
  });

  test.each([
    ['cardNumber', 35],
    ['cardInformation', 140],
    ['registrationInformation', 140],
  ])('%s of a consent to confirmations has at most %i characters', async (name, most) => {
    const here = await bankHere();
    const of = (length: number) =>
      here.answer(`POST ${FUNDS}`, { body: { account, [name]: 'x'.repeat(length) } });
    expect([of(most), of(most + 1)]).toEqual([
      'taken',
      expect.stringContaining(`400 FORMAT_ERROR ${name}: `),
    ]);
  });

  test('a consent to confirmations says again what it said of a card', async () => {
    const here = await bankHere();
    const said = {
      ...{ cardNumber: '3241', cardExpiryDate: '2028-12-31' },
      ...{ cardInformation: 'Gold', registrationInformation: 'R1' },
    };
    const body = { account: { maskedPan: `525412xxxxxx${CARD.slice(-4)}` }, ...said };
    const { json } = here.serve(`POST ${FUNDS}`, { body });
    expect(here.serve(`GET ${FUNDS}/${json.consentId}`).json).toEqual({ ...body, consentStatus: 'received' });
    const wrong = here.answer(`POST ${FUNDS}`, { body: { account: { iban: 'IT60' } } });
    expect(wrong).toBe('400 FORMAT_ERROR account.iban: The bank has no such account. Received: IT60.');
  });
});

test.each([
  [{ access: { allPsd2: 'allAccounts', more: 1, other: 2 } }, 'access.more'],
  [{ first: 1, second: 2 }, 'first'],
])('of several unknown fields, the first is named: %j', async (changes, path) => {
  const { answer } = await bankHere();
  const shape = 'The body does not have the shape of this call.';
  expect(answer(`POST ${READING}`, { body: consentBody({ ...changes }) })).toContain(
    `400 FORMAT_ERROR ${path}: ${shape}`,
  );
});

test('an authorisation needs an address to go back to', async () => {
  const { answer } = await bankHere();
  const headers = { 'tpp-redirect-uri': 'http://tpp.example/' };
  expect(answer(`POST ${READING}`, { body: consentBody(), headers })).toContain(
    '400 FORMAT_ERROR TPP-Redirect-URI',
  );
  expect(answer(`POST ${READING}`, { body: consentBody(), headers: { 'tpp-redirect-uri': CALLBACK } })).toBe(
    'taken',
  );
});
