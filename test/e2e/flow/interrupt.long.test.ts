import { once } from 'node:events';
import { connect } from 'node:net';
import Big from 'big.js';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { freePort, isFree } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import {
  ADDRESS,
  type Ended,
  keepRunning,
  PROGRAM,
  type Running,
  readDocument,
  useLoggedIn,
  words,
} from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const ORDER = words`--from ${ACCOUNT} --to DE89370400440532013000 --name ${'Ada Lovelace'} --amount 4.00
  --yes`;
const operator = keepRunning(useLoggedIn());

/** Starts a command and waits until the customer would be at the bank's page. */
async function untilCustomer(args: string[]): Promise<{ psd2: Running; address: string; port: number }> {
  const port = await freePort();
  const psd2 = await operator.start([...args, '--json'], {
    PSD2_BROWSER: 'none',
    PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback`,
  });
  const [, address = ''] = await psd2.prints(ADDRESS);
  expect(await isFree(port)).toBe(false);
  return { psd2, address, port };
}

/** Sends Ctrl-C while the customer has not come back and a browser holds a connection open. */
async function interrupt({ psd2, port }: { psd2: Running; port: number }): Promise<Ended> {
  const browser = connect(port, '127.0.0.1').resume();
  browser.on('error', () => undefined);
  await once(browser, 'connect');
  psd2.kill('SIGINT');
  const ended = await psd2.ended;
  browser.destroy();
  return ended;
}

async function balance(): Promise<Big> {
  const { availableBalance } = await operator.json(shapes.balance, ['accounts', 'balance', ACCOUNT]);
  return new Big(availableBalance?.amount ?? '');
}

const bookings = async () =>
  (await operator.json(shapes.transactions, ['accounts', 'transactions', ACCOUNT])).length;

describe('Ctrl-C while psd2 waits for the customer and a browser is connected', () => {
  it('Ctrl-C ends a consent request and names the consent, which resume completes', async () => {
    const waiting = await untilCustomer(words`consent request --category ACCOUNT_INFO --all-accounts`);
    const ended = await interrupt(waiting);
    const { flow, state, transactionId } = readDocument(shapes.consent, ended.stdout);
    expect(state).toBe('authorizing');
    expect(readError(ended)).toMatchObject({
      code: 'interrupted',
      exitCode: 130,
      hint: expect.stringContaining(`psd2 consent resume ${flow}`),
      transactionId,
    });
    expect(await isFree(waiting.port)).toBe(true);
    expect(await operator.json(shapes.consent, ['consent', 'resume', flow])).toMatchObject({
      flow,
      state: 'confirmed',
      transactionId,
    });
  });

  it.each([
    ['an instant transfer', ['--instant', '--payee-verified'], 'settled'],
    ['a transfer', [], 'executed'],
  ])('Ctrl-C ends %s and names it, and resume pays once', async (_kind, options, end) => {
    const [before, booked] = [await balance(), await bookings()];
    const waiting = await untilCustomer(['transfer', 'create', ...ORDER, ...options]);
    const ended = await interrupt(waiting);
    const { flow, state, resourceId, transactionId } = readDocument(shapes.transfer, ended.stdout);
    expect(state).toBe('authorizing');
    expect(readError(ended)).toMatchObject({
      code: 'interrupted',
      exitCode: 130,
      hint: expect.stringContaining(`psd2 transfer resume ${flow}`),
    });
    expect(await isFree(waiting.port)).toBe(true);
    expect((await balance()).eq(before)).toBe(true);

    const resumed = await operator.json(shapes.transfer, ['transfer', 'resume', flow]);
    expect(resumed).toMatchObject({ flow, state: end, resourceId, transactionId });
    const paid = new Big(resumed.totalAmount?.amount ?? '');
    expect(before.minus(await balance()).toFixed(2)).toBe(paid.toFixed(2));

    const after = { balance: await balance(), bookings: await bookings() };
    expect(after.bookings).toBeGreaterThan(booked);
    expect(await operator.json(shapes.transfer, ['transfer', 'resume', flow])).toEqual(resumed);
    expect({ balance: await balance(), bookings: await bookings() }).toEqual(after);
  });

  it('Ctrl-C after execute says that the payment was executed and must not be made again', async () => {
    const psd2 = await operator.start(words`transfer create ${ORDER} --name ${'INSTANT PENDING'} --instant
      --payee-verified --verbose --json`);
    await psd2.prints(/\/execution\/status(?: → |","outcome":)200/);
    psd2.kill('SIGINT');
    const ended = await psd2.ended;
    const { flow, state, amount } = readDocument(shapes.transfer, ended.stdout);
    expect(state).toBe('executed');
    expect(readError(ended)).toMatchObject({
      code: 'interrupted',
      exitCode: 130,
      message: `Interrupted. The payment of ${amount} EUR to INSTANT PENDING was executed: do not make it again`,
      hint: `Continue with: psd2 transfer resume ${flow}`,
    });
  });

  it('a terminal that closes ends psd2 in the same way, however many signals it sends', async () => {
    const { psd2, port } = await untilCustomer(['transfer', 'create', ...ORDER]);
    psd2.kill('SIGHUP');
    psd2.kill('SIGHUP');
    const ended = await psd2.ended;
    expect(readDocument(shapes.transfer, ended.stdout).state).toBe('authorizing');
    expect(readError(ended)).toMatchObject({ code: 'interrupted', exitCode: 130 });
    expect(await isFree(port)).toBe(true);
  });
});

describe('output that nobody reads', () => {
  /** Runs psd2 in bash, with the redirections in `redirect`. */
  const run = async (args: string[], redirect: string) => {
    const command = `"$0" "$@" ${redirect}`;
    const program = [process.execPath, PROGRAM, ...args];
    return (await operator.startProgram('bash', ['-c', command, ...program])).ended;
  };

  it('a transfer completes even if nobody reads its messages', async () => {
    const ended = await run(['transfer', 'create', ...ORDER, '--json', '--verbose'], '2> >(exec 0<&-)');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({ state: 'executed' });
  });

  it('psd2 reports a full disk for its output apart from the outcome of the payment', async () => {
    const paid = await run(['transfer', 'create', ...ORDER, '--json'], '> /dev/full');
    expect(readError(paid)).toMatchObject({
      code: 'config',
      exitCode: 3,
      message: 'Standard output could not be written (ENOSPC)',
      hint: expect.stringContaining('psd2 transfer list'),
    });
    const [newest] = await operator.json(shapes.transfers, ['transfer', 'list']);
    expect(newest?.state).toBe('executed');
  });

  it('output that nobody reads does not hide the exit code', async () => {
    const refused = ['transfer', 'create', ...ORDER, '--name', 'SCA REFUSED', '--json'];
    const ended = await run(refused, '> >(exec 0<&-)');
    expect(ended.stdout).toBe('');
    expect(readError(ended)).toMatchObject({ code: 'not_authorised', exitCode: 6 });
  });
});

it('Ctrl-C while psd2 reads standard input ends it before it begins anything', async () => {
  const before = await operator.json(shapes.transfers, ['transfer', 'list']);
  const psd2 = await operator.start(['transfer', 'create', ...ORDER, '--verify-data', '-', '--json']);
  await psd2.write(' '.repeat(1024 * 1024));
  psd2.kill('SIGINT');
  expect(readError(await psd2.ended)).toMatchObject({ code: 'interrupted', exitCode: 130 });
  expect(await operator.json(shapes.transfers, ['transfer', 'list'])).toEqual(before);
});

describe('SIGKILL while the customer is at SCA', () => {
  const flows = { undecided: '', approved: '' };
  // Both transfers start first, since psd2 takes over the lock of a killed process only after some seconds.
  beforeAll(async () => {
    for (const name of ['undecided', 'approved'] as const) {
      const { psd2, address } = await untilCustomer(['transfer', 'create', ...ORDER, '--reference', name]);
      psd2.kill('SIGKILL');
      expect(await psd2.ended).toMatchObject({ signal: 'SIGKILL', stdout: '' });
      const [killed] = await operator.json(shapes.transfers, ['transfer', 'list']);
      expect(killed).toMatchObject({ reference: name, state: 'authorizing' });
      flows[name] = killed?.flow ?? '';
      if (name === 'undecided') continue;
      // The customer approves all the same, but nothing listens when the browser comes back.
      const walk = z.looseObject({ finalUrl: z.string() });
      const { finalUrl } = await operator.json(walk, ['sandbox', 'customer', address]);
      // With its query: the browser would go there, and has not been there.
      expect(finalUrl).toMatch(/\/callback\?/);
    }
  });

  it.each([
    ['loses nothing: resume sends the customer again', 'undecided', true],
    ['loses no approval: resume executes without another SCA', 'approved', false],
  ] as const)('SIGKILL at SCA %s', async (_what, name, again) => {
    const before = await balance();
    const ended = await operator.succeeds(['transfer', 'resume', flows[name], '--json', '--verbose']);
    expect(ended.stderr.includes('/approach')).toBe(again);
    const resumed = readDocument(shapes.transfer, ended.stdout);
    expect(resumed).toMatchObject({ reference: name, state: 'executed' });
    expect(before.minus(await balance()).toFixed(2)).toBe(
      new Big(resumed.totalAmount?.amount ?? '').toFixed(2),
    );
  });
});
