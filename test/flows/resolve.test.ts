import { describe, expect, it } from 'vitest';
import type { Bank } from '../../src/bank/ports/bank.ts';
import type { Sca } from '../../src/bank/ports/customer.ts';
import { type ConsentEvent, nextConsentStep } from '../../src/domain/consent.ts';
import type { ResolvedOutcome } from '../../src/domain/flow.ts';
import { isPlainlyFailed } from '../../src/domain/flow-states.ts';
import { NO_END } from '../../src/domain/given-links.ts';
import { isOutcomeOpen } from '../../src/domain/next-step.ts';
import type { StepEvent } from '../../src/domain/operation.ts';
import type { ResourceStatus, ScaProgress } from '../../src/domain/payment-answers.ts';
import { needsSettlement, type TransferEvent, type TransferOrder } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { PAID_BY_LINK } from '../../src/flows/payment/link-out.ts';
import { askOfConsent, askOfOperation, resolveFlow } from '../../src/flows/resolve.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { operationStatus, refusal, success } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { fold } from './batch/groups.ts';
import { newConsent } from './consents.ts';
import { errorOf } from './doubles.ts';
import { AT_THE_BANK, createdTransfer, FAILING, paymentStatus, scaThatSays } from './stored-transfers.ts';
import { executionStatus, newTransfer, scriptOf } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();

const SCT = { instant: false, type: null };
const intent = { requestId: 'request-1', digest: null };
const UNKNOWN: StepEvent[] = [{ type: 'execute-unanswered' }];
const EXECUTED: StepEvent[] = [
  { type: 'executed', cro: '0012345678' },
  { type: 'settlement', status: 'PENDING', description: null },
];
const SAID = { by: 'ada@pisp-1', note: 'Case 4711' };
const UNDECIDED = 'This does not show whether it was executed.';
const NOT_CONFIRMED = 'This does not show whether it was confirmed.';
const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const INTERRUPTED = new Psd2Error('interrupted', 'Interrupted');

/** A transfer whose `execute` was sent, what happened to it then, and the means to end it. */
async function sent(
  order: Partial<TransferOrder>,
  then: StepEvent[] = UNKNOWN,
  verified: StepEvent[] = [VERIFIED],
) {
  const transfer = await newTransfer(newConfigFolder(temporary), { order });
  const { open, world } = transfer;
  const { bank } = openClient({ now: world.now });
  for (const event of verified) await open.record(event);
  await open.record({ type: 'accepted' });
  await open.record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
  await open.record({ type: 'execute-sent', ...intent });
  for (const event of then) await open.record(event);
  const before = transfer.events().length;
  const told: string[] = [];
  const asked: string[] = [];
  const resolve = (
    outcome: ResolvedOutcome,
    { yes = true, openBank = async (): Promise<Bank> => bank } = {},
  ) =>
    resolveFlow(
      open,
      { outcome, ...SAID },
      {
        askBank: (flow) => askOfOperation(openBank, flow, (opened) => opened.payments.transfer(flow)),
        tell: (sentences) => void told.push(...sentences),
        isOpen: (flow) => isOutcomeOpen(flow, needsSettlement(flow.order)),
        confirm: async ({ flow }) => {
          asked.push(flow);
          return yes;
        },
        executedMeans: 'executed',
      },
    );
  return { open, told, asked, resolve, written: () => transfer.events().slice(before) };
}

/** The error if the bank says the opposite of a person, who said `said`. */
function contradiction(
  { current: { kind, flow } }: { current: { kind: string; flow: string } },
  said: ResolvedOutcome,
  executedMeans: string,
) {
  const was = said === 'executed' ? 'was not' : 'was';
  return {
    code: 'usage',
    message: `The bank says that the ${kind} ${flow} ${was} ${executedMeans}`,
    hint: `The bank's answer counts, not --${said}. See it with:`,
    next: [[kind, 'show', flow]],
    flow,
    transactionId,
  };
}

describe('the bank does not give the outcome', () => {
  it.each([
    ['executed', SCT, UNKNOWN, 'executed', false],
    ['not-executed', SCT, UNKNOWN, 'failed', true],
    ['executed', SCT, [], 'executed', false],
    ['executed', {}, UNKNOWN, 'settled', false],
    ['not-executed', {}, EXECUTED, 'failed', true],
    ['executed', {}, EXECUTED, 'settled', false],
  ] as const)(
    'if the bank does not give the outcome, the word of a person counts: %s',
    async (outcome, order, then, state, isFree) => {
      const transfer = await sent(order, [...then]);
      const gets = recorded.received.length;
      if (order !== SCT) script.executionStatus(executionStatus('PENDING'));
      script.status(operationStatus('AUTHORIZED', 'PENDING'));
      await transfer.resolve(outcome);
      expect(transfer.open.current).toMatchObject({ state, resolution: { outcome, ...SAID } });
      expect(isPlainlyFailed(transfer.open.current)).toBe(isFree);
      expect(transfer.written()).toEqual(['resolved']);
      expect(transfer.told).toEqual([
        ...(order === SCT ? [] : ['Its execution status at the bank is PENDING.']),
        'At the bank its authorization is AUTHORIZED, and its execution is PENDING.',
        UNDECIDED,
      ]);
      expect(transfer.asked).toEqual([transfer.open.current.flow]);
      expect(recorded.received.slice(gets).map(({ method }) => method)).toEqual(
        order === SCT ? ['GET'] : ['GET', 'GET'],
      );
    },
  );

  it('psd2 records nothing if the operator does not confirm', async () => {
    const transfer = await sent(SCT);
    script.status(operationStatus('AUTHORIZED', 'PENDING'));
    const { flow } = transfer.open.current;
    expect(await errorOf(transfer.resolve('not-executed', { yes: false }))).toEqual({
      code: 'cancelled',
      message: `The outcome of the transfer ${flow} was not recorded`,
      hint: 'Ask the bank again with:',
      next: [['transfer', 'resume', flow]],
      flow,
      transactionId,
    });
    expect(transfer.asked).toEqual([flow]);
    expect(transfer.written()).toEqual([]);
  });

  it('psd2 records nothing if the operator interrupts it', async () => {
    const transfer = await sent(SCT);
    const openBank = () => Promise.reject(INTERRUPTED);
    await expect(transfer.resolve('executed', { openBank })).rejects.toBe(INTERRUPTED);
    expect(transfer.written()).toEqual([]);
  });

  it('if the bank does not give the execution status, psd2 says so and asks for the status of the operation', async () => {
    const transfer = await sent({});
    script.executionStatus(refusal(404));
    script.status(success('{"authorizationStatus":"AUTHORIZED"}'));
    await transfer.resolve('executed');
    expect(transfer.told).toEqual([
      expect.stringMatching(/^The bank gave no execution status: The bank refused GET [^ ]+ .*[^.]\.$/),
      'At the bank its authorization is AUTHORIZED, and its execution is not given.',
      UNDECIDED,
    ]);
    expect(transfer.written()).toEqual(['resolved']);
  });

  it('if the journal has no resource, psd2 does not ask the bank, and a person can still resolve the transfer', async () => {
    const transfer = await sent(SCT, UNKNOWN, []);
    const openBank = () => Promise.reject(new TypeError('not to be opened'));
    await transfer.resolve('not-executed', { openBank });
    expect(transfer.told).toEqual(['The bank has no resource for it, so psd2 cannot ask.', UNDECIDED]);
    expect(transfer.written()).toEqual(['resolved']);
  });

  it('that the customer did not authorise it does not decide about a transfer that the bank has executed', async () => {
    const transfer = await sent({}, EXECUTED);
    script.executionStatus(executionStatus('PENDING'));
    script.status(operationStatus('NOT_AUTHORIZED'));
    await transfer.resolve('executed');
    expect(transfer.told.at(-1)).toBe(UNDECIDED);
    expect(transfer.written()).toEqual(['resolved']);
  });
});

describe('the bank gives the outcome', () => {
  it.each([
    ['OK', 'executed', 'not-executed', ['executed'], 'executed'],
    ['KO', 'not-executed', 'executed', ['settlement'], 'failed'],
  ] as const)(
    'the bank’s answer %s for an SCT counts, whatever a person says',
    async (status, agreed, contrary, events, state) => {
      for (const outcome of [agreed, contrary]) {
        const transfer = await sent(SCT);
        script.status(operationStatus('AUTHORIZED', status));
        const ended = transfer.resolve(outcome);
        if (outcome === agreed) await ended;
        else expect(await errorOf(ended)).toEqual(contradiction(transfer.open, contrary, 'executed'));
        expect(transfer.told).toEqual([
          `At the bank its authorization is AUTHORIZED, and its execution is ${status}.`,
        ]);
        expect(transfer.open.current).toMatchObject({ state, resolution: null });
        expect(transfer.written()).toEqual(events);
        expect(transfer.asked).toEqual([]);
      }
    },
  );

  it.each([
    ['OK', 'executed', UNKNOWN, ['executed', 'settlement'], 'settled'],
    ['KO', 'not-executed', UNKNOWN, ['executed', 'settlement'], 'failed'],
    ['OK', 'executed', EXECUTED, ['settlement'], 'settled'],
    ['KO', 'not-executed', EXECUTED, ['settlement'], 'failed'],
  ] as const)(
    'the bank’s answer %s for an instant transfer counts, whatever a person says',
    async (status, agreed, then, events, state) => {
      for (const outcome of ['executed', 'not-executed'] as const) {
        const transfer = await sent({}, [...then]);
        script.executionStatus(executionStatus(status, 'In time'));
        const ended = transfer.resolve(outcome);
        if (outcome === agreed) await ended;
        else await expect(ended).rejects.toMatchObject({ code: 'usage' });
        expect(transfer.told).toEqual([`Its execution status at the bank is ${status} (In time).`]);
        expect(transfer.open.current).toMatchObject({
          ...{ state, resolution: null },
          executionStatusDescription: 'In time',
        });
        expect(transfer.written()).toEqual(events);
      }
    },
  );

  it('a transfer that the customer did not authorise was not executed', async () => {
    const transfer = await sent(SCT);
    script.status(operationStatus('NOT_AUTHORIZED'));
    await expect(transfer.resolve('executed')).rejects.toMatchObject({ code: 'usage' });
    expect(transfer.open.current.state).toBe('rejected');
  });

  it('if an instant transfer is executed and its settlement unknown, a person can settle it but not undo it', async () => {
    const pending = () => {
      script.executionStatus(executionStatus('PENDING'));
      script.status(operationStatus('AUTHORIZED', 'EXECUTED'));
    };
    const yes = await sent({});
    pending();
    await yes.resolve('executed');
    expect(yes.open.current.state).toBe('settled');
    expect(yes.written()).toEqual(['executed', 'resolved']);

    const no = await sent({}, EXECUTED);
    pending();
    await expect(no.resolve('not-executed')).rejects.toMatchObject({ code: 'usage' });
    expect(no.open.current).toMatchObject({ state: 'executed', cro: '0012345678' });
    expect(no.written()).toEqual([]);
  });
});

describe('resolving a consent', () => {
  const REQUESTED: ConsentEvent = {
    type: 'requested',
    resourceId: 'r1',
    outcomes: [{ name: 'PAYMENTS', outcome: true }],
  };

  async function confirming(requested: ConsentEvent[] = [REQUESTED]) {
    const consent = await newConsent(newConfigFolder(temporary));
    const { open, world } = consent;
    const { bank } = openClient({ now: world.now });
    for (const event of requested) await open.record(event);
    await open.record({ type: 'confirm-sent', ...intent });
    const before = consent.events().length;
    const told: string[] = [];
    const asked: string[] = [];
    const resolve = (outcome: ResolvedOutcome, openBank = async (): Promise<Bank> => bank) =>
      resolveFlow(
        open,
        { outcome, ...SAID },
        {
          askBank: (flow) => askOfConsent(openBank, flow),
          tell: (sentences) => void told.push(...sentences),
          isOpen: (flow) => nextConsentStep(flow) === 'ask-outcome',
          confirm: async ({ flow }) => {
            asked.push(flow);
            return true;
          },
          executedMeans: 'confirmed',
        },
      );
    return { consent, open, told, asked, resolve, written: () => consent.events().slice(before) };
  }

  it.each([
    ['AUTHORIZED', 'OK', 'executed', 'confirmed', 'confirmed'],
    ['AUTHORIZED', 'EXECUTED', 'executed', 'confirmed', 'confirmed'],
    ['NOT_AUTHORIZED', 'PENDING', 'not-executed', 'rejected', 'authorization'],
    ['EXPIRED', 'PENDING', 'not-executed', 'expired', 'authorization'],
  ] as const)(
    'the bank’s answer %s and %s for a consent counts, whatever a person says',
    async (authorization, execution, agreed, state, event) => {
      for (const said of ['executed', 'not-executed'] as const) {
        const { open, told, asked, resolve, written } = await confirming();
        script.status(operationStatus(authorization, execution));
        const ended = resolve(said);
        if (said === agreed) await ended;
        else expect(await errorOf(ended)).toEqual(contradiction(open, said, 'confirmed'));
        expect(told).toEqual([
          `At the bank its authorization is ${authorization}, and its execution is ${execution}.`,
        ]);
        expect(open.current).toMatchObject({ state, resolution: null });
        expect(written()).toEqual([event]);
        expect(asked).toEqual([]);
      }
    },
  );

  it('that the customer has not decided yet does not decide about a consent', async () => {
    const { told, resolve, written } = await confirming();
    script.status(operationStatus('PENDING'));
    await resolve('not-executed');
    expect(told.at(-1)).toBe(NOT_CONFIRMED);
    expect(written()).toEqual(['resolved']);
  });

  it.each([
    ['the resource is gone', /^The bank gave no status: The bank refused GET [^ ]+ .*[^.]\.$/],
    ['nobody is logged in', /^psd2 cannot ask the bank: Nobody is logged in\.$/],
    ['the journal has no resource', /^The bank has no resource for it, so psd2 cannot ask\.$/],
  ])('if %s, a person can still resolve the consent', async (why, sentence) => {
    const { told, resolve, written } = await confirming(why.includes('no resource') ? [] : [REQUESTED]);
    if (why.includes('gone')) script.status(refusal(404));
    await resolve(
      'executed',
      why.includes('gone')
        ? undefined
        : () => Promise.reject(new Psd2Error('not_logged_in', 'Nobody is logged in')),
    );
    expect(told).toEqual([expect.stringMatching(sentence), NOT_CONFIRMED]);
    expect(written()).toEqual(['resolved']);
  });

  it('psd2 records nothing about a consent if the operator interrupts it', async () => {
    const { resolve, written } = await confirming();
    await expect(resolve('executed', () => Promise.reject(INTERRUPTED))).rejects.toBe(INTERRUPTED);
    expect(written()).toEqual([]);
  });

  it('the statuses that decide about flows come over connections that nothing else uses', async () => {
    const { bank } = openClient();
    const openBank = async () => bank;
    for (let flow = 0; flow < 2; flow += 1) {
      script.status(operationStatus('AUTHORIZED'));
      await (await sent(SCT)).resolve('executed', { openBank });
      script.status(operationStatus('AUTHORIZED'));
      await (await confirming()).resolve('executed', openBank);
    }
    const used = recorded.received.map(({ clientPort }) => clientPort);
    expect(new Set(used).size).toBe(4);
  });
});

describe('the bank’s word for a payment that the customer commits', () => {
  const LINKS = {
    approach: 'redirect',
    id: 'a1',
    redirect: 'https://bank.example/a1',
    status: '/a1',
  } as const;
  const WITH_LINK: TransferEvent[] = [createdTransfer(), AT_THE_BANK, { type: 'sca-started', links: LINKS }];
  const NO_LINK: TransferEvent[] = [createdTransfer(), AT_THE_BANK, { type: 'execute-unanswered' }];
  const ACCEPTED: TransferEvent[] = [...WITH_LINK, { type: 'executed', cro: null }];
  const ORDERED: TransferEvent[] = [...WITH_LINK, { type: 'ordered' }];
  const ASKED_TO_CANCEL: TransferEvent[] = [...WITH_LINK, { type: 'cancel-taken' }];
  const BY_LINK: TransferEvent = { type: 'execute-unanswered', isPaidByLink: true };
  const IS_CANCELLED: TransferEvent[] = [...ASKED_TO_CANCEL, { type: 'cancelled', linkUntil: NO_END }];
  const executed = (more: Partial<ResourceStatus> = {}) => paymentStatus('ACSC', 'executed', more);
  const says = (status: 'NOT_AUTHORIZED' | 'EXPIRED' | 'AUTHORIZED') =>
    paymentStatus('XXXX', null, { authorization: { type: 'authorization', status, bankStatus: 'XXXX' } });
  const cancelled = paymentStatus('CANC', 'cancelled');
  const DONE: ScaProgress = { scaStatus: 'finalised', means: 'done', message: null };
  const FAILED: ScaProgress = { scaStatus: 'failed', means: 'failed', message: null };

  async function asked(events: TransferEvent[], status: ResourceStatus | Error, more: Partial<Sca> = {}) {
    const operation = fold(undefined, events);
    const bank = answeringBank(() => ({ data: {} }));
    const sca = { ...scaThatSays(status), ...more };
    return askOfOperation(
      async () => ({ ...bank, sca }),
      operation,
      () => ({ executionStatus: null }),
    );
  }

  it.each<[string, TransferEvent[], ResourceStatus, string | null, events: string]>([
    ['it is executed', WITH_LINK, executed(), 'executed', 'executed'],
    ['it is ordered', WITH_LINK, paymentStatus('ACTC', 'ordered'), 'executed', 'ordered'],
    ['it is executed, as before', ACCEPTED, executed(), 'executed', ''],
    ['it is executed for good', ACCEPTED, executed({ isFinal: true }), 'executed', 'executed'],
    ['it is executed, and was ordered', ORDERED, executed(), 'executed', 'executed'],
    ['it is ordered, and was executed', ACCEPTED, paymentStatus('ACTC', 'ordered'), 'executed', ''],
    ['it is rejected', WITH_LINK, paymentStatus('RJCT', 'failed'), 'not-executed', 'settlement'],
    [
      'it is rejected, and was executed',
      ACCEPTED,
      paymentStatus('RJCT', 'failed'),
      'not-executed',
      'settlement',
    ],
    ['the customer did not authorise it', WITH_LINK, says('NOT_AUTHORIZED'), 'not-executed', 'authorization'],
    ['the customer did not authorise it, and it was executed', ACCEPTED, says('NOT_AUTHORIZED'), null, ''],
    [
      'the customer did not authorise it in time',
      WITH_LINK,
      says('EXPIRED'),
      'not-executed',
      'authorization',
    ],
    ['the customer has authorised it', WITH_LINK, says('AUTHORIZED'), null, ''],
    ['it waits', WITH_LINK, paymentStatus('RCVD'), null, ''],
    ['there is another one like it', WITH_LINK, paymentStatus('RJCT', 'duplicate'), null, ''],
    ['it is cancelled, and nobody has a link', NO_LINK, cancelled, 'not-executed', 'cancelled'],
    ['it is cancelled, and the customer has a link', WITH_LINK, cancelled, null, ''],
    ['it is rejected, and its link may work', IS_CANCELLED, paymentStatus('RJCT', 'failed'), null, ''],
  ])('%s', async (_, events, status, outcome, types) => {
    const found = await asked(events, status);
    expect([found.outcome, found.events.map(({ type }) => type).join(' ')]).toEqual([outcome, types]);
    const word = `At the bank its authorization is ${status.authorizationStatus}, and its execution is not given.`;
    expect(found.sentences).toEqual([
      word,
      ...(status.became === 'duplicate' ? ['The bank says that it has another one like it.'] : []),
    ]);
  });

  it.each<[string, TransferEvent[], ScaProgress, string | null, events: string]>([
    ['since', ASKED_TO_CANCEL, DONE, null, 'execute-unanswered'],
    ['since, as before', [...ASKED_TO_CANCEL, BY_LINK], DONE, null, ''],
    ['before, and nobody asked to cancel it', WITH_LINK, DONE, 'not-executed', 'cancelled'],
    ['not, and cannot any more', ASKED_TO_CANCEL, FAILED, 'not-executed', 'cancelled'],
  ])(
    'it is cancelled, and the customer has authorised it %s',
    async (what, events, progress, outcome, types) => {
      const found = await asked(events, cancelled, { progress: async () => progress });
      expect([found.outcome, found.events.map(({ type }) => type).join(' ')]).toEqual([outcome, types]);
      expect(found.sentences.slice(1)).toEqual(what.startsWith('since') ? [`${PAID_BY_LINK}.`] : []);
    },
  );

  it.each<[string, ResourceStatus | Error, Partial<Sca>, string]>([
    ['no status', FAILING, {}, 'The bank gave no status: The bank is away.'],
    [
      'a status that decides nothing, and not how far the authorisation is',
      paymentStatus('RCVD'),
      { progress: () => Promise.reject(FAILING) },
      'The bank does not say how far the authorisation is: The bank is away.',
    ],
  ])('it gives %s: nothing is recorded', async (_, status, more, sentence) => {
    const found = await asked(WITH_LINK, status, more);
    expect([found.outcome, found.events, found.sentences.at(-1)]).toEqual([null, [], sentence]);
  });
});
