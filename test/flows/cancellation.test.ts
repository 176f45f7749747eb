import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Sca, ScaLinks } from '../../src/bank/ports/customer.ts';
import type { Cancellation, CancellationAnswer, PaymentCalls } from '../../src/bank/ports/payment-calls.ts';
import { NO_END } from '../../src/domain/given-links.ts';
import type { ScaProgress } from '../../src/domain/payment-answers.ts';
import type { TransferEvent } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { cancelAtBank, giveUpUnauthorised } from '../../src/flows/payment/cancel.ts';
import type { ReturnPorts } from '../../src/flows/ports.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf, type FakeCustomer, fakeCustomer, fakeWorld, returnsTo, waitsOf } from './doubles.ts';
import {
  AT_THE_BANK,
  createdForExecute,
  createdTransfer,
  FAILING,
  FIND_OUT,
  FLOW,
  INTERRUPTED,
  paymentStatus,
  scaThatSays,
  transfersIn,
} from './stored-transfers.ts';

// The cancellation of a payment that the customer commits: what counts is what the bank says of the payment.

const transferAfter = transfersIn(temporaryFolder());
const PAGE = 'https://customers.bank.example/cancel';
const LINKS: ScaLinks = { approach: 'redirect', redirect: PAGE };
const INTENT = { requestId: 'q1', digest: 'SHA-256=x' };
const SENT: TransferEvent = { type: 'cancel-sent', ...INTENT };
const TAKEN: TransferEvent = { type: 'cancel-taken' };
const BEGUN: TransferEvent = { type: 'cancel-begun' };
const STARTED: TransferEvent = { type: 'cancel-sca-started' };

const AUTHORISING: TransferEvent[] = [createdTransfer(), AT_THE_BANK, { type: 'sca-started' }];
const LINK_OUT: TransferEvent[] = [createdTransfer(), AT_THE_BANK, { type: 'sca-started', links: LINKS }];
const ORDERED: TransferEvent[] = [...AUTHORISING, { type: 'executed', cro: null }];

const ACCEPTED = paymentStatus('ACSP', 'ordered');
const OPEN = paymentStatus('RCVD');
const CANCELLED = paymentStatus('CANC', 'cancelled');
const REJECTED = paymentStatus('RJCT', 'failed');
const EXECUTED = paymentStatus('ACSC', 'executed');
const NOW_EXECUTED = { events: AUTHORISING, says: [EXECUTED] };
const cancelled = { type: 'cancelled', bank: { transactionStatus: 'CANC', scaStatus: null } };
const executed = { type: 'executed', cro: null, bank: { transactionStatus: 'ACSC', scaStatus: null } };

const OURS = { flow: FLOW, transactionId: 't1' };
/** What to do if somebody can still authorise the cancellation. */
const OPEN_CANCELLATION = {
  ...{ ...OURS, hint: 'Ask the bank what became of it, or end it there:' },
  next: [
    ['transfer', 'status', FLOW],
    ['transfer', 'cancel', FLOW],
  ],
};
/** The bank itself does not know it. */
const NOT_KNOWN = new Psd2Error('bank_refused', 'Unknown', {
  ...{ refusal: 'other', isBanks: true, httpStatus: 404, isNotKnown: true },
});
const TOO_LATE = {
  ...{ ...OURS, code: 'bank_refused', message: 'It is too late: the bank has executed the transfer' },
  ...{ hint: 'See it with:', next: [['transfer', 'show', FLOW]] },
};
const STAYS_ORDERED = {
  ...{ ...OURS, code: 'outcome_unknown', message: 'The bank does not say that the transfer is cancelled' },
  ...{ hint: 'Ask the bank again with:', next: [['transfer', 'resume', FLOW]] },
};

const MAY_BE_EXECUTED = { ...STAYS_ORDERED, ...FIND_OUT };

interface Scene {
  events?: TransferEvent[];
  /** What the bank says of the payment, one status for each question. */
  says?: Parameters<typeof scaThatSays>;
  request?: Cancellation['request'];
  /** What the bank answers to it. Default: it has taken it. */
  answer?: CancellationAnswer;
  customer?: FakeCustomer;
  /** SCA of the cancellation. */
  sca?: Partial<Sca>;
  /** What another psd2 writes while this one opens the connection. */
  overtaken?: TransferEvent[];
  /** Another person authorises it. */
  person?: ReturnPorts['person'];
}

async function scene({
  events = ORDERED,
  says = [CANCELLED],
  request,
  answer = { verdict: 'taken' },
  customer = fakeCustomer(),
  sca,
  overtaken,
  person,
}: Scene = {}) {
  const transfer = await transferAfter(...events);
  const requests: Omit<Parameters<Cancellation['request']>[0], 'beforeSend'>[] = [];
  const world = fakeWorld();
  const certificate = () => ({ name: 'CN=New, serial 2', sha256: 'bb' });
  const bank = { ...answeringBank(() => ({ data: {} })), certificate };
  const payment = scaThatSays(...says);
  const { waits, whileWaiting } = waitsOf();
  const limits: (number | undefined)[] = [];
  const calls: PaymentCalls = {
    ...bank.payments.transfer({ order: transfer.open.current.order, transactionId: 't1' }),
    name: 'transfer',
    sca: payment,
    cancellation: {
      async request({ beforeSend, ...asked }) {
        if (request) return request({ beforeSend, ...asked });
        const now = await beforeSend(INTENT);
        if (overtaken) await transfer.overtake(...overtaken);
        await now?.beforeFirstByte?.();
        requests.push(asked);
        return answer;
      },
      sca: { ...scaThatSays(), ...sca },
    },
  };
  const ports = {
    ...{ bank, world },
    customer: {
      ...customer,
      whileWaiting<T>(text: string, work: Promise<T>, milliseconds?: number) {
        limits.push(milliseconds);
        return whileWaiting(text, work);
      },
    },
  };
  const run = (change: (all: PaymentCalls) => PaymentCalls = (all) => all) =>
    cancelAtBank(transfer.open, change(calls), ports, returnsTo(person && { person, psuId: person.id }));
  const giveUp = (why: Psd2Error) => giveUpUnauthorised(transfer.open, calls, ports, why);
  return { ...transfer, requests, world, payment, run, giveUp, waits, limits, customer };
}

/** The request leaves, and then this happens. */
function thatEnds(with_: Error | ScaLinks): Cancellation['request'] {
  return async ({ beforeSend }) => {
    await beforeSend(INTENT);
    if (with_ instanceof Error) throw with_;
    return { verdict: 'to be authorised', links: with_ };
  };
}

describe('without SCA', () => {
  it('psd2 writes it down, asks, and the bank’s status ends the payment', async () => {
    const { run, recorded, requests, payment, waits, limits, world } = await scene();
    expect(await run()).toMatchObject({ state: 'cancelled', transactionStatus: 'CANC' });
    expect(recorded()).toEqual([SENT, TAKEN, cancelled]);
    expect(requests).toEqual([
      { resourceId: 'p1', redirectUri: 'http://127.0.0.1:8910/callback?state=s1', wasTaken: false },
    ]);
    expect(payment.asked).toEqual([
      ['p1', 't1', undefined],
      ['p1', 't1', 'an end'],
    ]);
    expect([waits, limits, world.sleeps]).toEqual([['Waiting for the bank to cancel it'], [10_000], []]);
  });

  it('what the bank says beside its answer is written down', async () => {
    const messages = ['It is cancelled tonight'];
    const { run, recorded } = await scene({ answer: { verdict: 'taken', messages } });
    expect((await run()).verification?.messages).toEqual(messages);
    expect(recorded()).toEqual([SENT, { type: 'cancel-told', messages }, TAKEN, cancelled]);
  });

  it('another psd2 goes on with it meanwhile: the request does not leave', async () => {
    const overtaken: TransferEvent[] = [{ type: 'sca-returned' }];
    const { run, recorded, requests, payment } = await scene({ events: AUTHORISING, overtaken });
    await expect(run()).rejects.toMatchObject({ code: 'overtaken' });
    expect(recorded()).toEqual([SENT, ...overtaken]);
    expect([requests, payment.asked]).toEqual([[], []]);
  });

  it('a payment that the bank has rejected meanwhile has ended too', async () => {
    const { run } = await scene({ says: [OPEN, ACCEPTED, REJECTED] });
    expect(await run()).toMatchObject({ state: 'failed', executionStatus: 'KO', transactionStatus: 'RJCT' });
  });

  it.each([
    [300_000, 10_000, [500, 1_000, 2_000, 3_000, 3_000]],
    [2_000, 2_000, [500, 1_000]],
  ])('it waits a moment at most: with %i ms for the customer %i ms', async (scaTimeoutMs, limit, pauses) => {
    const { run, world, limits, recorded } = await scene({
      ...{ says: [ACCEPTED], customer: fakeCustomer({ scaTimeoutMs }) },
    });
    expect(await errorOf(run())).toEqual(STAYS_ORDERED);
    expect([world.sleeps, limits]).toEqual([pauses, [limit]]);
    expect(recorded()).toEqual([SENT, TAKEN]);
  });

  it('it was not ordered yet, and the bank does not say: a person may have to find out', async () => {
    const { run, recorded } = await scene({ events: AUTHORISING, says: [OPEN] });
    expect(await errorOf(run())).toEqual(MAY_BE_EXECUTED);
    expect(recorded()).toEqual([SENT, TAKEN]);
  });

  it('the bank fails to say what became of it: nothing more is recorded', async () => {
    for (const [events, error] of [
      [ORDERED, STAYS_ORDERED],
      [AUTHORISING, MAY_BE_EXECUTED],
    ] as const) {
      const { run, recorded } = await scene({ events, says: [FAILING] });
      expect(await errorOf(run())).toEqual(error);
      expect(recorded()).toEqual([SENT, TAKEN]);
    }
  });

  it('Ctrl-C while psd2 asks ends it', async () => {
    await expect((await scene({ says: [INTERRUPTED] })).run()).rejects.toBe(INTERRUPTED);
  });

  it.each<[string, TransferEvent[], (calls: PaymentCalls) => PaymentCalls]>([
    ['the interface has no cancellation', ORDERED, ({ cancellation: _, ...calls }) => calls],
    ['the interface has no status of its own', ORDERED, ({ sca: _, ...calls }) => calls],
    ['the bank has execute', [createdForExecute(), AT_THE_BANK], (calls) => calls],
  ])('nothing is asked if %s', async (_what, events, change) => {
    const { run, requests } = await scene({ events });
    await expect(run(change)).rejects.toThrow(new TypeError(`The bank has no cancellation for ${FLOW}`));
    expect(requests).toEqual([]);
  });
});

describe('a payment that the bank itself does not know', () => {
  const asked: Scene = { request: thatEnds(NOT_KNOWN), says: [NOT_KNOWN] };
  const begunWith = (certificate: { name: string; sha256: string }): TransferEvent[] => [
    ...[createdTransfer(), { ...AT_THE_BANK, certificate }, { type: 'sca-started' as const }],
  ];
  const OLD = { name: 'CN=Old, serial 1', sha256: 'aa' };

  it('is gone after a request that the bank has taken, if it says so twice', async () => {
    const { run, payment, recorded } = await scene({ says: [NOT_KNOWN] });
    expect(await run()).toMatchObject({ state: 'cancelled' });
    expect(payment.asked.map(([, , decides]) => decides)).toEqual([undefined, 'an end']);
    expect(recorded()).toEqual([SENT, TAKEN, { type: 'cancelled' }]);
  });

  it('is gone after an earlier request that the journal has', async () => {
    const answer = { verdict: 'is gone' } as const;
    const { run, requests, recorded } = await scene({
      events: [...ORDERED, SENT, TAKEN],
      says: [NOT_KNOWN],
      answer,
    });
    expect(await run()).toMatchObject({ state: 'cancelled' });
    expect(requests).toMatchObject([{ wasTaken: true }]);
    expect(recorded()).toEqual([SENT, { type: 'cancelled' }]);
  });

  it.each([
    ['a payment of which no certificate is known', ORDERED, 'outcome_unknown'],
    [
      'the certificate of the beginning',
      begunWith({ name: 'CN=New, serial 2', sha256: 'bb' }),
      'outcome_unknown',
    ],
    ['another certificate', begunWith(OLD), 'certificate'],
  ])('may live without such a request: %s', async (_, events, code) => {
    const { run, recorded } = await scene({ ...asked, events });
    expect(await errorOf(run())).toMatchObject({ code, flow: FLOW, next: [['transfer', 'status', FLOW]] });
    expect(recorded()).toEqual([SENT]);
  });

  it('may live, and the certificates are named', async () => {
    const { run } = await scene({ ...asked, events: begunWith(OLD) });
    expect(await errorOf(run())).toMatchObject({
      message: `The bank does not know the transfer ${FLOW} with the certificate CN=New, serial 2, but psd2 began it with another one: CN=Old, serial 1`,
      hint: 'Nothing has ended: the bank may execute it. Ask again with that certificate:',
    });
  });
});

describe('a request that the bank has taken, although it may want the customer', () => {
  const maybe: Scene = { answer: { verdict: 'taken', mayWantCustomer: true } };

  it('sends nobody anywhere if the payment has ended', async () => {
    const { run, customer, recorded } = await scene(maybe);
    expect((await run()).state).toBe('cancelled');
    expect([customer.visited, recorded()]).toEqual([[], [SENT, TAKEN, cancelled]]);
  });

  it('begins an authorisation if it has not', async () => {
    const proceed: Sca['proceed'] = async () => ({ next: 'open', url: PAGE, links: LINKS });
    const { run, customer } = await scene({ ...maybe, says: [OPEN, CANCELLED], sca: { proceed } });
    expect((await run()).state).toBe('cancelled');
    expect(customer.visited).toEqual([PAGE]);
  });

  it('waits a moment for the bank if that is refused', async () => {
    const refused = new Psd2Error('bank_refused', 'No', { refusal: 'other', isBanks: true });
    const proceed = () => Promise.reject(refused);
    const { run, limits } = await scene({ ...maybe, says: [OPEN, OPEN, CANCELLED], sca: { proceed } });
    expect((await run()).state).toBe('cancelled');
    expect(limits).toEqual([10_000]);
  });
});

describe('the request has no good answer', () => {
  const lost = new Psd2Error('bank_unreachable', 'No answer', { hint: 'Try later.', transactionId: 't1' });
  const refused = new Psd2Error('bank_refused', 'No', { refusal: 'content', transactionId: 't1' });
  const whole = (code: string, message: string, verb: string, hint?: string) => ({
    ...{ code, message, hint, next: [['transfer', verb, FLOW]], flow: FLOW, transactionId: 't1' },
  });

  it.each([CANCELLED, REJECTED])('but the payment has ended all the same: %o', async (status) => {
    for (const error of [lost, refused]) {
      const { run, recorded } = await scene({ request: thatEnds(error), says: [status] });
      expect((await run()).state).toBe(status === CANCELLED ? 'cancelled' : 'failed');
      expect(recorded()[0]).toEqual(SENT);
    }
  });

  const mayAskAgain = whole('bank_unreachable', 'No answer', 'cancel', 'Try later.');
  const isLost = { request: thatEnds(lost) };
  it.each<[string, Scene, object]>([
    ['it was lost: the operator may ask for it again', isLost, mayAskAgain],
    // Only a refusal shows that it is too late.
    ['it was lost, of a payment that is executed now', { ...NOW_EXECUTED, ...isLost }, mayAskAgain],
    // It will do so again, so the operator looks at the payment.
    ['the bank refuses', { request: thatEnds(refused) }, whole('bank_refused', 'No', 'status')],
  ])('and %s', async (_what, given, error) => {
    const { run, recorded, payment } = await scene({ says: [ACCEPTED], ...given });
    expect(await errorOf(run())).toEqual(error);
    expect(recorded()).toEqual([SENT]);
    expect(payment.asked).toHaveLength(1);
  });

  it('and the bank refuses, because it has executed the payment', async () => {
    const { run, recorded } = await scene({ ...NOW_EXECUTED, request: thatEnds(refused) });
    expect(await errorOf(run())).toEqual(TOO_LATE);
    expect(recorded()).toEqual([SENT, executed]);
  });

  it('and the bank refuses, while the customer has the link of the payment: that is open', async () => {
    const { run } = await scene({ events: LINK_OUT, request: thatEnds(refused), says: [OPEN] });
    expect(await errorOf(run())).toMatchObject({
      ...{ code: 'still_open', message: 'No. The payment is not over: the customer can still authorise it' },
    });
  });

  it('because nothing was sent: the bank is not asked about it', async () => {
    const usage = new Psd2Error('usage', 'This bank cancels no payments');
    const { run, payment, recorded } = await scene({ request: () => Promise.reject(usage) });
    await expect(run()).rejects.toBe(usage);
    expect([payment.asked, recorded()]).toEqual([[], []]);
  });

  it.each([
    INTERRUPTED,
    new Psd2Error('overtaken', `Another psd2 has continued ${FLOW}`),
    new TypeError('A bug'),
  ])('because of what says nothing of the bank: %s', async (error) => {
    const { run, payment } = await scene({ request: thatEnds(error) });
    await expect(run()).rejects.toBe(error);
    expect(payment.asked).toEqual([]);
  });
});

describe('with SCA', () => {
  const turn = (links = LINKS): Pick<Sca, 'proceed'> => ({
    proceed: async () => ({ next: 'open', url: PAGE, links }),
  });
  const progress = (means: ScaProgress['means']): Pick<Sca, 'progress'> => ({
    progress: async () => ({ scaStatus: means, means, message: null }),
  });

  it('the customer authorises it where the cancellation leads, and gets the whole time', async () => {
    const asked: unknown[] = [];
    const proceed: Sca['proceed'] = async (request) => {
      asked.push([request.resourceId, request.links, request.redirectUri, request.transactionId]);
      await request.beforeSend(INTENT);
      return { next: 'open', url: PAGE, links: LINKS };
    };
    const { run, waits, limits, recorded, customer } = await scene({
      ...{ request: thatEnds(LINKS), sca: { proceed } },
    });
    expect((await run()).state).toBe('cancelled');
    expect(asked).toEqual([['p1', LINKS, 'http://127.0.0.1:8910/callback?state=s1', 't1']]);
    expect(customer.visited).toEqual([PAGE]);
    expect(waits).toEqual([
      'Waiting for the customer to authorise the cancellation',
      'Waiting for the bank to cancel it',
    ]);
    expect(limits).toEqual([300_000, 300_000]);
    // Starting the authorisation is part of the cancellation.
    expect(recorded()).toEqual([SENT, BEGUN, SENT, STARTED, cancelled]);
  });

  it('the customer refuses it: the payment stays, and it can be asked for again', async () => {
    const links: ScaLinks[] = [];
    const { run, recorded } = await scene({
      ...{ request: thatEnds(LINKS), says: [ACCEPTED] },
      sca: {
        ...turn({ ...LINKS, status: '/c1' }),
        async progress(_, of) {
          links.push(of);
          return { scaStatus: 'failed', means: 'failed', message: null };
        },
      },
    });
    expect(await errorOf(run())).toEqual({
      code: 'not_authorised',
      message: 'The customer did not authorise the cancellation of the transfer',
      hint: 'The bank still has the payment, and may execute it. Ask for the cancellation again with:',
      ...{ ...OURS, next: [['transfer', 'cancel', FLOW]] },
    });
    expect(links).toEqual([{ ...LINKS, status: '/c1' }]);
    const noted: TransferEvent = { type: 'cancel-noted', scaStatus: 'failed' };
    expect(recorded()).toEqual([SENT, BEGUN, STARTED, noted]);
  });

  it.each([
    ['done', { state: 'cancelled', transactionStatus: null }],
    ['going on', { ...OPEN_CANCELLATION, code: 'still_open' }],
  ] as const)('if it is %s, the bank may not know the payment any more: %o', async (means, end) => {
    const { run, payment } = await scene({
      ...{ request: thatEnds(LINKS), says: [ACCEPTED, NOT_KNOWN] },
      ...{ sca: { ...turn(), ...progress(means) }, customer: fakeCustomer({ scaTimeoutMs: 1_000 }) },
    });
    expect(await run().catch((error: unknown) => error)).toMatchObject(end);
    if (means === 'done') expect(payment.asked.at(-1)).toEqual(['p1', 't1', 'an end']);
  });

  describe('of several persons', () => {
    const EMIL = { id: 'emil', idType: undefined, corporateId: undefined };
    const PARTLY = paymentStatus('PATC', null, { isPartly: true });
    const DORA: TransferEvent = { type: 'cancel-sca-started', id: 'c1', psuId: 'dora' };
    const DORAS: TransferEvent = { type: 'cancel-noted', id: 'c1', scaStatus: 'finalised' };
    const ofEmil = { ...LINKS, id: 'c2', status: '/c2' };
    const STARTED_BY_EMIL: TransferEvent = { type: 'cancel-sca-started', id: 'c2', psuId: 'emil' };
    const EMIL_SIGNED: TransferEvent = { type: 'cancel-noted', id: 'c2', scaStatus: 'finalised' };
    // Nor does it say what time it is.
    const withLink = { ...cancelled, linkUntil: NO_END };
    const signs: Pick<Sca, 'progress'> = {
      progress: async () => ({ scaStatus: 'finalised', means: 'done', message: null }),
    };
    const waits = (who: string, whom: string, named: string) => ({
      code: 'still_open',
      message: `${who}, and the bank waits for ${whom} (PATC). The cancellation is not over: ${whom} can still authorise it`,
      next: [
        ['transfer', 'status', FLOW],
        ['transfer', 'cancel', FLOW, '--psu-id', named],
      ],
    });

    it('the first one asks for it, whoever that is', async () => {
      const { run, customer, recorded } = await scene({
        ...{ person: EMIL, request: thatEnds(LINKS), sca: turn(ofEmil), events: AUTHORISING },
      });
      expect((await run()).state).toBe('cancelled');
      expect(customer.visited).toEqual([PAGE]);
      // The bank does not say whether the link of the payment itself works.
      expect(recorded()).toEqual([SENT, BEGUN, STARTED_BY_EMIL, withLink]);
    });

    it('the next one authorises what was asked for before: nothing is asked for again', async () => {
      const { run, requests, customer, recorded } = await scene({
        ...{ person: EMIL, sca: turn(ofEmil), events: [...AUTHORISING, SENT, BEGUN, DORA, DORAS] },
      });
      expect((await run()).state).toBe('cancelled');
      expect([requests, customer.visited, recorded()]).toEqual([[], [PAGE], [STARTED_BY_EMIL, withLink]]);
    });

    const TO_LOG_IN: ScaLinks = { approach: 'redirect', oauth: 'https://oauth.bank.example' };
    const TO_BEGIN: ScaLinks = { approach: null, start: '/begin' };
    it.each<[string, links: ScaLinks, isFollowed: boolean]>([
      ['a page', LINKS, false],
      ['a login', TO_LOG_IN, false],
      ['a page, and where another one begins', { ...LINKS, ...TO_BEGIN }, false],
      ['a login, and where another one begins', { ...TO_LOG_IN, ...TO_BEGIN }, false],
      ['an authorisation without a link', { approach: 'decoupled', id: 'c1' }, false],
      ['where one begins', TO_BEGIN, true],
    ])(
      'the answer leads to %s: another person has an authorisation of their own',
      async (_, links, isFollowed) => {
        const followed: unknown[] = [];
        const proceed: Sca['proceed'] = async (of) => {
          followed.push([of.links, of.psu?.id]);
          return { next: 'open', url: PAGE, links: ofEmil };
        };
        for (const person of [undefined, EMIL]) {
          const { run } = await scene({
            request: thatEnds(links),
            sca: { proceed },
            ...(person && { person }),
          });
          expect((await run()).state).toBe('cancelled');
        }
        expect(followed).toEqual([
          [links, undefined],
          [isFollowed ? links : null, 'emil'],
        ]);
      },
    );

    const told = (scaStatus: string, means: ScaProgress['means']): ScaProgress => ({
      ...{ scaStatus, means, message: null },
    });
    it.each<[string, TransferEvent[], ScaProgress | Error | null, TransferEvent[]]>([
      ['has authorised it', [DORA, DORAS], told('finalised', 'done'), [EMIL_SIGNED]],
      ['has refused it', [DORA, DORAS], told('failed', 'failed'), [{ ...EMIL_SIGNED, scaStatus: 'failed' }]],
      ['has not decided', [DORA, DORAS], told('received', 'going on'), []],
      ['is unknown to the bank', [DORA, DORAS], null, []],
      ['cannot be asked about', [DORA, DORAS], FAILING, []],
      ['is the only one', [], told('finalised', 'done'), []],
    ])(
      'once the bank has cancelled it, the journal has what the last of several did, who %s',
      async (_, before, says, noted) => {
        const { run, recorded } = await scene({
          ...{ person: EMIL, events: [...ORDERED, SENT, BEGUN, ...before] },
          sca: {
            ...turn(ofEmil),
            progress: async () => {
              if (says instanceof Error) throw says;
              return says;
            },
          },
        });
        expect((await run()).state).toBe('cancelled');
        const types = recorded().filter(({ type }) => type === 'cancel-noted');
        expect(types).toEqual(noted);
        expect(recorded()[0]).toEqual(STARTED_BY_EMIL);
      },
    );

    it('it ends at once when one has authorised it, and another one must', async () => {
      const { run, recorded, world } = await scene({
        ...{ person: EMIL, request: thatEnds(LINKS), events: AUTHORISING, says: [PARTLY] },
        sca: { ...turn(ofEmil), ...signs },
      });
      expect(await errorOf(run())).toMatchObject(
        waits('emil authorised the cancellation of the transfer', 'another person', 'ID'),
      );
      // The bank may say "unknown" for another reason than that it is gone.
      expect(recorded()).toEqual([SENT, BEGUN, STARTED_BY_EMIL, EMIL_SIGNED]);
      expect(world.sleeps).toEqual([500]);
    });

    it.each([
      [[DORA, DORAS], 'dora authorised the cancellation of the transfer', 'another person', 'ID'],
      [[DORA, DORAS, STARTED_BY_EMIL], 'dora authorised the cancellation of the transfer', 'emil', 'emil'],
    ] as const)('whose part is over is asked for nothing more: %#', async (before, who, whom, named) => {
      const events = [...AUTHORISING, SENT, BEGUN, ...before];
      const person = { ...EMIL, id: 'dora' };
      const { run, requests, customer, recorded } = await scene({ person, events, says: [PARTLY] });
      const words = {
        ...waits(who, whom, named),
        message: expect.stringContaining(`${who}, and the bank waits for ${whom}`),
      };
      expect(await errorOf(run())).toMatchObject(words);
      expect([requests, customer.visited, recorded()]).toEqual([[], [], []]);
    });

    it.each<[string, TransferEvent[], object]>([
      [
        'the cancellation that another has authorised is as open as before',
        [...ORDERED, SENT, BEGUN, DORA, DORAS],
        {
          code: 'still_open',
          message: 'No. The cancellation is not over: somebody can still authorise it',
          next: [
            ['transfer', 'status', FLOW],
            ['transfer', 'cancel', FLOW, '--psu-id', 'ID'],
          ],
        },
      ],
      [
        'the payment whose link is out is as open as before',
        [...LINK_OUT, SENT, BEGUN],
        { code: 'still_open', message: 'No. The payment is not over: somebody can still authorise it' },
      ],
      ['what the customer has authorised stays', [...ORDERED, SENT, BEGUN], { code: 'bank_refused' }],
    ])('the bank refuses to begin another authorisation: %s', async (_, events, end) => {
      const refused = new Psd2Error('bank_refused', 'No', { refusal: 'other', isBanks: true });
      const sca = { proceed: () => Promise.reject(refused) };
      const { run } = await scene({ ...{ person: EMIL, events, says: [OPEN] }, sca });
      expect(await errorOf(run())).toMatchObject(end);
    });

    it('a person who refuses it is named, and whoever is next', async () => {
      const failed: Pick<Sca, 'progress'> = {
        progress: async () => ({ scaStatus: 'failed', means: 'failed', message: null }),
      };
      const { run } = await scene({
        ...{ person: EMIL, events: [...ORDERED, SENT, BEGUN, DORA, DORAS], says: [ACCEPTED] },
        sca: { ...turn(ofEmil), ...failed },
      });
      expect(await errorOf(run())).toMatchObject({
        ...{ code: 'not_authorised', message: 'emil did not authorise the cancellation of the transfer' },
        next: [['transfer', 'cancel', FLOW, '--psu-id', 'ID']],
      });
    });

    it('what several have authorised, one cancels alone nowhere: it does not wait for five minutes', async () => {
      const signed = (id: string, psuId: string): TransferEvent[] => [
        { type: 'sca-started', links: { ...LINKS, id }, psuId },
        {
          ...{ type: 'authorization', status: 'PENDING', bankStatus: 'PATC' },
          bank: { transactionStatus: 'PATC', scaStatus: 'finalised' },
        },
      ];
      const events = [createdTransfer(), AT_THE_BANK, ...signed('a1', 'dora'), ...signed('a2', 'emil')];
      const { run, world } = await scene({
        ...{ person: EMIL, request: thatEnds(LINKS), events, says: [ACCEPTED] },
        sca: { ...turn(ofEmil), ...signs },
      });
      expect(await errorOf(run())).toMatchObject({ code: 'still_open' });
      expect(world.sleeps).toEqual([500]);
    });

    describe('who has authorised a cancellation that one person cannot give alone', () => {
      const BY = ['dora', 'emil', 'fritz'];
      const signedBy = (persons: number): TransferEvent[] =>
        BY.slice(0, persons).flatMap((psuId, index): TransferEvent[] => [
          { type: 'sca-started', links: { ...LINKS, id: `a${index}` }, psuId },
          {
            ...{ type: 'authorization', status: 'PENDING', bankStatus: 'PATC' },
            bank: { transactionStatus: 'PATC', scaStatus: 'finalised' },
          },
        ]);
      const ordered: TransferEvent = { type: 'executed', cro: null };
      const WAITING = { type: 'sca-started' } as const;

      it.each<[string, TransferEvent[], Parameters<typeof scaThatSays>[0], isOfSeveral: boolean]>([
        ['is known, and nobody has authorised it', [WAITING], ACCEPTED, false],
        ['is known, and one has authorised it', signedBy(1), ACCEPTED, false],
        ['is known, and two have authorised it', signedBy(2), ACCEPTED, true],
        ['is known to wait for others', [WAITING], PARTLY, true],
        ['is unknown, and nobody has authorised it', [WAITING], NOT_KNOWN, false],
        ['is unknown, and one has authorised it of several', signedBy(1), NOT_KNOWN, true],
        ['is unknown, and one has authorised it alone', [...signedBy(1), ordered], NOT_KNOWN, false],
        ['is unknown, and two have authorised it', [...signedBy(2), ordered], NOT_KNOWN, true],
        ['is unknown, and nobody is known', [WAITING, ordered], NOT_KNOWN, false],
      ])('waits for another person if the payment %s', async (_, events, says, isOfSeveral) => {
        const { run, recorded, world, open } = await scene({
          ...{ request: thatEnds(LINKS), events: [createdTransfer(), AT_THE_BANK, ...events] },
          ...{ says: [OPEN, says], sca: { ...turn(ofEmil), ...signs } },
        });
        const code = await run().then(
          ({ state }) => state,
          (error: unknown) => (error instanceof Psd2Error ? error.code : error),
        );
        const isGone = says === NOT_KNOWN && !isOfSeveral;
        expect([code, open.current.isCancellationTaken]).toEqual([
          isGone ? 'cancelled' : 'still_open',
          !isOfSeveral,
        ]);
        // It waits for nobody whose part is over.
        if (isOfSeveral) expect(world.sleeps).toEqual([500]);
        expect(recorded().filter(({ type }) => type === 'cancel-taken')).toHaveLength(isOfSeveral ? 0 : 1);
      });
    });

    it('a bank that is slow with the word for the payment is asked for a moment', async () => {
      const { run, world } = await scene({
        ...{ request: thatEnds(LINKS), events: AUTHORISING, says: [ACCEPTED] },
        sca: { ...turn(ofEmil), ...signs },
      });
      expect(await errorOf(run())).toMatchObject({ code: 'still_open' });
      expect(world.sleeps.reduce((sum, each) => sum + each, 0)).toBeLessThan(14_000);
    });
  });

  it('the bank waits for a code that no browser has brought', async () => {
    const { run } = await scene({
      ...{ request: thatEnds(LINKS), says: [ACCEPTED], sca: { ...turn(), ...progress('needs code') } },
    });
    expect(await errorOf(run())).toMatchObject({
      code: 'still_open',
      next: [
        ['transfer', 'cancel', FLOW, '--paste'],
        ['transfer', 'cancel', FLOW],
      ],
    });
  });

  it('the bank has the code that the browser brought: psd2 waits until it is cancelled', async () => {
    const links = { ...LINKS, confirmation: '/confirm' };
    const { run, recorded } = await scene({
      ...{ request: thatEnds(LINKS), says: [ACCEPTED, CANCELLED] },
      customer: fakeCustomer({}, { code: 'c1' }),
      sca: {
        ...{ ...turn(links), ...progress('needs code') },
        async confirmCode({ beforeSend }) {
          await beforeSend(INTENT);
          return { scaStatus: 'finalised', means: 'done', message: null };
        },
      },
    });
    expect((await run()).state).toBe('cancelled');
    expect(recorded()).toEqual([SENT, BEGUN, STARTED, SENT, cancelled]);
  });

  it('the customer refuses the login with it: that proves nothing, so the cancellation is open', async () => {
    const { run, recorded } = await scene({
      ...{ request: thatEnds(LINKS), customer: fakeCustomer({}, { error: 'access_denied' }) },
      sca: {
        proceed: async () => ({ next: 'log in', url: PAGE, server: 'https://x', links: { approach: null } }),
      },
    });
    expect(await errorOf(run())).toEqual({
      code: 'still_open',
      message:
        'The customer refused the login: access_denied. The cancellation is not over: the customer can still authorise it',
      ...OPEN_CANCELLATION,
    });
    expect(recorded()).toEqual([SENT, BEGUN, STARTED]);
  });

  it('the customer is too late: it is asked for again, and nothing is recorded', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { run } = await scene({
      ...{ request: thatEnds(LINKS), says: [ACCEPTED], sca: { ...turn(), ...progress('going on') } },
      customer: fakeCustomer({ scaTimeoutMs: 5_000 }, null),
    });
    const end = errorOf(run());
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await end).toEqual({
      code: 'still_open',
      message:
        'The customer did not authorise the cancellation and come back within 5 s. The cancellation is not over: the customer can still authorise it',
      ...OPEN_CANCELLATION,
    });
    vi.useRealTimers();
  });

  describe('while the browser does not come back', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => void vi.useRealTimers());

    /** @returns whether psd2 still waits after its first question */
    async function waitsOn(sca: Partial<Sca>) {
      const { run, waits } = await scene({
        ...{ request: thatEnds(LINKS), customer: fakeCustomer({}, null), sca: { ...turn(), ...sca } },
      });
      let hasEnded = false;
      const end = run()
        .catch((error: unknown) => error)
        .finally(() => {
          hasEnded = true;
        });
      await vi.advanceTimersByTimeAsync(9_000);
      const [, second] = waits;
      return { isWaiting: second === undefined && !hasEnded, end };
    }

    it.each<[string, Partial<Sca>, boolean]>([
      ['the authorisation is done', progress('done'), false],
      ['the authorisation has failed', progress('failed'), false],
      ['the authorisation goes on', progress('going on'), true],
      ['the bank waits for the code', progress('needs code'), true],
      ['its status is: cancelled', scaThatSays(CANCELLED), false],
      ['its status is: failed', scaThatSays(REJECTED), false],
      ['its status is: open', scaThatSays(OPEN), true],
      ['its status is: executed', scaThatSays(EXECUTED), true],
      ['the bank fails to say its status', scaThatSays(FAILING), true],
      ['the bank refuses to say its status', scaThatSays(NOT_KNOWN), true],
      ['its status cannot be read', scaThatSays(new Psd2Error('bank_answer', 'No JSON')), true],
      ['the bank fails to say how far it is', { progress: () => Promise.reject(FAILING) }, true],
    ])('%s', async (_what, sca, isWaiting) => {
      expect((await waitsOn(sca)).isWaiting).toBe(isWaiting);
    });

    it('Ctrl-C while psd2 asks ends it', async () => {
      expect(await (await waitsOn(scaThatSays(INTERRUPTED))).end).toBe(INTERRUPTED);
    });
  });
});

describe('a cancellation that stopped after a customer had given psd2 something for it', () => {
  const EMIL = { id: 'emil', idType: undefined, corporateId: undefined };
  const NO_STEP: ScaLinks = { approach: 'embedded', id: 'c1', status: '/c1' };
  const STEP: ScaLinks = { ...NO_STEP, step: { next: 'code' } };
  type Sent = Extract<TransferEvent, { type: 'credential-sent' }>;
  const sent = (what: Sent['what'], more: Partial<Sent> = {}): TransferEvent => ({
    ...{ type: 'credential-sent', requestId: 'q2', digest: null, what, ofCancellation: true },
    ...more,
  });
  const answered = (scaStatus: string, links: ScaLinks = STEP): TransferEvent => ({
    ...{ type: 'credential-answered', ofCancellation: true, id: 'c1', scaStatus, links },
  });
  const BEFORE: TransferEvent[] = [...ORDERED, SENT, BEGUN];
  const gave = (...events: TransferEvent[]): TransferEvent[] => [...BEFORE, ...events];
  const ofEmil = { psuId: 'emil' };
  const WITH_ID: TransferEvent = { type: 'cancel-sca-started', id: 'c1' };

  it.each<[string, TransferEvent[], ReturnPorts['person'], goesOn: boolean]>([
    ['its next step is known', gave(sent('password'), answered('scaMethodSelected')), undefined, true],
    ['its authorisation has failed', gave(sent('password'), answered('failed')), undefined, false],
    ['its authorisation has expired', gave(sent('password'), answered('expired')), undefined, false],
    ['it has no next step', gave(sent('password'), answered('started', NO_STEP)), undefined, false],
    ['nothing was given', gave({ type: 'cancel-sca-started', id: 'c1', links: STEP }), undefined, false],
    ['it was of this person', gave(sent('password', ofEmil), answered('started')), EMIL, true],
    ['it was of another person', gave(sent('password', ofEmil), answered('started')), undefined, false],
  ])('goes on without another request only if %s: %#', async (_, events, person, goesOn) => {
    const { run, requests } = await scene({ events, ...(person && { person }) });
    const end = await run().then(
      ({ state }) => state,
      (error: unknown) => (error instanceof Psd2Error ? error.code : error),
    );
    expect([end, requests.length]).toEqual(goesOn ? ['still_open', 0] : ['cancelled', 1]);
  });

  const word = (scaStatus: string): Pick<Sca, 'progress'> => ({
    progress: async () => ({ scaStatus, means: 'going on', message: null }),
  });
  it.each<[string, TransferEvent[], Partial<Sca>, Scene['person'], asks: boolean]>([
    ['has no answer', gave(sent('code')), {}, undefined, true],
    [
      'has no answer, and the bank says received',
      gave(WITH_ID, sent('code')),
      word('received'),
      undefined,
      true,
    ],
    [
      'has no answer, and the bank says finalised',
      gave(WITH_ID, sent('code')),
      word('finalised'),
      undefined,
      false,
    ],
    [
      'has no answer, and the bank says exempted',
      gave(WITH_ID, sent('code')),
      word('exempted'),
      undefined,
      false,
    ],
    [
      'has no answer, and the bank says failed',
      gave(WITH_ID, sent('code')),
      word('failed'),
      undefined,
      false,
    ],
    [
      'has no answer, and the bank says expired',
      gave(WITH_ID, sent('code')),
      word('expired'),
      undefined,
      false,
    ],
    ['has an answer', gave(sent('code'), answered('started', NO_STEP)), {}, undefined, false],
    ['is a PIN', gave(sent('password')), {}, undefined, false],
    ['is a PIN after a TAN', gave(sent('code'), sent('password')), {}, undefined, false],
    ['is a TAN after a PIN', gave(sent('password'), sent('code')), {}, undefined, true],
    ['is of another person', gave(sent('code', ofEmil)), {}, undefined, false],
    ['is of this person', gave(sent('code', ofEmil)), {}, EMIL, true],
    ['is of anyone', gave(sent('code', { isFound: true })), {}, EMIL, true],
  ])('asks about it first if what was sent last %s', async (_, events, sca, person, asks) => {
    const { run, requests, payment } = await scene({
      ...{ events, says: [ACCEPTED, CANCELLED], sca: { progress: async () => null, ...sca } },
      ...(person && { person }),
    });
    const end = await run().then(
      ({ state }) => state,
      (error: unknown) => (error instanceof Psd2Error ? error.message : error),
    );
    const who = person ? 'emil' : 'the customer';
    expect([end, requests.length]).toEqual(
      asks
        ? [
            `The bank does not say what became of the TAN. The cancellation is not over: ${who} can still authorise it`,
            0,
          ]
        : ['cancelled', 1],
    );
    expect(payment.asked.length).toBeGreaterThan(0);
  });

  it('has nothing more to do if the bank has cancelled the payment meanwhile', async () => {
    const { run, requests } = await scene({ events: gave(sent('code')), says: [CANCELLED] });
    expect((await run()).state).toBe('cancelled');
    expect(requests).toEqual([]);
  });
});

describe('no customer has a link, so psd2 gives the payment up', () => {
  const WHY = new Psd2Error('bank_answer', 'The link is unusable', { hint: 'Ask the bank.' });

  it('at a bank that has execute, that ends it', async () => {
    const { giveUp, requests, recorded } = await scene({ events: [createdForExecute(), AT_THE_BANK] });
    expect(await errorOf(giveUp(WHY))).toMatchObject({ ...WHY.context, message: WHY.message, flow: FLOW });
    expect([requests, recorded()]).toEqual([[], [{ type: 'cancelled', description: WHY.message }]]);
  });

  it('psd2 waits a moment for the bank to cancel it', async () => {
    const { giveUp, waits, limits } = await scene({ events: [createdTransfer(), AT_THE_BANK] });
    await errorOf(giveUp(WHY));
    expect([waits, limits]).toEqual([['Waiting for the bank to cancel it'], [10_000]]);
  });

  it.each([
    INTERRUPTED,
    new Psd2Error('overtaken', `Another psd2 has continued ${FLOW}`),
    new TypeError('A bug'),
  ])('what says nothing of the bank stays what it is: %s', async (error) => {
    const events = [createdTransfer(), AT_THE_BANK];
    const { giveUp, recorded } = await scene({ events, request: thatEnds(error) });
    await expect(giveUp(WHY)).rejects.toBe(error);
    expect(recorded()).toEqual([SENT]);
  });
});
