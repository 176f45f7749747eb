import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bankDate, bankDay, untilWorkday } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { keepRunning, type Running, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { callsOf, saidBy, stepsOf } from '../support/verbose.ts';

const ACCOUNT = '0010482620';
const operator = keepRunning(useLoggedIn());
const inTerminal = terminalOf(operator);

const order = (name: string, amount: string, more: string[] = []) => [
  ...['transfer', 'create', '--yes', '--json', '--from', ACCOUNT],
  ...['--to', 'DE89370400440532013000', '--name', name, '--amount', amount, ...more],
];
const resolve = (kind: string, flow: string, ...args: string[]) =>
  operator.psd2([kind, 'resolve', flow, '--json', '--verbose', ...args]);
const show = (flow: string) => operator.json(shapes.transfer, ['transfer', 'show', flow]);

/** A transfer whose `execute` the bank did not do, and did not answer clearly. */
async function unknownTransfer(amount: string, ...more: string[]): Promise<string> {
  const ended = await operator.psd2(order('EXECUTE 500 ONCE', amount, more));
  expect(readError(ended)).toMatchObject({ exitCode: 9 });
  return readDocument(shapes.transfer, ended.stdout).flow;
}

async function fault(...args: string[]): Promise<void> {
  const added = await operator.psd2(['sandbox', 'fault', 'add', ...args]);
  expect(added.code, added.stderr).toBe(0);
}

/** How many times an amount has left the account. */
async function timesPaid(amount: string): Promise<number> {
  const rows = await operator.json(shapes.transactions, [
    ...['accounts', 'transactions', ACCOUNT, '--from', bankDay(-2)],
  ]);
  return rows.filter((row) => row.amount === `-${amount}0`).length;
}

afterEach(async () => {
  const cleared = await operator.psd2(['sandbox', 'fault', 'clear']);
  expect(cleared.code, cleared.stderr).toBe(0);
});

// This transfer takes 15 seconds, so it runs beside the other tests.
let late: Running;
beforeAll(async () => {
  late = await operator.start(order('INSTANT PENDING', '5.90', ['--instant', '--payee-verified']));
});

describe('psd2 transfer resolve', () => {
  it('resolving a transfer as not executed frees the reference, and records who ended it, when and why', async () => {
    const flow = await unknownTransfer('5.01', '--reference', 'FREED');
    const taken = await operator.psd2(order('Ada Lovelace', '5.01', ['--reference', 'FREED']));
    expect(readError(taken)).toMatchObject({ code: 'duplicate_reference', exitCode: 2 });

    const ended = await resolve(
      'transfer',
      flow,
      '--not-executed',
      '--yes',
      '--note',
      'Support,\ncase \u001b[31m4711',
    );
    expect(ended.code, ended.stderr).toBe(0);
    // psd2 only asked the bank a question.
    expect(callsOf(ended).map(({ method, step }) => [method, step])).toEqual([['GET', 'status']]);
    expect(saidBy(ended)).toContain(
      'At the bank its authorization is AUTHORIZED, and its execution is PENDING.',
    );
    expect(saidBy(ended)).toMatch(/Payee +EXECUTE 500 ONCE\n +IBAN +DE89 3704.*\n +Amount +5.01 EUR\n/);
    expect(saidBy(ended)).toContain('You can use the reference "FREED" again.');
    const transfer = readDocument(shapes.transfer, ended.stdout);
    expect(transfer).toMatchObject({
      state: 'failed',
      resolution: { outcome: 'not-executed', note: 'Support, case \u{FFFD}[31m4711' },
    });
    expect(transfer.resolution?.at).toBe(transfer.updatedAt);
    expect(await show(flow)).toEqual(transfer);
    expect(await operator.json(shapes.transfers, ['transfer', 'list'])).toContainEqual(transfer);

    const resumed = await operator.psd2(['transfer', 'resume', flow, '--yes', '--json', '--verbose']);
    expect(readError(resumed)).toMatchObject({
      exitCode: 8,
      message: expect.stringContaining('said that it was not executed'),
    });
    expect(stepsOf(resumed)).toEqual([]);
    const again = await resolve('transfer', flow, '--executed', '--yes');
    expect(readError(again)).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('has already ended'),
    });

    const paid = await operator.psd2(order('Ada Lovelace', '5.01', ['--reference', 'FREED']));
    expect(paid.code, paid.stderr).toBe(0);
    expect(await timesPaid('5.01')).toBe(1);
  });

  it('resolving a transfer as executed keeps the reference, and leaves nothing for resume to do', async () => {
    const flow = await unknownTransfer('5.02', '--reference', 'KEPT');
    const ended = await resolve('transfer', flow, '--executed', '--yes');
    expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({
      state: 'executed',
      resolution: { outcome: 'executed', note: null },
    });
    const resumed = await operator.psd2(['transfer', 'resume', flow, '--yes', '--json', '--verbose']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(stepsOf(resumed)).toEqual([]);
    const taken = await operator.psd2(order('Ada Lovelace', '5.02', ['--reference', 'KEPT']));
    expect(readError(taken)).toMatchObject({ code: 'duplicate_reference', exitCode: 2 });
    expect(await timesPaid('5.02')).toBe(0);
  });

  it('the resolution is in the timeline of its transaction, and in CSV', async () => {
    const flow = await unknownTransfer('5.03');
    const ended = await resolve('transfer', flow, '--not-executed', '--yes', '--note', 'Case 4711');
    const { resolution } = readDocument(shapes.transfer, ended.stdout);
    const timeline = await operator.psd2(['log', '--transaction', flow]);
    expect(timeline.stdout).toContain(
      `${resolution?.at}\tresolved (not-executed, by ${resolution?.by}: Case 4711)`,
    );
    const csv = await operator.psd2(['transfer', 'show', flow, '-o', 'csv']);
    expect(csv.stdout).toContain('resolution.outcome,resolution.by,resolution.at,resolution.note');
    expect(csv.stdout).toContain(`not-executed,${resolution?.by},${resolution?.at},Case 4711`);
  });

  it("the bank's clear answer counts, and psd2 refuses a resolution that contradicts it", async () => {
    // The bank executes the transfer, but until later it neither says so nor can be asked.
    const lost = async (amount: string) => {
      await fault('status=500', '--on', 'status', '--after', '1', '--times', '4');
      const ended = await operator.psd2(order('EXECUTE LOST', amount, ['--reference', `LOST ${amount}`]));
      expect(readError(ended)).toMatchObject({ exitCode: 9 });
      return readDocument(shapes.transfer, ended.stdout).flow;
    };
    const [agreed, contrary] = [await lost('5.04'), await lost('5.05')];
    const no = await resolve('transfer', contrary, '--not-executed', '--yes');
    expect(readError(no)).toMatchObject({
      exitCode: 2,
      code: 'usage',
      message: `The bank says that the transfer ${contrary} was executed`,
    });
    const yes = await resolve('transfer', agreed, '--executed', '--yes', '--note', 'Not needed');
    expect(yes.code, yes.stderr).toBe(0);
    for (const ended of [no, yes]) {
      expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({
        state: 'executed',
        resolution: null,
      });
    }
    const taken = await operator.psd2(order('Ada Lovelace', '5.05', ['--reference', 'LOST 5.05']));
    expect(readError(taken).code).toBe('duplicate_reference');
    expect([await timesPaid('5.04'), await timesPaid('5.05')]).toEqual([1, 1]);
  });

  it('psd2 resolves a transfer even if it cannot ask the bank, and says so', async () => {
    const [failing, gone] = [await unknownTransfer('5.06'), await unknownTransfer('5.07')];
    await fault('status=503', '--on', 'status');
    const ended = await resolve('transfer', failing, '--executed', '--yes');
    expect(ended.code, ended.stderr).toBe(0);
    expect(saidBy(ended)).toContain('The bank gave no status: ');
    const nowhere = await operator.psd2(['transfer', 'resolve', gone, '--executed', '--yes', '--json'], {
      env: { PSD2_QWAC_KEY: '/there/is/none.pem' },
    });
    expect(nowhere.code, nowhere.stderr).toBe(0);
    expect(saidBy(nowhere)).toContain('psd2 cannot ask the bank: ');
    expect(readDocument(shapes.transfer, nowhere.stdout)).toMatchObject({ state: 'executed' });
  });

  it('without a terminal and without --yes, psd2 asks the bank nothing and writes nothing', async () => {
    const flow = await unknownTransfer('5.08');
    const before = await show(flow);
    const ended = await resolve('transfer', flow, '--not-executed');
    expect(readError(ended)).toMatchObject({ code: 'confirmation_needed', exitCode: 2 });
    expect(stepsOf(ended)).toEqual([]);
    expect(await show(flow)).toEqual(before);
  });

  it('at a terminal psd2 asks, and takes Enter for no', async () => {
    const flow = await unknownTransfer('5.09', '--reference', 'ASKED');
    const before = await show(flow);
    for (const [answer, code, state] of [
      ['\r', 2, 'unknown'],
      ['y\r', 0, 'failed'],
    ] as const) {
      const psd2 = await inTerminal(['transfer', 'resolve', flow, '--not-executed']);
      await psd2.prints(/was not executed\? You can then pay its reference ASKED again/);
      await psd2.write(answer);
      const ended = await psd2.ended;
      expect(ended.code, ended.stdout).toBe(code);
      const screen = stripVTControlCharacters(ended.stdout);
      expect(screen).toMatch(/Payee +EXECUTE 500 ONCE/);
      expect((await show(flow)).state).toBe(state);
      if (state === 'unknown') expect(await show(flow)).toEqual(before);
    }
  });

  it.each([
    ['neither outcome', [], 'Add --executed or --not-executed.'],
    ['both outcomes', ['--executed', '--not-executed'], 'Add --executed or --not-executed.'],
    ['an empty note', ['--executed', '--note', ' \n'], 'Leave it out.'],
    ['a note of 501 characters', ['--executed', '--note', 'é'.repeat(501)], null],
  ])('psd2 transfer resolve refuses %s', async (_, args, hint) => {
    const ended = await resolve('transfer', 'tr-whatever', ...args, '--yes');
    expect(readError(ended)).toMatchObject({ exitCode: 2, hint });
  });

  it('psd2 transfer resolve takes a note of 500 characters of any kind', async () => {
    const flow = await unknownTransfer('5.10');
    const note = '\u{1F4B6}'.repeat(500);
    const ended = await resolve('transfer', flow, '--executed', '--yes', '--note', note);
    expect(ended.code, ended.stderr).toBe(0);
    expect((await operator.psd2(['transfer', 'show', flow])).stdout).toContain(note);
  });

  it('psd2 transfer resolve refuses a transfer whose outcome is known, and says what to do instead', async () => {
    const executed = await operator.json(shapes.transfer, order('Ada Lovelace', '5.11'));
    const ended = await resolve('transfer', executed.flow, '--not-executed', '--yes');
    expect(readError(ended)).toMatchObject({
      exitCode: 2,
      message: `The transfer ${executed.flow} is executed, so its outcome is not unknown`,
      hint: `See it with: psd2 transfer show ${executed.flow}`,
    });
    const waiting = await operator.psd2(order('SCA PENDING', '5.12', ['--sca-timeout', '1']));
    const { flow } = readDocument(shapes.transfer, waiting.stdout);
    const early = await resolve('transfer', flow, '--not-executed', '--yes');
    expect(readError(early)).toMatchObject({
      exitCode: 2,
      message: `The transfer ${flow} is authorizing, so its outcome is not unknown`,
      hint: `Continue with: psd2 transfer resume ${flow}`,
    });
    expect([...stepsOf(ended), ...stepsOf(early)]).toEqual([]);
  });

  it.each([
    ['EXECUTE REFUSED', 'failed', '5.14'],
    ['EXECUTE 420', 'authorized', '5.15'],
  ])(
    'a refused transfer (%s) keeps its reference until a person says that it was not executed',
    async (name, state, amount) => {
      const reference = ['--reference', `REFUSED-${amount}`];
      const refused = await operator.psd2(order(name, amount, reference));
      const { flow } = readDocument(shapes.transfer, refused.stdout);
      expect(await show(flow)).toMatchObject({ state });
      const again = await operator.psd2(order('Ada Lovelace', amount, reference));
      expect(readError(again)).toMatchObject({ exitCode: 2, code: 'duplicate_reference', flow });
      expect(readError(await operator.psd2(['transfer', 'cancel', flow, '--yes', '--json']))).toMatchObject({
        exitCode: 2,
        message: `The transfer ${flow} is ${state}. psd2 has sent execute, so it can't cancel the transfer any more`,
      });
      const resolved = await resolve('transfer', flow, '--not-executed', '--yes');
      expect(resolved.code, resolved.stderr).toBe(0);
      const paid = await operator.psd2(order('Ada Lovelace', amount, reference));
      expect(paid.code, paid.stderr).toBe(0);
    },
  );

  it('psd2 transfer resolve leaves a flow alone while another psd2 works on it', async () => {
    const flow = await unknownTransfer('5.13');
    const first = await inTerminal(['transfer', 'resolve', flow, '--executed']);
    await first.prints(/that the transfer was executed\?/);
    const ended = await resolve('transfer', flow, '--not-executed', '--yes');
    expect(readError(ended)).toMatchObject({ exitCode: 3, message: expect.stringContaining(flow) });
    expect(stepsOf(ended)).toEqual([]);
    await first.write('y\r');
    expect((await first.ended).code).toBe(0);
    expect(await show(flow)).toMatchObject({ state: 'executed', resolution: { outcome: 'executed' } });
  });
});

describe('psd2 consent resolve', () => {
  it.each([
    ['--executed', 'confirmed'],
    ['--not-executed', 'failed'],
  ])('psd2 consent resolve %s makes the consent %s, even if the bank does not say', async (option, state) => {
    await fault('status=500', '--on', 'consent-confirm', '--times', '1');
    const began = await operator.psd2([
      ...['consent', 'request', '--category', 'PAYMENTS', '--account', ACCOUNT, '--json'],
    ]);
    const { flow } = readDocument(shapes.consent, began.stdout);
    expect(readError(began)).toMatchObject({
      exitCode: 9,
      hint: expect.stringContaining(
        `It was not executed, says the bank:   psd2 consent resolve ${flow} --not-executed`,
      ),
    });
    const ended = await resolve('consent', flow, option, '--yes', '--note', 'Tried it');
    expect(ended.code, ended.stderr).toBe(0);
    expect(saidBy(ended)).toMatch(/PAYMENTS +0010482620/);
    expect(stepsOf(ended)).toEqual(['status']);
    const consent = readDocument(shapes.consent, ended.stdout);
    expect(consent).toMatchObject({ state, resolution: { outcome: option.slice(2), note: 'Tried it' } });
    const [listed] = await operator.json(shapes.consents, ['consent', 'list']);
    expect(listed).toMatchObject(consent);
    expect(listed?.daysLeft).toBe(state === 'confirmed' ? 180 : null);
  });
});

describe('psd2 operation resolve', () => {
  it.each([
    ['--executed', 'executed'],
    ['--not-executed', 'failed'],
  ])(
    'psd2 operation resolve %s makes the operation %s, even if the bank does not say',
    async (option, state) => {
      const data = JSON.stringify({
        ...{ ibanBeneficiary: 'DE89370400440532013000', beneficiaryName: 'Ada Lovelace', description: '' },
        amount: { currency: 'EUR', amount: '2.00' },
        frequency: 'WEEKLY',
        firstExecutionDate: bankDate(untilWorkday()),
      });
      await fault('status=500', '--on', 'execute', '--times', '1');
      const began = await operator.psd2([
        ...['operation', 'run', 'standingOrder', '--account', ACCOUNT, '--yes', '--json'],
        ...['--data', data, '--verify-data', JSON.stringify({ numberOfExecutions: 12 })],
      ]);
      const { flow } = readDocument(shapes.operation, began.stdout);
      expect(readError(began).hint).toContain(
        `It was not executed, says the bank:   psd2 operation resolve ${flow} --not-executed`,
      );
      const ended = await resolve('operation', flow, option, '--yes');
      expect(saidBy(ended)).toContain('Ada Lovelace');
      expect(stepsOf(ended)).toEqual(['status']);
      const operation = readDocument(shapes.operation, ended.stdout);
      expect(operation).toMatchObject({ state, resolution: { outcome: option.slice(2), note: null } });
      expect((await operator.json(z.array(shapes.operation), ['operation', 'list']))[0]).toEqual(operation);
    },
  );
});

describe('an instant transfer that stays PENDING', () => {
  it('a PENDING instant transfer is settled when a person says that it was executed', async () => {
    const { stdout, stderr } = await late.ended;
    const { flow, state, cro } = readDocument(shapes.transfer, stdout);
    expect(state).toBe('executed');
    expect(stderr).toContain(`psd2 transfer resolve ${flow} --not-executed`);
    await fault('status=500', '--on', 'execution-status');
    const ended = await resolve('transfer', flow, '--executed', '--yes');
    expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({
      state: 'settled',
      cro,
      resolution: { outcome: 'executed' },
    });
    expect(new Set(stepsOf(ended))).toEqual(new Set(['execution/status', 'status']));
  });
});
