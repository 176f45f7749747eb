import { describe, expect, it } from 'vitest';
import type { Announced } from '../../src/bank/ports/call.ts';
import type { PaymentCalls, Verified } from '../../src/bank/ports/payment-calls.ts';
import type { TransferEvent } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { NeverLeft } from '../../src/flows/once.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import type { FlowPorts, KnownInitiation } from '../../src/flows/ports.ts';
import { transferOrder } from '../domain/orders.ts';
import { begun } from '../store/flows.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf, fakeWorld } from './doubles.ts';
import {
  AT_THE_BANK,
  createdForExecute,
  createdTransfer,
  EVERY_STEP,
  FAILING,
  FIND_OUT,
  FLOW,
  INITIATION,
  INTERRUPTED,
  paymentStatus,
  runOf,
  type StoredTransfer,
  scaThatSays,
  transfersIn,
} from './stored-transfers.ts';

// The first request about a payment. If the customer commits, it is the one that must not be sent twice.

const transferAfter = transfersIn(temporaryFolder());
const INTENT = { requestId: 'q1', digest: 'SHA-256=x' };
const NEW_INTENT = { ...INTENT, requestId: 'q2' };
const SENT: TransferEvent = { type: 'verify-sent', ...INTENT };
const UNANSWERED: TransferEvent = { type: 'execute-unanswered' };
const OLDER: TransferEvent = {
  ...UNANSWERED,
  description: 'The journal is older than what the bank or the log of calls knows',
};
const { type: _type, ...VERIFIED } = AT_THE_BANK;
const ANSWER: Verified = VERIFIED;
const POSSIBLE = createdTransfer({ initiation: { ...INITIATION, executesWithoutSca: 'possible' } });

const unknown = (message: string) => ({ code: 'outcome_unknown', message, ...FIND_OUT });

const unread = (more: Psd2Error['context'] = {}) =>
  new Psd2Error('not_logged_in', 'No token', { refusal: 'unread', isBanks: true, ...more });
const banks = (refusal: 'content' | 'other') =>
  new Psd2Error('bank_refused', 'Wrong IBAN', { refusal, isBanks: true, transactionId: 't1' });
const lost = new Psd2Error('bank_unreachable', 'No answer');

/** When the initiation left that is repeated. */
const ACCEPTED: TransferEvent = { type: 'accepted' };
const JUST_NOW = new Date('2026-11-24T10:00:00Z');

interface Scene {
  created?: ReturnType<typeof createdTransfer>;
  events?: TransferEvent[];
  /** The answers of the bank, one for each request; the last one stays. */
  answers?: (Verified | Error)[];
  known?: KnownInitiation;
  ports?: Partial<FlowPorts>;
  says?: Parameters<typeof scaThatSays>;
  /** What another psd2 writes while this one opens the connection. */
  overtaken?: TransferEvent[];
  /** For how long psd2 stands still before the first byte, in milliseconds. */
  stands?: number;
  /** By how much the clock of the bank is ahead of this one, in milliseconds. An error: it does not say. */
  ahead?: number | Error;
}

async function scene({
  created = createdTransfer(),
  events = [],
  answers = [ANSWER],
  known,
  ...more
}: Scene = {}) {
  const isAccepted = created.commits === 'by the customer' ? [ACCEPTED] : [];
  const transfer = await transferAfter(created, ...isAccepted, ...events);
  const requests: (string | undefined)[] = [];
  const announced: (Announced | undefined)[] = [];
  const asked: string[] = [];
  const answer = () => {
    const next = answers[Math.min(requests.length, answers.length) - 1];
    if (next === undefined || next instanceof Error) throw next;
    return next;
  };
  let time = JUST_NOW.getTime();
  const clock = async () => {
    const { ahead = 0 } = more;
    if (ahead instanceof Error) throw ahead;
    return new Date(time + ahead);
  };
  const steps: unknown[] = [];
  const calls: Partial<PaymentCalls> = {
    async verify(beforeSend, requestId) {
      const isNew = requestId === undefined && requests.length > 0;
      const now = await beforeSend(isNew ? NEW_INTENT : INTENT);
      time += more.stands ?? 0;
      if (more.overtaken) await transfer.overtake(...more.overtaken);
      await now?.beforeFirstByte?.();
      requests.push(requestId);
      announced.push(now);
      return answer();
    },
    async verifyFurther(resourceId, step, data, beforeSend) {
      await beforeSend(INTENT);
      steps.push([resourceId, step, data]);
      requests.push(undefined);
      return answer();
    },
  };
  const initiated = async (transactionId: string) => {
    asked.push(transactionId);
    return known ?? { answer: 'no' as const };
  };
  const sca = scaThatSays(...(more.says ?? []));
  const run = runOf(transfer, {
    ...{ calls, sca },
    ports: {
      world: { ...fakeWorld(), now: () => new Date(time) },
      ...(known && { initiated }),
      ...more.ports,
    },
  });
  const ports = { ...run.ports, bank: { ...run.ports.bank, clock } };
  return {
    ...{ ...transfer, requests, announced, asked, steps, sca },
    step: () => runOperation(transfer.open, run.calls, ports, EVERY_STEP),
  };
}

const REJECTED = { transactionStatus: 'RJCT', scaStatus: null };

describe('a verification', () => {
  it.each([createdForExecute(), createdTransfer()])(
    'does not leave when another psd2 goes on: %#',
    async (created) => {
      const overtaken: TransferEvent[] = [{ type: 'accepted' }];
      const { step: send, recorded, requests } = await scene({ created, overtaken });
      await expect(send()).rejects.toMatchObject({ code: 'overtaken' });
      expect(requests).toEqual([]);
      expect(recorded()).toEqual([SENT, ...overtaken]);
    },
  );

  it.each([
    ['No funds. Limit reached.', ['No funds.', 'Limit reached.'], REJECTED],
    [null, [], undefined],
    [null, undefined, undefined],
  ])('is rejected in its answer: %s', async (description, messages, bank) => {
    const said = { ...(messages && { messages }), ...(bank && { bank }) };
    const reasons =
      description === null
        ? []
        : [{ level: 'payment' as const, code: null, proprietary: null, text: description }];
    const answers: Verified[] = [{ ...ANSWER, ...said, reasons, isRejected: true }];
    const { step: send, recorded, open } = await scene({ answers });
    await send();
    expect(recorded()).toEqual([
      SENT,
      { ...AT_THE_BANK, ...said },
      {
        ...{ type: 'settlement', status: 'KO', description, ...(bank && { bank }) },
        ...(reasons.length > 0 && { reasons }),
      },
    ]);
    expect(open.current.state).toBe('failed');
  });
});

describe('a store that was restored has lost that it was sent', () => {
  const again: TransferEvent[] = [SENT, { type: 'initiate-again' }];
  const unnamed: KnownInitiation = { answer: 'answered', resourceId: null };
  it.each<[string, Scene, boolean]>([
    ['the log of calls has the answer', { known: { answer: 'answered', resourceId: 'p1' } }, true],
    ['its answer was lost', { known: { answer: 'lost' } }, true],
    ['its answer was lost, and psd2 began again', { known: { answer: 'lost' }, events: again }, false],
    ['psd2 began again, and that has an answer', { known: unnamed, events: again }, true],
    ['the log of calls has none', { known: { answer: 'no' } }, false],
    ['there is no log of calls', {}, false],
  ])('%s', async (_what, given, wasSent) => {
    const { step: send, recorded, requests, asked } = await scene(given);
    await send();
    expect(recorded()).toEqual(wasSent ? [OLDER] : [SENT, AT_THE_BANK]);
    expect(requests).toHaveLength(wasSent ? 0 : 1);
    expect(asked).toEqual(given.known ? ['t1'] : []);
  });

  it.each<[string, TransferEvent[], boolean | undefined, boolean]>([
    ['execute was sent', [SENT], true, true],
    ['execute was not sent', [SENT], false, false],
    ['nobody knows', [SENT], undefined, false],
    ['nothing has reached the bank', [], true, false],
  ])('at a bank that has execute: %s', async (_what, events, hasSent, wasSent) => {
    const asked: string[] = [];
    const port = async (transactionId: string) => {
      asked.push(transactionId);
      return hasSent === true;
    };
    const ports = hasSent === undefined ? {} : { hasSent: port };
    const { step: send, recorded } = await scene({ created: createdForExecute(), events, ports });
    await send();
    expect(recorded()).toEqual(wasSent ? [OLDER] : [SENT, AT_THE_BANK]);
    expect(asked).toEqual(hasSent === undefined || events.length === 0 ? [] : ['t1']);
  });
});

describe('the bank does not read it, because of the token', () => {
  const nothing = unread({ hadToken: true, beganNothing: true });
  it('and nobody can have authorised it: psd2 sends it once more', async () => {
    const { step: send, recorded, requests } = await scene({ answers: [nothing, ANSWER] });
    await send();
    expect(recorded()).toEqual([SENT, { ...SENT, ...NEW_INTENT }, AT_THE_BANK]);
    expect(requests).toHaveLength(2);
  });

  const gateways = new Psd2Error('not_logged_in', 'x', { refusal: 'unread', hadToken: true });
  it.each<[string, Scene]>([
    ['twice', { answers: [nothing] }],
    ['and psd2 had none', { answers: [unread({ beganNothing: true })] }],
    ['and may have begun it', { answers: [unread({ hadToken: true })] }],
    ['of a payment that may run', { created: POSSIBLE, answers: [unread({ hadToken: true })] }],
    ['and has begun nothing that may run', { created: POSSIBLE, answers: [nothing] }],
    ['at a bank that has execute', { created: createdForExecute(), answers: [unread({ hadToken: true })] }],
    ['or so a gateway says', { answers: [gateways] }],
  ])('%s: it is not sent again', async (what, given) => {
    const { step: send, requests } = await scene(given);
    await expect(send()).rejects.toBeInstanceOf(Psd2Error);
    expect(requests).toHaveLength(what === 'twice' ? 2 : 1);
  });
});

describe('an initiation without a usable answer', () => {
  it.each([
    INTERRUPTED,
    new Psd2Error('overtaken', `Another psd2 has continued ${FLOW}`),
    new NeverLeft('config', 'Nothing was sent'),
    new TypeError('A bug'),
  ])('because of what says nothing of the bank: %s', async (error) => {
    const { step: send, recorded } = await scene({ answers: [error] });
    await expect(send()).rejects.toBe(error);
    expect(recorded()).toEqual([SENT]);
  });
});

describe('the answer to an initiation cannot be written down', () => {
  /** What happens when the answer is to be recorded, time after time. */
  async function failing(...times: ((transfer: StoredTransfer) => unknown)[]) {
    const given = await scene();
    given.beforeRecord((type) => (type === 'verified' ? times.shift()?.(given) : undefined));
    return given;
  }
  const throws = (error: Error) => () => {
    throw error;
  };
  const NOT_EXECUTED: TransferEvent = { type: 'resolved', outcome: 'not-executed', by: 'ada', note: null };
  const overtaken = { code: 'overtaken', message: `Another psd2 has continued ${FLOW} in the meantime` };

  it('because the disk is full: the bank has it, and nobody knows more', async () => {
    const { step: send, recorded } = await failing(throws(new Psd2Error('config', 'The disk is full')));
    expect(await errorOf(send())).toEqual(
      unknown('The bank has the payment, but the journal could not be written: The disk is full'),
    );
    expect(recorded()).toEqual([SENT]);
  });

  it('because the bank gave it the id of another payment: it has no id', async () => {
    const { step: send, recorded, flows } = await scene();
    const begin = {
      transactionId: 't2',
      commits: 'on execute' as const,
      order: transferOrder({ reference: 'INV-2' }),
    };
    const other = await begun(flows, 'transfer', begin);
    await other.record(AT_THE_BANK);
    expect(await errorOf(send())).toEqual(
      unknown(`The bank gave ${FLOW} the resource p1, which belongs to ${other.current.flow}`),
    );
    expect(recorded()).toEqual([SENT, UNANSWERED]);
  });

  it.each<[string, TransferEvent[]]>([
    ['waits for it', [{ type: 'accepted' }]],
    ['has given up on it', [UNANSWERED]],
  ])(
    'because another psd2, which %s: that one gets the answer, and this one stops',
    async (_what, theirs) => {
      const { step: send, recorded } = await failing(({ overtake }) => overtake(...theirs));
      expect(await errorOf(send())).toMatchObject(overtaken);
      expect(recorded()).toEqual([SENT, ...theirs, AT_THE_BANK]);
    },
  );

  it.each<[string, TransferEvent[]]>([
    ['has sent another one', [{ type: 'verify-sent', requestId: 'q2', digest: null }]],
    ['has an answer', [{ ...AT_THE_BANK, resourceId: 'p2' }, UNANSWERED]],
    ['has begun again', [{ type: 'initiate-again' }]],
    ['was told by a person', [{ type: 'resolved', outcome: 'executed', by: 'ada', note: null }]],
    ['was told that it was not executed', [NOT_EXECUTED]],
    ['has ended it', [{ type: 'cancelled' }]],
    ['has an answer, and repeats it', [{ ...AT_THE_BANK, resourceId: 'p2' }, SENT]],
    ['was told by a person before it gave up', [NOT_EXECUTED, UNANSWERED]],
  ])('because another psd2 %s: the answer is not about that', async (_what, theirs) => {
    const { step: send, recorded } = await failing(({ overtake }) => overtake(...theirs));
    expect(await errorOf(send())).toMatchObject(overtaken);
    expect(recorded()).toEqual([SENT, ...theirs]);
  });

  it('because others go on with it, again and again', async () => {
    const goesOn = ({ overtake }: StoredTransfer) => overtake({ type: 'accepted' });
    const { step: send, recorded } = await failing(goesOn, goesOn);
    expect(await errorOf(send())).toMatchObject(overtaken);
    expect(recorded()).toEqual([SENT, { type: 'accepted' }, { type: 'accepted' }, AT_THE_BANK]);
  });

  it('at a bank that has execute: nothing has moved', async () => {
    const full = new Psd2Error('config', 'The disk is full');
    const given = await scene({ created: createdForExecute() });
    given.beforeRecord((type) => (type === 'verified' ? throws(full)() : undefined));
    await expect(given.step()).rejects.toBe(full);
  });
});

describe('a repetition', () => {
  const NO_ANSWER = 'psd2 has repeated the initiation, but the bank gave no usable answer to it';
  const repeats = createdTransfer({ initiation: { ...INITIATION, repeatMinutes: 2 } });
  const repeated = (given: Scene = {}) =>
    scene({ created: repeats, events: [{ ...SENT, bankTime: JUST_NOW.toISOString() }], ...given });

  it.each<[string, Scene, bankTime: string | undefined]>([
    ['that of this machine', { created: repeats }, '2026-11-24T10:00:00.000Z'],
    ['a later one', { created: repeats, ahead: 5_000 }, '2026-11-24T10:00:05.000Z'],
    ['an earlier one', { created: repeats, ahead: -5_000 }, '2026-11-24T09:59:55.000Z'],
    ['unknown', { created: repeats, ahead: FAILING }, undefined],
    ['of no use, because it repeats nothing', { ahead: 5_000 }, undefined],
  ])('counts from the time of the bank, before the initiation has left: %s', async (_, given, bankTime) => {
    const { step, recorded } = await scene(given);
    await step();
    expect(recorded()[0]).toStrictEqual({ ...SENT, ...(bankTime !== undefined && { bankTime }) });
  });

  it('has the id of the first attempt, and gets the answer to it', async () => {
    const { step: repeat, recorded, requests } = await repeated();
    await repeat();
    expect(recorded()).toEqual([SENT, AT_THE_BANK]);
    expect(requests).toEqual(['q1']);
  });

  it('that is rejected says nothing: the bank’s status does', async () => {
    const { step: repeat, recorded } = await repeated({ answers: [{ ...ANSWER, isRejected: true }] });
    await repeat();
    expect(recorded()).toEqual([SENT, AT_THE_BANK]);
  });

  it('does not leave when the time for it is over', async () => {
    const { step: repeat, recorded, requests } = await repeated({ stands: 120_000 });
    const over =
      'The time in which the bank gives the same answer again may be over, so psd2 has not repeated the initiation';
    expect(await errorOf(repeat())).toEqual(unknown(`${NO_ANSWER}: ${over}`));
    expect(requests).toEqual([]);
    expect(recorded()).toEqual([SENT, UNANSWERED]);
  });

  it('does not leave when another psd2 goes on', async () => {
    const { step: repeat, requests, recorded } = await repeated({ overtaken: [{ type: 'accepted' }] });
    await expect(repeat()).rejects.toMatchObject({ code: 'overtaken' });
    expect(requests).toEqual([]);
    expect(recorded()).toEqual([SENT, { type: 'accepted' }]);
  });

  it.each([lost, banks('content'), unread()])('without a usable answer: nobody knows (%s)', async (error) => {
    const { step: repeat, recorded } = await repeated({ answers: [error] });
    expect(await errorOf(repeat())).toEqual(unknown(`${NO_ANSWER}: ${error.message}`));
    expect(recorded()).toEqual([SENT, UNANSWERED]);
  });

  it('of a basket that the bank does not have ends it', async () => {
    const basket = { ...INITIATION, service: 'signing-baskets', repeatMinutes: 2 } as const;
    const none = new Psd2Error('bank_refused', 'No baskets', { beganNothing: true });
    const created = createdTransfer({ initiation: basket });
    const { step: repeat, recorded } = await repeated({ created, answers: [none] });
    await expect(repeat()).rejects.toBe(none);
    expect(recorded()).toEqual([SENT, { type: 'verify-refused', description: 'No baskets' }]);
  });

  it('ends with Ctrl-C', async () => {
    const { step: repeat, recorded } = await repeated({ answers: [INTERRUPTED] });
    await expect(repeat()).rejects.toBe(INTERRUPTED);
    expect(recorded()).toEqual([SENT]);
  });
});

describe('the log of calls', () => {
  it('has what the bank called the payment: the journal gets that', async () => {
    const known = { answer: 'answered', resourceId: 'p1' } as const;
    const { step, recorded, asked } = await scene({ events: [SENT], known });
    await step();
    expect(recorded()).toEqual([AT_THE_BANK, { type: 'sca-started' }]);
    expect(new Set(asked)).toEqual(new Set(['t1']));
  });

  it.each<KnownInitiation | undefined>([
    { answer: 'answered', resourceId: null },
    { answer: 'lost' },
    { answer: 'no' },
    undefined,
  ])('does not have it: %j', async (known) => {
    const { step, recorded } = await scene({ events: [SENT], ...(known && { known }) });
    expect(await errorOf(step())).toMatchObject({ code: 'outcome_unknown' });
    expect(recorded()).toEqual([UNANSWERED]);
  });
});

describe('the log of calls has a refusal that proves that nothing began', () => {
  const refused: KnownInitiation = { answer: 'no', refused: ['q0', 'q1'] };
  const ended: TransferEvent = {
    type: 'verify-refused',
    description: 'the log of calls has a refusal that proves that the bank has begun nothing',
  };
  it.each<[string, TransferEvent[], KnownInitiation, isEnded: boolean]>([
    ['of what was sent', [SENT], refused, true],
    ['of what was sent, and its outcome is unknown', [SENT, UNANSWERED], refused, true],
    ['of another attempt', [SENT], { answer: 'no', refused: ['q0'] }, false],
    ['of none', [SENT], { answer: 'no', refused: [] }, false],
    ['of the repetition alone, or of the first attempt', [SENT, SENT], refused, false],
  ])('%s', async (_, events, known, isEnded) => {
    const { step, recorded, requests, open } = await scene({ events, known });
    await step().catch(() => {});
    expect(recorded().slice(0, 1)).toEqual(isEnded ? [ended] : [UNANSWERED]);
    expect([requests, open.current.state]).toEqual([[], isEnded ? 'failed' : 'unknown']);
  });
});

describe('a further step', () => {
  const STEP: TransferEvent = { type: 'further-verify-sent', ...INTENT };
  const needing = { ...AT_THE_BANK, nextStep: 'verify2' };
  const withData = { ...createdForExecute(), furtherData: ['{"otp":1}'] };
  const authorization = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' } as const;
  const AUTHORIZED = paymentStatus('AUTHORIZED', null, { authorization });
  const EXECUTED = paymentStatus('AUTHORIZED', 'executed');
  const OPEN = paymentStatus('STARTED');
  const declined = { type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'NO' } as const;
  const DECLINED = paymentStatus('NO', null, { authorization: declined });
  const noStatus = new Psd2Error('bank_refused', 'Not yet', { refusal: 'other' });

  describe('was not answered', () => {
    const open = [needing, STEP];
    it.each<[string, Scene, TransferEvent]>([
      ['a new resource has no steps yet', { says: [OPEN] }, { type: 'verify-again' }],
      ['and has no status', { says: [noStatus] }, { type: 'verify-again' }],
      ['and the customer commits: nobody knows', { created: createdTransfer(), says: [OPEN] }, UNANSWERED],
      ['and the customer has authorised it', { says: [AUTHORIZED] }, OLDER],
      ['and it is executed', { says: [EXECUTED] }, { type: 'executed', cro: null }],
      ['and the customer did not authorise it', { says: [DECLINED] }, declined],
    ])('%s', async (_what, more, event) => {
      const given = { created: withData, events: open, ...more };
      const { step: send, recorded, steps } = await scene(given);
      await send();
      expect([recorded(), steps]).toEqual([[event], []]);
    });

    it('and the bank is away: nothing is decided', async () => {
      const given = { created: withData, events: open, says: [FAILING] };
      const { step: send, recorded } = await scene(given);
      await expect(send()).rejects.toBe(FAILING);
      expect(recorded()).toEqual([]);
    });
  });

  describe('was refused', () => {
    const BYTES = { ...banks('content').context, beganNothing: true } as const;
    const nothing = new Psd2Error('bank_refused', 'Wrong IBAN', BYTES);
    const gateways = new Psd2Error('bank_refused', 'Wrong IBAN', { refusal: 'content' });
    const NEVER = createdTransfer({ furtherData: ['{}'] });
    const MAY_RUN = { ...POSSIBLE, furtherData: ['{}'] };
    const REFUSED = 'verify-refused';
    const shows = 'but this does not show whether it had taken the transfer before';
    const NOBODY = `outcome_unknown The bank refused the initiation, ${shows}: Wrong IBAN`;
    const ALONE = 'bank_refused Wrong IBAN';

    it.each<[string, Scene['created'], Error, Scene['says'], event: string | null, end: string]>([
      ['by the bank', withData, banks('content'), [OPEN], REFUSED, ALONE],
      ['by the bank, which has no status yet', withData, banks('other'), [noStatus], REFUSED, ALONE],
      [
        'by the bank, and the customer has authorised it',
        withData,
        banks('other'),
        [AUTHORIZED],
        'execute-unanswered',
        'unknown',
      ],
      ['by the bank, and it is executed', withData, banks('other'), [EXECUTED], 'executed', 'executed'],
      ['by a gateway', withData, gateways, [OPEN], null, ALONE],
      ['by the bank, which runs nothing without the customer', NEVER, banks('other'), [OPEN], REFUSED, ALONE],
      [
        'by the bank, which may run it: for its content',
        MAY_RUN,
        banks('content'),
        [OPEN],
        'execute-refused',
        ALONE,
      ],
      [
        'by the bank, which may run it: for another reason',
        MAY_RUN,
        banks('other'),
        [OPEN],
        'execute-unanswered',
        NOBODY,
      ],
      ['by the bank, which has begun nothing', MAY_RUN, nothing, [OPEN], REFUSED, ALONE],
    ])('%s', async (_, created, error, says, event, ends) => {
      const setting = {
        events: [needing],
        answers: [error],
        ...(created && { created }),
        ...(says && { says }),
      };
      const { step: send, recorded, steps, sca } = await scene(setting);
      const end = await send().then(
        ({ state }) => state,
        (thrown: unknown) => (thrown instanceof Psd2Error ? `${thrown.code} ${thrown.message}` : thrown),
      );
      expect(end).toBe(ends);
      expect(recorded().map(({ type }) => type)).toEqual([STEP.type, ...(event === null ? [] : [event])]);
      expect(steps).toHaveLength(1);
      expect(sca.asked.length).toBe(event === null ? 0 : 1);
      if (event === REFUSED)
        expect(recorded().at(-1)).toMatchObject({ type: REFUSED, description: 'Wrong IBAN' });
    });
  });
});
