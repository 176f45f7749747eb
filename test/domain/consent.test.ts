import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDate } from '../../src/domain/calendar.ts';
import {
  applyConsentEvent,
  type Consent,
  type ConsentEvent,
  type ConsentStep,
  consentEnd,
  isForFunds,
  nextConsentStep,
  untilSca,
} from '../../src/domain/consent.ts';
import { consentCategories } from './orders.ts';

const day = (text: string) => parseDate('a day', text);
const intent = { requestId: 'request-1', digest: null };
const created: ConsentEvent = {
  ...{ type: 'created', flow: 'co-1', transactionId: 't1', customerId: '1234567' },
  categories: consentCategories(),
};
const requested: ConsentEvent = {
  type: 'requested',
  resourceId: 'r1',
  outcomes: [
    { name: 'ACCOUNT_INFO', outcome: true },
    { name: 'PAYMENTS', outcome: false },
  ],
};
const refused = (status: 'NOT_AUTHORIZED' | 'EXPIRED'): ConsentEvent => ({
  type: 'authorization',
  status,
  bankStatus: status,
});

const resolved = (outcome: 'executed' | 'not-executed'): ConsentEvent => ({
  ...{ type: 'resolved', outcome, by: 'ada@pisp-1', note: 'The accounts can be read' },
});

/** The consent after these events, which come one second apart. */
function consentOf(events: ConsentEvent[], first = created): Consent {
  return events.reduce(
    (consent, event, second) => applyConsentEvent(consent, event, `2026-11-21T10:00:0${second + 1}.000Z`),
    applyConsentEvent(undefined, first, '2026-11-21T10:00:00.000Z'),
  );
}

const RETURNED: ConsentEvent[] = [requested, { type: 'sca-started' }, { type: 'sca-returned' }];
const CONFIRM_SENT: ConsentEvent = { type: 'confirm-sent', ...intent };
const CONFIRMING: ConsentEvent[] = [...RETURNED, CONFIRM_SENT];
const TURNED_AWAY: ConsentEvent = { type: 'confirm-turned-away' };
const AUTHORIZED: ConsentEvent = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' };

/** The categories after the bank's answer {@link requested}. */
const ANSWERED = consentCategories().map((category) => ({
  ...category,
  outcome: category.name === 'ACCOUNT_INFO',
}));

/** Who resolved a consent of which `confirm` was sent, when, and why. */
const resolution = (outcome: 'executed' | 'not-executed') => ({
  outcome,
  by: 'ada@pisp-1',
  at: '2026-11-21T10:00:05.000Z',
  note: 'The accounts can be read',
});

it('a consent begins with its categories, none of them answered', () => {
  const begun = consentOf([]);
  expect(begun).toMatchInlineSnapshot(`
    { access: null, authorisations: [], bankStatus: null, besideOthers: false,
      categories: [{ name: "ACCOUNT_INFO", outcome: null, products: ["0000012345", "CARD000001"] },
       { name: "PAYMENTS", outcome: null, products: ["0000012345", "CARD000001"] }],
      certificate: null, confirmRequestId: null, createdAt: "2026-11-21T10:00:00.000Z", credentials: [],
      customerId: "1234567", flow: "co-1", grantedAt: null, isDeletionTaken: false, kind: "consent",
      links: null, messages: [], reached: false, refusedUnconfirmed: false, resolution: null,
      resourceId: null, returnState: null, returned: false, state: "created", terms: null,
      transactionId: "t1", updatedAt: "2026-11-21T10:00:00.000Z" }
  `);
  expect(nextConsentStep(begun)).toBe('request');
});

it('a consent begins with its creation, and only once', () => {
  expect(() => applyConsentEvent(undefined, requested, 'now')).toThrow('A flow cannot begin with requested');
  expect(() => applyConsentEvent(consentOf([]), created, 'now')).toThrow('A flow begins once');
});

it('each outcome goes to its category, and a category that the bank does not name is not granted', () => {
  const outcomesOf = (outcomes: { name: string; outcome: boolean }[]) =>
    consentOf([{ type: 'requested', resourceId: 'r1', outcomes }]).categories.map(({ outcome }) => outcome);
  expect(outcomesOf([{ name: 'PAYMENTS', outcome: true }])).toEqual([false, true]);
  expect(
    outcomesOf([
      { name: 'OTHER', outcome: true },
      { name: 'ACCOUNT_INFO', outcome: true },
    ]),
  ).toEqual([true, false]);
});

it.each<[ConsentEvent[], ConsentEvent, Partial<Consent>, ConsentStep]>([
  [[], { type: 'request-sent', ...intent }, { reached: true }, 'request'],
  [[{ type: 'request-sent', ...intent }], { type: 'request-not-begun' }, { reached: false }, 'request'],
  [[requested], { type: 'cancelled' }, { state: 'cancelled' }, 'done'],
  [[], { type: 'request-refused' }, { state: 'failed' }, 'done'],
  [[], requested, { state: 'requested', resourceId: 'r1', categories: ANSWERED }, 'authorize'],
  [[requested], { type: 'all-refused' }, { state: 'failed' }, 'done'],
  [[requested], { type: 'approach-sent', ...intent }, {}, 'authorize'],
  [[requested], { type: 'sca-started' }, { state: 'authorizing', returned: false }, 'authorize'],
  [RETURNED.slice(0, 2), { type: 'sca-returned' }, { returned: true }, 'confirm'],
  [RETURNED, refused('NOT_AUTHORIZED'), { state: 'rejected' }, 'done'],
  [RETURNED, refused('EXPIRED'), { state: 'expired' }, 'done'],
  [RETURNED, AUTHORIZED, {}, 'confirm'],
  [RETURNED, CONFIRM_SENT, { state: 'confirming', confirmRequestId: 'request-1' }, 'ask-outcome'],
  [CONFIRMING, { type: 'confirm-not-begun' }, { state: 'authorizing' }, 'confirm'],
  [CONFIRMING, TURNED_AWAY, { state: 'authorizing', refusedUnconfirmed: true }, 'confirm'],
  [CONFIRMING, { type: 'confirmed' }, { state: 'confirmed' }, 'done'],
  [CONFIRMING, { type: 'confirm-refused' }, { state: 'failed', refusedUnconfirmed: true }, 'done'],
  [CONFIRMING, resolved('executed'), { state: 'confirmed', resolution: resolution('executed') }, 'done'],
  [CONFIRMING, resolved('not-executed'), { state: 'failed', resolution: resolution('not-executed') }, 'done'],
  [CONFIRMING, { type: 'confirm-unanswered' }, { state: 'unknown' }, 'ask-outcome'],
])(
  'after %j, %j changes only what it should, and the next step is right',
  (earlier, event, changes, step) => {
    const consent = consentOf([...earlier, event]);
    const updatedAt = `2026-11-21T10:00:0${earlier.length + 1}.000Z`;
    expect(consent).toEqual({ ...consentOf(earlier), ...changes, updatedAt });
    expect(nextConsentStep(consent)).toBe(step);
  },
);

it.each<[string, ConsentEvent, boolean]>([
  ['the bank confirmed it', { type: 'confirmed' }, false],
  ['the customer declined', refused('NOT_AUTHORIZED'), false],
  ['the customer was too late', refused('EXPIRED'), false],
  ['it was cancelled', { type: 'cancelled' }, false],
  ['a person said that it was confirmed', resolved('executed'), false],
  ['a person said that it was not confirmed', resolved('not-executed'), false],
  ['the customer authorised it', AUTHORIZED, true],
  ['it was sent again', CONFIRM_SENT, true],
  ['it was not sent again', { type: 'confirm-not-begun' }, true],
  ['the second one had no answer', { type: 'confirm-unanswered' }, true],
])(
  'after a confirmation that the bank turned away: if %s, only a refusal speaks: %s',
  (_, event, isAlone) => {
    const turnedAway = consentOf([...CONFIRMING, TURNED_AWAY]);
    expect(applyConsentEvent(turnedAway, event, 'later').refusedUnconfirmed).toBe(isAlone);
  },
);

/** All the ways in which a run can do a step, with the events that it writes. A run can be killed after each event. */
const WAYS: Record<ConsentStep, ConsentEvent[][]> = {
  request: [
    [{ type: 'request-sent', ...intent }, requested],
    [{ type: 'request-sent', ...intent }, requested, { type: 'all-refused' }],
    [{ type: 'request-sent', ...intent }, { type: 'request-refused' }],
  ],
  authorize: [
    [{ type: 'approach-sent', ...intent }, { type: 'sca-started' }, { type: 'sca-returned' }],
    [refused('NOT_AUTHORIZED')],
    [refused('EXPIRED')],
  ],
  confirm: [
    [CONFIRM_SENT, { type: 'confirmed' }],
    [CONFIRM_SENT, { type: 'confirm-refused' }],
    [CONFIRM_SENT, { type: 'confirm-not-begun' }],
    [CONFIRM_SENT, { type: 'confirm-unanswered' }],
  ],
  'ask-outcome': [
    [{ type: 'confirm-unanswered' }],
    [{ type: 'confirmed' }],
    [refused('NOT_AUTHORIZED')],
    [resolved('executed')],
    [resolved('not-executed')],
  ],
  done: [],
};

describe('a consent that is killed and resumed any number of times', () => {
  it('psd2 sends confirm again only if it was not begun, and never after the end', () => {
    const choices = fc.array(fc.record({ way: fc.nat(), killedAfter: fc.nat({ max: 4 }) }), {
      maxLength: 30,
    });
    const reached = new Set<string>();
    fc.assert(
      fc.property(choices, (made) => {
        const events: ConsentEvent[] = [];
        let mayHaveLeft = false;
        for (const { way, killedAfter } of made) {
          const step = nextConsentStep(consentOf(events));
          if (step === 'confirm') expect(mayHaveLeft).toBe(false);
          const ways = WAYS[step];
          if (ways.length === 0) break;
          const written = (ways[way % ways.length] ?? []).slice(0, killedAfter + 1);
          for (const { type } of written) {
            if (type === 'confirm-sent') mayHaveLeft = true;
            if (type === 'confirm-not-begun') mayHaveLeft = false;
          }
          events.push(...written);
          reached.add(consentOf(events).state);
        }
      }),
      { numRuns: 3000 },
    );
    expect([...reached]).toEqual(
      expect.arrayContaining(['confirming', 'confirmed', 'unknown', 'failed', 'rejected', 'expired']),
    );
  });
});

describe('the 180 days of a consent', () => {
  const at = '2026-11-21T10:00:00.000Z';
  const confirmed = applyConsentEvent(consentOf([]), { type: 'confirmed' }, at);

  it.each([
    ['2026-11-21T10:00:00.000Z', 180],
    ['2026-11-21T10:00:00.001Z', 180],
    ['2026-11-22T10:00:00.000Z', 179],
    ['2027-05-20T09:59:59.999Z', 1],
    ['2027-05-20T10:00:00.000Z', 0],
    ['2030-01-01T00:00:00.000Z', 0],
  ])('at %s a consent has %i days left', (now, daysLeft) => {
    expect(consentEnd(confirmed, new Date(now))).toEqual({
      ...{ expiresAt: '2027-05-20T10:00:00.000Z', lastDay: '2027-05-20', daysLeft },
    });
  });

  it('the 180 days of a consent that a person resolved begin with its request, since the confirmation can be that old', () => {
    const ended = applyConsentEvent(consentOf([]), resolved('executed'), '2026-12-21T10:00:00.000Z');
    expect(consentEnd(ended, new Date('2026-12-21T10:00:00.000Z'))).toEqual({
      expiresAt: '2027-05-20T10:00:00.000Z',
      lastDay: '2027-05-20',
      daysLeft: 150,
    });
  });

  it('the last day is the one at the bank', () => {
    const late = applyConsentEvent(consentOf([]), { type: 'confirmed' }, '2026-11-28T22:13:00.000Z');
    expect(consentEnd(late, new Date(at))).toMatchObject({
      ...{ expiresAt: '2027-05-27T22:13:00.000Z', lastDay: '2027-05-28' },
    });
  });

  it('an unconfirmed consent has no end date', () => {
    expect(consentEnd(consentOf([]), new Date(at))).toBeNull();
  });
});

describe("a consent that the customer's SCA alone grants", () => {
  const terms = { frequencyPerDay: 4, recurring: true, validUntil: day('2027-01-31') };
  const asked: ConsentEvent = { ...created, terms, returnState: 'state-1' };
  const links = { approach: 'redirect', redirect: 'https://bank.example/sca' } as const;
  const access = { accounts: [{ iban: 'IT60X0542811101000000123456' }] };
  const noted: ConsentEvent = {
    ...{ type: 'requested', resourceId: 'c1', outcomes: [] },
    terms: { ...terms, access: { type: 'list-only' } },
    ...{ access, bankStatus: 'received', besideOthers: true, links },
  };
  const granted: ConsentEvent = {
    ...{ type: 'granted', bankStatus: 'valid', validUntil: null, frequencyPerDay: null, recurring: null },
  };
  const following = (...events: ConsentEvent[]) => consentOf([noted, ...events], asked);

  it('begins with its terms, and has the words, the links and the access of the bank then', () => {
    expect(consentOf([], asked)).toMatchObject({
      ...{ terms, returnState: 'state-1', access: null, bankStatus: null, links: null, besideOthers: false },
    });
    expect(following()).toMatchObject({
      ...{ state: 'requested', resourceId: 'c1', access, bankStatus: 'received', besideOthers: true, links },
      terms: { ...terms, access: { type: 'list-only' } },
    });
    const bare = following({ type: 'requested', resourceId: 'c2', outcomes: [] });
    expect(bare).toMatchObject({
      ...{ resourceId: 'c2', access: null, bankStatus: null, besideOthers: false, links: null },
      terms: { ...terms, access: { type: 'list-only' } },
    });
  });

  it('keeps its links until the bank gives others, and stays open while another person must authorise it', () => {
    const partly = following({ type: 'sca-started' }, { type: 'noted', bankStatus: 'partiallyAuthorised' });
    expect(partly).toMatchObject({ state: 'authorizing', bankStatus: 'partiallyAuthorised', links });
    const others = { ...links, redirect: 'https://bank.example/again' };
    expect(following({ type: 'sca-started', links: others }).links).toEqual(others);
  });

  it('is confirmed once it is granted, with what the bank says of its terms', () => {
    const confirmed = following(granted);
    expect(confirmed).toMatchObject({
      ...{ state: 'confirmed', grantedAt: '2026-11-21T10:00:02.000Z', bankStatus: 'valid', access },
      terms: { ...terms, access: { type: 'list-only' } },
    });
    expect(nextConsentStep(confirmed)).toBe('done');
    const said = { validUntil: day('2026-12-31'), frequencyPerDay: 1, recurring: false };
    const other = { accounts: [] };
    const again = following(granted, { ...granted, ...said, access: other });
    expect(again).toMatchObject({ grantedAt: '2026-11-21T10:00:02.000Z', access: other, terms: said });
    expect(consentEnd(again, new Date('2026-12-31T12:00:00.000Z'))).toEqual({
      ...{ expiresAt: '2026-12-31T23:00:00.000Z', lastDay: '2026-12-31', daysLeft: 1 },
    });
  });

  it('has what the bank says beside its answers, each sentence once', () => {
    const told = { ...granted, messages: ['Check your app', 'Until May'] };
    const { messages } = following(
      { type: 'noted', bankStatus: 'received', messages: ['Check your app'] },
      told,
    );
    expect(messages).toEqual(['Check your app', 'Until May']);
  });

  it.each([
    [
      'after 180 days, if the bank calls it valid for longer',
      day('9999-12-31'),
      null,
      '2027-05-20T22:00:00.000Z',
    ],
    ['on its last day, if that is earlier', day('2027-01-31'), null, '2027-01-31T23:00:00.000Z'],
    ['on its last day, if it is for one reading', day('2027-12-31'), false, '2027-12-31T23:00:00.000Z'],
    ['after 180 days, if it has no last day', null, null, '2027-05-20T22:00:00.000Z'],
    ['never, if it is for one reading and has no last day', null, false, undefined],
  ])('ends %s', (_, validUntil, recurring, end) => {
    const { frequencyPerDay } = terms;
    const consent = consentOf(
      [
        { type: 'requested', resourceId: 'c2', outcomes: [] },
        { ...granted, validUntil, recurring },
      ],
      { ...asked, terms: { frequencyPerDay, recurring: true } },
    );
    expect(consentEnd(consent, new Date())?.expiresAt).toBe(end);
  });

  describe('of several persons', () => {
    const start = (id: string | undefined, psuId: string): ConsentEvent => ({
      ...{ type: 'sca-started', psuId },
      links: { ...links, ...(id !== undefined && { id }) },
    });
    const words = (...events: ConsentEvent[]) =>
      following(...events).authorisations.map(({ id, psuId, scaStatus }) => [id, psuId, scaStatus]);

    it('has the authorisation of each, with the word that the bank says of the last', () => {
      const said: ConsentEvent = { type: 'noted', bankStatus: 'received', scaStatus: 'finalised' };
      expect(words(start('a', 'anna'))).toEqual([['a', 'anna', null]]);
      expect(words(start('a', 'anna'), said)).toEqual([['a', 'anna', 'finalised']]);
      expect(words(start('a', 'anna'), said, start('b', 'bea'))).toEqual([
        ['a', 'anna', 'finalised'],
        ['b', 'bea', null],
      ]);
      expect(words(start('a', 'anna'), start('b', 'bea'), said)).toEqual([
        ['a', 'anna', null],
        ['b', 'bea', 'finalised'],
      ]);
      // The links that were given last say whose word it is.
      expect(words(start('a', 'anna'), start('b', 'bea'), start('a', 'anna'), said)).toEqual([
        ['a', 'anna', 'finalised'],
        ['b', 'bea', null],
      ]);
      expect(words(start(undefined, 'anna'), said)).toEqual([[null, 'anna', 'finalised']]);
    });

    it('keeps the word that it has, if the bank says none', () => {
      const said: ConsentEvent = { type: 'ended', state: 'rejected', bankStatus: 'x', scaStatus: 'failed' };
      expect(words(start('a', 'anna'), said)).toEqual([['a', 'anna', 'failed']]);
      expect(words(start('a', 'anna'), said, { type: 'noted', bankStatus: 'y' })).toEqual([
        ['a', 'anna', 'failed'],
      ]);
      expect(following(start('a', 'anna')).authorisations[0]?.at).toBe('2026-11-21T10:00:02.000Z');
    });

    it('has none as long as nobody has links', () => {
      expect(words({ type: 'sca-started' })).toEqual([]);
      expect(words({ type: 'noted', bankStatus: 'x', scaStatus: 'received' })).toEqual([]);
    });
  });

  it('has the links that are left, and the certificate and the words of the answer to its request', () => {
    const left = { approach: 'redirect' } as const;
    expect(following({ type: 'links-left', links: left }).links).toEqual(left);
    const certificate = { name: 'CN=psd2', sha256: 'ab' };
    const answered = consentOf([{ ...noted, certificate, messages: ['Hello'] }], asked);
    expect(answered).toMatchObject({ certificate, messages: ['Hello'] });
    expect(consentOf([noted], asked)).toMatchObject({ certificate: null, messages: [] });
  });

  it('has the word of its deletion unless it has ended', () => {
    const taken: ConsentEvent = { type: 'delete-taken', bankStatus: 'terminatedByTpp' };
    const over: ConsentEvent = { type: 'ended', state: 'revoked', bankStatus: 'revokedByPsu' };
    for (const before of [[], [granted]] as ConsentEvent[][])
      expect(following(...before, taken)).toMatchObject({
        ...{ isDeletionTaken: true, bankStatus: 'terminatedByTpp' },
      });
    expect(following(granted, over, taken)).toMatchObject({
      isDeletionTaken: true,
      bankStatus: 'revokedByPsu',
    });
    expect(following(granted, over).isDeletionTaken).toBe(false);
  });

  it('for confirmations of funds has the end of the card, if there is one, and is used for no reading', () => {
    const funds = (cardExpiryDate?: string) => ({
      ...({ type: 'funds', account: 'DE89370400440532013000' } as const),
      ...(cardExpiryDate !== undefined && { cardExpiryDate: day(cardExpiryDate) }),
    });
    const consent = (access: ReturnType<typeof funds>) =>
      consentOf([{ ...noted, terms: { ...terms, access } }, granted], asked);
    const [forever, until] = [consent(funds()), consent(funds('2027-12-31'))];
    const now = new Date('2027-12-30T23:00:00.000Z');
    expect(consentEnd(forever, now)).toBeNull();
    expect(consentEnd(until, now)).toEqual({
      ...{ expiresAt: '2027-12-31T23:00:00.000Z', lastDay: '2027-12-31', daysLeft: 1 },
    });
    expect([isForFunds(forever), isForFunds(following()), isForFunds({ terms: null })]).toEqual([
      ...[true, false, false],
    ]);
    expect(isForFunds({ terms: {} })).toBe(false);
  });

  it.each<[string | null, boolean | undefined, string | null]>([
    [null, true, '2027-05-21'],
    [null, undefined, '2027-05-21'],
    ['2027-05-20', true, '2027-05-20'],
    ['2027-05-21', true, '2027-05-21'],
    ['2027-05-22', true, '2027-05-21'],
    ['2027-05-22', false, '2027-05-22'],
    [null, false, null],
  ])('with the last day %s, and recurring %s, lasts until %s', (validUntil, recurring, last) => {
    const until = untilSca({
      ...{ validUntil: validUntil === null ? null : day(validUntil) },
      // The day at the bank counts.
      ...{ grantedAt: '2026-11-21T23:00:00.000Z', ...(recurring !== undefined && { recurring }) },
    });
    expect(until).toBe(last);
  });

  it.each(['rejected', 'expired', 'cancelled', 'revoked'] as const)('ends as the bank says: %s', (state) => {
    const ended = following(granted, { type: 'ended', state, bankStatus: 'the word' });
    expect(ended).toMatchObject({ state, bankStatus: 'the word' });
    expect([nextConsentStep(ended), consentEnd(ended, new Date())]).toEqual(['done', null]);
  });
});

describe('what the customer gives psd2 for a consent', () => {
  const sent = (requestId: string, more: object = {}): ConsentEvent => ({
    type: 'credential-sent',
    what: 'password',
    requestId,
    digest: null,
    ...more,
  });
  const answered = (scaStatus: string | null, id?: string): ConsentEvent => ({
    type: 'credential-answered',
    scaStatus,
    ...(id !== undefined && { links: { approach: 'embedded', id } }),
  });
  const gift = (requestId: string, psuId: string | null, isAnswered: boolean) => ({
    what: 'password',
    psuId,
    isAnswered,
    requestId,
  });
  const authorisation = (
    id: string | null,
    psuId: string | null,
    scaStatus: string | null,
    second: number,
  ) => ({
    id,
    psuId,
    scaStatus,
    at: `2026-11-21T10:00:0${second}.000Z`,
  });
  const anna = { begins: true, psuId: 'anna' };
  const ben = { begins: true, psuId: 'ben' };

  it.each<[string, ConsentEvent[], object]>([
    [
      'it is about to leave',
      [sent('q1', anna)],
      {
        credentials: [gift('q1', 'anna', false)],
        authorisations: [authorisation(null, 'anna', null, 1)],
        links: null,
      },
    ],
    [
      'the bank answers',
      [sent('q1', anna), answered('started', 'a1')],
      {
        credentials: [gift('q1', 'anna', true)],
        authorisations: [authorisation('a1', 'anna', 'started', 1)],
        links: { id: 'a1' },
      },
    ],
    [
      'the bank does not say how far it is',
      [sent('q1', anna), answered(null, 'a1')],
      { credentials: [gift('q1', 'anna', true)], authorisations: [authorisation('a1', 'anna', null, 1)] },
    ],
    [
      'the same person gives the next, and the answer has no links',
      [sent('q1', anna), answered('started', 'a1'), sent('q2', { psuId: 'anna' }), answered('finalised')],
      {
        credentials: [gift('q1', 'anna', true), gift('q2', 'anna', true)],
        authorisations: [authorisation('a1', 'anna', 'finalised', 1)],
        links: { id: 'a1' },
      },
    ],
    [
      'a second person begins',
      [sent('q1', anna), answered('finalised', 'a1'), sent('q2', ben), answered('started', 'b1')],
      {
        credentials: [gift('q1', 'anna', true), gift('q2', 'ben', true)],
        authorisations: [
          authorisation('a1', 'anna', 'finalised', 1),
          authorisation('b1', 'ben', 'started', 3),
        ],
        links: { id: 'b1' },
      },
    ],
    [
      'no byte of what the second person gave has left: they have begun nothing',
      [sent('q1', anna), answered('finalised', 'a1'), sent('q2', ben), { type: 'credential-not-begun' }],
      {
        credentials: [gift('q1', 'anna', true)],
        authorisations: [authorisation('a1', 'anna', 'finalised', 1)],
        links: { id: 'a1' },
      },
    ],
    [
      'no byte of the first has left: nobody has begun',
      [sent('q1', anna), { type: 'credential-not-begun' }],
      { credentials: [], authorisations: [] },
    ],
    [
      'no byte of the next of the same person has left: what they have begun stays',
      [
        sent('q1', anna),
        answered('started', 'a1'),
        sent('q2', { psuId: 'anna' }),
        { type: 'credential-not-begun' },
      ],
      {
        credentials: [gift('q1', 'anna', true)],
        authorisations: [authorisation('a1', 'anna', 'started', 1)],
      },
    ],
  ])('%s', (_, events, state) => {
    expect(consentOf(events)).toMatchObject({ state: 'authorizing', ...state });
  });

  const NOTHING_SAID = { validUntil: null, frequencyPerDay: null, recurring: null };
  it.each<[string, ConsentEvent]>([
    ['confirmed', { type: 'granted', bankStatus: 'valid', ...NOTHING_SAID }],
    ['rejected', { type: 'ended', state: 'rejected', bankStatus: 'rejected' }],
    ['expired', { type: 'ended', state: 'expired', bankStatus: 'expired' }],
    ['authorizing', { type: 'noted', bankStatus: 'received' }],
  ])(
    'whose consent is %s by the bank’s word, psd2 notes that it was answered, and it stays so',
    (state, word) => {
      const consent = consentOf([sent('q1', anna), word, answered('finalised', 'a1')]);
      expect(consent).toMatchObject({ state, credentials: [gift('q1', 'anna', true)], links: { id: 'a1' } });
    },
  );
});
