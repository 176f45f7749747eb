import { describe, expect, it } from 'vitest';
import type { OperationStep } from '../../src/domain/next-step.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import { operationStatus, refusal, success } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { fakeCustomer } from './doubles.ts';
import { EXECUTED, executionStatus, newTransfer, scriptOf } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();
const folder = () => newConfigFolder(temporary);

const SCT = { instant: false, type: null };
const OLDER_JOURNAL = 'The journal is older than what the bank or the log of calls knows';

it('psd2 waits while the authorization is PENDING or has a status that psd2 does not know', async () => {
  script.verify();
  script.approach();
  for (const status of ['PENDING', 'STARTED', 'PENDING', 'authorized', '0'])
    script.status(operationStatus(status));
  script.status(success('{"authenticationState":"AUTHORIZED"}'));
  script.execute();
  const transfer = await newTransfer(folder(), { order: SCT });
  await transfer.run(openClient({ now: transfer.world.now }).bank);
  expect(transfer.world.sleeps).toEqual([500, 1000, 2000, 3000, 3000]);
});
it('if the operator goes step by step, psd2 stops before the step, but not before the first', async () => {
  script.verify();
  const { flows, open, world, customer, events } = await newTransfer(folder());
  const { bank } = openClient({ now: world.now });
  const accept = async () => true;
  const goOn = (...until: OperationStep[]) =>
    flows.resume('transfer', open.current.flow, (taken) =>
      runOperation(taken, bank.payments.transfer(taken.current), { bank, world, customer, accept }, until),
    );
  await goOn('verify', 'accept', 'authorize');
  expect(events()).toEqual(['created', 'verify-sent', 'verified']);
  await goOn('accept', 'authorize');
  expect(events()).toEqual(['created', 'verify-sent', 'verified', 'accepted']);
});

it.each<[ScriptedAnswer, string]>([
  [EXECUTED, 'Waiting for the instant transfer to settle'],
  ['cut before the answer', 'Asking the bank for the outcome of the transfer'],
])('psd2 tells the operator what it waits for', async (executed, next) => {
  script.verify();
  script.approach();
  script.status(operationStatus('AUTHORIZED'));
  script.execute(executed);
  script.executionStatus(executionStatus('OK'));
  const waits: string[] = [];
  const whileWaiting = <T>(what: string, work: Promise<T>) => {
    waits.push(what);
    return work;
  };
  const transfer = await newTransfer(folder(), { customer: fakeCustomer({ whileWaiting }) });
  await transfer.run(openClient({ now: transfer.world.now }).bank);
  expect(waits.slice(-2)).toEqual(['Executing the transfer', next]);
});

it('a transfer that the operator does not accept is cancelled before SCA', async () => {
  script.verify();
  const transfer = await newTransfer(folder());
  const run = transfer.run(openClient({ now: transfer.world.now }).bank, { accept: async () => false });
  await expect(run).rejects.toMatchObject({ code: 'cancelled' });
  expect(transfer.events()).toEqual(['created', 'verify-sent', 'verified', 'cancelled']);
  expect(transfer.customer.visited).toEqual([]);
});

describe('a further step that the bank names', () => {
  const WANTS_MORE = success('{"totalAmount":{"amount":"13.000","currency":"EUR"}}', {
    resourceId: 'r1',
    next: { method: 'PUT', href: 'r1/verify2' },
  });

  it.each<[string, ScriptedAnswer, string]>([
    ['was executed', operationStatus('AUTHORIZED', 'OK'), 'executed'],
    ['has failed', operationStatus('AUTHORIZED', 'KO'), 'failed'],
    ['is authorised, which cannot be before its last step', operationStatus('AUTHORIZED'), 'unknown'],
  ])(
    'if the journal ends before a further step that the bank refuses, and the bank says that the transfer %s, psd2 verifies nothing again',
    async (_, status, state) => {
      for (const events of [[], [{ type: 'further-verify-sent', requestId: 'q', digest: null } as const]]) {
        const { order, furtherData } = { order: SCT, furtherData: ['{}'] };
        const transfer = await newTransfer(folder(), { order, furtherData });
        await transfer.open.record({ ...VERIFIED, nextStep: 'verify2' });
        for (const event of events) await transfer.open.record(event);
        if (events.length === 0) script.verify2(refusal(400, 'STEP_MISSING'));
        script.status(status);
        if (state === 'unknown') script.status(status);
        await transfer.run(openClient({ now: transfer.world.now }).bank).catch(() => {});
        expect(await transfer.stored()).toMatchObject({ state });
        expect(recorded.received.map(({ method }) => method)).not.toContain('POST');
      }
    },
  );

  it('if the log of calls knows of an execute that the journal does not have, psd2 verifies nothing again', async () => {
    const transfer = await newTransfer(folder(), { order: SCT });
    await transfer.open.record({ type: 'verify-sent', requestId: 'q', digest: null });
    const { bank } = openClient({ now: transfer.world.now });
    const hasSent = async (id: string) => id === transfer.open.current.transactionId;
    for (let runs = 0; runs < 2; runs += 1) {
      await expect(transfer.run(bank, { hasSent })).rejects.toMatchObject({
        code: 'outcome_unknown',
        message: expect.stringContaining('does not say which resource of the bank it has'),
      });
    }
    expect(await transfer.stored()).toMatchObject({
      state: 'unknown',
      executionStatusDescription: OLDER_JOURNAL,
    });
    expect(recorded.received).toEqual([]);
  });

  it('a transfer that has never reached the bank is verified, whatever the log of calls has', async () => {
    const transfer = await newTransfer(folder(), { order: SCT });
    script.verify();
    const { bank } = openClient({ now: transfer.world.now });
    const run = transfer.run(bank, { hasSent: async () => true, accept: async () => false });
    await expect(run).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('psd2 asks for no status before further steps that the bank accepts', async () => {
    const transfer = await newTransfer(folder(), { order: SCT, furtherData: ['{}', '{}'] });
    await transfer.open.record({ ...VERIFIED, nextStep: 'verify2' });
    script.verify2(WANTS_MORE);
    script.verify2(success('{}', { resourceId: 'r1', next: { method: 'PUT', href: 'r1/execute' } }));
    const { bank } = openClient({ now: transfer.world.now });
    await expect(transfer.run(bank, { accept: async () => false })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(recorded.received.map(({ method }) => method)).toEqual(['PUT', 'PUT']);
  });
});
