import { describe, expect, it } from 'vitest';
import type { Bank } from '../../src/bank/call/bank.ts';
import { nextConsentStep } from '../../src/domain/consent.ts';
import { isPlainlyFailed } from '../../src/domain/flow-states.ts';
import { isOutcomeOpen, type StepEvent } from '../../src/domain/operation.ts';
import type { ResolvedOutcome } from '../../src/domain/resolution.ts';
import { needsSettlement, type TransferOrder } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { askOfConsent, askOfOperation, resolveFlow } from '../../src/flows/resolve.ts';
import { transferCalls } from '../../src/flows/transfer.ts';
import { operationStatus, refusal } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { newConsent } from './consents.ts';
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

/** A transfer whose `execute` was sent, what happened to it then, and the means to end it. */
async function sent(order: Partial<TransferOrder>, then: StepEvent[] = UNKNOWN) {
  const transfer = await newTransfer(newConfigFolder(temporary), { order });
  const { open, world } = transfer;
  const { bank } = openClient({ now: world.now });
  await open.record(VERIFIED);
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
        askBank: (flow) =>
          askOfOperation(openBank, flow, (opened) => transferCalls(opened, flow).executionStatus),
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

describe('the bank does not tell the outcome', () => {
  it.each([
    ['executed', SCT, UNKNOWN, 'executed', false],
    ['not-executed', SCT, UNKNOWN, 'failed', true],
    ['executed', SCT, [], 'executed', false],
    ['executed', {}, UNKNOWN, 'settled', false],
    ['not-executed', {}, EXECUTED, 'failed', true],
    ['executed', {}, EXECUTED, 'settled', false],
  ] as const)(
    'if the bank does not tell the outcome, the word of a person counts: %s',
    async (outcome, order, then, state, isFree) => {
      const transfer = await sent(order, [...then]);
      const gets = recorded.received.length;
      if (order !== SCT) script.executionStatus(executionStatus('PENDING'));
      script.status(operationStatus('AUTHORIZED', 'PENDING'));
      await transfer.resolve(outcome);
      expect(transfer.open.current).toMatchObject({ state, resolution: { outcome, ...SAID } });
      expect(isPlainlyFailed(transfer.open.current)).toBe(isFree);
      expect(transfer.written()).toEqual(['resolved']);
      expect(transfer.told.at(-1)).toBe(UNDECIDED);
      expect(recorded.received.slice(gets).map(({ method }) => method)).toEqual(
        order === SCT ? ['GET'] : ['GET', 'GET'],
      );
    },
  );

  it.each([
    ['the resource is gone', () => script.status(refusal(404)), 'The bank does not tell its status: '],
    [
      'the bank is failing',
      () => [1, 2, 3, 4].map(() => script.status({ status: 503 })),
      'The bank does not tell',
    ],
  ])('if %s, a person can still resolve the transfer', async (_, answers, sentence) => {
    const transfer = await sent(SCT);
    answers();
    await transfer.resolve('not-executed');
    expect(transfer.told).toEqual([expect.stringContaining(sentence), UNDECIDED]);
    expect(transfer.written()).toEqual(['resolved']);
  });

  it('if nobody is logged in, a person can still resolve the transfer', async () => {
    const transfer = await sent({});
    const openBank = () => Promise.reject(new Psd2Error('not_logged_in', 'Nobody is logged in'));
    await transfer.resolve('executed', { openBank });
    expect(transfer.told).toEqual(['psd2 cannot ask the bank: Nobody is logged in.', UNDECIDED]);
    expect(transfer.open.current.state).toBe('settled');
  });

  it('psd2 records nothing if the operator does not confirm', async () => {
    const transfer = await sent(SCT);
    script.status(operationStatus('AUTHORIZED', 'PENDING'));
    await expect(transfer.resolve('not-executed', { yes: false })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(transfer.written()).toEqual([]);
  });

  it('psd2 records nothing if the operator interrupts it', async () => {
    const transfer = await sent(SCT);
    const openBank = () => Promise.reject(new Psd2Error('interrupted', 'Interrupted'));
    await expect(transfer.resolve('executed', { openBank })).rejects.toMatchObject({ code: 'interrupted' });
    expect(transfer.written()).toEqual([]);
  });
});

describe('the bank tells the outcome', () => {
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
        else
          await expect(ended).rejects.toMatchObject({
            code: 'usage',
            message: expect.stringMatching(/^The bank says that the transfer tr-\w+ was (not )?executed$/),
          });
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
        script.executionStatus(executionStatus(status));
        const ended = transfer.resolve(outcome);
        if (outcome === agreed) await ended;
        else await expect(ended).rejects.toMatchObject({ code: 'usage' });
        expect(transfer.open.current).toMatchObject({ state, resolution: null });
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
  async function confirming() {
    const consent = await newConsent(newConfigFolder(temporary));
    const { open, world } = consent;
    const { bank } = openClient({ now: world.now });
    await open.record({
      type: 'requested',
      resourceId: 'r1',
      outcomes: [{ name: 'PAYMENTS', outcome: true }],
    });
    await open.record({ type: 'confirm-sent', ...intent });
    const resolve = (outcome: ResolvedOutcome) =>
      resolveFlow(
        open,
        { outcome, ...SAID },
        {
          askBank: (flow) => askOfConsent(async () => bank, flow),
          tell: () => {},
          isOpen: (flow) => nextConsentStep(flow) === 'ask-outcome',
          confirm: async () => true,
          executedMeans: 'confirmed',
        },
      );
    return { consent, open, resolve };
  }

  it.each([
    ['executed', 'confirmed'],
    ['not-executed', 'failed'],
  ] as const)(
    'if the bank does not tell the outcome of a consent, the word of a person counts: %s',
    async (outcome, state) => {
      const { consent, open, resolve } = await confirming();
      script.status(operationStatus('AUTHORIZED'));
      await resolve(outcome);
      expect(open.current).toMatchObject({ state, resolution: { outcome, ...SAID } });
      // The consent has ended, so psd2 does not ask the bank again.
      const { bank } = openClient({ now: consent.world.now });
      if (outcome === 'executed') expect((await consent.run(bank)).state).toBe('confirmed');
      else
        await expect(consent.run(bank)).rejects.toMatchObject({
          code: 'bank_refused',
          message: expect.stringContaining('ada@pisp-1 said that it was not confirmed: Case 4711'),
        });
    },
  );

  it.each([
    ['confirmed', operationStatus('AUTHORIZED', 'OK'), 'not-executed', 'confirmed'],
    ['not authorised', operationStatus('NOT_AUTHORIZED'), 'executed', 'rejected'],
    ['expired', operationStatus('EXPIRED'), 'executed', 'expired'],
  ] as const)(
    'a consent is what the bank calls it, %s, whatever a person says',
    async (_, answer, said, state) => {
      const { open, resolve } = await confirming();
      script.status(answer);
      await expect(resolve(said)).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining('The bank says that the consent'),
      });
      expect(open.current).toMatchObject({ state, resolution: null });
    },
  );
});

it('a resolved transfer is done when it is resumed, and psd2 says who ended it', async () => {
  for (const [outcome, order] of [
    ['executed', {}],
    ['not-executed', SCT],
  ] as const) {
    const setting = await newTransfer(newConfigFolder(temporary), { order });
    const { bank } = openClient({ now: setting.world.now });
    await setting.open.record(VERIFIED);
    await setting.open.record({ type: 'execute-sent', ...intent });
    await setting.open.record({ type: 'resolved', outcome, ...SAID });
    const before = recorded.received.length;
    if (outcome === 'executed') expect(await setting.run(bank)).toMatchObject({ state: 'settled' });
    else
      await expect(setting.run(bank)).rejects.toMatchObject({
        code: 'payment_failed',
        message: expect.stringContaining('ada@pisp-1 said that it was not executed: Case 4711'),
      });
    expect(recorded.received.length).toBe(before);
  }
});
