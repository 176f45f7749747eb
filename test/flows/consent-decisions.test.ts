import { describe, expect, it } from 'vitest';
import type { ConsentDetails, ConsentEnd, Sca, ScaLinks, ScaTurn } from '../../src/bank/ports/customer.ts';
import type { ConsentEvent } from '../../src/domain/consent.ts';
import type { ScaProgress } from '../../src/domain/payment-answers.ts';
import { Psd2Error } from '../../src/errors.ts';
import { type GrantPorts, runLinkedConsent } from '../../src/flows/consent/by-links.ts';
import type { CredentialPorts } from '../../src/flows/ports.ts';
import { Secret } from '../../src/secret.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { CREATED, inMemory, NOTHING_SAID } from './consent-in-memory.ts';
import { fakeCustomer, fakeWorld, returnsTo } from './doubles.ts';
import { PAGE } from './linked-consents.ts';

// What psd2 asks the bank, records and tells the operator while a customer decides on a consent: bank and journal in memory, each step in
// its order.

const LINKS: ScaLinks = { approach: 'decoupled', id: 'a1', status: '/a1' };
const PAGE_LINKS: ScaLinks = { approach: 'redirect', id: 'a1', redirect: PAGE, status: '/a1' };
const WAIT: ScaTurn = { next: 'wait', links: LINKS };
const REQUESTED: ConsentEvent[] = [
  CREATED,
  { type: 'requested', resourceId: 'c1', outcomes: [], bankStatus: 'received' },
];
const started = (psuId?: string, links: ScaLinks = LINKS): ConsentEvent => ({
  ...{ type: 'sca-started', links },
  ...(psuId !== undefined && { psuId }),
});
const says = (means: ConsentDetails['means'], more: Partial<ConsentDetails> = {}): ConsentDetails => ({
  ...{ consentStatus: means === 'open' ? 'received' : means, means, ...NOTHING_SAID },
  ...more,
});
const OPEN = says('open');
const PARTLY = says('open', { isPartly: true });
const VALID = says('valid');
const AWAY = new Psd2Error('bank_failing', 'Away');
const REFUSES = new Psd2Error('bank_refused', 'No', { refusal: 'other', isBanks: true });
const CTRL_C = new Psd2Error('interrupted', 'Interrupted');

interface Scene {
  events?: ConsentEvent[];
  /** What the bank's links lead to, after an authorisation or a code was announced. */
  turn?: ScaTurn | Psd2Error;
  announces?: true;
  /** What the bank says of the consent, and of the authorisation. The last ones stay. */
  words?: (ConsentDetails | Psd2Error)[];
  progress?: (ScaProgress['means'] | Psd2Error | null)[];
  /** What the bank answers to the code that the browser brought. */
  code?: Psd2Error;
  end?: ConsentEnd | Psd2Error;
  /** What is special about its refusal of a TAN. */
  refused?: Psd2Error['context'];
  grant?: Partial<GrantPorts>;
  /** What the browser brings back. Null: it stays away. */
  brings?: Record<string, string> | null;
  /** How many seconds the customer has. */
  timeout?: number;
}

function after<T>(list: T[]): T {
  const [first = expect.unreachable(), ...more] = list;
  if (more.length > 0) list.shift();
  return first;
}

/** The bank of a scene, which writes down what it is asked. */
function bankOf(scene: Scene, done: string[]) {
  const { turn = WAIT, announces, words = [VALID], progress = [null], code, end, refused, brings } = scene;
  const bank = answeringBank(() => ({ data: {} }));
  const sca: Sca = {
    ...bank.sca,
    ...(brings === null && { timing: { pollSeconds: 0.001, authorisationMinutes: 5 } }),
    async proceed({ beforeSend, links }) {
      done.push(`proceed ${links ? 'on' : 'anew'}`);
      if (announces) await beforeSend({ requestId: 'q', digest: null });
      if (turn instanceof Psd2Error) throw turn;
      return turn;
    },
    async progress(_id, _links, _transaction, how) {
      const means = after(progress);
      done.push(`how far${how === 'an end' ? ', to end' : ''}`);
      if (means instanceof Psd2Error) throw means;
      return means && { scaStatus: means, means, message: null };
    },
    async give({ beforeSend, links }) {
      await beforeSend({ requestId: 'q', digest: null });
      const refusal = new Psd2Error('bank_refused', 'No', { isBanks: true, ...refused });
      return { links, scaStatus: null, refusal };
    },
    async confirmCode({ beforeSend }) {
      await beforeSend({ requestId: 'q', digest: null });
      done.push('code');
      if (code) throw code;
      return { scaStatus: 'finalised', means: 'done', message: null };
    },
  };
  const consents: typeof bank.consents = {
    ...bank.consents,
    async details(_id, _transaction, how) {
      const word = after(words);
      done.push(`status${how === 'an end' ? ', to end' : ''}`);
      if (word instanceof Psd2Error) throw word;
      return word;
    },
    ...(end && {
      async delete() {
        done.push('delete');
        if (end instanceof Psd2Error) throw end;
        return end;
      },
    }),
  };
  return { ...bank, sca, consents };
}

/** Runs a consent. @returns what happened in order, and how it ended */
async function runs(scene: Scene) {
  const { events = REQUESTED, timeout = 60, grant, brings = { code: 'my-code' } } = scene;
  const { open, done } = await inMemory(events);
  const customer = fakeCustomer({ scaTimeoutMs: timeout * 1000 }, brings);
  const world = fakeWorld();
  world.sleep = async (milliseconds) => {
    done.push('pause');
    world.pass(milliseconds);
  };
  const ports = { bank: bankOf(scene, done), customer, world };
  const error = await runLinkedConsent(open, ports, {
    ...returnsTo({ quote: (words) => void done.push(`quote ${words}`) }),
    keepConsent: async () => void done.push('keep'),
    dropConsent: async () => void done.push('drop'),
    ...grant,
  }).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error !== null && !(error instanceof Psd2Error)) throw error;
  const ends = error ? `${error.code}: ${error.message}` : 'granted';
  return { does: done.join(', '), ends, error, consent: open.current };
}

const BEN = { person: { id: 'ben', idType: undefined, corporateId: undefined }, psuId: 'ben' };
const OF_BEN: ScaLinks = { ...LINKS, id: 'a2' };
/** Ada and Ben have an authorisation each. */
const OF_TWO = [...REQUESTED, started('ada'), started('ben', OF_BEN)];
const BEN_WAITS: ScaTurn = { next: 'wait', links: OF_BEN };
const ASKS = 'status, how far';
const GRANTED = 'status, keep, granted, how far';
const ENDED = 'status, status, to end, drop, ended, how far';
const REFUSED = 'not_authorised: The customer did not authorise the consent';
const OTHERS =
  'still_open: The consent has an authorisation, and the bank waits for another person (received). The consent is not over: another person can still authorise it';
const LATE =
  'still_open: The customer did not authorise the consent (received) within 2 s. The consent is not over: the customer can still authorise it';

describe('psd2 asks until the customer has decided', () => {
  it.each<[string, Scene, does: string, ends: string]>([
    ['they have granted it', {}, GRANTED, 'granted'],
    ['and the authorisation has a last word', { progress: ['done'] }, `${GRANTED}, noted`, 'granted'],
    ['and the bank cannot say it', { progress: [AWAY] }, GRANTED, 'granted'],
    ['and the bank refuses to say it', { progress: [REFUSES] }, GRANTED, 'granted'],
    ['and Ctrl-C comes', { progress: [CTRL_C] }, GRANTED, 'interrupted: Interrupted'],
    [
      'they grant it, and nobody says how far they are',
      { words: [OPEN, VALID] },
      `${ASKS}, pause, ${GRANTED}`,
      'granted',
    ],
    [
      'they grant it, and the bank refuses to say how far they are',
      { words: [OPEN, VALID], progress: [REFUSES] },
      `${ASKS}, pause, ${GRANTED}`,
      'granted',
    ],
    [
      'they grant it after the bank was away',
      { words: [AWAY, VALID] },
      `status, pause, ${GRANTED}`,
      'granted',
    ],
    [
      'an authorisation fails, by one answer',
      { words: [OPEN, VALID], progress: ['failed', 'going on'] },
      `${ASKS}, how far, to end, pause, ${GRANTED}, noted`,
      'granted',
    ],
    [
      'an authorisation fails',
      { words: [OPEN], progress: ['failed'] },
      `${ASKS}, how far, to end, ended, how far`,
      REFUSED,
    ],
    [
      'an authorisation of one of two fails',
      { events: OF_TWO, grant: BEN, turn: BEN_WAITS, words: [OPEN, OPEN, VALID], progress: ['failed'] },
      `${ASKS}, pause, ${GRANTED}, noted`,
      'granted',
    ],
    ['they refuse it', { words: [OPEN, says('rejected')] }, `${ASKS}, pause, ${ENDED}`, REFUSED],
    [
      'their time is over at the bank',
      { words: [says('expired')] },
      ENDED,
      'authorisation_expired: The customer did not authorise the consent in time',
    ],
    [
      'a code is missing',
      { words: [OPEN], progress: ['needs code'] },
      ASKS,
      "still_open: The bank waits for the code that only the customer's browser brings back. The consent is not over: the customer can still authorise it",
    ],
    [
      'their time is over here',
      { words: [OPEN], progress: ['going on'], timeout: 2 },
      `${ASKS}, pause, ${ASKS}, pause, ${ASKS}, noted`,
      LATE,
    ],
    [
      'their time is over here, and nobody says how far they are',
      { words: [OPEN], timeout: 2 },
      `${ASKS}, pause, ${ASKS}, pause, ${ASKS}`,
      LATE,
    ],
  ])('%s', async (_, scene, does, ends) => {
    const found = await runs(scene);
    const begins = scene.events ? 'status, proceed anew, sca-started' : 'proceed anew, sca-started';
    expect([found.does, found.ends]).toEqual([`${begins}, ${does}`, ends]);
  });

  it.each<[string, Scene, does: string, ends: string]>([
    [
      'for a moment',
      { words: [PARTLY, VALID], progress: ['done'] },
      `${ASKS}, pause, ${GRANTED}, noted`,
      'granted',
    ],
    ['after one is done', { words: [PARTLY], progress: ['done'] }, `${ASKS}, pause, ${ASKS}, noted`, OTHERS],
    [
      'after one has failed',
      { words: [PARTLY], progress: ['failed'] },
      `${ASKS}, pause, ${ASKS}, noted`,
      OTHERS,
    ],
    [
      'while one goes on',
      { words: [PARTLY, PARTLY, VALID], progress: ['going on'] },
      `${ASKS}, pause, ${ASKS}, pause, ${GRANTED}, noted`,
      'granted',
    ],
    [
      'between two that are done',
      { words: [PARTLY, PARTLY, PARTLY, VALID], progress: ['done', 'going on', 'done'] },
      `${ASKS}, pause, ${ASKS}, pause, ${ASKS}, pause, ${GRANTED}, noted`,
      'granted',
    ],
    [
      'before and after another word',
      { words: [PARTLY, OPEN, PARTLY, VALID], progress: ['done'] },
      `${ASKS}, pause, ${ASKS}, pause, ${ASKS}, pause, ${GRANTED}, noted`,
      'granted',
    ],
    ['and nobody says how far the only one is', { words: [PARTLY] }, `${ASKS}, pause, ${ASKS}`, OTHERS],
    [
      'and nobody says how far one of two is',
      { events: OF_TWO, grant: BEN, turn: BEN_WAITS, words: [OPEN, PARTLY, PARTLY, VALID] },
      `${ASKS}, pause, ${ASKS}, pause, ${GRANTED}`,
      'granted',
    ],
  ])('others must authorise it, too, %s', async (_, scene, does, ends) => {
    const found = await runs(scene);
    const begins = scene.events ? 'status, proceed anew, sca-started' : 'proceed anew, sca-started';
    expect([found.does, found.ends]).toEqual([`${begins}, ${does}`, ends]);
  });

  it.each<[string, Scene, next: string[][]]>([
    [
      'the customer',
      {},
      [
        ['consent', 'resume', 'co-1'],
        ['consent', 'delete', 'co-1'],
      ],
    ],
    [
      'ben',
      { events: OF_TWO, grant: BEN, turn: BEN_WAITS },
      [
        ['consent', 'status', 'co-1'],
        ['consent', 'resume', 'co-1', '--psu-id', 'ben'],
        ['consent', 'delete', 'co-1'],
      ],
    ],
  ])('the time of %s is over: what goes on', async (who, scene, next) => {
    const { ends, error } = await runs({ words: [OPEN], timeout: 2, ...scene });
    const name = who === 'ben' ? 'ben' : 'The customer';
    expect(ends).toBe(
      `still_open: ${name} did not authorise the consent (received) within 2 s. The consent is not over: ${who} can still authorise it`,
    );
    expect(error?.next).toEqual(next);
  });

  it.each<[string, Scene, string | null]>([
    ['its own', { events: OF_TWO, grant: BEN, turn: BEN_WAITS }, 'a1 null, a2 going on'],
    [
      'the last one, if nothing says which',
      { events: OF_TWO, grant: BEN, turn: { next: 'wait', links: { approach: 'decoupled' } } },
      'a1 null, a2 going on',
    ],
    ['an earlier one, if its links are followed', { events: OF_TWO, grant: BEN }, 'a1 going on, a2 null'],
  ])('what the bank says last of an authorisation is written down at %s', async (_, scene, found) => {
    const { consent } = await runs({ words: [OPEN], timeout: 2, progress: ['going on'], ...scene });
    expect(consent.authorisations.map(({ id, scaStatus }) => `${id} ${scaStatus}`).join(', ')).toBe(found);
  });
});

describe('whose authorisation fails ends the consent', () => {
  const of = (...persons: (string | undefined)[]): ConsentEvent[] => [
    ...REQUESTED,
    ...persons.map((psuId, at) => started(psuId, { ...LINKS, id: `a${at + 1}` })),
  ];
  it.each<[string, ConsentEvent[], isAlone: boolean]>([
    ['the customer, with one authorisation', of(undefined), true],
    ['the customer, with two authorisations', of(undefined, undefined), true],
    ['ada, with two authorisations', of('ada', 'ada'), true],
    ['ada, with three authorisations', of('ada', 'ada', 'ada'), true],
    ['one of ada and ben', of('ada', 'ben'), false],
    ['one of the customer and ben', of(undefined, 'ben'), false],
    ['ada before and after ben', of('ada', 'ben', 'ada'), false],
  ])('only if nobody else has one: %s', async (_, events, isAlone) => {
    const { ends, consent } = await runs({ events, words: [OPEN], progress: ['failed'], timeout: 2 });
    expect([ends, consent.state]).toEqual(isAlone ? [REFUSED, 'rejected'] : [LATE, 'authorizing']);
  });
});

describe('a consent that no customer can authorise', () => {
  const dead = (hint?: string) =>
    new Psd2Error('bank_answer', 'No way', { isDeadEnd: true, ...(hint !== undefined && { hint }) });
  const END: ConsentEnd = { bankStatus: 'terminatedByTpp' };
  const HAS_ENDED = 'psd2 has ended the consent at the bank.';
  const STILL_THERE = 'The bank still has the consent. End it there with:';
  const DELETE = [['consent', 'delete', 'co-1']];

  it.each<[string, Scene, does: string, hint: string, next: string[][] | undefined]>([
    ['is ended', { turn: dead(), end: END }, 'delete, delete-taken, ended', HAS_ENDED, undefined],
    [
      'is ended, and why is told before',
      { turn: dead('Ask the bank.'), end: END },
      'delete, delete-taken, ended',
      `Ask the bank. ${HAS_ENDED}`,
      undefined,
    ],
    [
      'is ended here alone, if the bank does not',
      { turn: dead(), end: AWAY },
      'delete, ended',
      STILL_THERE,
      DELETE,
    ],
    [
      'is ended here alone, and why is told before',
      { turn: dead('Ask the bank.'), end: REFUSES },
      'delete, ended',
      `Ask the bank. ${STILL_THERE}`,
      DELETE,
    ],
    ['is ended here at a bank without such a call', { turn: dead() }, 'ended', HAS_ENDED, undefined],
  ])('%s', async (_, scene, does, hint, next) => {
    const { error, consent, ...found } = await runs(scene);
    expect([found.does, found.ends]).toEqual([`proceed anew, ${does}`, 'bank_answer: No way']);
    expect([error?.hint, error?.next, error?.flow, error?.transactionId]).toEqual([hint, next, 'co-1', 't1']);
    expect([consent.state, consent.bankStatus]).toEqual([
      'cancelled',
      does.includes('taken') ? 'terminatedByTpp' : null,
    ]);
  });

  it('is not ended by Ctrl-C, an error that is none, or for one of two', async () => {
    expect((await runs({ turn: dead(), end: CTRL_C })).does).toBe('proceed anew, delete');
    expect((await runs({ turn: new Psd2Error('bank_answer', 'No way'), end: END })).does).toBe(
      'proceed anew',
    );
    const ofBen = await runs({ events: OF_TWO, grant: BEN, turn: dead(), end: END, words: [OPEN] });
    expect([ofBen.does, ofBen.consent.state]).toEqual(['status, proceed anew', 'authorizing']);
  });
});

describe('the code that the browser brings back', () => {
  const page: ScaTurn = { next: 'open', url: PAGE, links: { ...PAGE_LINKS, confirmation: '/a1' } };
  const SENT = 'proceed anew, sca-started, sca-returned, approach-sent, code';
  const refused = 'still_open: No. The consent is not over: somebody can still authorise it';

  it.each<[string, Scene, does: string, ends: string]>([
    ['is taken', {}, GRANTED, 'granted'],
    [
      'is taken, and the bank still waits for it',
      { words: [OPEN, VALID], progress: ['needs code', 'done'] },
      `${ASKS}, pause, ${GRANTED}, noted`,
      'granted',
    ],
    ['is refused', { code: REFUSES, words: [OPEN], progress: ['going on'] }, ASKS, refused],
    ['is refused, and nobody says how far the customer is', { code: REFUSES, words: [OPEN] }, ASKS, refused],
    ['is refused, and the consent is rejected', { code: REFUSES, words: [says('rejected')] }, ENDED, REFUSED],
    [
      'is refused, and the authorisation has failed',
      { code: REFUSES, words: [OPEN], progress: ['failed'] },
      `${ASKS}, how far, to end, ended, how far`,
      REFUSED,
    ],
    [
      'is refused, and others authorise it',
      { code: REFUSES, words: [PARTLY], progress: ['failed'] },
      'status',
      refused,
    ],
    ['is refused, and the customer has granted it', { code: REFUSES }, GRANTED, 'granted'],
    [
      'is lost',
      { code: AWAY, words: [OPEN] },
      '',
      'outcome_unknown: The bank does not say what became of the consent: Away',
    ],
  ])('%s', async (_, scene, does, ends) => {
    const found = await runs({ turn: page, ...scene });
    expect([found.does, found.ends]).toEqual([[SENT, does].filter(Boolean).join(', '), ends]);
  });
});

/** Somebody with a TAN. */
function credentialsOf(): CredentialPorts {
  const none = async () => null;
  return {
    ...{ refusal: () => null, password: none, method: none, code: async () => new Secret('tan') },
    ...{ beginsAgain: async () => false, note: async () => {}, close: async () => {} },
  };
}

describe('a TAN for a consent, which the bank refuses', () => {
  const links: ScaLinks = { approach: 'embedded', id: 'a1', status: '/a1', step: { next: 'code' } };
  const turn: ScaTurn = { next: 'give', step: { next: 'code' }, links };
  const SENT = 'proceed anew, sca-started, credential-sent, quote No';
  const STOPS = 'still_open: No. The consent is not over: the customer can still authorise it';
  const NO_METHOD = { lacksMethod: true } as const;

  it.each<[string, Scene, does: string, ends: string]>([
    ['and which is granted', {}, 'status, keep, granted, credential-answered, how far', 'granted'],
    [
      'and which is rejected',
      { words: [says('rejected')] },
      'status, status, to end, drop, ended, credential-answered, how far',
      REFUSED,
    ],
    [
      'whose authorisation has failed',
      { words: [OPEN], progress: ['failed'] },
      `${ASKS}, credential-answered`,
      STOPS,
    ],
    ['and of which nobody says anything', { words: [OPEN] }, ASKS, STOPS],
    ['for want of a method', { words: [OPEN], refused: NO_METHOD }, 'status, ended, how far', REFUSED],
    [
      'for want of a method, and which is granted',
      { refused: NO_METHOD },
      'status, keep, granted, how far',
      'granted',
    ],
  ])('%s', async (_, scene, does, ends) => {
    const found = await runs({ turn, ...scene, grant: { credentials: credentialsOf() } });
    expect([found.does, found.ends]).toEqual([`${SENT}, ${does}`, ends]);
  });
});

describe('while the browser stays away, psd2 asks the bank', () => {
  const turn: ScaTurn = { next: 'open', url: PAGE, links: PAGE_LINKS };
  it.each<[string, Scene, does: string]>([
    [
      'until the authorisation is done',
      { words: [OPEN, VALID], progress: ['done'] },
      `${ASKS}, noted, ${GRANTED}`,
    ],
    [
      'until the authorisation has failed',
      { words: [OPEN, VALID], progress: ['failed', 'done'] },
      `${ASKS}, noted, ${GRANTED}, noted`,
    ],
    [
      'while it goes on',
      { words: [OPEN, OPEN, OPEN, VALID], progress: ['going on', 'going on', 'done'] },
      `${ASKS}, noted, ${ASKS}, ${ASKS}, noted, ${GRANTED}`,
    ],
    [
      'while a code is missing',
      { words: [OPEN, OPEN, VALID], progress: ['needs code', 'done'] },
      `${ASKS}, noted, ${ASKS}, noted, ${GRANTED}`,
    ],
    [
      'while it says nothing',
      { words: [OPEN, OPEN, VALID], progress: [null, 'done'] },
      `${ASKS}, ${ASKS}, noted, ${GRANTED}`,
    ],
    ['until the consent is granted', {}, GRANTED],
  ])('%s', async (_, scene, does) => {
    const found = await runs({ turn, brings: null, ...scene });
    expect([found.does, found.ends]).toEqual([`proceed anew, sca-started, ${does}`, 'granted']);
  });
});

describe('the login with a consent, from which the browser brings no code', () => {
  const links: ScaLinks = { approach: 'redirect', id: 'a1', oauth: 'https://oauth.bank.example' };
  const turn: ScaTurn = { next: 'log in', url: PAGE, server: 'https://oauth.bank.example', links };
  const DENIED = { error: 'access_denied' };
  const FAILED = { error: 'server_error' };
  const GOES_ON = [
    ['consent', 'resume', 'co-1'],
    ['consent', 'delete', 'co-1'],
  ];
  it.each<[string, Scene, does: string, code: string, next: unknown]>([
    ['the customer refuses it', { brings: DENIED, words: [OPEN] }, 'status', 'not_authorised', undefined],
    ['the server cannot log them in', { brings: FAILED, words: [OPEN] }, 'status', 'still_open', GOES_ON],
    [
      'the customer refuses it, and the consent is in force: another login gives the tokens',
      { brings: DENIED },
      'status',
      'still_open',
      GOES_ON,
    ],
    [
      'the customer refuses it, and the consent has ended',
      { brings: DENIED, words: [says('rejected')] },
      ENDED,
      'not_authorised',
      undefined,
    ],
  ])('%s', async (_, scene, does, code, next) => {
    const found = await runs({ turn, ...scene });
    expect([found.does, found.error?.code]).toEqual([`proceed anew, sca-started, ${does}`, code]);
    expect(found.error?.next).toEqual(next);
  });
});

it.each([
  ['nobody', {}, null],
  ['ben', BEN, 'ben'],
])('an authorisation is begun in the name of %s', async (_, grant, psuId) => {
  const { consent } = await runs({ grant });
  expect(consent.authorisations).toMatchObject([{ id: 'a1', psuId }]);
});
