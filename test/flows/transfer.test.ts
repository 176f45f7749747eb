import { describe, expect, it } from 'vitest';
import type { OperationStep } from '../../src/domain/next-step.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import { operationStatus, refusal, success } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { customerElsewhere, fakeCustomer } from './doubles.ts';
import { EXECUTED, executionStatus, executions, newTransfer, scriptOf } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();
const folder = () => newConfigFolder(temporary);

const SCT = { instant: false, type: null };
const OLDER_JOURNAL = 'The journal is older than what the bank or the log of calls knows';

describe('a transfer from verify to its end', () => {
  it('the bank has executed it already when the customer comes back, because the journal is older: psd2 sends no execute', async () => {
    script.verify();
    script.approach();
    script.status(operationStatus('AUTHORIZED', 'EXECUTED'));
    const transfer = await newTransfer(folder(), { order: SCT });
    const end = await transfer.run(openClient({ now: transfer.world.now }).bank);
    expect(end).toMatchObject({ state: 'executed' });
    expect(transfer.events()).not.toContain('execute-sent');
  });

  it('an instant transfer ends settled, with each step in the journal before and after its call', async () => {
    script.verify();
    script.approach();
    script.status(operationStatus('AUTHORIZED'));
    script.execute();
    script.executionStatus(executionStatus('OK'));
    const transfer = await newTransfer(folder());
    const shown: Transfer[] = [];
    const end = await transfer.run(openClient({ now: transfer.world.now }).bank, {
      accept: async (verified) => shown.push(verified) > 0,
    });

    expect(end).toMatchObject({
      state: 'settled',
      cro: '0012345678',
      authorizationStatus: 'AUTHORIZED',
      executionStatus: 'OK',
      verification: {
        resourceId: 'r1',
        totalAmount: { amount: '13.000', currency: 'EUR' },
        commissions: { amount: '0.500', currency: 'EUR' },
        bankName: 'BANCA',
      },
    });
    expect(shown).toMatchObject([{ state: 'verified', verification: end.verification }]);
    expect(transfer.events()).toEqual([
      'created',
      'verify-sent',
      'verified',
      'accepted',
      'approach-sent',
      'sca-started',
      'sca-returned',
      'authorization',
      'execute-sent',
      'executed',
      'settlement',
    ]);
    expect(transfer.customer.visited).toEqual(['https://customers.example/sca-authorize/?resourceId=r1']);
    const ids = recorded.received.map(({ headers }) => headers['tpp-transaction-id']);
    expect(new Set(ids)).toEqual(new Set([end.transactionId]));
  });

  it('an SCT ends executed, and psd2 does not ask for an execution status', async () => {
    script.verify();
    script.approach();
    script.status(operationStatus('AUTHORIZED'));
    script.execute();
    const transfer = await newTransfer(folder(), { order: SCT });
    expect(await transfer.run(openClient({ now: transfer.world.now }).bank)).toMatchObject({
      state: 'executed',
      cro: '0012345678',
      executionStatus: null,
    });
    expect(JSON.parse(recorded.received[0]?.body.toString() ?? '')).not.toHaveProperty('data.type');
  });

  it('an instant transfer for a later day is handled like an SCT', async () => {
    script.verify();
    script.approach();
    script.status(operationStatus('AUTHORIZED'));
    script.execute();
    const transfer = await newTransfer(folder(), { order: { futureDated: true } });
    expect(await transfer.run(openClient({ now: transfer.world.now }).bank)).toMatchObject({
      state: 'executed',
    });
  });
});

describe('the execution status of an instant transfer', () => {
  it('the execution status KO means that the payment failed, and psd2 says what the bank says', async () => {
    script.verify();
    script.approach();
    script.status(operationStatus('AUTHORIZED'));
    script.execute();
    script.executionStatus(executionStatus('KO', 'Account closed'));
    const transfer = await newTransfer(folder());
    await expect(transfer.run(openClient({ now: transfer.world.now }).bank)).rejects.toMatchObject({
      code: 'payment_failed',
      message: 'The payment failed: Account closed',
      transactionId: transfer.open.current.transactionId,
    });
    expect([await transfer.stored()]).toMatchObject([{ state: 'failed', executionStatus: 'KO' }]);
  });
});

describe('the authorisation of a transfer', () => {
  it.each([
    ['NOT_AUTHORIZED', 'not_authorised', 'rejected'],
    ['EXPIRED', 'authorisation_expired', 'expired'],
  ])('the authorization %s ends the transfer, and psd2 executes nothing', async (status, code, state) => {
    script.verify();
    script.approach();
    script.status(operationStatus(status));
    const transfer = await newTransfer(folder());
    await expect(transfer.run(openClient({ now: transfer.world.now }).bank)).rejects.toMatchObject({ code });
    expect([await transfer.stored()]).toMatchObject([{ state, authorizationStatus: status }]);
    expect(executions(recorded)).toBe(0);
  });

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

  it('psd2 waits no longer than the customer may take, and the transfer can be resumed', async () => {
    script.verify();
    script.approach();
    for (let asked = 0; asked < 4; asked += 1) script.status(operationStatus('PENDING'));
    const transfer = await newTransfer(folder(), { customer: customerElsewhere({ scaTimeoutMs: 5000 }) });
    await expect(transfer.run(openClient({ now: transfer.world.now }).bank)).rejects.toMatchObject({
      code: 'authorisation_timeout',
      message: 'The customer did not authorise the transfer within 5 s',
      hint: 'Continue with:',
      next: [['transfer', 'resume', transfer.open.current.flow]],
    });
    expect(transfer.world.elapsed()).toBeLessThanOrEqual(5000);
    expect([await transfer.stored()]).toMatchObject([{ state: 'authorizing' }]);
  });
});

it('a verify that the bank rate-limits has not begun, and the journal says so', async () => {
  script.verify(refusal(429));
  const transfer = await newTransfer(folder());
  const run = transfer.run(openClient({ now: transfer.world.now }).bank);
  await expect(run).rejects.toMatchObject({ code: 'too_many_calls' });
  expect(transfer.events()).toEqual(['created', 'verify-sent', 'verify-not-begun']);
  expect(await transfer.stored()).toMatchObject({ state: 'created', reached: false });
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

it.each([
  [refusal(417, 'PSD2_IBAN', 'wrong IBAN'), 'bank_refused'],
  [refusal(200, 'PSD2_IBAN', 'wrong IBAN'), 'bank_refused'],
  [refusal(403), 'forbidden'],
])('a transfer that the bank does not verify has failed', async (answer, code) => {
  script.verify(answer);
  const transfer = await newTransfer(folder());
  const { bank } = openClient({ now: transfer.world.now });
  const failure = await transfer.run(bank).catch((error) => error);
  expect(failure).toMatchObject({ code });
  expect([await transfer.stored()]).toMatchObject([{ state: 'failed' }]);
  // A later resume also shows the reason.
  await expect(transfer.run(bank)).rejects.toMatchObject({
    message: expect.stringContaining(failure.message),
  });
});

it.each<[string, ScriptedAnswer, string]>([
  ['without an answer', 'cut before the answer', 'bank_unreachable'],
  ['that a gateway refused', { status: 403, body: '<html>' }, 'forbidden'],
])('a verify %s can be repeated, because it moves no money', async (_, answer, code) => {
  script.verify(answer);
  const transfer = await newTransfer(folder());
  const { bank } = openClient({ now: transfer.world.now });
  await expect(transfer.run(bank)).rejects.toMatchObject({ code });
  expect([await transfer.stored()]).toMatchObject([{ state: 'created' }]);

  script.verify();
  await expect(transfer.run(bank, { accept: async () => false })).rejects.toMatchObject({
    code: 'cancelled',
  });
});

it('if the bank fails to start SCA, psd2 asks it nothing more', async () => {
  script.verify();
  for (let attempts = 0; attempts < 4; attempts += 1) script.approach(refusal(503));
  const transfer = await newTransfer(folder());
  const { bank } = openClient({ now: transfer.world.now });
  await expect(transfer.run(bank)).rejects.toMatchObject({ code: 'bank_failing' });
  expect(recorded.last.target).toContain('/approach');
});

describe('a further step that the bank names', () => {
  const WANTS_MORE = success('{"totalAmount":{"amount":"13.000","currency":"EUR"}}', {
    resourceId: 'r1',
    next: { method: 'PUT', href: 'r1/verify2' },
  });

  it('if the bank requires further data, psd2 accepts, authorises and executes nothing without it', async () => {
    script.verify(WANTS_MORE);
    const transfer = await newTransfer(folder());
    const { bank } = openClient({ now: transfer.world.now });
    const accept = async () => {
      throw new TypeError('not to be asked');
    };
    const wanted = {
      code: 'further_data_needed',
      message: 'The bank requires further data before SCA, in the step verify2',
      hint: 'Give it as JSON: as text, as @file, or as - for standard input. Continue with:',
      next: [['transfer', 'resume', transfer.open.current.flow, '--verify-data', '-']],
    };
    await expect(transfer.run(bank, { accept })).rejects.toMatchObject(wanted);
    await expect(transfer.run(bank, { accept })).rejects.toMatchObject(wanted);
    expect(transfer.customer.visited).toEqual([]);
    expect(recorded.received).toHaveLength(1);
  });

  it('psd2 sends the further data unchanged, and then the transfer continues', async () => {
    script.verify(WANTS_MORE);
    script.verify2(success('{}', { resourceId: 'r1', next: { method: 'PUT', href: 'r1/execute' } }));
    script.approach();
    script.status(operationStatus('AUTHORIZED'));
    script.execute();
    const transfer = await newTransfer(folder(), {
      order: SCT,
      furtherData: ['{"accepted":true,"amount":1.50}'],
    });
    expect(await transfer.run(openClient({ now: transfer.world.now }).bank)).toMatchObject({
      state: 'executed',
      verification: { totalAmount: { amount: '13.000', currency: 'EUR' } },
    });
    expect(recorded.received[1]?.body.toString()).toBe('{"data":{"accepted":true,"amount":1.50}}');
    expect(transfer.events().slice(1, 6)).toEqual([
      'verify-sent',
      'verified',
      'further-verify-sent',
      'further-verified',
      'accepted',
    ]);
  });

  it.each<[string, ScriptedAnswer, string]>([
    ['whose answer was lost', 'cut before the answer', 'bank_unreachable'],
    ['that a gateway refused', { status: 403, body: '<html>' }, 'forbidden'],
  ])(
    'a further step %s is not sent again: psd2 verifies the order again on resume',
    async (_, answer, code) => {
      const next = { method: 'PUT', href: 'r1/execute' };
      script.verify(WANTS_MORE);
      script.verify2(answer);
      const transfer = await newTransfer(folder(), { order: SCT, furtherData: ['{}'] });
      const { bank } = openClient({ now: transfer.world.now });
      await expect(transfer.run(bank)).rejects.toMatchObject({ code });
      expect((await transfer.stored()).state).toBe('verified');

      script.status(operationStatus('PENDING'));
      script.verify(WANTS_MORE);
      script.verify2(success('{}', { resourceId: 'r1', next }));
      script.approach();
      script.status(operationStatus('AUTHORIZED'));
      script.execute();
      expect(await transfer.run(bank)).toMatchObject({ state: 'executed' });
      expect(transfer.events().slice(3, 6)).toEqual(['further-verify-sent', 'verify-again', 'verify-sent']);
    },
  );

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

  /** A transfer whose further step the bank refuses. */
  async function refusedFurtherStep() {
    const transfer = await newTransfer(folder(), { order: SCT, furtherData: ['{}'] });
    await transfer.open.record({ ...VERIFIED, nextStep: 'verify2' });
    const { bank } = openClient({ now: transfer.world.now });
    script.verify2(refusal(400, 'STEP_MISSING'));
    return { transfer, run: () => transfer.run(bank, { accept: async () => false }) };
  }

  it('if the bank refuses a further step and says that the customer has authorised it already, the journal says why its outcome is unknown', async () => {
    const { transfer, run } = await refusedFurtherStep();
    script.status(operationStatus('AUTHORIZED'));
    script.status(operationStatus('AUTHORIZED'));
    await expect(run()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect((await transfer.stored()).executionStatusDescription).toBe(OLDER_JOURNAL);
  });

  it.each([
    ['NOT_AUTHORIZED', 'not_authorised', 'rejected'],
    ['EXPIRED', 'authorisation_expired', 'expired'],
  ])(
    'if the bank refuses a further step and says that it is %s, the transfer has ended',
    async (status, code, state) => {
      const { transfer, run } = await refusedFurtherStep();
      script.status(operationStatus(status));
      await expect(run()).rejects.toMatchObject({ code });
      expect(await transfer.stored()).toMatchObject({ state });
    },
  );

  it.each<[string, ScriptedAnswer]>([
    ['has no status before SCA', refusal(412)],
    ['says that the customer has not decided', operationStatus('PENDING')],
  ])('if the bank refuses a further step and %s, the transfer has failed', async (_, status) => {
    const { transfer, run } = await refusedFurtherStep();
    script.status(status);
    await expect(run()).rejects.toMatchObject({ code: 'bank_refused', bankCode: 'STEP_MISSING' });
    expect(transfer.events().slice(-2)).toEqual(['further-verify-sent', 'verify-refused']);
  });

  it('if the bank refuses a further step and fails to give the status, the transfer can be resumed', async () => {
    const { transfer, run } = await refusedFurtherStep();
    script.status({ status: 501 });
    await expect(run()).rejects.toMatchObject({ code: 'bank_failing' });
    expect(await transfer.stored()).toMatchObject({ state: 'verified', furtherStepOpen: true });
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
