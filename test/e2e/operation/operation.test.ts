import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bankDate, untilWorkday } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { type EndedCall, keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
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
});
