import { describe, expect, it } from 'vitest';
import type { ExecutionStatus } from '../../src/bank/ports/payment-calls.ts';
import { OPERATION_STATES, type StepEvent } from '../../src/domain/operation.ts';
import { decisionIn } from '../../src/domain/payment-answers.ts';
import type { Transfer, TransferEvent } from '../../src/domain/transfer.ts';
import { type BankReason, Psd2Error } from '../../src/errors.ts';
import { recordFound, recordOutcome } from '../../src/flows/once.ts';
import { endOfOperation } from '../../src/flows/payment/end.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import {
  askIfSettled,
  askOutcome,
  askSettlement,
  askSettlementOnce,
  pollSettlement,
  settlementEvent,
  settlementIn,
} from '../../src/flows/payment/outcome.ts';
import { outcomeUnknown } from '../../src/flows/refusals.ts';
import { begunTransfer } from '../domain/orders.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf, fakeWorld } from './doubles.ts';
import {
  AT_THE_BANK,
  createdForExecute,
  createdTransfer,
  FIND_OUT,
  FLOW,
  OF_A_STEP,
  paymentStatus,
  runOf,
  scaThatSays,
  transfersIn,
} from './stored-transfers.ts';

// What became of a payment: the questions to the bank, what the journal keeps, and what the operator is told.

const transferAfter = transfersIn(temporaryFolder());
const AUTHORIZED: TransferEvent = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' };
const EXECUTED: StepEvent = { type: 'executed', cro: null };
const UNANSWERED: StepEvent = { type: 'execute-unanswered' };
const REFUSED: StepEvent = { type: 'execute-refused', description: 'No' };
const RETURNED: TransferEvent = { type: 'sca-returned' };
const SENT: TransferEvent = { type: 'execute-sent', requestId: 'q1', digest: null };
/** `execute` was sent. */
const EXECUTING = [createdForExecute(), AT_THE_BANK, { type: 'accepted' } as const, AUTHORIZED, SENT];
/** The customer has the link. */
const WITH_THE_CUSTOMER = [createdTransfer(), AT_THE_BANK, { type: 'sca-started' } as const];

const interrupted = new Psd2Error('interrupted', 'Ctrl-C');
const failing = new Psd2Error('bank_failing', 'The bank is away');
const status = (
  word: ExecutionStatus['status'],
  executionStatusDescription: string | null = null,
  executionStatus: string = word,
): ExecutionStatus => ({ status: word, executionStatus, executionStatusDescription });

describe('the settlement of an instant transfer', () => {
  interface Polling {
    answers?: (ExecutionStatus | Error)[];
    /** How long after `execute` psd2 begins to ask. */
    late?: number;
    /** How long each answer takes; less than nothing if the clock is set back. */
    slow?: (poll: number) => number;
    ask?: typeof pollSettlement;
  }
  async function polled({ answers = [], late = 0, slow = () => 0, ask = pollSettlement }: Polling = {}) {
    const world = fakeWorld();
    const executeEnded = world.now().getTime() - late;
    const asked: number[] = [];
    const settlement = await ask(
      world,
      async () => {
        asked.push(world.elapsed());
        world.pass(slow(asked.length));
        const answer = answers.shift() ?? status('PENDING');
        if (answer instanceof Error) throw answer;
        return answer;
      },
      executeEnded,
    );
    return { asked, settlement, sleeps: world.sleeps };
  }
  const PENDING = { status: 'PENDING', description: null, said: 'PENDING' };

  it('has the words of a bank with links, and what it says beside them', () => {
    const settlement = settlementIn({ ...status('KO', 'No', 'RJCT'), messages: ['Call the branch'] });
    const event = { type: 'settlement', status: 'KO', description: 'No' };
    expect(settlementEvent(settlement, { authorises: 'by call' })).toEqual(event);
    expect(settlementEvent(settlement, { authorises: 'by links' })).toEqual({
      ...event,
      bank: { transactionStatus: 'RJCT', scaStatus: null, messages: ['Call the branch'] },
    });
  });

  const REASONS: BankReason[] = [{ level: 'payment', code: 'AC04', proprietary: null, text: 'Closed' }];
  const KO = { type: 'settlement', status: 'KO', description: 'No' } as const;
  it.each<[string, Partial<ExecutionStatus>, event: object, words: object]>([
    ['nothing', {}, KO, {}],
    ['why', { reasons: REASONS }, { ...KO, reasons: REASONS }, {}],
    ['something to the customer', { messages: ['Call us'] }, KO, { messages: ['Call us'] }],
    [
      'why, and something to the customer',
      { reasons: REASONS, messages: ['Call us'] },
      { ...KO, reasons: REASONS },
      { messages: ['Call us'] },
    ],
    [
      'that it has another one like it',
      { isDuplicate: true },
      { type: 'execute-unanswered', isDuplicate: true },
      {},
    ],
    [
      'that it has another one like it, and why',
      { isDuplicate: true, reasons: REASONS },
      {
        ...{ type: 'execute-unanswered', isDuplicate: true },
        ...{ description: 'AC04: Closed', reasons: REASONS },
      },
      {},
    ],
  ])('the journal has all that the bank says beside its word: %s', (_, more, event, words) => {
    const settlement = settlementIn({ ...status('KO', 'No', 'RJCT'), ...more });
    expect(settlementEvent(settlement, { authorises: 'by call' })).toStrictEqual(event);
    expect(settlementEvent(settlement, { authorises: 'by links' })).toStrictEqual({
      ...event,
      bank: { transactionStatus: 'RJCT', scaStatus: null, ...words },
    });
  });

  it('psd2 asks five times within 15 s, and keeps the last words', async () => {
    const answers = [status('PENDING', 'Early', 'WAITING'), ...Array(3).fill(status('PENDING'))];
    const last = status('PENDING', 'Working on it', 'WORKING');
    expect(await polled({ answers: [...answers, last] })).toEqual({
      asked: [1_000, 4_500, 8_000, 11_500, 15_000],
      settlement: { status: 'PENDING', description: 'Working on it', said: 'WORKING' },
      sleeps: [1_000, 3_500, 3_500, 3_500, 3_500],
    });
  });

  it.each(['OK', 'KO'] as const)('psd2 asks no more once it is %s', async (word) => {
    const last = status(word, 'At last', 'THEIRS');
    const { asked, settlement } = await polled({ answers: [status('PENDING', 'Early'), last, last] });
    // What frees a reference is asked once more.
    expect(asked).toEqual(word === 'KO' ? [1_000, 4_500, 4_500] : [1_000, 4_500]);
    expect(settlement).toEqual({ status: word, description: 'At last', said: 'THEIRS' });
  });

  it.each([
    [999, [1, 3_501, 7_001, 10_501, 14_001]],
    [1_000, [3_500, 7_000, 10_500, 14_000]],
    [14_999, [1]],
    // The time is over: once, at once.
    [15_000, [0]],
    [100_000, [0]],
    // The clock was set back since.
    [-50_000, [1_000, 4_500, 8_000, 11_500, 15_000]],
  ])('resumed %i ms after execute, psd2 asks after %j ms', async (late, expected) => {
    const { asked, settlement } = await polled({ late });
    expect(asked).toEqual(expected);
    expect(settlement).toEqual(PENDING);
  });

  it.each<[string, (poll: number) => number, number[]]>([
    ['takes until the next', () => 3_500, [1_000, 4_500, 8_000, 11_500, 15_000]],
    ['takes longer than the next ones', (poll) => (poll === 1 ? 7_500 : 0), [1_000, 11_500, 15_000]],
    ['takes too long', () => 20_000, [1_000]],
  ])('an answer that %s: psd2 catches up on none', async (_what, slow, expected) => {
    expect((await polled({ slow })).asked).toEqual(expected);
  });

  it('the clock is set back while psd2 waits: no pause gets longer than from the beginning', async () => {
    const { sleeps } = await polled({ slow: (poll) => (poll === 1 ? -3_600_000 : 0) });
    expect(sleeps).toEqual([1_000, 4_500, 8_000, 11_500, 15_000]);
  });

  it.each([
    [0, [1_000]],
    [500, [500]],
    [1_000, [0]],
    [5_000, [0]],
  ])('asked once, %i ms after execute: after %j ms', async (late, expected) => {
    const { asked, settlement } = await polled({ late, ask: askSettlementOnce });
    expect(asked).toEqual(expected);
    expect(settlement).toEqual(PENDING);
  });

  describe('in the run of a transfer', () => {
    async function settling(answers: (ExecutionStatus | Error)[], created = createdForExecute()) {
      const transfer = await transferAfter(created, AT_THE_BANK);
      const asked: string[] = [];
      const run = runOf(transfer, {
        sca: scaThatSays(failing),
        calls: {
          async executionStatus(resourceId) {
            asked.push(resourceId);
            const answer = answers[Math.min(asked.length, answers.length) - 1];
            if (answer === undefined || answer instanceof Error) throw answer;
            return answer;
          },
        },
      });
      const { current } = transfer.open;
      const ended = run.ports.world.now().getTime();
      return {
        asked,
        askIfSettled: (polls: 'once' | 'to the end') =>
          askIfSettled({ ...run, executeEnded: ended }, current, polls),
        askOutcome: () => askOutcome({ ...run, executeEnded: ended }, current),
        askSettlement: () => askSettlement(run, current, ended),
        without: () => {
          const lacking = { ...run, calls: { ...run.calls, executionStatus: null } };
          return {
            askIfSettled: () => askIfSettled({ ...lacking, executeEnded: ended }, current, 'once'),
            askSettlement: () => askSettlement(lacking, current, ended),
          };
        },
      };
    }
    const settlement = (word: 'OK' | 'KO', description: string | null) => [
      EXECUTED,
      { type: 'settlement', status: word, description },
    ];

    it.each(['once', 'to the end'] as const)('asked %s: what is settled was executed', async (polls) => {
      const { asked, askIfSettled: ask } = await settling([status('KO', 'Account closed')]);
      expect(await ask(polls)).toEqual(settlement('KO', 'Account closed'));
      expect(asked).toEqual(['p1', 'p1']);
    });

    it.each([
      ['once', 1],
      ['to the end', 5],
    ] as const)('asked %s, a pending one may never have begun', async (polls, times) => {
      const { asked, askIfSettled: ask } = await settling([status('PENDING')]);
      expect(await ask(polls)).toBeNull();
      expect(asked).toHaveLength(times);
    });

    it('has failed, of a payment that the customer commits: the status says whether they have refused it', async () => {
      const { askIfSettled: ask } = await settling([status('KO')], createdTransfer());
      expect(await ask('once')).toBeNull();
    });

    it('cannot be read: it is executed, and nobody knows more', async () => {
      const error = new Psd2Error('bank_refused', 'No', { httpStatus: 412, requestId: '7' });
      const { askSettlement: ask } = await settling([error]);
      const end = ask();
      expect(await errorOf(end)).toEqual({
        code: 'outcome_unknown',
        message: 'The instant transfer is executed, but psd2 could not get its status: No',
        ...OF_A_STEP,
      });
      await expect(end).rejects.toMatchObject({ httpStatus: 412, requestId: '7', cause: error });
      await expect((await settling([interrupted])).askSettlement()).rejects.toBe(interrupted);
    });

    it('does not exist', async () => {
      const { askIfSettled: ask, askSettlement: await_ } = (await settling([])).without();
      expect(await ask()).toBeNull();
      await expect(await_()).rejects.toThrow(new TypeError(`The bank has no execution status for ${FLOW}`));
    });
  });
});

it.each([
  ['execute', EXECUTING, 'execute-not-begun'],
  ['initiation', [createdTransfer(), { ...SENT, type: 'verify-sent' } as const], 'verify-not-begun'],
] as const)('an %s that the log of calls never saw leave has not begun', async (_, events, type) => {
  const transfer = await transferAfter(...events);
  const { calls, ports } = runOf(transfer, { ports: { neverLeft: async (id) => id === 'q1' } });
  await runOperation(transfer.open, calls, ports, ['execute', 'verify', 'accept']);
  expect(transfer.recorded()).toEqual([{ type }]);
});

describe('the bank’s status', () => {
  const OPEN = paymentStatus('RCVD');
  const ACSC = paymentStatus('ACSC', 'executed');
  const executed = { ...EXECUTED, bank: { transactionStatus: 'ACSC', scaStatus: null } };
  async function asking(
    says: Parameters<typeof scaThatSays>[0],
    events: TransferEvent[] = WITH_THE_CUSTOMER,
  ) {
    const sca = scaThatSays(says);
    const transfer = await transferAfter(...events);
    const run = runOf(transfer, { sca });
    const { current } = transfer.open;
    return {
      asked: sca.asked,
      decision: async () => decisionIn(await run.askIfAnswered(current)),
      outcome: () =>
        askOutcome(
          { ...run, calls: { ...run.calls, executionStatus: null }, executeEnded: 0 },
          current,
          'once',
        ),
    };
  }

  it('is the decision, and the outcome', async () => {
    const { asked, decision, outcome } = await asking(ACSC);
    expect(await decision()).toEqual(executed);
    expect(await outcome()).toEqual([executed]);
    expect(asked).toEqual([
      ['p1', 't1', undefined],
      ['p1', 't1', true],
    ]);
  });

  it.each([OPEN, failing])('decides nothing: %o', async (says) => {
    const { decision, outcome } = await asking(says);
    expect([await decision(), await outcome()]).toEqual([null, null]);
  });

  it('that the customer has authorised it is a decision, and no outcome', async () => {
    const authorization = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'ACTC' } as const;
    const { decision, outcome } = await asking(
      paymentStatus('AUTHORIZED', null, { authorization }),
      EXECUTING,
    );
    expect(await decision()).toEqual(authorization);
    expect(await outcome()).toBeNull();
  });

  it('Ctrl-C ends the question', async () => {
    const { decision, outcome } = await asking(interrupted);
    await expect(decision()).rejects.toBe(interrupted);
    await expect(outcome()).rejects.toBe(interrupted);
  });
});

describe('an outcome', () => {
  it.each([
    ['psd2 has sent execute', EXECUTING, UNANSWERED],
    ['psd2 has sent the payment', WITH_THE_CUSTOMER, UNANSWERED],
    ['The bank has executed it', EXECUTING, EXECUTED],
  ])('cannot be written down: "%s", and nobody knows', async (said, events, outcome) => {
    const { open, beforeRecord } = await transferAfter(...events);
    beforeRecord(() => {
      throw new Psd2Error('config', 'The disk is full');
    });
    const end = recordOutcome(open, outcome);
    expect(await errorOf(end)).toEqual({
      code: 'outcome_unknown',
      message: `${said}, but the journal could not be written: The disk is full`,
      ...OF_A_STEP,
    });
  });

  const resolved = (outcome: 'executed' | 'not-executed') =>
    ({ type: 'resolved', outcome, by: 'ada', note: null }) as const;
  it.each<[string, TransferEvent, StepEvent, boolean]>([
    ['waits for it', RETURNED, EXECUTED, true],
    ['waits for it', RETURNED, UNANSWERED, true],
    ['does not know it', UNANSWERED, EXECUTED, true],
    ['does not know it', UNANSWERED, REFUSED, true],
    ['does not know it', UNANSWERED, UNANSWERED, false],
    ['knows it', EXECUTED, EXECUTED, false],
    ['knows it', EXECUTED, REFUSED, false],
    ['was told the contrary by a person', resolved('not-executed'), EXECUTED, true],
    ['was told by a person', resolved('not-executed'), REFUSED, false],
    ['was told by a person', resolved('executed'), EXECUTED, false],
  ])('of a flow that another psd2 continues, which %s: %o, %o', async (_what, theirs, ours, isRecorded) => {
    const { open, recorded, overtake } = await transferAfter(...EXECUTING);
    await overtake(theirs);
    await recordOutcome(open, ours);
    expect(recorded()).toEqual(isRecorded ? [theirs, ours] : [theirs]);
  });

  it('of a flow that others continue again and again', async () => {
    const { open, recorded, overtake, beforeRecord } = await transferAfter(...EXECUTING);
    let times = 0;
    beforeRecord(async () => {
      times += 1;
      if (times < 3) await overtake(RETURNED);
    });
    await recordOutcome(open, EXECUTED);
    expect([recorded(), times]).toEqual([[RETURNED, RETURNED, EXECUTED], 3]);
  });

  it('that execute was turned away is not for another psd2: that one asks the bank', async () => {
    const { open, recorded, overtake } = await transferAfter(...EXECUTING);
    await overtake(RETURNED);
    await expect(recordOutcome(open, { type: 'execute-turned-away' })).rejects.toMatchObject({
      code: 'overtaken',
    });
    expect(recorded()).toEqual([RETURNED]);
  });

  it('that the bank said is left to another psd2, which has gone on', async () => {
    const { open, recorded, overtake } = await transferAfter(...EXECUTING);
    await overtake(UNANSWERED);
    expect(await recordFound(open, EXECUTED)).toBe(false);
    expect([recorded(), open.current.state]).toEqual([[UNANSWERED], 'unknown']);
  });

  it('that the bank said cannot be written down', async () => {
    const { open, beforeRecord } = await transferAfter(...EXECUTING);
    const full = new Psd2Error('config', 'The disk is full');
    beforeRecord(() => {
      throw full;
    });
    await expect(recordFound(open, EXECUTED)).rejects.toBe(full);
  });
});

describe('the operator is told', () => {
  const executing = async () => (await transferAfter(...EXECUTING)).open.current;
  const toldBy = (error: unknown) => errorOf(Promise.reject(error));
  const thrown = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };

  it('that nobody knows, with what the support of the bank asks for', async () => {
    const ids = { httpStatus: 500, bankCode: 'E1', requestId: '7', tppRequestId: 'q7' };
    const cause = new Psd2Error('bank_failing', 'Away', { ...ids, hint: 'Wait.', refusal: 'other' });
    const error = outcomeUnknown(await executing(), 'It is not known', cause);
    expect(await toldBy(error)).toEqual({
      ...{ code: 'outcome_unknown', message: 'It is not known: Away', ...FIND_OUT },
    });
    expect(error.context).toStrictEqual({ ...ids, ...FIND_OUT, cause });
  });

  const decided = (word: 'NOT_AUTHORIZED' | 'EXPIRED'): TransferEvent => ({
    ...{ type: 'authorization', status: word, bankStatus: word },
  });
  it.each<[TransferEvent[], string]>([
    [[REFUSED], `The bank refused the transfer ${FLOW}: No`],
    [[REFUSED, decided('EXPIRED')], 'The customer did not authorise the transfer in time'],
  ])('that it has ended with nothing but a refusal: %j', async (events, message) => {
    const { open } = await transferAfter(...EXECUTING, ...events);
    const end = Promise.resolve().then(() => endOfOperation(open.current, 'transfer'));
    expect(await errorOf(end)).toMatchObject({
      ...{ message, next: FIND_OUT.next, flow: FLOW, transactionId: 't1' },
      hint: expect.stringContaining('the reference stays reserved'),
    });
  });

  describe('how a transfer has ended', () => {
    const NEW_ONE = { hint: 'No money moved. You can make a new one.', next: undefined, flow: undefined };
    const said = (note: string | null): Partial<Transfer> => ({
      resolution: { outcome: 'not-executed', by: 'ada@pisp-1', note, at: '2026-11-24T10:00:00Z' },
    });
    const NO = { executionStatusDescription: 'No' };
    const KO = { executionStatus: 'KO' };
    const LINK = { linkUntil: '2031-05-01T09:10:00.000Z' };
    const PAID_BEFORE =
      'The transfer ended after its first day, 2026-11-21, so payments up to now may have been made.';
    const FREE = ' If the account shows none, free it with:';

    it.each<[Transfer['state'], Partial<Transfer>, string, object]>([
      ['failed', KO, 'payment_failed The payment failed', NEW_ONE],
      ['failed', { ...KO, ...NO }, 'payment_failed The payment failed: No', NEW_ONE],
      ['failed', {}, 'bank_refused The bank refused the transfer tr-1', NEW_ONE],
      ['failed', NO, 'bank_refused The bank refused the transfer tr-1: No', NEW_ONE],
      [
        'failed',
        { ...said(null), ...KO },
        'payment_failed The transfer tr-1 has ended: ada@pisp-1 said that it was not executed',
        NEW_ONE,
      ],
      [
        'failed',
        { ...said('Case 1'), refusedUnconfirmed: true },
        'payment_failed The transfer tr-1 has ended: ada@pisp-1 said that it was not executed: Case 1',
        NEW_ONE,
      ],
      ['failed', { ...KO, refusedUnconfirmed: true }, 'payment_failed The payment failed', NEW_ONE],
      ['rejected', {}, 'not_authorised The customer did not authorise the transfer', NEW_ONE],
      ['rejected', NO, 'not_authorised The customer did not authorise the transfer: No', NEW_ONE],
      ['expired', NO, 'authorisation_expired The customer did not authorise the transfer in time', NEW_ONE],
      ['cancelled', {}, 'cancelled The transfer was cancelled before the customer was asked', NEW_ONE],
      [
        'cancelled',
        { reached: true, ...NO },
        'cancelled The transfer was cancelled before the customer was asked: No',
        NEW_ONE,
      ],
      [
        'cancelled',
        { reached: true, accepted: true },
        'cancelled The transfer was cancelled before it was executed',
        NEW_ONE,
      ],
      [
        'cancelled',
        { accepted: true, ...NO },
        'cancelled The transfer was cancelled before it was executed: No',
        NEW_ONE,
      ],
      [
        'cancelled',
        { ...LINK, ...NO },
        'cancelled The transfer was cancelled: No',
        {
          hint: 'A customer has a link to authorise the transfer, which may work until 2031-05-01 09:10 UTC, although the bank has cancelled it. Ask again with:',
          ...{ next: [['transfer', 'resume', 'tr-1']], flow: 'tr-1' },
        },
      ],
      [
        'ended',
        { ...KO, ...NO },
        'payment_failed The bank has ended the transfer: No',
        {
          hint: `${PAID_BEFORE} The account's bookings show them.${FREE}`,
          ...{ next: [['transfer', 'resolve', 'tr-1', '--not-executed']], flow: 'tr-1' },
        },
      ],
    ])('%s, %j', async (state, changes, says, more) => {
      const transfer = begunTransfer({ state, ...changes });
      const error = await toldBy(thrown(() => endOfOperation(transfer, 'transfer')));
      expect(`${error.code} ${error.message}`).toBe(says);
      expect(error).toMatchObject({ ...more, transactionId: 't' });
    });

    it('is no error if it goes on, or is paid, or a standing order was cancelled', () => {
      const goesOn = OPERATION_STATES.filter((state) => {
        const transfer = begunTransfer({ state });
        try {
          return endOfOperation(transfer, 'transfer') === transfer;
        } catch {
          return false;
        }
      });
      expect(goesOn).toEqual(
        OPERATION_STATES.filter((state) => !['failed', 'rejected', 'expired', 'cancelled'].includes(state)),
      );
    });
  });
});
