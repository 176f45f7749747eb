import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PaymentCalls } from '../../src/bank/ports/payment-calls.ts';
import { isOpen, isPlainlyFailed, needsAttention } from '../../src/domain/flow-states.ts';
import type { TransferOrder } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import type { OperationPorts } from '../../src/flows/ports.ts';
import { operationStatus, refusal } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { transferOrder, VERIFIED } from '../domain/orders.ts';
import { begun } from '../store/flows.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { fakeCustomer, fakeWorld } from './doubles.ts';
import { flowsIn, scriptOf } from './transfers.ts';

// A payment interface of the test's own: it has no `execute`, because the customer commits.

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();

type Fate = 'answered' | 'lost' | 'never left' | 'refused';

async function customersTransfer() {
  const folder = newConfigFolder(temporary);
  const world = fakeWorld();
  const flows = flowsIn(folder, world);
  const order = transferOrder({ instant: false, type: null, reference: 'INV-7' });
  const begin = { transactionId: 't', commits: 'by the customer', order } as const;
  const { flow } = (await begun(flows, 'transfer', begin)).current;
  const { bank } = openClient({ now: world.now });
  const customer = fakeCustomer();
  const fates: Fate[] = [];
  let initiations = 0;
  const calls: PaymentCalls = {
    name: 'transfer',
    async verify(beforeSend) {
      const fate = fates.shift() ?? 'answered';
      const announced = await beforeSend({ requestId: 'q1', digest: null });
      if (fate === 'never left') {
        await announced?.notBegun?.();
        throw new Psd2Error('bank_unreachable', 'The bank could not be reached');
      }
      await announced?.beforeFirstByte?.();
      initiations += 1;
      if (fate === 'lost') throw new Psd2Error('bank_unreachable', 'No answer');
      if (fate === 'refused')
        throw new Psd2Error('bank_refused', 'No funds', {
          httpStatus: 400,
          refusal: 'content',
          isBanks: true,
        });
      const { type: _type, ...verification } = VERIFIED;
      return { ...verification, nextStep: 'sca' };
    },
    verifyFurther: () => Promise.reject(new TypeError('There is no further step')),
    execute: null,
    executionStatus: null,
  };
  const journal = join(folder.flows('sandbox'), `${flow}.ndjson`);
  return {
    flow,
    flows,
    world,
    bank,
    customer,
    fates,
    begin,
    journal,
    initiations: () => initiations,
    stored: () => flows.find('transfer', flow),
    events: () =>
      readFileSync(journal, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).event.type),
    run: (ports: Partial<OperationPorts<TransferOrder>> = {}) =>
      flows.resume('transfer', flow, (open) =>
        runOperation(open, calls, { bank, world, customer, accept: async () => true, ...ports }),
      ),
  };
}

const unknown = { code: 'outcome_unknown' };

describe('a transfer that the customer commits', () => {
  it('runs without execute: psd2 asks until the bank says that it is executed', async () => {
    const transfer = await customersTransfer();
    script.approach();
    for (const status of ['STARTED', 'AUTHORIZED', 'AUTHORIZED']) script.status(operationStatus(status));
    script.status(operationStatus('AUTHORIZED', 'EXECUTED'));
    expect(await transfer.run()).toMatchObject({ state: 'executed', commits: 'by the customer' });
    expect(transfer.events()).toEqual([
      ...['created', 'verify-sent', 'verified', 'accepted', 'approach-sent', 'sca-started', 'sca-returned'],
      ...['authorization', 'executed'],
    ]);
    expect(transfer.initiations()).toBe(1);
  });

  it('ends unknown if the bank does not say so within the time of the customer', async () => {
    const transfer = await customersTransfer();
    const customer = fakeCustomer({ scaTimeoutMs: 3_000 });
    script.approach();
    for (let asked = 0; asked < 4; asked += 1) script.status(operationStatus('AUTHORIZED'));
    await expect(transfer.run({ customer })).rejects.toMatchObject(unknown);
    const stored = await transfer.stored();
    expect(stored.state).toBe('unknown');
    expect([isOpen(stored), isPlainlyFailed(stored), needsAttention(stored, false)]).toEqual([
      ...[false, false, true],
    ]);
    script.status(operationStatus('AUTHORIZED', 'EXECUTED'));
    expect(await transfer.run()).toMatchObject({ state: 'executed' });
    expect(transfer.initiations()).toBe(1);
  });

  it('does not initiate it again if the answer was lost, and keeps its reference', async () => {
    const transfer = await customersTransfer();
    transfer.fates.push('lost');
    for (let runs = 0; runs < 2; runs += 1) await expect(transfer.run()).rejects.toMatchObject(unknown);
    expect(transfer.initiations()).toBe(1);
    expect((await transfer.stored()).state).toBe('unknown');
    await expect(begun(transfer.flows, 'transfer', transfer.begin)).rejects.toMatchObject({
      code: 'duplicate_reference',
    });
  });

  it('does not initiate it again if psd2 was killed before the answer', async () => {
    const transfer = await customersTransfer();
    await transfer.flows.resume('transfer', transfer.flow, (open) =>
      open.record({ type: 'verify-sent', requestId: 'q1', digest: null }),
    );
    expect(isOpen(await transfer.stored())).toBe(false);
    await expect(transfer.run()).rejects.toMatchObject(unknown);
    expect(transfer.initiations()).toBe(0);
  });

  it('initiates it again if the initiation never left, whoever says so', async () => {
    const transfer = await customersTransfer();
    transfer.fates.push('never left', 'lost');
    await expect(transfer.run()).rejects.toMatchObject({ code: 'bank_unreachable' });
    expect(isOpen(await transfer.stored())).toBe(true);
    await expect(transfer.run()).rejects.toMatchObject(unknown);
    transfer.fates.push('refused');
    await expect(transfer.run({ neverLeft: async (id) => id === 'q1' })).rejects.toMatchObject({
      code: 'bank_refused',
    });
    expect(isPlainlyFailed(await transfer.stored())).toBe(true);
  });

  it('an older journal does not make psd2 initiate it again', async () => {
    const transfer = await customersTransfer();
    const older = readFileSync(transfer.journal);
    transfer.fates.push('lost');
    await expect(transfer.run()).rejects.toMatchObject(unknown);
    writeFileSync(transfer.journal, older);
    await expect(transfer.run()).rejects.toMatchObject({ code: 'config' });
    expect(transfer.initiations()).toBe(1);
  });

  it('stays open for the customer once SCA was asked for, although the answer was lost', async () => {
    const transfer = await customersTransfer();
    for (let tries = 0; tries < 4; tries += 1) script.approach('cut before the answer');
    await expect(transfer.run()).rejects.toThrow();
    const stored = await transfer.stored();
    expect([stored.state, isOpen(stored), isPlainlyFailed(stored)]).toEqual(['verified', false, false]);
  });

  it.each([
    ['NOT_AUTHORIZED', 'not_authorised', 'rejected'],
    ['EXPIRED', 'authorisation_expired', 'expired'],
  ])('ends unpaid if the bank says %s, and its reference is free again', async (status, code, state) => {
    const transfer = await customersTransfer();
    script.approach();
    script.status(operationStatus(status));
    await expect(transfer.run()).rejects.toMatchObject({ code });
    const stored = await transfer.stored();
    expect([stored.state, isPlainlyFailed(stored)]).toEqual([state, true]);
    expect((await begun(transfer.flows, 'transfer', transfer.begin)).current.state).toBe('created');
  });

  it('does not end if only psd2 has stopped waiting: the customer can still authorise it', async () => {
    const transfer = await customersTransfer();
    script.approach();
    for (let asked = 0; asked < 2; asked += 1) script.status(operationStatus('STARTED'));
    await expect(transfer.run({ customer: fakeCustomer({ scaTimeoutMs: 600 }) })).rejects.toMatchObject({
      code: 'authorisation_timeout',
    });
    const stored = await transfer.stored();
    expect([stored.state, isOpen(stored), isPlainlyFailed(stored)]).toEqual(['authorizing', false, false]);
    // Resumed while the bank still waits: the customer gets the link again, which changes nothing about that.
    script.status(operationStatus('STARTED'));
    script.approach(refusal(409, 'PSD2_X', 'No'));
    script.status(operationStatus('STARTED'));
    await expect(transfer.run()).rejects.toThrow();
    expect(isOpen(await transfer.stored())).toBe(false);
  });
});
