import { describe, expect, it } from 'vitest';
import type { Bank } from '../../src/bank/ports/bank.ts';
import type {
  ConsentDetails,
  ConsentEnd,
  ConsentStatus,
  Sca,
  ScaLinks,
} from '../../src/bank/ports/customer.ts';
import { addDays, bankDay, parseDate } from '../../src/domain/calendar.ts';
import { type ConsentEvent, consentEnd, DAYS_OF_CONSENT } from '../../src/domain/consent.ts';
import type { ScaProgress } from '../../src/domain/payment-answers.ts';
import { Psd2Error } from '../../src/errors.ts';
import { type GrantPorts, recordStatus, runLinkedConsent } from '../../src/flows/consent/by-links.ts';
import { deleteAtBank } from '../../src/flows/consent/deletion.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { json, useNextGen, useNextGenBank } from '../bank/interfaces/nextgenpsd2/client.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { CREATED, inMemory, NOTHING_SAID } from './consent-in-memory.ts';
import { customerElsewhere, errorOf, fakeCustomer, fakeWorld, returnsTo } from './doubles.ts';
import {
  cutAfter,
  linkedScriptOf,
  linksTo,
  newLinkedConsent,
  OTHER_PAGE,
  PAGE,
  STATE,
} from './linked-consents.ts';

const recorded = useNextGenBank();
const open = useNextGen(recorded);
const script = linkedScriptOf(recorded);
const temporary = temporaryFolder();

const OAUTH = { scaOAuth: { href: '/.well-known/bank' } };
const oauthBank = () => open({ file: { oauth: { mode: 'integrated' } } }).bank;
describe('the customer authorises on a page', () => {
  it('a consent that the bank gives no last day is granted, and ends with its SCA', async () => {
    const consent = await newLinkedConsent(temporary);
    script.request();
    script.is('valid', { validUntil: '9999-12-31' });
    script.sca('finalised');
    const granted = await consent.run(open().bank);
    expect(granted.terms?.validUntil).toBe('9999-12-31');
    // SCA must be made again (RTS (EU) 2018/389, article 10).
    const at = new Date(granted.grantedAt ?? '');
    expect(consentEnd(granted, at)?.lastDay).toBe(addDays(bankDay(at), DAYS_OF_CONSENT));
  });

  it('if the browser never returns, or returns to another machine, the status of the bank decides', async () => {
    const consent = await newLinkedConsent(temporary, fakeCustomer({}, null));
    script.request();
    script.is('received');
    script.sca('started');
    script.is('valid');
    script.sca('finalised');
    const { bank } = open({ file: { sca: { pollSeconds: 1 } } });
    expect(await consent.run(bank)).toMatchObject({ state: 'confirmed' });
    expect(consent.customer.listeners).toMatchObject([{ closed: true }]);
  });

  it('an end that is another one’s, twice, ends nothing: each question has a connection of its own', async () => {
    const consent = await newLinkedConsent(temporary);
    script.request();
    script.is('received');
    script.sca('failed');
    script.sca('started');
    script.is('expired');
    script.is('received');
    script.sca('started');
    script.is('valid');
    script.sca('finalised');
    expect(await consent.run(open().bank)).toMatchObject({ state: 'confirmed' });
    const ports = recorded.received.map(({ clientPort }) => clientPort);
    expect(new Set(ports).size).toBe(ports.length);
  });

  it('if the customer is elsewhere, psd2 asks the bank as often as its file says', async () => {
    const consent = await newLinkedConsent(temporary, customerElsewhere());
    script.request();
    script.is('received');
    script.sca('started');
    script.is('valid');
    script.sca('finalised');
    const { bank } = open({ file: { sca: { pollSeconds: 20 } } });
    expect(await consent.run(bank)).toMatchObject({ state: 'confirmed' });
    expect(consent.pauses()).toEqual([20_000]);
  });
});

describe('what the bank wants besides', () => {
  it('tells the operator what the customer must do elsewhere, and opens no page', async () => {
    const consent = await newLinkedConsent(temporary);
    const answer = {
      consentId: 'c1',
      consentStatus: 'received',
      psuMessage: 'Open the app',
      _links: { scaStatus: { href: '/v1/consents/c1/authorisations/a1' } },
    };
    script.request({}, json(answer, 201, { 'aspsp-sca-approach': 'DECOUPLED' }));
    script.is('received');
    script.sca('started');
    script.is('valid');
    script.sca('finalised');
    await consent.run(open().bank);
    expect(consent.said).toEqual(['The bank says: Open the app']);
    expect([consent.customer.visited, consent.customer.listeners]).toEqual([[], []]);
  });

  it('sends the confirmation code that the browser brings back', async () => {
    const consent = await newLinkedConsent(temporary, fakeCustomer({}, { authConfirmationCode: 'my-c0de' }));
    script.request(linksTo('a1', PAGE, { confirmation: { href: '/v1/consents/c1/authorisations/a1' } }));
    script.code('finalised');
    script.is('valid');
    script.sca('finalised');
    await consent.run(open().bank);
    expect(recorded.received.at(-3)?.body.toString()).toBe('{"confirmationCode":"my-c0de"}');
    // Only the return has the code, so psd2 waits for the port.
    expect(consent.customer.listeners).toMatchObject([{ purpose: 'confirmation' }]);
    expect(consent.lines().join()).not.toContain('my-c0de');
  });

  it.each([
    [
      'in the status of the consent',
      [
        ['is', 'rejected'],
        ['is', 'rejected'],
      ],
    ],
    [
      'in that of the authorisation',
      [
        ['is', 'received'],
        ['sca', 'failed'],
        ['sca', 'failed'],
      ],
    ],
  ] as const)('a wrong confirmation code ends the consent, if the bank says so %s', async (_, says) => {
    const consent = await newLinkedConsent(temporary, fakeCustomer({}, { authConfirmationCode: 'wrong' }));
    script.request(linksTo('a1', PAGE, { confirmation: { href: '/v1/consents/c1/authorisations/a1' } }));
    const invalid = { tppMessages: [{ category: 'ERROR', code: 'SCA_INVALID' }] };
    recorded.expect('PUT', '/v1/consents/c1/authorisations/a1', json(invalid, 400));
    for (const [call, word] of says) script[call](word);
    script.sca('failed');
    expect(await errorOf(consent.run(open().bank))).toMatchObject({ code: 'not_authorised' });
    expect(await consent.stored()).toMatchObject({ state: 'rejected' });
  });

  it('if only the browser has the code, and it is elsewhere, psd2 asks for its address', async () => {
    const consent = await newLinkedConsent(temporary, customerElsewhere());
    script.request(linksTo('a1', PAGE, { confirmation: { href: '/v1/consents/c1/authorisations/a1' } }));
    script.is('received');
    script.sca('unconfirmed');
    const { flow } = await consent.stored();
    expect(await errorOf(consent.run(open().bank))).toMatchObject({
      code: 'still_open',
      next: [
        ['consent', 'resume', flow, '--paste'],
        ['consent', 'delete', flow],
      ],
    });
    expect(await consent.stored()).toMatchObject({ state: 'authorizing' });
  });

  describe('the customer’s password in psd2’s hands (embedded SCA)', () => {
    const PASSWORD = { updatePsuAuthentication: { href: '/v1/consents/c1/authorisations/a1' } };
    const SELF = '/v1/consents/c1';

    it('in the answer to the start: psd2 ends the consent, and names nothing that leads there again', async () => {
      const consent = await newLinkedConsent(temporary);
      script.request({ startAuthorisation: { href: `${SELF}/authorisations` } });
      script.start(PASSWORD);
      recorded.expect('DELETE', SELF, { status: 204 });
      recorded.expect('GET', `${SELF}/status`, json({ consentStatus: 'terminatedByTpp' }));
      const ended = await errorOf(consent.run(open().bank));
      expect(ended).toMatchObject({ code: 'config', next: undefined });
      expect(ended.hint).toMatch(/psd2 has ended the consent at the bank\.$/);
      expect(await consent.stored()).toMatchObject({ state: 'cancelled', bankStatus: 'terminatedByTpp' });
    });
  });
});

describe('the customer logs in with the consent', () => {
  it('takes the tokens before it counts as granted', async () => {
    const consent = await newLinkedConsent(temporary, fakeCustomer({}, { code: 'c/1' }));
    script.request(OAUTH);
    script.metadata();
    script.tokens();
    script.is('valid');
    expect(await consent.run(oauthBank())).toMatchObject({ state: 'confirmed' });
    // Only this link names the server, and the tokens are renewed there.
    expect(consent.tokens).toMatchObject([
      { accessToken: 't1', server: '/.well-known/bank', consent: expect.any(String) },
    ]);
    const [page = ''] = consent.customer.visited;
    expect(new URL(page).searchParams.get('scope')).toBe('AIS:c1');
    expect(new URL(page).searchParams.get('state')).toBe(STATE);
    // The verifier of the code is a secret: it is in no journal.
    const verifier =
      new URLSearchParams(recorded.received.at(-2)?.body.toString()).get('code_verifier') ?? '';
    expect(verifier).toMatch(/^[\w-]{43}$/);
    expect(consent.lines().join()).not.toContain(verifier);
  });
});

/** The customer has decided, and the bank says how. */
const DECIDED = [() => script.is('valid'), () => script.sca('finalised')];

/** The calls that a consent still needs if its journal ends with an event of this type. */
const CALLS_LEFT: Record<string, (() => void)[]> = {
  created: [() => script.request(), ...DECIDED],
  // Nothing moves money, so a request without an answer is made again.
  'request-sent': [() => script.request(), ...DECIDED],
  requested: DECIDED,
  // The customer may have decided already.
  'sca-started': DECIDED,
  'sca-returned': DECIDED,
  // The kill came before the consent was kept.
  granted: [() => script.is('valid')],
  // The bank's word for the authorisation is in the journal.
  noted: [() => script.is('valid')],
};

async function wholeJournal(): Promise<string[]> {
  const consent = await newLinkedConsent(temporary);
  script.request();
  for (const call of DECIDED) call();
  await consent.run(open().bank);
  return consent.lines();
}

/** The journal of a consent whose customer has the page, and has not decided. */
async function undecided(links: object = linksTo('a1', PAGE)): Promise<string[]> {
  const consent = await newLinkedConsent(temporary, fakeCustomer({ scaTimeoutMs: 1 }, null));
  script.request(links);
  script.is('received');
  script.sca('received');
  await errorOf(consent.run(open().bank));
  return consent.lines();
}

it('a consent that is killed after any event is resumed to its end, and kept for readings', async () => {
  const whole = await wholeJournal();
  expect(whole).toHaveLength(7);
  for (let killedAfter = 1; killedAfter <= whole.length; killedAfter += 1) {
    const consent = cutAfter(temporary, whole.slice(0, killedAfter));
    for (const call of CALLS_LEFT[consent.events().at(-1) ?? ''] ?? []) call();
    expect(await consent.run(open().bank)).toMatchObject({ state: 'confirmed', resourceId: 'c1' });
    expect(consent.lines().slice(0, killedAfter)).toEqual(whole.slice(0, killedAfter));
    expect([...consent.kept]).toEqual(['c1']);
  }
});

it.each([
  { type: 'funds', account: 'pan:525412******3017' },
  { type: 'funds', account: 'DE89370400440532013000', cardNumber: '525412******3017' },
  { type: 'dedicated', accounts: ['pan:525412******3017'], balances: [], transactions: [] },
  {
    type: 'dedicated',
    accounts: ['DE89370400440532013000', 'pan:525412******3017'],
    balances: [],
    transactions: [],
  },
  {
    type: 'dedicated',
    accounts: ['pan:525412******3017', 'DE89370400440532013000'],
    balances: [],
    transactions: [],
  },
])('a consent whose answer was lost is not asked for with what is kept of a card: %j', async (access) => {
  const [created = '', ...later] = await wholeJournal();
  const begun = created.replace('"terms":{}', `"terms":${JSON.stringify({ access })}`);
  const consent = cutAfter(temporary, [begun, ...later.slice(0, 1)]);
  expect(await errorOf(consent.run(open().bank))).toMatchObject({
    code: 'usage',
    message: 'psd2 does not keep full card numbers, so it cannot ask again',
    hint: 'End this consent, and ask for another one:',
    next: [
      ['consent', 'cancel', expect.any(String)],
      ['consent', 'request'],
    ],
  });
});

it('a consent is kept for readings before its journal says that it is granted', async () => {
  const consent = cutAfter(temporary, await undecided());
  consent.keeps = async () => {
    expect(consent.events()).not.toContain('granted');
    throw new RangeError('psd2 is killed');
  };
  script.is('valid');
  await expect(consent.run(open().bank)).rejects.toThrow('psd2 is killed');
  expect(consent.events()).not.toContain('granted');
});

describe('resumed while the customer has a page', () => {
  it('a confirmation code that was lost with the browser needs a new authorisation', async () => {
    const links = linksTo('a1', PAGE, { confirmation: { href: '/v1/consents/c1/authorisations/a1' } });
    const consent = cutAfter(temporary, await undecided(links));
    script.is('received');
    script.sca('unconfirmed');
    script.start();
    script.is('valid');
    script.sca('finalised', 'a2');
    expect(await consent.run(open().bank)).toMatchObject({ state: 'confirmed' });
    expect(consent.customer.visited).toEqual([OTHER_PAGE]);
  });
});

it.each([
  ['the customer has refused the login', { error: 'access_denied' }, 'not_authorised'],
  ['the bank cannot log anybody in', { error: 'server_error' }, 'still_open'],
])('%s: the consent is as open at the bank as before', async (_, back, code) => {
  const consent = await newLinkedConsent(temporary, fakeCustomer({}, back));
  script.request(OAUTH);
  script.metadata();
  script.is('received');
  expect(await errorOf(consent.run(oauthBank()))).toMatchObject({ code });
});

it('a login that was cut off is made up for, although the bank calls the consent valid', async () => {
  const consent = await newLinkedConsent(temporary, fakeCustomer({ scaTimeoutMs: 1 }, null));
  script.request(OAUTH);
  script.metadata();
  script.is('received');
  await errorOf(consent.run(oauthBank()));
  const resumed = cutAfter(temporary, consent.lines(), fakeCustomer({}, { code: 'c/2' }));
  script.is('valid');
  script.metadata();
  script.tokens();
  script.is('valid');
  expect(await resumed.run(oauthBank())).toMatchObject({ state: 'confirmed' });
  expect(resumed.tokens).toMatchObject([{ accessToken: 't1' }]);
});

describe('the links that a resumed consent goes on with', () => {
  const PAGE_LINKS: ScaLinks = { approach: 'redirect', id: 'a1', redirect: PAGE, status: '/a1' };
  const STEP: ScaLinks = { approach: 'embedded', id: 'a1', status: '/a1', step: { next: 'password' } };
  const LOGIN: ScaLinks = {
    approach: 'redirect',
    id: 'a1',
    oauth: 'https://oauth.bank.example',
    status: '/a1',
  };
  const ANEW: ScaLinks = { approach: null, start: '/anew' };
  const started = (links: ScaLinks, psuId?: string): ConsentEvent => ({
    ...{ type: 'sca-started', links },
    ...(psuId !== undefined && { psuId }),
  });
  const noted = (scaStatus: string): ConsentEvent => ({ type: 'noted', bankStatus: 'received', scaStatus });
  const person = (id: string) => ({ id, idType: undefined, corporateId: undefined });

  interface Scene {
    events: ConsentEvent[];
    means?: ScaProgress['means'];
    isPartly?: true;
    grant?: Partial<GrantPorts>;
  }
  /** @returns the links with which psd2 goes on; `none`: it begins an authorisation; `nobody`: it sends nobody anywhere */
  async function goesOnWith({ events, means, isPartly, grant = {} }: Scene) {
    const { open } = await inMemory([
      CREATED,
      { type: 'requested', resourceId: 'c1', outcomes: [], bankStatus: 'received' },
      ...events,
    ]);
    const went: unknown[] = [];
    const proceed: Sca['proceed'] = async ({ links }) => {
      went.push(links ?? 'none');
      return { next: 'wait', links: links ?? ANEW };
    };
    const open_: ConsentDetails = {
      ...{ consentStatus: 'received', means: 'open', ...NOTHING_SAID },
      ...(isPartly && { isPartly }),
    };
    let looks = 0;
    const details = async (): Promise<ConsentDetails> => {
      looks += 1;
      return looks === 1 ? open_ : { ...open_, consentStatus: 'valid', means: 'valid' };
    };
    const bank = answeringBank(() => ({ data: {} }));
    const progress: Sca['progress'] = async () =>
      means === undefined || looks > 1 ? null : { scaStatus: means, means, message: null };
    const sca = { ...bank.sca, proceed, progress, anew: () => ANEW };
    const end = await runLinkedConsent(
      open,
      {
        bank: { ...bank, sca, consents: { ...bank.consents, details } },
        ...{ world: fakeWorld(), customer: fakeCustomer() },
      },
      {
        ...{ ...returnsTo(), keepConsent: async () => {}, dropConsent: async () => {} },
        ...grant,
      },
    ).then(
      ({ state }) => state,
      (error: unknown) => (error instanceof Psd2Error ? error.code : error),
    );
    return [went[0] ?? 'nobody', end];
  }

  const paste = { askForReturn: async () => new URLSearchParams() };
  it.each<[string, Scene, unknown, string?]>([
    ['nobody has decided', { events: [started(PAGE_LINKS)] }, PAGE_LINKS],
    ['the customer decides', { events: [started(PAGE_LINKS)], means: 'going on' }, PAGE_LINKS],
    ['the authorisation has failed', { events: [started(PAGE_LINKS)], means: 'failed' }, 'none'],
    ['the authorisation is done', { events: [started(PAGE_LINKS)], means: 'done' }, 'nobody'],
    ['its code is missing', { events: [started(PAGE_LINKS)], means: 'needs code' }, 'none'],
    ['its code is pasted', { events: [started(PAGE_LINKS)], means: 'needs code', grant: paste }, PAGE_LINKS],
    [
      'the authorisation is done, and the login is missing',
      { events: [started(LOGIN)], means: 'done' },
      LOGIN,
      'authorizing',
    ],
    [
      'the authorisation and the login are done',
      { events: [started(LOGIN), { type: 'sca-returned' }], means: 'done' },
      'nobody',
    ],
    [
      'another person authorises it',
      { events: [started(PAGE_LINKS)], grant: { person: person('emil'), psuId: 'emil' } },
      ANEW,
    ],
    [
      'others must authorise it, and emil comes',
      {
        events: [started(PAGE_LINKS, 'dora'), noted('finalised')],
        isPartly: true,
        grant: { person: person('emil'), psuId: 'emil' },
      },
      ANEW,
    ],
    [
      'others must authorise it, and dora comes, who has',
      {
        events: [started(PAGE_LINKS, 'dora'), noted('finalised')],
        isPartly: true,
        grant: { person: person('dora'), psuId: 'dora' },
      },
      'nobody',
      'still_open',
    ],
    [
      'others must authorise it',
      { events: [started(PAGE_LINKS)], isPartly: true, means: 'done' },
      'nobody',
      'still_open',
    ],
    [
      'others must authorise it, once its code is there',
      { events: [started(PAGE_LINKS)], isPartly: true, means: 'needs code' },
      'none',
    ],
  ])('%s', async (_, scene, links, end = 'confirmed') => {
    const found = await goesOnWith(scene);
    expect(found[0]).toEqual(links);
    if (end !== 'authorizing') expect(found[1]).toBe(end);
  });

  it.each<[string, ConsentEvent[], unknown]>([
    ['the person is in the midst of it', [started(STEP, 'emil')], 'still_open'],
    ['another person is', [started(STEP, 'dora')], ANEW],
    ['the person has authorised it', [started(STEP, 'emil'), noted('finalised')], ANEW],
  ])('where the bank wants a PIN from psd2, and %s', async (_, events, goesOn) => {
    const none = async () => null;
    const credentials: GrantPorts['credentials'] = {
      refusal: () => new Psd2Error('config', 'The profile does not allow it'),
      ...{ password: none, method: none, code: none, beginsAgain: async () => false },
      ...{ note: async () => {}, close: async () => {} },
    };
    const grant = { person: person('emil'), psuId: 'emil', credentials };
    const found = await goesOnWith({ events, grant });
    // psd2 may take none, so nothing is begun for what goes on.
    expect(found).toEqual(goesOn === ANEW ? [ANEW, 'confirmed'] : ['nobody', goesOn]);
  });
});

describe('what the operator reads if psd2 stops while the customer has the page', () => {
  const REQUESTED: ConsentEvent[] = [
    CREATED,
    { type: 'requested', resourceId: 'c1', outcomes: [], bankStatus: 'received' },
  ];
  const STARTED: ConsentEvent[] = [
    ...REQUESTED,
    { type: 'sca-started', links: { approach: 'redirect', redirect: PAGE } },
  ];
  const RESUME = ['consent', 'resume', 'co-1'];
  const STATUS = ['consent', 'status', 'co-1'];
  const DELETE = ['consent', 'delete', 'co-1'];
  const stopped = (code: Psd2Error['code'], context: Psd2Error['context'] = {}) =>
    new Psd2Error(code, 'It stops', context);
  const open_ = (who: string) =>
    `still_open It stops. The consent is not over: ${who} can still authorise it`;
  const UNSAID = 'outcome_unknown The bank does not say what became of the consent: It stops';
  const EMIL = { person: { id: 'emil', idType: undefined, corporateId: undefined }, psuId: 'emil' };
  const BANKS = { isBanks: true } as const;

  interface Scene {
    error: Psd2Error;
    events?: ConsentEvent[];
    grant?: Partial<GrantPorts>;
    /** An authorisation was about to begin. */
    hasAnnounced?: true;
  }
  async function stop({ error, events = STARTED, grant = {}, hasAnnounced }: Scene) {
    const { open } = await inMemory(events);
    const bank = answeringBank(() => ({ data: {} }));
    const proceed: Sca['proceed'] = async ({ beforeSend }) => {
      if (hasAnnounced) await beforeSend({ requestId: 'q', digest: null });
      throw error;
    };
    const details = async (): Promise<ConsentDetails> => ({
      ...{ consentStatus: 'received', means: 'open', ...NOTHING_SAID },
    });
    const sca = { ...bank.sca, proceed, anew: () => null };
    const at = { ...bank, sca, consents: { ...bank.consents, details } };
    const ports = { bank: at, world: fakeWorld(), customer: fakeCustomer() };
    const keeping = { keepConsent: async () => {}, dropConsent: async () => {} };
    const { code, message, next } = await errorOf(
      runLinkedConsent(open, ports, { ...returnsTo(), ...keeping, ...grant }),
    );
    return [`${code} ${message}`, next];
  }

  it.each<[string, Scene, says: string, next: string[][] | undefined]>([
    ['a setting is wrong', { error: stopped('config') }, open_('the customer'), [RESUME, DELETE]],
    [
      'a setting is wrong, for another person',
      { error: stopped('config'), grant: EMIL },
      open_('emil'),
      [RESUME, DELETE],
    ],
    ['the bank is away', { error: stopped('bank_failing') }, UNSAID, [RESUME]],
    [
      'the bank was away until their time was over',
      { error: stopped('bank_failing', { unaskedSince: '2026-11-24T10:00:00Z' }) },
      'outcome_unknown The bank could not be asked since 2026-11-24T10:00:00Z what became of the consent: It stops',
      [RESUME],
    ],
    [
      'the bank refuses',
      { error: stopped('bank_refused', { refusal: 'other', ...BANKS }) },
      open_('somebody'),
      [RESUME, DELETE],
    ],
    [
      'the bank refuses the token',
      { error: stopped('not_logged_in', { refusal: 'unread', ...BANKS }) },
      open_('somebody'),
      [RESUME, DELETE],
    ],
    [
      'the bank refuses another authorisation',
      { error: stopped('bank_refused', { refusal: 'other', ...BANKS }), hasAnnounced: true },
      open_('somebody'),
      [STATUS, DELETE],
    ],
    ['the operator presses Ctrl-C', { error: stopped('interrupted') }, 'interrupted It stops', undefined],
    ['another psd2 goes on', { error: stopped('overtaken') }, 'overtaken It stops', undefined],
    [
      'the customer has refused it',
      { error: stopped('not_authorised') },
      'not_authorised It stops',
      undefined,
    ],
    [
      'nobody has the page yet',
      { error: stopped('config'), events: REQUESTED },
      'config It stops',
      undefined,
    ],
  ])('%s', async (_, scene, says, next) => {
    expect(await stop(scene)).toEqual([says, next]);
  });
});

describe('what the bank says of a consent', () => {
  const DAY = parseDate('--date', '2027-01-31');
  const ACCESS = { accounts: [{ iban: 'DE89370400440532013000' }] };
  const SAID: ConsentDetails = {
    ...{ consentStatus: 'valid', means: 'valid', validUntil: DAY, access: ACCESS },
    ...{ frequencyPerDay: 4, recurring: true, messages: ['Hello'] },
  };
  const REQUESTED: ConsentEvent[] = [
    CREATED,
    {
      ...{ type: 'requested', resourceId: 'c1', outcomes: [], bankStatus: 'received' },
      messages: ['Hello'],
    },
  ];
  const { messages: _, means: __, consentStatus: ___, ...granted } = SAID;
  const GRANTED: ConsentEvent[] = [
    ...REQUESTED,
    { ...granted, type: 'granted', bankStatus: 'valid', access: ACCESS },
  ];
  const LOGIN: ConsentEvent = {
    type: 'sca-started',
    links: { approach: 'redirect', oauth: 'https://oauth.bank.example' },
  };
  const GIVEN_UP: ConsentEvent[] = [...GRANTED, { type: 'cancelled' }];

  /** psd2 asks how the consent is. @returns the types of the events, and whether readings find it from now on */
  async function askedOf(events: ConsentEvent[], ...answers: ConsentDetails[]) {
    const { open, done } = await inMemory(events);
    const decides: unknown[] = [];
    const bank = answeringBank(() => ({ data: {} }));
    const details = async (_id: string, _transaction: string, how?: unknown) => {
      decides.push(how);
      return answers[Math.min(decides.length, answers.length) - 1] ?? expect.unreachable();
    };
    const readings: string[] = [];
    await recordStatus(
      open,
      { bank: { consents: { ...bank.consents, details } } },
      {
        keepConsent: async () => void readings.push('kept'),
        dropConsent: async () => void readings.push('dropped'),
      },
    );
    return { does: [...readings, ...done].join(' '), decides, consent: open.current };
  }

  const saying = (more: Partial<ConsentDetails>): ConsentDetails => ({ ...SAID, ...more });
  const open_ = saying({ consentStatus: 'received', means: 'open' });

  it.each<[string, ConsentEvent[], ConsentDetails, string]>([
    ['the customer has granted it', REQUESTED, SAID, 'kept granted'],
    ['the customer has granted it, and must log in', [...REQUESTED, LOGIN], SAID, ''],
    ['they have logged in, too', [...REQUESTED, LOGIN, { type: 'sca-returned' }], SAID, 'kept granted'],
    ['it is granted, as before', GRANTED, SAID, 'kept'],
    ['it has another word', GRANTED, saying({ consentStatus: 'active' }), 'kept granted'],
    [
      'it has another last day',
      GRANTED,
      saying({ validUntil: parseDate('--date', '2027-02-01') }),
      'kept granted',
    ],
    ['it says no last day', GRANTED, saying({ validUntil: null }), 'kept'],
    ['it covers something else', GRANTED, saying({ access: { accounts: [] } }), 'kept granted'],
    ['it does not say what it covers', GRANTED, saying({ access: null }), 'kept'],
    ['it says something new', GRANTED, saying({ messages: ['Hello', 'Again'] }), 'kept granted'],
    ['it says nothing beside', GRANTED, saying({ messages: [] }), 'kept'],
    ['it was given up here, and is granted', GIVEN_UP, SAID, 'dropped'],
    ['it was given up here, and is open', GIVEN_UP, saying({ consentStatus: 'x', means: 'open' }), ''],
    ['it waits, as before', REQUESTED, open_, ''],
    ['it waits, with another word', REQUESTED, saying({ consentStatus: 'partly', means: 'open' }), 'noted'],
    ['it waits, and says something new', REQUESTED, saying({ ...open_, messages: ['New'] }), 'noted'],
    [
      'it waits, with a word that nobody knows',
      REQUESTED,
      saying({ consentStatus: 'x', means: 'unknown' }),
      'noted',
    ],
    ['it was granted, and waits again', GRANTED, open_, 'noted'],
  ])('that %s', async (_what, events, says, does) => {
    const asked = await askedOf(events, says);
    expect(asked.does).toBe(does);
    expect(asked.decides).toEqual([undefined]);
  });

  const ENDS = [
    ['rejected', 'rejected'],
    ['expired', 'expired'],
    ['revoked', 'revoked'],
    ['ended by us', 'cancelled'],
    ['unknown', 'revoked'],
  ] as const;
  it.each(ENDS)('that it has ended (%s): it is %s once the bank says so twice', async (means, state) => {
    const end = saying({ consentStatus: 'over', means });
    const { does, decides, consent } = await askedOf(GRANTED, end);
    expect([does, decides, consent.state]).toEqual(['dropped ended', [undefined, 'an end'], state]);
    expect((await askedOf(GIVEN_UP, end)).does).toBe(means === 'unknown' ? '' : 'dropped');
    // The first answer was about another one.
    expect((await askedOf(GRANTED, end, SAID)).does).toBe('kept');
    if (means === 'unknown') return;
    expect((await askedOf(REQUESTED, end, open_)).does).toBe('');
    expect((await askedOf(REQUESTED, end)).consent).toMatchObject({ state, bankStatus: 'over' });
  });

  it.each<ConsentDetails['means']>(['open', 'valid', ...ENDS.map(([means]) => means)])(
    'beside a word that means %s: the journal has each sentence once',
    async (means) => {
      const says = saying({ consentStatus: 'another', means, messages: ['Hello', 'New'] });
      for (const events of [REQUESTED, GRANTED])
        expect((await askedOf(events, says)).consent.messages).toEqual(['Hello', 'New']);
      // Of one that psd2 has ended, nothing is written down.
      expect((await askedOf(GIVEN_UP, says)).consent.messages).toEqual(['Hello']);
    },
  );
});

describe('the end of a consent at the bank', () => {
  const GRANTED: ConsentEvent[] = [
    CREATED,
    { type: 'requested', resourceId: 'c1', outcomes: [], bankStatus: 'received' },
    { ...NOTHING_SAID, type: 'granted', bankStatus: 'valid', access: {} },
  ];
  const TAKEN: ConsentEvent = { type: 'delete-taken', bankStatus: 'terminatedByTpp' };
  const AWAY = new Psd2Error('bank_failing', 'The bank is away');
  const INTERRUPTED = new Psd2Error('interrupted', 'Ctrl-C');
  const NO_CALL = new Psd2Error('bank_refused', 'There is no such call', { refusal: 'other' });
  const UNKNOWN = NO_CALL.with({ isBanks: true, isNotKnown: true });
  const LINKS: ScaLinks = { approach: 'decoupled', id: 'a1', status: '/a1' };
  const says = (means: ConsentStatus['means'], consentStatus: string = means): ConsentStatus => ({
    consentStatus,
    means,
  });
  const being = (means: ScaProgress['means']): ScaProgress => ({ scaStatus: means, means, message: null });

  interface Scene {
    events?: ConsentEvent[];
    /** The answer to the request. Null: the bank has no such call. */
    end?: ConsentEnd | Error | null;
    /** What the bank says of the consent, one after the other; the last one stays. Null: it has no such call. */
    status?: (ConsentStatus | Error)[] | null;
    progress?: ScaProgress | Error;
    /** Nobody is sent anywhere. */
    isAlone?: true;
    /** How long the customer has, in milliseconds. */
    scaTimeoutMs?: number;
    /** The page cannot be opened. */
    noPage?: Error;
  }
  async function deleted({
    events = GRANTED,
    end,
    status = [says('ended by us')],
    progress,
    isAlone,
    scaTimeoutMs = 1_000,
    noPage,
  }: Scene) {
    const { open, done } = await inMemory(events);
    const bank = answeringBank(() => ({ data: {} }));
    const asked: unknown[] = [];
    const askedHowFar: unknown[] = [];
    const { delete: _delete, status: _status, ...consents } = bank.consents;
    const answer = end === undefined ? { bankStatus: 'terminatedByTpp' } : end;
    const own: Partial<Bank['consents']> = {
      ...(answer !== null && {
        async delete(...of) {
          asked.push(of);
          if (answer instanceof Error) throw answer;
          return answer;
        },
      }),
      ...(status !== null && {
        async status(_id, _transaction, decides) {
          const next = status.length > 1 ? status.shift() : status[0];
          asked.push(decides);
          if (next === undefined || next instanceof Error) throw next;
          return next;
        },
      }),
    };
    const sca: Sca = {
      ...bank.sca,
      ...(progress && {
        progress: async (...of) => {
          askedHowFar.push(of);
          if (progress instanceof Error) throw progress;
          return progress;
        },
      }),
    };
    const waits: unknown[] = [];
    const customer = fakeCustomer({
      scaTimeoutMs,
      whileWaiting(text, work, milliseconds) {
        waits.push([text, milliseconds]);
        return work;
      },
      ...(noPage && { sendBrowser: () => Promise.reject(noPage) }),
    });
    const world = fakeWorld();
    const ports = { customer, world };
    const work = deleteAtBank(
      open,
      { ...bank, sca, consents: { ...consents, ...own } },
      isAlone ? undefined : ports,
    );
    const ended = await work.then(
      (word) => ({ word, hint: undefined, next: undefined }),
      (error: unknown) => {
        if (!(error instanceof Psd2Error)) throw error;
        const { code, message, hint, next } = error;
        return { word: `${code} ${message}`, hint, next };
      },
    );
    const { bankStatus } = open.current;
    return { ...ended, asked, askedHowFar, done, bankStatus, visited: customer.visited, waits, world };
  }

  it.each<[string, Scene, word: string | null, taken: boolean]>([
    ['the bank has taken it', {}, 'terminatedByTpp', true],
    ['the bank has taken it before', { events: [...GRANTED, TAKEN] }, 'terminatedByTpp', false],
    ['the bank has no such call', { end: null }, null, false],
    ['the bank is away', { end: AWAY }, 'bank_failing The bank is away', false],
  ])('%s', async (what, scene, word, taken) => {
    const { word: found, asked, done } = await deleted(scene);
    expect([found, done]).toEqual([word, taken ? ['delete-taken'] : []]);
    if (scene.end !== null) expect(asked).toEqual([['c1', 't1', { wasTaken: what.endsWith('before') }]]);
  });

  it.each<[string, Scene['status'], string]>([
    ['ended by us', [says('ended by us', 'X')], 'terminatedByTpp'],
    ['revoked', [says('revoked', 'X')], 'X'],
    ['rejected', [says('rejected', 'X')], 'X'],
    ['expired', [says('expired', 'X')], 'X'],
    ['valid', [says('valid', 'X')], 'terminatedByTpp'],
    ['open', [says('open', 'X')], 'terminatedByTpp'],
    ['unknown', [says('unknown', 'X')], 'terminatedByTpp'],
    ['nothing', [AWAY], 'terminatedByTpp'],
    ['nothing, in any call', null, 'terminatedByTpp'],
    ['nothing, because of Ctrl-C', [INTERRUPTED], 'interrupted Ctrl-C'],
  ])(
    'one that was there has the last word of the bank, if that is another end: %s',
    async (_, status, word) => {
      const end = { bankStatus: 'terminatedByTpp', wasThere: true } as const;
      expect((await deleted({ end, ...(status !== undefined && { status }) })).word).toBe(word);
    },
  );

  const PAGE_OF_END = 'https://customers.bank.example/end';
  const wanting = (page: string | null = null): ConsentEnd => ({
    bankStatus: 'terminatedByTpp',
    authorise: { page, links: LINKS },
  });
  const WAS_THERE = { bankStatus: 'terminatedByTpp', wasThere: true } as const;
  const EXPIRED = [says('expired', 'X')];
  const DONE: Scene = { end: wanting(), progress: being('done'), status: EXPIRED };
  const OPEN_END = 'The deletion is not over: the customer can still authorise it';
  const WANTS = `still_open The bank wants the customer to authorise the end of the consent. ${OPEN_END}`;
  const LATE = `still_open The customer did not authorise the end of the consent within 1 s. ${OPEN_END}`;
  const NOT_SAID =
    /^outcome_unknown The bank could not be asked since \S+ what became of the consent: The bank is away$/;
  it.each<[string, Scene, word: string | RegExp, taken: boolean]>([
    ['and nobody is sent', { end: wanting(), isAlone: true }, WANTS, false],
    [
      'and they do, by the word of their authorisation',
      { end: wanting(), progress: being('done') },
      'terminatedByTpp',
      true,
    ],
    [
      'and they do, by the word of the consent',
      { end: wanting(), status: [says('valid'), says('ended by us', 'X')] },
      'X',
      true,
    ],
    ['and it has ended otherwise', { end: wanting(), status: [says('expired', 'X')] }, 'X', true],
    [
      'and the bank tells nobody how far they are',
      { end: wanting(), progress: NO_CALL, status: [says('revoked', 'X')] },
      'X',
      true,
    ],
    [
      'and they are still at it',
      { end: wanting(), progress: being('going on'), status: [says('valid')] },
      LATE,
      false,
    ],
    ['and the bank has no word for it', { end: wanting(), status: null }, LATE, false],
    [
      'and they refuse',
      { end: wanting(), progress: being('failed') },
      'not_authorised The customer did not authorise the end of the consent',
      false,
    ],
    ['and the bank cannot be asked', { end: wanting(), progress: AWAY }, NOT_SAID, false],
    [
      'and the bank does not know the consent',
      { end: wanting(), status: [UNKNOWN] },
      `still_open There is no such call. ${OPEN_END}`,
      false,
    ],
    [
      'and the operator presses Ctrl-C',
      { end: wanting(), progress: INTERRUPTED },
      'interrupted Ctrl-C',
      false,
    ],
  ])('the bank wants the customer to authorise it, %s', async (_, scene, word, taken) => {
    const { word: found, done, visited } = await deleted(scene);
    expect(found).toMatch(word);
    expect([done, visited]).toEqual([taken ? ['delete-taken'] : [], []]);
  });

  const [STATUS, DELETE] = ['status', 'delete'].map((verb) => ['consent', verb, 'co-1']);
  it.each<[string, Scene, string, unknown[]]>([
    [
      'wait longer',
      { end: wanting(), status: null },
      'Ask the bank what became of it, or end it there:',
      [STATUS, DELETE],
    ],
    [
      'ask for its end again, which the customer has refused',
      { end: wanting(), progress: being('failed') },
      'It stays in force. Ask for its end again with:',
      [DELETE],
    ],
    ['ask what became of it', { end: wanting(), progress: AWAY }, 'Ask the bank again with:', [STATUS]],
  ])('the operator reads how to %s', async (_, scene, hint, next) => {
    const found = await deleted(scene);
    expect([found.hint, found.next]).toEqual([hint, next]);
  });

  it('the customer authorises it at a page', async () => {
    const { word, visited, asked } = await deleted({
      end: wanting(PAGE_OF_END),
      status: [says('ended by us', 'X')],
    });
    expect([word, visited, asked.slice(1)]).toEqual(['X', [PAGE_OF_END], ['an end']]);
  });

  it.each([1_000, 20_000])('psd2 waits as long as the customer has: %i ms', async (scaTimeoutMs) => {
    const { word, waits, askedHowFar, world } = await deleted({
      ...{ end: wanting(PAGE_OF_END), progress: being('going on'), status: [says('valid')], scaTimeoutMs },
    });
    expect(word).toMatch(`did not authorise the end of the consent within ${scaTimeoutMs / 1000} s`);
    expect(waits).toEqual([['Waiting for the customer to end the consent', scaTimeoutMs]]);
    expect(world.elapsed()).toBeLessThanOrEqual(scaTimeoutMs);
    expect(world.elapsed()).toBeGreaterThan(scaTimeoutMs - 3_500);
    expect(new Set(askedHowFar.map((of) => JSON.stringify(of)))).toEqual(
      new Set([JSON.stringify(['c1', LINKS, 't1', 'an end'])]),
    );
  });

  it.each<[string, Scene, bankStatus: string]>([
    ['that of its answer', {}, 'terminatedByTpp'],
    ['that of its answer, before it says another', { end: WAS_THERE, status: EXPIRED }, 'terminatedByTpp'],
    ['that of the consent, once the customer has ended it', { end: wanting(), status: EXPIRED }, 'X'],
    ['that of its answer, if only the authorisation is done', DONE, 'terminatedByTpp'],
    ['that of before, if it has taken nothing', { end: wanting(), isAlone: true }, 'valid'],
    [
      'that of before, if the customer refuses its end',
      { end: wanting(), progress: being('failed') },
      'valid',
    ],
    ['that of before, if nobody says how it ended', { end: AWAY }, 'valid'],
  ])('the journal has the word of the bank: %s', async (_, scene, bankStatus) => {
    expect((await deleted(scene)).bankStatus).toBe(bankStatus);
  });

  it.each([
    ['interrupted', INTERRUPTED, 'interrupted Ctrl-C'],
    ['not to be opened', new Psd2Error('config', 'No browser'), `still_open No browser. ${OPEN_END}`],
  ])('the page is %s: nothing is recorded', async (_, noPage, word) => {
    const found = await deleted({ end: wanting(PAGE_OF_END), noPage });
    expect([found.word, found.done, found.waits]).toEqual([word, [], []]);
  });

  it('without a resource the journal is damaged, and nothing is asked', async () => {
    const { word, asked } = await deleted({ events: [CREATED] });
    expect(word).toMatch(/^config The journal of co-1 does not have the line with its resource/);
    expect(asked).toEqual([]);
  });
});
