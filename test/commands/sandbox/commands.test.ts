import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import * as z from 'zod';
import { doorBankFile } from '../../../src/sandbox/folder/door-bank-file.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server/server.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { cellsIn, type How, openCommand, ranIn } from '../command.ts';
import { failureOf } from '../failure.ts';
import { settingsFor } from '../operator.ts';

const temporary = temporaryFolder();
const folder = newConfigFolder(temporary);
const NOW = '2026-11-25T10:00:00.000Z';

let sandbox: Sandbox;
beforeAll(async () => {
  await cp(inject('registration'), folder.sandbox, { recursive: true });
  sandbox = await startSandbox({ folder: folder.sandbox, port: 0 });
});
afterAll(() => sandbox.close());

/** Runs `psd2 sandbox …` beside the sandbox. */
const run = (words: string[], how?: How, where = folder) =>
  ranIn(openCommand(where, NOW, how), 'sandbox', ...words);
const table = (...words: string[]) => run(words, { format: 'table' });
const rows = async (...words: string[]) => cellsIn((await table(...words)).printed);

const NOT_RUNNING = {
  ...{ code: 'sandbox', message: 'The sandbox is not running', hint: 'Start it with:' },
  next: [['sandbox', 'start', '--detach']],
};

it.each([
  ...['status', 'clock', 'console', 'env', 'env --interface nextgenpsd2'],
  ...['fault list', 'fault add delay=5', 'fault clear'],
  ...['customer add dora', 'customer reset anna', 'customer revoke-consent anna'],
  'customer tan anna',
])('sandbox %s needs a sandbox that runs', async (words) => {
  const failure = await failureOf(run(words.split(' '), {}, newConfigFolder(temporary)));
  expect(failure).toEqual({ ...NOT_RUNNING, exitCode: 3 });
});

it.each([
  ['stop', { stopped: false }],
  ['reset', { reset: false }],
])('sandbox %s without one that runs is no error', async (verb, data) => {
  const nowhere = newConfigFolder(temporary);
  expect((await run([verb], {}, nowhere)).data).toEqual(data);
  const told = { printed: '', said: 'The sandbox is not running.\n' };
  expect(await run([verb], { format: 'table' }, nowhere)).toMatchObject(told);
});

describe('status and time', () => {
  const addresses = () => ({
    ...{ baseUrl: sandbox.baseUrl, customerSiteUrl: sandbox.customerSiteUrl },
    ...{ consoleUrl: `${sandbox.customerSiteUrl}/console`, pid: process.pid, profile: 'sandbox' },
  });

  it('the status has the addresses and the time of the bank', async () => {
    const { data } = await run(['status']);
    expect(data).toEqual({ ...addresses(), time: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(await rows('status')).toEqual([
      ['Interface', sandbox.baseUrl],
      ['Customer site', sandbox.customerSiteUrl],
      ['Console', `${sandbox.customerSiteUrl}/console`],
      ['Process', String(process.pid)],
      ['Profile', 'sandbox'],
      ["Bank's time", expect.stringMatching(/^\d{4}-.*Z$/)],
    ]);
  });

  it('the time moves forward by steps or to a time, and a reset takes it back', async () => {
    const ahead = z.object({ time: z.string(), aheadSeconds: z.int() });
    const clock = async (...words: string[]) => ahead.parse((await run(['clock', ...words])).data);
    expect((await clock()).aheadSeconds).toBe(0);
    expect((await table('clock')).printed).toMatch(/^Bank's time\t.*\nAhead\tnot\n$/);
    expect((await clock('+90d')).aheadSeconds).toBe(90 * 86_400);
    expect((await clock('+1h')).aheadSeconds).toBe(90 * 86_400 + 3600);
    expect((await clock('+1m')).aheadSeconds).toBe(90 * 86_400 + 3660);
    expect((await clock('+1s')).aheadSeconds).toBe(90 * 86_400 + 3661);
    // Of the units the two largest are enough.
    expect((await table('clock')).printed).toContain('Ahead\t90 d 1 h\n');
    const later = '2031-01-01T10:00:00+01:00';
    expect((await clock(later)).time.slice(0, 16)).toBe('2031-01-01T09:00');
    const { data, said } = await run(['reset']);
    expect([data, said]).toEqual([{ reset: true }, '']);
    expect((await clock()).aheadSeconds).toBe(0);
    // Ten years are the most.
    expect((await clock('+3650d')).aheadSeconds).toBe(3650 * 86_400);
    await run(['reset']);
    await run(['clock', '+90s']);
    expect((await table('clock')).printed).toContain('Ahead\t1 min 30 s\n');
    expect((await table('reset')).said.split('\n')).toEqual([
      `The sandbox at ${sandbox.baseUrl} is reset to its start.`,
      ...['The stored logins have ended. Log in again: psd2 --profile sandbox auth login', ''],
    ]);
  });

  const hint =
    'Write how far to move it, at most +3650d: +90d, +12h, +30m, +10s. Or a time with its zone: 2027-12-24T09:00:00+01:00.';
  it.each(['+0d', '+3651d', '+1w', '5d', '+5days', 'x+5d', '+d', '+1.5d', '2027-12-24T09:00:00'])(
    '%s is no time',
    async (time) => {
      expect(await failureOf(run(['clock', time]))).toEqual({
        ...{ code: 'usage', exitCode: 2, message: `"${time}" is not a time of the bank`, hint },
      });
    },
  );

  it('a step back is none, and what is no step is an option', async () => {
    expect(await failureOf(run(['clock', '-5d']))).toEqual({
      ...{ code: 'usage', exitCode: 2, message: "The bank's time only moves forward" },
      hint: 'A reset takes the bank back to its start, and its time to the real one:',
      next: [['sandbox', 'reset']],
    });
    for (const option of ['-5x', '--fast'])
      expect((await failureOf(run(['clock', option]))).message).toBe(`Unknown option '${option}'`);
    expect(await failureOf(run(['clock', '2020-01-01T00:00:00Z']))).toMatchObject({ code: 'sandbox' });
    expect((await run(['clock'])).data).toMatchObject({ aheadSeconds: 0 });
  });
});

describe('faults', () => {
  beforeEach(() => run(['fault', 'clear']));

  it('a fault has its conditions, and the list what it has done', async () => {
    const words = ['fault', 'add', 'status=503', '--on', 'execute', '--times', '2', '--after', '1'];
    const { data, said } = await run([...words, '--probability', '0.25', '--seed', 'x', '--for', '2h']);
    const known = {
      ...{ fault: 'status=503', on: 'execute', customer: null, until: expect.stringMatching(/^\d{4}-/) },
      ...{ times: 2, after: 1, probability: 0.25, seed: 'x', seen: 0, fired: 0, id: expect.any(Number) },
    };
    expect(data).toEqual(known);
    expect(said).toBe('Calls succeed again after: psd2 sandbox fault clear\n');
    expect((await run(['fault', 'list'])).data).toEqual([known]);
    const [row = []] = await rows('fault', 'list');
    expect(row.slice(1)).toEqual([
      ...['status=503', 'execute', 'everyone'],
      expect.stringMatching(/^after 1, 0\.25 of them \(seed x\), 2 times, until \d{4}-.*$/),
      ...['0', '0'],
    ]);
    const drawn = await run(['fault', 'list'], { format: 'table', columns: 200 });
    expect(drawn.printed.split('\n')[0]?.trim().split(/ {2,}/)).toEqual([
      ...['ID', 'FAULT', 'ON', 'CUSTOMER', 'WHEN', 'CALLS', 'APPLIED'],
    ]);
  });

  it('a fault without conditions is for every call and everyone, one with --customer for one', async () => {
    await run(['fault', 'add', 'delay=5']);
    const bruno = { globals: { customer: 'bruno' } };
    // The variable says for whom psd2 acts.
    await run(['fault', 'add', 'delay=6'], bruno);
    await run(['fault', 'add', 'delay=7', '--customer', 'bruno'], bruno);
    const nobody = { globals: { customer: 'nobody' } };
    const failure = await failureOf(run(['fault', 'add', 'delay=8', '--customer', 'nobody'], nobody));
    expect(failure.code).toBe('sandbox');
    expect((await rows('fault', 'list')).map((row) => row.slice(1, 5))).toEqual([
      ['delay=5', 'every call', 'everyone', 'always'],
      ['delay=6', 'every call', 'everyone', 'always'],
      ['delay=7', 'every call', 'bruno', 'always'],
    ]);
  });

  it('one is cleared by its id, the second time it is not there, and all without an id', async () => {
    await run(['fault', 'add', 'delay=5']);
    await run(['fault', 'add', 'delay=6']);
    const faults = z.array(z.looseObject({ id: z.int() })).parse((await run(['fault', 'list'])).data);
    const id = String(faults[0]?.id);
    expect((await run(['fault', 'clear', id])).data).toEqual({ cleared: 1 });
    expect(await failureOf(run(['fault', 'clear', id]))).toEqual({
      ...{ code: 'usage', exitCode: 2, message: `There is no fault ${id}`, hint: 'See the faults with:' },
      next: [['sandbox', 'fault', 'list']],
    });
    expect((await table('fault', 'clear')).said).toBe('Faults cleared: 1.\n');
    expect((await run(['fault', 'clear'])).data).toEqual({ cleared: 0 });
    expect((await table('fault', 'list')).said).toBe('There are no faults.\n');
  });

  it('the limits themselves are allowed', async () => {
    const add = (words: string) => run(['fault', 'add', 'delay=5', ...words.split(' ')]);
    await add('--times 1 --after 0 --probability 1 --seed ');
    await run(['fault', 'add', 'delay=5', '--probability', '1.0', '--for', '365d', '--on', 'GET /private/*']);
    await add('--probability .5 --seed x');
    expect((await run(['fault', 'list'])).data).toMatchObject([
      { times: 1, after: 0, probability: 1, until: null },
      { times: null, after: 0, probability: 1, on: 'GET /private/*', until: expect.any(String) },
      { probability: 0.5, seed: 'x' },
    ]);
    const conditions = (await rows('fault', 'list')).map((row) => row[4]);
    expect(conditions).toEqual([
      '1 times',
      expect.stringMatching(/^always, until \d{4}-/),
      '0.5 of them (seed x), always',
    ]);
  });

  const A_SHARE = 'For example --probability 0.25.';
  it.each<[string[], RegExp, unknown?]>([
    [
      ['nonsense'],
      /^There is no fault "nonsense"$/,
      expect.stringMatching(/^The faults are .*clock=<minutes>/),
    ],
    [['delay=soon'], /^The fault delay needs its milliseconds, .* 1 to 600000$/, 'For example delay=500.'],
    [['firewall=1'], /^The fault firewall has no value$/, 'Write firewall alone.'],
    [['delay=5', '--on', 'nothing'], /nothing/, expect.stringMatching(/^Use authorize, token, .*execute/)],
    [['delay=5', '--seed', 'x'], /^--seed needs --probability$/],
    [['delay=5', '--seed', '', '--times', '1'], /^--seed needs --probability$/],
    [['delay=5', '--on', ''], /./],
    [[''], /./],
    [['delay=5', '--times', '0'], /^--times "0" is not a whole number from 1$/],
    [['delay=5', '--after', '-1'], /^--after "-1" is not a whole number from 0$/],
    [
      ['delay=5', '--probability', '0'],
      /^--probability "0" is not a decimal above 0 and at most 1$/,
      A_SHARE,
    ],
    [['delay=5', '--probability', '0.0'], /^--probability "0.0" is not a decimal/, A_SHARE],
    [['delay=5', '--probability', '00.5'], /^--probability "00.5" is not a decimal/, A_SHARE],
    [['delay=5', '--probability', '1.'], /^--probability "1." is not a decimal/, A_SHARE],
    [['delay=5', '--probability', '2'], /^--probability "2" is not a decimal/, A_SHARE],
    [['delay=5', '--probability', '0.1234567890'], /^--probability "0.1234567890" is not/, A_SHARE],
    [['delay=5', '--probability', '1.1'], /^--probability "1.1" is not a decimal above 0/, A_SHARE],
    [['delay=5', '--probability', ''], /^--probability "" is not a decimal above 0/, A_SHARE],
    [['delay=5', '--for', '366d'], /^--for "366d"/],
    [['delay=5', '--for', 'long'], /^--for "long"/],
  ])('%j adds nothing', async (words, message, hint) => {
    expect(await failureOf(run(['fault', 'add', ...words]))).toMatchObject({
      ...{ code: 'usage', exitCode: 2, message: expect.stringMatching(message) },
      ...(hint !== undefined && { hint }),
    });
    expect((await run(['fault', 'list'])).data).toEqual([]);
  });

  it.each(['0', 'all', ''])('fault clear %j names no fault', async (id) => {
    expect(await failureOf(run(['fault', 'clear', id]))).toEqual({
      ...{ code: 'usage', exitCode: 2 },
      message: `The id ${JSON.stringify(id)} is not a whole number from 1`,
    });
  });
});

describe('customers', () => {
  const dora = {
    ...{ user: 'dora', password: expect.any(String), customerId: expect.stringMatching(/^\d+$/) },
    ...{ name: expect.any(String), accounts: [expect.any(String)] },
  };

  it('one is added once, and reset by the user or the id', async () => {
    const { data } = await run(['customer', 'add', 'dora']);
    expect(data).toEqual(dora);
    expect((await failureOf(run(['customer', 'add', 'dora']))).code).toBe('sandbox');
    for (const user of ['', ' ', 'Dora', '1dora', 'a'.repeat(41)])
      expect((await failureOf(run(['customer', 'add', user]))).code).toBe('sandbox');
    const { customerId } = z.looseObject({ customerId: z.string() }).parse(data);
    for (const name of ['dora', customerId])
      expect((await run(['customer', 'reset', name])).data).toEqual(data);
    expect((await failureOf(run(['customer', 'reset', 'nobody']))).code).toBe('sandbox');
  });

  it('a person reads what a new customer logs in with', async () => {
    const emil = await rows('customer', 'add', 'emil');
    expect(emil).toEqual([
      ['User', 'emil'],
      ['Password', 'emil-sandbox'],
      ['Customer', expect.stringMatching(/^\d{7}$/)],
      ['Name', expect.any(String)],
      ['Accounts', expect.stringMatching(/^\d{10}$/)],
    ]);
    const anna = await rows('customer', 'reset', 'anna');
    expect(anna.map(([title]) => title)).toEqual(emil.map(([title]) => title));
    expect(anna.at(-1)).toEqual(['Accounts', expect.stringMatching(/^\d{10}(, \d{10})+$/)]);
  });

  it.each(['', '../x', 'no body'])('%j is no customer', async (name) => {
    for (const verb of ['reset', 'revoke-consent'])
      expect(await failureOf(run(['customer', verb, name]))).toMatchObject({ code: 'sandbox', exitCode: 3 });
  });

  it('a customer without a consent has none to withdraw', async () => {
    expect((await run(['customer', 'revoke-consent', 'anna'])).data).toEqual({ revoked: 0 });
    expect((await table('customer', 'revoke-consent', 'anna')).said).toBe('Consents revoked: 0.\n');
  });
});

describe('psd2 sandbox env', () => {
  it('has the variables of a profile for the first door, and as lines for a shell', async () => {
    const { data } = await run(['env']);
    expect(data).toEqual({ ...settingsFor({ sandbox }), PSD2_ENVIRONMENT: 'sandbox' });
    const lines = (await table('env')).printed.split('\n');
    expect(lines).toContain(`export PSD2_BASE_URL=${sandbox.baseUrl}`);
    expect(lines.filter((line) => line !== '' && !/^export PSD2_[A-Z_]+=./.test(line))).toEqual([]);
    const names = lines.flatMap((line) => /^export (\w+)=/.exec(line)?.[1] ?? []);
    expect(names.toSorted()).toEqual(
      Object.keys(settingsFor({ sandbox })).concat('PSD2_ENVIRONMENT').toSorted(),
    );
  });

  it('has those of the second door', async () => {
    const { data } = await run(['env', '--interface', 'nextgenpsd2']);
    const common = Object.entries(settingsFor({ sandbox })).filter(([name]) =>
      /^PSD2_(CLIENT_SECRET|QWAC_.*|QSEAL_.*|CA)$/.test(name),
    );
    expect(data).toEqual({
      ...{ PSD2_BANK: doorBankFile(folder.sandbox), PSD2_BASE_URL: `${sandbox.baseUrl}/nextgenpsd2` },
      ...Object.fromEntries(common),
    });
  });

  it('quotes for a shell what needs it', async () => {
    await mkdir(join(temporary, "it's odd"), { recursive: true });
    const odd = newConfigFolder(join(temporary, "it's odd"));
    await cp(folder.sandbox, odd.sandbox, { recursive: true });
    const { printed } = await run(['env'], { format: 'table' }, odd);
    expect(printed).toContain(`export PSD2_CA='${odd.sandbox.replace("'", "'\\''")}/`);
  });

  it.each(['', 'cb2', 'CB'])('there is no door %j', async (door) => {
    await expect(run(['env', '--interface', door])).rejects.toMatchObject({
      code: 'commander.invalidArgument',
    });
  });
});

const address = () => `${sandbox.customerSiteUrl}/console`;

const MISSING = { PSD2_BROWSER: '/does/not/exist' };
const withBrowser = (browser: string): How => ({ format: 'table', env: { PSD2_BROWSER: browser } });
const QUIET: How = { format: 'table', globals: { browser: false } };
it.each<[string, How, string, string]>([
  ['without a browser a person gets the address', withBrowser('none'), 'alone', ''],
  ['with --no-browser too', QUIET, 'alone', ''],
  ['--no-browser counts more than the browser that is set', { ...QUIET, env: MISSING }, 'alone', ''],
  ['a program gets it with its name', { env: { PSD2_BROWSER: 'none' } }, 'json', ''],
  ['a browser opens it', withBrowser('true'), '', 'opening'],
  ['a browser opens it for a program too', { env: { BROWSER: 'true' } }, 'json', ''],
  ['a browser that does not start', withBrowser('/does/not/exist'), '', 'opening failed'],
  ['one that does not start, for a program', { env: { ...MISSING, BROWSER: 'true' } }, 'json', 'failed'],
])('psd2 sandbox console: %s', async (_, how, prints, says) => {
  const { printed, said } = await run(['console'], how);
  expect(printed).toBe({ json: `{"url":"${address()}"}\n`, alone: `${address()}\n` }[prints] ?? '');
  const failed = `The browser command "/does/not/exist" could not be started: there is no such program. Open the address by hand: ${address()}\n`;
  expect(said).toBe(
    [
      ...(says.includes('opening') ? [`Opening in the browser:\n  ${address()}\n`] : []),
      ...(says.includes('failed') ? [failed] : []),
    ].join(''),
  );
});

it('psd2 sandbox start refuses a second one beside one that runs', async () => {
  expect(await failureOf(run(['start', '--detach']))).toMatchObject({
    ...{ code: 'sandbox', message: `The sandbox is already running at ${sandbox.baseUrl}` },
    ...{ hint: 'Use that one, or stop it with:', next: [['sandbox', 'stop']] },
  });
});
