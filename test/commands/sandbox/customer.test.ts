import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { IDENTITY_PATH, recordRunning } from '../../../src/sandbox/folder/running.ts';
import { type FakeBank, fakeBank, RESOURCE, type Served, serve, serveSite } from '../../sandbox/fake-bank.ts';
import { type How, openCommand, ranIn, runIn, useFolder } from '../command.ts';
import { failureIfAny, failureOf } from '../failure.ts';

const NOW = '2026-11-25T10:00:00.000Z';

const folder = useFolder();
let bank: FakeBank;
let callback: Served;
let site: Served;
beforeEach(async () => {
  callback = await serve((_, response) => response.end('<title>Back</title>'));
  bank = fakeBank(`${callback.origin}/callback`);
  site = await serveSite(bank);
});
afterEach(() => Promise.all([site.close(), callback.close()]));

/** Runs `psd2 sandbox customer …`. */
const play = (words: string[], how?: How) =>
  ranIn(openCommand(folder, NOW, how), 'sandbox', 'customer', ...words);
const login = () => `${site.origin}/login?request=L1`;

describe('psd2 sandbox customer', () => {
  it('prints what the customer did, and where the browser ended', async () => {
    const pages = ['Log in · Sandbox Bank', 'Allow access · Sandbox Bank', 'Back'];
    const finalUrl = `${callback.origin}/callback`;
    expect(await play([login()])).toMatchObject({ data: { pages, finalUrl }, said: '' });
    expect(bank.decisions).toEqual(['allow L1 1048262']);
  });

  it('a person reads one line for each page, also with the name of the standard command', async () => {
    const words = ['play', `${site.origin}/sca-authorize/?resourceId=${RESOURCE}`];
    expect(await play(words, { format: 'table' })).toMatchObject({
      printed: '',
      said: `Authorise an instant payment · Sandbox Bank\nBack\nBack at ${callback.origin}/callback\n`,
    });
    expect(bank.decisions).toEqual([`approve ${RESOURCE}`]);
  });

  it.each([
    [['--user', 'bruno'], 'allow L1 2073915'],
    [['--refuse'], 'refuse L1'],
    [['--refuse', '--user', 'bruno'], 'refuse L1'],
  ])('%j decides otherwise', async (words, decision) => {
    await play([...words, login()]);
    expect(bank.decisions).toEqual([decision]);
  });

  it.each(['nobody', ''])('the user %j cannot log in', async (user) => {
    expect(await failureOf(play(['--user', user, login()]))).toEqual({
      ...{ code: 'sandbox', exitCode: 3, message: `The login page shows no password for ${user}` },
      hint: 'It has these users: anna, bruno.',
    });
    expect(bank.decisions).toEqual([]);
  });

  it.each(['', '/login'])('%j is no address', async (url) => {
    const message = 'The sandbox customer needs an absolute URL to open';
    expect(await failureOf(play([url]))).toEqual({ code: 'sandbox', exitCode: 3, message });
  });

  it('an interruption ends it', async () => {
    const reason = new TypeError('interrupted');
    const { context } = openCommand(folder, NOW, {
      changes: ({ world }) => ({ world: { ...world, signal: AbortSignal.abort(reason) } }),
    });
    await expect(runIn(context, 'sandbox', 'customer', login())).rejects.toBe(reason);
    expect(bank.decisions).toEqual([]);
  });
});

describe('beside a sandbox that runs', () => {
  const OUTSIDE = 'https://bank.example:8444';
  const BASE_URL = 'https://bank.example:8443';
  let near: Served;
  /** What psd2 asked the sandbox to do, and what it says: the last answer also to what comes after. */
  const controls: string[] = [];
  let answers: unknown[] = [];
  beforeEach(() => void controls.splice(0));
  /** The sandbox of this folder runs in a process, and its site says so. Others have its address. */
  async function runBesides(others: { outsideUrl?: string }, pid = process.pid): Promise<void> {
    near = await serve((request, response) => {
      if (request.url === IDENTITY_PATH) response.end(JSON.stringify({ pid, startedAt: NOW }));
      else if (request.url?.startsWith('/control/')) {
        controls.push(`${request.method} ${request.url} ${request.headers.authorization}`);
        response.end(JSON.stringify(answers.length > 1 ? answers.shift() : answers[0]));
      } else response.writeHead(302, { Location: `${site.origin}${request.url}` }).end();
    });
    mkdirSync(folder.sandbox, { recursive: true, mode: 0o700 });
    const addresses = { baseUrl: BASE_URL, customerSiteUrl: near.origin, ...others };
    await recordRunning(folder.sandbox, { pid, ...addresses, startedAt: NOW, controlToken: 'secret' });
  }
  afterEach(() => near.close());

  it("that has another name for others, the console is at this computer's address", async () => {
    await runBesides({ outsideUrl: OUTSIDE });
    const { data } = await ranIn(openCommand(folder, NOW), 'sandbox', 'console', '--no-browser');
    expect(data).toEqual({ url: `${near.origin}/console` });
  });

  it('the customer of this computer opens its page here, with all of its address', async () => {
    await runBesides({ outsideUrl: OUTSIDE });
    const { data } = await play([`${OUTSIDE}/login?request=L1`]);
    // The page at the other host is the end of the way.
    expect(data).toEqual({ pages: ['Log in · Sandbox Bank'], finalUrl: `${site.origin}/login` });
  });

  it.each([
    ['another site', { outsideUrl: OUTSIDE }],
    ['a name that only begins alike', { outsideUrl: 'http://127.0.0.1' }],
    ['a sandbox without a name', {}],
  ])('the page of %s is opened as it is', async (_, addresses) => {
    await runBesides(addresses);
    await play([login()]);
    expect(bank.decisions).toEqual(['allow L1 1048262']);
  });

  it.each([
    ['json', '{"stopped":true}\n', ''],
    ['table', '', `The sandbox at ${BASE_URL} has stopped.\n`],
  ] as const)('sandbox stop ends its process, and the record of it: %s', async (format, printed, said) => {
    const sleeping = spawn('sleep', ['600']);
    onTestFinished(() => void sleeping.kill('SIGKILL'));
    const ended = once(sleeping, 'exit');
    await runBesides({}, sleeping.pid);
    const command = openCommand(folder, NOW, { format });
    expect(await ranIn(command, 'sandbox', 'stop')).toMatchObject({ printed, said });
    expect([await ended, readdirSync(folder.sandbox)]).toEqual([[null, 'SIGTERM'], []]);
  });

  const TAN = { method: 'SMS', text: 'Your TAN is 123456', tan: '123456' };
  /** Waits for the TAN of a user. @returns also how long psd2 slept each time */
  async function readTan(user: string, how: How = {}) {
    await runBesides({});
    const slept: number[] = [];
    const changes: How['changes'] = ({ world }) => ({
      world: { ...world, sleep: async (milliseconds) => void slept.push(milliseconds) },
    });
    const command = openCommand(folder, NOW, { ...how, changes });
    const failure = await failureIfAny(runIn(command.context, 'sandbox', 'customer', 'tan', user));
    return { failure, slept, printed: command.printed(), said: command.said() };
  }

  it.each<[string, unknown[], How, number[], string]>([
    ['that is there', [TAN], {}, [], `${JSON.stringify(TAN)}\n`],
    ['alone, for a shell', [TAN], { format: 'table' }, [], '123456\n'],
    ['that comes after a while', [null, null, TAN], { format: 'table' }, [200, 200], '123456\n'],
  ])('sandbox customer tan prints the TAN %s', async (_, given, how, sleeps, printed) => {
    answers = [...given];
    expect(await readTan('anna', how)).toEqual({ failure: null, slept: sleeps, printed, said: '' });
    const call = 'POST /control/customers/anna/read-tan Bearer secret';
    expect(controls).toEqual(given.map(() => call));
  });

  it('sandbox customer tan waits for a minute, and then says when the bank sends one', async () => {
    answers = [null];
    const { failure, slept, printed } = await readTan('no/body');
    expect(failure).toEqual({
      ...{ code: 'sandbox', exitCode: 3, message: 'No TAN came for no/body within a minute' },
      hint: 'The bank sends one once the PIN was right and a method is chosen. The console shows the devices.',
    });
    expect([slept, printed]).toEqual([Array(300).fill(200), '']);
    expect(new Set(controls)).toEqual(new Set(['POST /control/customers/no%2Fbody/read-tan Bearer secret']));
  });

  it.each([
    ['reset', 'reset', { user: 'x', password: 'p', customerId: '1', name: 'X', accounts: [] }],
    ['revoke-consent', 'revoke-consents', { revoked: 2 }],
  ])('sandbox customer %s names a customer who may have any sign', async (verb, path, answer) => {
    await runBesides({});
    answers = [answer];
    expect((await play([verb, 'a b/?c'])).data).toEqual(answer);
    expect(controls).toEqual([`POST /control/customers/a%20b%2F%3Fc/${path} Bearer secret`]);
  });

  it.each(['odd', join('certificates', 'odd')])('others must not read its file %s', async (name) => {
    await runBesides({});
    mkdirSync(join(folder.sandbox, 'certificates'), { mode: 0o700 });
    const path = join(folder.sandbox, name);
    writeFileSync(path, '', { mode: 0o600 });
    await ranIn(openCommand(folder, NOW), 'sandbox', 'console', '--no-browser');
    chmodSync(path, 0o644);
    const failure = await failureOf(ranIn(openCommand(folder, NOW), 'sandbox', 'console', '--no-browser'));
    expect(failure).toMatchObject({ code: 'config', message: `${path} can be read by others (mode 0644)` });
  });

  it.each([
    [0, 'not'],
    [1, '1 s'],
    [59, '59 s'],
    [60, '1 min'],
    [61, '1 min 1 s'],
    [3599, '59 min 59 s'],
    [3600, '1 h'],
    [3661, '1 h 1 min'],
    [86_399, '23 h 59 min'],
    [86_400, '1 d'],
    [86_401, '1 d 1 s'],
    [90 * 86_400 + 3661, '90 d 1 h'],
  ])('a bank that is %i s ahead is ahead by %s', async (aheadSeconds, ahead) => {
    await runBesides({});
    answers = [{ time: NOW, aheadSeconds }];
    const { printed } = await ranIn(openCommand(folder, NOW, { format: 'table' }), 'sandbox', 'clock');
    expect(printed).toBe(`Bank's time\t${NOW}\nAhead\t${ahead}\n`);
  });

  it('the status names the address for others beside the console of this computer', async () => {
    await runBesides({ outsideUrl: OUTSIDE });
    answers = [{ time: NOW, aheadSeconds: 0 }];
    expect((await ranIn(openCommand(folder, NOW), 'sandbox', 'status')).data).toEqual({
      ...{ baseUrl: BASE_URL, customerSiteUrl: OUTSIDE, consoleUrl: `${near.origin}/console` },
      ...{ pid: process.pid, profile: 'sandbox', time: NOW },
    });
    expect(controls).toEqual(['GET /control/clock Bearer secret']);
  });
});
