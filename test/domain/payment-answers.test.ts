import { describe, expect, it } from 'vitest';
import type { PersonsAuthorisation } from '../../src/domain/authorisations.ts';
import type { StepEvent } from '../../src/domain/operation.ts';
import {
  asksForOther,
  decidesOutcome,
  decisionIn,
  isNews,
  isOnlyChecked,
  newsIn,
  type PaymentAnswers,
  type ResourceStatus,
  readPayment,
  type ScaProgress,
  unlessKnownBetter,
  whatHappened,
} from '../../src/domain/payment-answers.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { begunTransfer } from './orders.ts';

type Decision = ResourceStatus['authorization']['status'];
const REASONS = [{ level: 'payment', code: 'AC01', proprietary: null, text: null }] as const;

/** What the bank says of the payment. Its own word says no more. */
const saying = (
  became: ResourceStatus['became'],
  decision: Decision = 'AUTHORIZED',
  more: Partial<ResourceStatus> = {},
): ResourceStatus => ({
  ...{ authorizationStatus: 'WORD', executionStatus: null, became },
  authorization: { type: 'authorization', status: decision, bankStatus: 'WORD' },
  ...more,
});
const being = (means: ScaProgress['means'], more: Partial<ScaProgress> = {}): ScaProgress => ({
  ...{ scaStatus: means, means, message: null, ...more },
});

const PAGE = { approach: 'redirect', redirect: 'https://bank.example/a' } as const;
const person = (scaStatus: string | null = null): PersonsAuthorisation => ({
  ...{ id: 'a', psuId: null, scaStatus, at: '2026-11-22T10:00:00.000Z' },
});
/** A transfer for another day, whose customer was sent to the page of the bank. */
const sent = (changes: Partial<Transfer> = {}, isInstant = false): Transfer =>
  begunTransfer(
    {
      ...{ authorises: 'by links', commits: 'by the customer', state: 'authorizing', links: PAGE },
      ...{ transactionStatus: 'BEFORE', authorisations: [person()], ...changes },
    },
    { instant: isInstant },
  );
const answers = (
  status: ResourceStatus,
  progress: ScaProgress | null,
  more: Partial<PaymentAnswers> = {},
): PaymentAnswers => ({
  ...{ status, progress, progressFrom: 'our link', mayHaveOther: true, isInAuthorisedBasket: false },
  ...more,
});
/** What is found: the type of the event, and the customer's decision if it is one. */
const foundIn = (operation: Transfer, of: PaymentAnswers) => {
  const { event } = readPayment(operation, of);
  return event.type === 'authorization' ? event.status : event.type;
};

describe('what has become of a payment', () => {
  it.each<[ResourceStatus, object]>([
    [saying('ordered'), { type: 'ordered' }],
    [saying('executed'), { type: 'executed', cro: null }],
    [saying('executed', 'AUTHORIZED', { isFinal: true }), { type: 'executed', cro: null, isFinal: true }],
    [saying('cancelled'), { type: 'cancelled' }],
    [saying('failed'), { type: 'settlement', status: 'KO', description: null }],
    [saying('duplicate'), { type: 'execute-unanswered', isDuplicate: true }],
    ...(['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED', 'PENDING'] as const).map(
      (decision): [ResourceStatus, object] => [
        saying(null, decision, { isFinal: true }),
        { type: 'authorization', status: decision, bankStatus: 'WORD' },
      ],
    ),
  ])('%j is %j', (status, event) => {
    expect(whatHappened(status)).toStrictEqual(event);
  });

  it('has the reasons of the bank where it has ended it, and only there', () => {
    const why = { description: 'AC01', reasons: [...REASONS] };
    const of = (became: ResourceStatus['became']) =>
      whatHappened(saying(became, 'PENDING', { reasons: [...REASONS] }));
    expect(of('failed')).toStrictEqual({ type: 'settlement', status: 'KO', ...why });
    expect(of('cancelled')).toStrictEqual({ type: 'cancelled', ...why });
    expect(of('duplicate')).toStrictEqual({ type: 'execute-unanswered', isDuplicate: true, ...why });
    for (const became of ['ordered', 'executed', null] as const)
      expect(of(became)).not.toHaveProperty('reasons');
  });
});

it('a payment is only checked as long as it is authorised, and neither executed nor ended', () => {
  const checked = (['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED', 'PENDING'] as const).flatMap((decision) =>
    (['executed', 'ordered', 'failed', 'duplicate', 'cancelled', null] as const).flatMap((became) =>
      isOnlyChecked(saying(became, decision)) ? [[decision, became]] : [],
    ),
  );
  expect(checked).toEqual([
    ['AUTHORIZED', 'ordered'],
    ['AUTHORIZED', null],
  ]);
});

describe('what the bank answers of a payment', () => {
  const STANDING = { isStanding: true, isUnauthorised: true } as const;
  const partial = saying('executed', 'AUTHORIZED', { isStanding: true });
  it.each<[string, Transfer, PaymentAnswers, string]>([
    [
      'the bank has ordered it, and its authorisation is done',
      sent(),
      answers(saying('ordered'), being('done')),
      'ordered',
    ],
    [
      'it is ordered while its authorisation goes on',
      sent(),
      answers(saying('ordered'), being('going on')),
      'PENDING',
    ],
    [
      'it is ordered while its code is missing',
      sent(),
      answers(saying('ordered'), being('needs code')),
      'PENDING',
    ],
    [
      'it is authorised while its authorisation goes on',
      sent(),
      answers(saying(null), being('going on')),
      'PENDING',
    ],
    [
      'it is authorised, and its authorisation is done',
      sent(),
      answers(saying(null), being('done')),
      'AUTHORIZED',
    ],
    [
      'it is executed while its authorisation goes on',
      sent(),
      answers(saying('executed'), being('going on')),
      'executed',
    ],
    [
      'it is rejected, and its authorisation has failed',
      sent(),
      answers(saying('failed'), being('failed')),
      'NOT_AUTHORIZED',
    ],
    [
      'it is rejected, and its authorisation is done',
      sent(),
      answers(saying('failed'), being('done')),
      'settlement',
    ],
    [
      'it was ordered, and is rejected, and another authorisation has failed',
      sent({ state: 'ordered' }),
      answers(saying('failed'), being('failed')),
      'settlement',
    ],
    [
      'it is cancelled, and its authorisation has failed',
      sent(),
      answers(saying('cancelled'), being('failed')),
      'cancelled',
    ],
    [
      'nobody has authorised it, and the only authorisation has failed',
      sent(),
      answers(saying('ordered', 'AUTHORIZED', STANDING), being('failed'), { mayHaveOther: false }),
      'NOT_AUTHORIZED',
    ],
    [
      'nobody has authorised it, and the customer may have another authorisation',
      sent(),
      answers(saying(null, 'PENDING', STANDING), being('failed')),
      'PENDING',
    ],
    [
      'it is executed though the authorisation that psd2 knows has failed, and nobody else has authorised it',
      sent(),
      answers(partial, being('failed')),
      'PENDING',
    ],
    [
      'it is executed, and somebody else has authorised it',
      sent({ authorisations: [person('finalised'), person()] }),
      answers(partial, being('failed')),
      'executed',
    ],
    [
      'an instant one is done by the customer, though the bank says that nobody has authorised it',
      sent({}, true),
      answers(saying(null, 'PENDING', { isUnauthorised: true }), being('done')),
      'AUTHORIZED',
    ],
    [
      'another one is not',
      sent(),
      answers(saying(null, 'PENDING', { isUnauthorised: true }), being('done')),
      'PENDING',
    ],
  ])('%s', (_, operation, of, found) => {
    expect(foundIn(operation, of)).toBe(found);
  });

  it('has the words of both, and the cost that the payment says first', () => {
    const [one, other] = ['1.00', '2.00'].map((unreadFees) => ({
      totalAmount: null,
      commissions: null,
      unreadFees,
    }));
    const status = saying('ordered', 'AUTHORIZED', { messages: ['a', 'b'], ...(one && { cost: one }) });
    const progress = being('done', { message: 'c', ...(other && { cost: other }) });
    const bankOf = (of: PaymentAnswers) => Reflect.get(readPayment(sent(), of).event, 'bank');
    expect(bankOf(answers(status, progress))).toStrictEqual({
      ...{ transactionStatus: 'WORD', scaStatus: 'done', cost: one, messages: ['a', 'b', 'c'] },
    });
    expect(bankOf(answers(saying('ordered'), progress))).toStrictEqual({
      ...{ transactionStatus: 'WORD', scaStatus: 'done', cost: other, messages: ['c'] },
    });
    expect(bankOf(answers(saying('ordered'), null))).toStrictEqual({
      transactionStatus: 'WORD',
      scaStatus: null,
    });
  });

  it('of one that the customer authorises by a call has the status alone', () => {
    const of = answers(
      saying('ordered', 'AUTHORIZED', { isUnauthorised: true, saidAt: 'now' }),
      being('failed'),
    );
    expect(readPayment(sent({ authorises: 'by call' }), of)).toStrictEqual({
      ...{ event: { type: 'ordered' }, awaitsCustomer: false, isUnauthorised: false, isSigned: false },
      ...{ partly: null, isOverHere: false, progress: null, saidAt: undefined },
    });
  });

  it('without an answer about the authorisation has the status and its time', () => {
    const status = saying(null, 'PENDING', {
      isUnauthorised: true,
      isPartly: true,
      awaitsSca: true,
      saidAt: 'now',
    });
    expect(readPayment(sent(), answers(status, null, { progressFrom: 'unanswered' }))).toMatchObject({
      ...{ awaitsCustomer: false, isUnauthorised: true, isSigned: false, partly: null, isOverHere: false },
      ...{ progress: null, saidAt: 'now' },
    });
  });

  it.each<[ScaProgress['means'], boolean, boolean]>([
    ['going on', true, false],
    ['needs code', true, false],
    ['failed', true, false],
    ['done', false, true],
  ])(
    'with an authorisation that is %s, awaits the customer (%s), or is signed (%s)',
    (means, awaits, isSigned) => {
      const progress = being(means);
      for (const from of ['our link', 'the list'] as const)
        expect(
          readPayment(sent(), answers(saying(null, 'PENDING'), progress, { progressFrom: from })),
        ).toMatchObject({
          ...{ awaitsCustomer: awaits, isSigned, progress: from === 'our link' ? progress : null },
        });
    },
  );

  it('without a word of the authorisation, awaits the customer if the bank says so', () => {
    const awaits = (more: Partial<ResourceStatus>) =>
      readPayment(sent(), answers(saying(null, 'PENDING', more), null)).awaitsCustomer;
    expect([awaits({ awaitsSca: true }), awaits({})]).toEqual([true, false]);
  });

  it.each<[string, ScaProgress | null, number, string | null]>([
    ['is done', being('done'), 1, 'ours is over'],
    ['has failed', being('failed'), 1, 'ours is over'],
    ['goes on', being('going on'), 1, 'ours is open'],
    ['waits for its code', being('needs code'), 1, null],
    ['has no word, and is the only one', null, 1, 'ours is over'],
    ['has no word, and is not known', null, 0, 'ours is over'],
    ['has no word, and is one of two', null, 2, 'ours is open'],
  ])('that others must authorise, where the last authorisation %s', (_, progress, count, partly) => {
    const authorisations = Array.from({ length: count }, () => person());
    const of = (isPartly: boolean) =>
      readPayment(
        sent({ authorisations }),
        answers(saying(null, 'PENDING', isPartly ? { isPartly } : {}), progress),
      );
    expect([of(true).partly, of(false).partly]).toEqual([partly, null]);
  });

  it.each<[string, Partial<Transfer>, Partial<ResourceStatus>, boolean]>([
    ['nobody has authorised it', {}, STANDING, true],
    ['no authorisation is known', { authorisations: [] }, STANDING, true],
    ['two are known', { authorisations: [person(), person()] }, STANDING, false],
    ['it is in a basket', { bulk: 'op-1' }, STANDING, false],
    ['somebody has authorised it', {}, { isStanding: true }, false],
    ['the bank has ended it', {}, { ...STANDING, became: 'cancelled' }, true],
    ['the bank has ended it, and does not keep it', {}, { isUnauthorised: true, became: 'cancelled' }, false],
  ])('asks for another authorisation after one that has failed, if %s', (_, changes, more, asks) => {
    const of = (means: ScaProgress['means']) =>
      asksForOther(sent(changes), answers(saying(null, 'PENDING', more), being(means)));
    expect([of('failed'), of('going on'), of('done')]).toEqual([asks, false, false]);
  });
});

describe('a payment of which the bank says what it said before', () => {
  const SAME = { transactionStatus: 'WORD' } as const;
  /** How the customer can authorise it. */
  const by = (links: Transfer['links']): Partial<Transfer> => ({ ...SAME, links });
  const LOGIN = { approach: null, oauth: 'https://bank.example/o' } as const;
  it.each<[string, Partial<Transfer>, Partial<PaymentAnswers>, boolean, boolean]>([
    ['the customer has its page', SAME, {}, true, true],
    ['the customer has come back from its page', { ...SAME, returned: true }, {}, true, false],
    ['the customer has to log in', by(LOGIN), {}, true, true],
    ['the customer has logged in for it', { ...by(LOGIN), returned: true }, {}, false, false],
    ['the phone asks', by({ approach: 'decoupled' }), {}, true, true],
    ['a message says how', by({ approach: null, message: 'Call us' }), {}, true, true],
    ['psd2 can begin it', by({ approach: null, start: 'https://bank.example/s' }), {}, true, true],
    ['nothing is left to authorise', by({ ...PAGE, isDone: true }), {}, false, false],
    ['there is no way', by({ approach: 'redirect' }), {}, false, false],
    ['there are no links', by(null), {}, false, false],
    ['the bank has said another word before', {}, {}, false, false],
    ['it was authorised before', { ...SAME, state: 'authorized' }, {}, false, false],
    ['the bank could not be asked', SAME, { progressFrom: 'unanswered' }, false, false],
    ['it is in a basket', { ...SAME, bulk: 'op-1', links: null }, {}, true, false],
    [
      'it is in a basket that is authorised',
      { ...SAME, bulk: 'op-1' },
      { isInAuthorisedBasket: true },
      false,
      false,
    ],
  ])('%s', (_, changes, more, isPending, awaitsCustomer) => {
    for (const became of [null, 'ordered'] as const) {
      const of = answers(saying(became), null, { progressFrom: 'the list', ...more });
      expect(foundIn(sent(changes), of)).toBe(isPending ? 'PENDING' : (became ?? 'AUTHORIZED'));
      expect(readPayment(sent(changes), of).awaitsCustomer).toBe(awaitsCustomer);
    }
    // What the bank has executed is executed.
    expect(foundIn(sent(changes), answers(saying('executed'), null, more))).toBe('executed');
  });
});

it.each([
  ['AUTHORIZED', 'authorizing', 'by the customer', false],
  ['EXPIRED', 'authorizing', 'by the customer', true],
  ['EXPIRED', 'authorizing', 'on execute', false],
  ['EXPIRED', 'authorized', 'by the customer', false],
  ['EXPIRED', 'unknown', 'by the customer', false],
  ['NOT_AUTHORIZED', 'unknown', 'by the customer', true],
  ['NOT_AUTHORIZED', 'unknown', 'on execute', true],
] as const)(
  "the bank's %s decides the open outcome of a transfer that is %s and commits %s: %s",
  (status, state, commits, decides) => {
    const event = { type: 'authorization', status, bankStatus: status } as const;
    expect(decidesOutcome(event, { commits, state })).toBe(decides);
  },
);

describe('an authorisation that has failed is over, and the bank keeps the payment', () => {
  const BY_ANOTHER = { authorisations: [person('finalised'), person()] };
  const EMBEDDED = {
    credentials: [{ what: 'password', psuId: null, isAnswered: true, requestId: 'q' }] as const,
  };
  const STANDING = { isStanding: true } as const;
  const UNAUTHORISED = { isUnauthorised: true } as const;
  it.each<[string, Partial<Transfer>, Partial<ResourceStatus>, boolean]>([
    ['it stands', {}, STANDING, true],
    ['it does not stand', {}, {}, false],
    ['nobody has authorised it, on a page, and others may', {}, UNAUTHORISED, true],
    ['nobody has authorised it, with psd2', EMBEDDED, UNAUTHORISED, true],
    ['it was authorised, with psd2', EMBEDDED, {}, false],
    ['another person has authorised it', BY_ANOTHER, STANDING, true],
    ['it is executed', {}, { ...STANDING, became: 'executed' }, true],
    [
      'it is executed, and another one was exempted',
      { authorisations: [person('exempted')] },
      { ...STANDING, became: 'executed' },
      false,
    ],
    [
      'it is executed, and another person has authorised it',
      BY_ANOTHER,
      { ...STANDING, became: 'executed' },
      false,
    ],
    [
      'it is ordered, and another person has authorised it',
      BY_ANOTHER,
      { ...STANDING, became: 'ordered' },
      true,
    ],
    ['it was ordered before', { state: 'ordered' }, STANDING, false],
    ['it was executed before', { state: 'executed' }, STANDING, false],
    ['it was settled before', { state: 'settled' }, STANDING, false],
    ['it was authorised before', { state: 'authorized' }, STANDING, true],
    ['its outcome is unknown', { state: 'unknown' }, STANDING, true],
  ])('if %s: %s', (_, changes, more, isOver) => {
    const isOverHere = (progress: ScaProgress | null) =>
      readPayment(sent(changes), answers(saying(null, 'PENDING', more), progress)).isOverHere;
    expect(isOverHere(being('failed'))).toBe(isOver);
    for (const means of ['going on', 'needs code', 'done'] as const)
      expect(isOverHere(being(means))).toBe(false);
    expect(isOverHere(null)).toBe(false);
  });
});

describe('what the bank has said before of an end that is none', () => {
  const BANK = { transactionStatus: 'CANC', scaStatus: null };
  const ENDS: StepEvent[] = [
    { type: 'cancelled' },
    { type: 'settlement', status: 'KO', description: null },
    { type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'RJCT' },
    { type: 'authorization', status: 'EXPIRED', bankStatus: 'RJCT' },
  ];
  const OTHERS: StepEvent[] = [
    { type: 'executed', cro: null },
    { type: 'ordered' },
    { type: 'settlement', status: 'OK', description: null },
    { type: 'authorization', status: 'PENDING', bankStatus: 'RCVD' },
    { type: 'execute-unanswered', isDuplicate: true },
  ];
  const reading = { ...readPayment(sent(), answers(saying(null), null)) };

  it.each<[string, Partial<Transfer>, boolean]>([
    ['that it has another one like it', { isDuplicate: true }, true],
    ['that the customer has authorised it since', { isPaidByLink: true }, true],
    ['both', { isDuplicate: true, isPaidByLink: true }, true],
    ['neither', {}, false],
  ])('%s', (_, known, isKnown) => {
    for (const event of ENDS)
      for (const more of [{}, { bank: BANK }])
        expect(unlessKnownBetter(sent(known), { ...reading, event: { ...event, ...more } })).toStrictEqual({
          ...reading,
          event: isKnown ? { type: 'execute-unanswered', ...more } : { ...event, ...more },
        });
    for (const event of OTHERS)
      expect(unlessKnownBetter(sent(known), { ...reading, event })).toStrictEqual({ ...reading, event });
  });
});

describe('what is new of a payment that the bank has accepted', () => {
  const EXECUTED = { type: 'executed', cro: null } as const;
  const FINAL = { ...EXECUTED, isFinal: true } as const;
  it.each<[string, Partial<Transfer>, StepEvent, boolean]>([
    ['it is executed, and was ordered', { state: 'ordered' }, EXECUTED, true],
    ['it is executed, as before', { state: 'executed' }, EXECUTED, false],
    ['it is final, and was executed', { state: 'executed' }, FINAL, true],
    ['it is final, as before', { state: 'executed', isFinal: true }, FINAL, false],
    ['it is final, as before, and was ordered', { state: 'ordered', isFinal: true }, FINAL, true],
    ['it is rejected', { state: 'executed' }, { type: 'settlement', status: 'KO', description: null }, true],
    ['it is cancelled', { state: 'executed' }, { type: 'cancelled' }, true],
    ['it is ordered, as before', { state: 'ordered' }, { type: 'ordered' }, false],
    [
      'it is authorised',
      { state: 'ordered' },
      { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'A' },
      false,
    ],
    ['there is another one like it', { state: 'executed' }, { type: 'execute-unanswered' }, true],
    [
      'there is another one like it, as it was before',
      { state: 'executed', isDuplicate: true },
      { type: 'execute-unanswered' },
      true,
    ],
    [
      'there is another one like it, as before',
      { state: 'unknown', isDuplicate: true },
      { type: 'execute-unanswered' },
      false,
    ],
    [
      'the customer has authorised it since, as before',
      { state: 'unknown', isPaidByLink: true },
      { type: 'execute-unanswered' },
      false,
    ],
    ['nobody knows, as before', { state: 'unknown' }, { type: 'execute-unanswered' }, true],
  ])('%s: %s', (_, changes, event, isNew) => {
    expect(isNews(sent(changes), event)).toBe(isNew);
  });
});

it('the decision is what the bank says, unless the customer has not decided', () => {
  const reading = readPayment(sent(), answers(saying('executed'), null));
  expect(decisionIn(reading)).toBe(reading.event);
  expect(decisionIn(null)).toBeNull();
  expect(decisionIn(readPayment(sent(), answers(saying(null, 'PENDING'), null)))).toBeNull();
});

describe('what is new of a payment whose outcome is open', () => {
  const EXECUTED = { type: 'executed', cro: null } as const;
  const DUPLICATE = { type: 'execute-unanswered', isDuplicate: true } as const;
  it.each<[string, Partial<Transfer>, StepEvent[] | null, StepEvent[]]>([
    ['the bank does not say', { state: 'executing' }, null, [{ type: 'execute-unanswered' }]],
    ['the bank does not say, as before', { state: 'unknown' }, null, []],
    ['it is executed', { state: 'unknown' }, [EXECUTED], [EXECUTED]],
    ['there is another one like it', { state: 'executing' }, [DUPLICATE], [DUPLICATE]],
    ['there is another one like it, as before', { state: 'unknown', isDuplicate: true }, [DUPLICATE], []],
    ['it was paid by its link, as before', { state: 'unknown', isPaidByLink: true }, [DUPLICATE], []],
  ])('%s', (_, changes, outcome, news) => {
    expect(newsIn(outcome, sent(changes))).toEqual(news);
  });
});
