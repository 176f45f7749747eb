import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bankDate, untilWorkday } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { ADDRESS, type EndedCall, keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { callsOf, stepsOf } from '../support/verbose.ts';

const ACCOUNT = '0010482620';
const IBAN = 'DE89370400440532013000';
const operator = keepRunning(useLoggedIn());

const { operation } = shapes;

const beneficiary = { ibanBeneficiary: IBAN, beneficiaryName: 'Ada Lovelace', description: 'Rent' };
const standingOrder = (frequency = 'WEEKLY') =>
  JSON.stringify({
    ...beneficiary,
    amount: { currency: 'EUR', amount: '2.00' },
    frequency,
    firstExecutionDate: bankDate(untilWorkday()),
  });
const TERM = JSON.stringify({ numberOfExecutions: 12 });

/** Checks that all calls belong to one transaction, and that each has its own id. */
function expectOneTransaction(transactionId: string, ...runs: EndedCall[]): void {
  const calls = runs.flatMap(callsOf);
  expect(calls.length).toBeGreaterThan(runs.length - 1);
  expect(new Set(calls.map(({ transaction }) => transaction))).toEqual(new Set([transactionId]));
  expect(new Set(calls.map(({ request }) => request)).size).toBe(calls.length);
}

const run = (...args: string[]) => operator.psd2(['operation', ...args, '--json', '--verbose']);

describe('psd2 operation run', () => {
  it("psd2 operation run sends a standingOrder's verify2 before SCA, and saves the bank's document", async () => {
    const file = join(operator.folder, 'order.pdf');
    const ended = await run(
      ...['run', 'standingOrder', '--account', ACCOUNT, '--yes', '--receipt', file],
      ...['--data', standingOrder(), '--verify-data', TERM],
    );
    expect(ended.code, ended.stderr).toBe(0);
    const done = readDocument(operation, ended.stdout);
    expect(done).toMatchObject({
      state: 'executed',
      product: ACCOUNT,
      authorizationStatus: 'AUTHORIZED',
      totalAmount: { amount: '30.00', currency: 'EUR' },
      resolution: null,
    });
    expect(stepsOf(ended)).toEqual(['verify', 'verify2', 'approach', 'status', 'execute', 'retrieve']);
    expectOneTransaction(done.transactionId, ended);
    const pdf = readFileSync(file, 'latin1');
    expect(pdf).toMatch(/^%PDF-1\.\d/);
    expect(pdf).toMatch(/%%EOF\s*$/);
  });

  it('psd2 operation run stops at a step whose data it was not given, and resume continues in the same transaction', async () => {
    const began = await run(
      'run',
      'standingOrder',
      '--account',
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

    const unasked = await run('resume', flow, '--verify-data', TERM);
    expect(readError(unasked)).toMatchObject({ code: 'confirmation_needed', exitCode: 2 });
    expect(stepsOf(unasked)).toEqual([]);

    const resumed = await run('resume', flow, '--verify-data', TERM, '--yes');
    expect(readDocument(operation, resumed.stdout)).toMatchObject({ flow, state: 'executed', transactionId });
    expect(stepsOf(resumed)).toEqual(['verify2', 'approach', 'status', 'execute']);
    expectOneTransaction(transactionId, began, resumed);
    const done = readDocument(operation, resumed.stdout);
    expect(await operator.json(operation, ['operation', 'show', flow])).toEqual(done);
    expect((await operator.json(z.array(operation), ['operation', 'list']))[0]).toEqual(done);
  });

  it('without a terminal and without --yes, psd2 operation run sends nothing', async () => {
    const ended = await run('run', 'standingOrder', '--account', ACCOUNT, '--data', standingOrder());
    expect(readError(ended)).toMatchObject({ code: 'confirmation_needed', exitCode: 2 });
    expect(stepsOf(ended)).toEqual([]);
  });

  it('if the receipt cannot be saved, psd2 says that the operation is executed', async () => {
    const ended = await run(
      ...['run', 'standingOrder', '--account', ACCOUNT, '--yes', '--data', standingOrder()],
      ...['--verify-data', TERM, '--receipt', join(operator.folder, 'no such folder', 'order.pdf')],
    );
    expect(readDocument(operation, ended.stdout)).toMatchObject({ state: 'executed' });
    expect(readError(ended)).toMatchObject({
      exitCode: 3,
      hint: expect.stringMatching(/^The standingOrder is executed\. Do not make it again/),
    });
  });

  it("psd2 operation run shows the bank's message when its data is refused", async () => {
    const ended = await run(
      'run',
      'standingOrder',
      '--account',
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
    const { flow, state, resourceId } = readDocument(operation, ended.stdout);
    expect([state, resourceId]).toEqual(['failed', null]);
    // The bank does not know the local id.
    const status = await run('status', 'standingOrder', '--account', ACCOUNT, '--resource', flow);
    expect(readError(status)).toMatchObject({
      exitCode: 2,
      message: `${flow} is failed and has no resource at the bank`,
      hint: `See it with: psd2 operation show ${flow}`,
    });
    expect(stepsOf(status)).toEqual([]);
  });
});

describe('psd2 operation, step by step', () => {
  it('an operation is prepare, verify, verify with the resource, sca, status, execute: one transaction', async () => {
    const name = ['standingOrder', '--account', ACCOUNT];
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
    await left.prints(ADDRESS);
    left.kill('SIGINT');
    await left.ended;
    const tooSoon = await run('execute', ...resource);
    expect(readError(tooSoon)).toMatchObject({ exitCode: 2, hint: 'Its next step is sca.' });
    expect(stepsOf(tooSoon)).toEqual(['status']);
    const sca = await run('sca', ...resource);
    expect(readDocument(operation, sca.stdout)).toMatchObject({ state: 'authorized', nextStep: null });
    // The steps of a flow do not report that flow as interrupted.
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
    // If a step continues in another process, psd2 asks the bank first.
    expect(stepsOf(executed)).toEqual(['status', 'execute']);
    expectOneTransaction(transactionId, verified, further, pending, sca, status, executed);

    const again = await run('execute', ...resource);
    expect(readError(again).exitCode).toBe(2);
    expect(stepsOf(again)).toEqual([]);
  });
});

describe('a bank transfer', () => {
  const NAMES = ['moneyTransfer', 'moneytransfer', 'MONEYTRANSFER'];
  const at = ['--account', ACCOUNT];
  const refused = {
    code: 'usage',
    exitCode: 2,
    message: expect.stringContaining('psd2 operation does not make transfers'),
    hint: expect.stringContaining('psd2 transfer'),
  };

  it.each<[step: string, args: string[]]>([
    ['run', [...at, '--data', '{}', '--yes']],
    ['prepare', at],
    ['verify', [...at, '--data', '{}']],
    ['sca', [...at, '--resource', 'r1']],
    ['status', [...at, '--resource', 'r1']],
    ['execute', [...at, '--resource', 'r1']],
  ])(
    'psd2 operation %s refuses a bank transfer in upper and lower case, and opens and sends nothing',
    async (step, args) => {
      const before = await operator.json(z.array(operation), ['operation', 'list']);
      for (const name of NAMES) {
        const ended = await run(step, name, ...args);
        expect(readError(ended)).toMatchObject(refused);
        expect(stepsOf(ended)).toEqual([]);
        const nowhere = await operator.psd2(['operation', step, name, ...args, '--json'], {
          env: { PSD2_PROFILE: 'there-is-none' },
        });
        expect(readError(nowhere)).toMatchObject(refused);
      }
      expect(await operator.json(z.array(operation), ['operation', 'list'])).toEqual(before);
    },
  );
});

describe('psd2 transfer', () => {
  const create = (name: string, ...args: string[]) =>
    operator.psd2([
      ...['transfer', 'create', '--from', ACCOUNT, '--to', IBAN, '--name', name, '--amount', '4.00'],
      ...['--yes', '--json', '--verbose', ...args],
    ]);

  it('a transfer is never executed past a verify2 without its data, and resume continues with the data', async () => {
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

  it('psd2 transfer create takes the data of verify2', async () => {
    const ended = await create('Verify second step', '--verify-data', '{"payeeAccepted":true}');
    expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({ state: 'executed' });
    expect(stepsOf(ended)).toEqual(['verify', 'verify2', 'approach', 'status', 'execute']);
  });

  it('psd2 transfer has a prepare, a status and a receipt, in the transaction of the transfer', async () => {
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
