import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bankDate, untilWorkday } from './bank-days.ts';
import { readError } from './errors.ts';
import { type Ended, readDocument, useLoggedIn } from './psd2.ts';
import * as shapes from './shapes.ts';
import { callsOf, stepsOf } from './verbose.ts';

const ACCOUNT = '0010482620';
const IBAN = 'DE89370400440532013000';
const operator = useLoggedIn();

const operation = z.strictObject({
  flow: z.string().startsWith('op-'),
  kind: z.literal('operation'),
  state: z.string(),
  operation: z.string(),
  product: z.literal(ACCOUNT),
  resourceId: z.uuid().nullable(),
  nextStep: z.string().nullable(),
  transactionId: z.uuid(),
  totalAmount: shapes.transfer.shape.totalAmount,
  commissions: shapes.transfer.shape.commissions,
  authorizationStatus: z.string().nullable(),
  executionStatus: z.string().nullable(),
  executionStatusDescription: z.string().nullable(),
  cro: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

const beneficiary = { ibanBeneficiary: IBAN, beneficiaryName: 'Ada Lovelace', description: 'Rent' };
const TRANSFER = JSON.stringify({
  ...beneficiary,
  moneyTransferAmount: { currency: 'EUR', amount: '3.00' },
  flagUrgency: false,
  moneyTransferExecutionDate: bankDate(0),
});
const standingOrder = (frequency = 'WEEKLY') =>
  JSON.stringify({
    ...beneficiary,
    amount: { currency: 'EUR', amount: '2.00' },
    frequency,
    firstExecutionDate: bankDate(untilWorkday()),
  });
const TERM = JSON.stringify({ numberOfExecutions: 12 });

/** All calls are of one transaction, and each has an id of its own. */
function expectOneTransaction(transactionId: string, ...runs: Ended[]): void {
  const calls = runs.flatMap(callsOf);
  expect(calls.length).toBeGreaterThan(runs.length - 1);
  expect(new Set(calls.map(({ transaction }) => transaction))).toEqual(new Set([transactionId]));
  expect(new Set(calls.map(({ request }) => request)).size).toBe(calls.length);
}

const run = (...args: string[]) => operator.psd2(['operation', ...args, '--json', '--verbose']);

describe('psd2 operation run', () => {
  it('takes a moneyTransfer through its whole flow', async () => {
    const ended = await run('run', 'moneyTransfer', '--product', ACCOUNT, '--data', TRANSFER, '--yes');
    const done = readDocument(operation, ended.stdout);
    expect(done).toMatchObject({
      state: 'executed',
      authorizationStatus: 'AUTHORIZED',
      totalAmount: { amount: '3.500' },
    });
    expect(done.cro).toMatch(/^\d+$/);
    expect(stepsOf(ended)).toEqual(['verify', 'approach', 'status', 'execute']);
    expectOneTransaction(done.transactionId, ended);
  });

  it("sends a standingOrder's verify2 before SCA, and saves the bank's document", async () => {
    const file = join(operator.folder, 'order.pdf');
    const ended = await run(
      ...['run', 'standingOrder', '--product', ACCOUNT, '--yes', '--receipt', file],
      ...['--data', standingOrder(), '--verify-data', TERM],
    );
    expect(ended.code, ended.stderr).toBe(0);
    const done = readDocument(operation, ended.stdout);
    expect(done).toMatchObject({ state: 'executed', totalAmount: { amount: '30.000', currency: 'EUR' } });
    expect(stepsOf(ended)).toEqual(['verify', 'verify2', 'approach', 'status', 'execute', 'retrieve']);
    expectOneTransaction(done.transactionId, ended);
    const pdf = readFileSync(file, 'latin1');
    expect(pdf).toMatch(/^%PDF-1\.\d/);
    expect(pdf).toMatch(/%%EOF\s*$/);
  });

  it('stops at a step whose data it was not given, and resume goes on in the same transaction', async () => {
    const began = await run(
      'run',
      'standingOrder',
      '--product',
      ACCOUNT,
      '--yes',
      '--data',
      standingOrder('MONTHLY'),
    );
    const { flow, state, nextStep, transactionId } = readDocument(operation, began.stdout);
    expect([state, nextStep]).toEqual(['verified', 'verify2']);
    expect(readError(began)).toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining(`operation resume ${flow}`),
    });
    expect(stepsOf(began)).toEqual(['verify']);

    const resumed = await run('resume', flow, '--verify-data', TERM, '--yes');
    expect(readDocument(operation, resumed.stdout)).toMatchObject({ flow, state: 'executed', transactionId });
    expect(stepsOf(resumed)).toEqual(['verify2', 'approach', 'status', 'execute']);
    expectOneTransaction(transactionId, began, resumed);
    const done = readDocument(operation, resumed.stdout);
    expect(await operator.json(operation, ['operation', 'show', flow])).toEqual(done);
    expect((await operator.json(z.array(operation), ['operation', 'list']))[0]).toEqual(done);
  });

  it('needs a yes: without a terminal and without --yes nothing is sent', async () => {
    const ended = await run('run', 'moneyTransfer', '--product', ACCOUNT, '--data', TRANSFER);
    expect(readError(ended)).toMatchObject({ code: 'confirmation_needed', exitCode: 2 });
    expect(stepsOf(ended)).toEqual([]);
  });

  it("shows the bank's message when its data is refused", async () => {
    const ended = await run(
      'run',
      'standingOrder',
      '--product',
      ACCOUNT,
      '--yes',
      '--data',
      standingOrder('DAILY'),
    );
    expect(readError(ended)).toMatchObject({
      exitCode: 7,
      httpStatus: 417,
      message: expect.stringContaining('frequency'),
    });
    expect(readDocument(operation, ended.stdout)).toMatchObject({ state: 'failed', resourceId: null });
  });
});

describe('psd2 operation, step by step', () => {
  it('is prepare, verify, verify with the resource, sca, status, execute: one transaction', async () => {
    const name = ['standingOrder', '--product', ACCOUNT];
    const prepared = await run('prepare', ...name);
    expect(JSON.parse(prepared.stdout)).toMatchObject({ frequencies: ['WEEKLY', 'MONTHLY'] });

    const verified = await run('verify', ...name, '--data', standingOrder());
    const { resourceId, transactionId } = readDocument(operation, verified.stdout);
    const resource = [...name, '--resource', resourceId ?? ''];
    for (const step of ['sca', 'execute']) {
      const early = await run(step, ...resource);
      expect(readError(early)).toMatchObject({ exitCode: 2, hint: expect.stringContaining('verify2') });
      expect(stepsOf(early)).toEqual([]);
    }
    const further = await run('verify', ...resource, '--data', TERM);
    expect(readDocument(operation, further.stdout)).toMatchObject({ state: 'verified', nextStep: 'execute' });
    const pending = await run('status', ...resource);
    expect(JSON.parse(pending.stdout)).toMatchObject({ authorizationStatus: 'PENDING' });
    for (const more of [[], ['--yes']]) {
      const toofar = await run('verify', ...resource, '--data', TERM, ...more);
      expect(readError(toofar)).toMatchObject({ exitCode: 2, hint: 'Its next step is sca.' });
      expect(stepsOf(toofar)).toEqual([]);
    }
    const left = await operator.start(['operation', 'sca', ...resource, '--json'], { PSD2_BROWSER: 'none' });
    await left.prints(/^ {2}(http\S+)\n/m);
    left.kill('SIGINT');
    await left.ended;
    const tooSoon = await run('execute', ...resource);
    expect(readError(tooSoon)).toMatchObject({ exitCode: 2, hint: 'Its next step is sca.' });
    expect(stepsOf(tooSoon)).toEqual(['status']);
    const sca = await run('sca', ...resource);
    expect(readDocument(operation, sca.stdout)).toMatchObject({ state: 'authorized', nextStep: null });
    // Its own steps interrupt nothing.
    expect([further, pending, tooSoon, sca].map(({ stderr }) => stderr).join('')).not.toContain(
      'Interrupted:',
    );
    const status = await run('status', ...resource);
    expect(JSON.parse(status.stdout)).toEqual({
      operation: 'standingOrder',
      resourceId,
      authorizationStatus: 'AUTHORIZED',
      executionStatus: 'PENDING',
    });
    const executed = await run('execute', ...resource);
    expect(readDocument(operation, executed.stdout)).toMatchObject({ state: 'executed' });
    // A step that is taken up in another process asks the bank first.
    expect(stepsOf(executed)).toEqual(['status', 'execute']);
    expectOneTransaction(transactionId, verified, further, pending, sca, status, executed);

    const again = await run('execute', ...resource);
    expect(readError(again).exitCode).toBe(2);
    expect(stepsOf(again)).toEqual([]);
  });
});

describe('psd2 transfer', () => {
  const create = (name: string, ...args: string[]) =>
    operator.psd2([
      ...['transfer', 'create', '--from', ACCOUNT, '--to', IBAN, '--name', name, '--amount', '4.00'],
      ...['--yes', '--json', '--verbose', ...args],
    ]);

  it('is never executed past a verify2 without its data, and resume goes on with it', async () => {
    const began = await create('Verify second step');
    const { flow, transactionId } = readDocument(shapes.transfer, began.stdout);
    expect(readError(began)).toMatchObject({
      code: 'further_data_needed',
      exitCode: 2,
      hint: expect.stringContaining(`transfer resume ${flow} --verify-data`),
    });
    const without = await operator.psd2(['transfer', 'resume', flow, '--yes', '--json', '--verbose']);
    expect(readError(without).exitCode).toBe(2);
    expect(stepsOf(began).concat(stepsOf(without))).toEqual(['verify']);

    const resumed = await operator.psd2([
      ...['transfer', 'resume', flow, '--yes', '--json', '--verbose'],
      ...['--verify-data', '{"payeeAccepted":true}'],
    ]);
    expect(readDocument(shapes.transfer, resumed.stdout)).toMatchObject({ state: 'executed', transactionId });
    expect(stepsOf(resumed)).toEqual(['verify2', 'approach', 'status', 'execute']);
    expectOneTransaction(transactionId, began, resumed);
  });

  it('takes the data of verify2 with create', async () => {
    const ended = await create('Verify second step', '--verify-data', '{"payeeAccepted":true}');
    expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({ state: 'executed' });
    expect(stepsOf(ended)).toEqual(['verify', 'verify2', 'approach', 'status', 'execute']);
  });

  it('has a prepare, a status and a receipt, in the transaction of the transfer', async () => {
    const prepared = await operator.psd2(['transfer', 'prepare', ACCOUNT, '--json']);
    expect(JSON.parse(prepared.stdout)).toMatchObject({
      sepa: true,
      currency: 'EUR',
      today: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      holidays: expect.arrayContaining([expect.stringMatching(/^\d{4}-12-25$/)]),
    });
    const { flow, transactionId } = readDocument(shapes.transfer, (await create('Ada Lovelace')).stdout);
    const status = await operator.psd2(['transfer', 'status', flow, '--json', '--verbose']);
    expect(readDocument(shapes.transfer, status.stdout)).toMatchObject({
      executionStatus: 'OK',
      state: 'executed',
    });
    const file = join(operator.folder, 'receipt.pdf');
    const receipt = await operator.psd2(['transfer', 'receipt', flow, '--file', file, '--verbose']);
    expect(receipt.code, receipt.stderr).toBe(0);
    expect(receipt.stdout).toBe('');
    expect(readFileSync(file, 'latin1')).toMatch(/^%PDF-/);
    expectOneTransaction(transactionId, status, receipt);
  });
});
