import { once } from 'node:events';
import { connect } from 'node:net';
import Big from 'big.js';
import { describe, expect, it } from 'vitest';
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
async function untilCustomer(args: string[]): Promise<{ psd2: Running; port: number }> {
  const port = await freePort();
  const psd2 = await operator.start([...args, '--json'], {
    PSD2_BROWSER: 'none',
    PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback`,
  });
  await psd2.prints(ADDRESS);
  expect(await isFree(port)).toBe(false);
  return { psd2, port };
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
  it('Ctrl-C ends a transfer and names it, and resume pays once', async () => {
    const [before, booked] = [await balance(), await bookings()];
    const waiting = await untilCustomer(['transfer', 'create', ...ORDER]);
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
    expect(resumed).toMatchObject({ flow, state: 'executed', resourceId, transactionId });
    const paid = new Big(resumed.totalAmount?.amount ?? '');
    expect(before.minus(await balance()).toFixed(2)).toBe(paid.toFixed(2));

    const after = { balance: await balance(), bookings: await bookings() };
    expect(after.bookings).toBeGreaterThan(booked);
    expect(await operator.json(shapes.transfer, ['transfer', 'resume', flow])).toEqual(resumed);
    expect({ balance: await balance(), bookings: await bookings() }).toEqual(after);
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

it('a transfer completes even if nobody reads its messages', async () => {
  const command = ['-c', '"$0" "$@" 2> >(exec 0<&-)', process.execPath, PROGRAM, 'transfer', 'create'];
  const bash = await operator.startProgram('bash', [...command, ...ORDER, '--json', '--verbose']);
  const ended = await bash.ended;
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(readDocument(shapes.transfer, ended.stdout)).toMatchObject({ state: 'executed' });
});
