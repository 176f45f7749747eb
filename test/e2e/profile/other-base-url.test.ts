import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { readError } from '../support/errors.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { type Environment, keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
const inTerminal = terminalOf(operator);
const OTHER = 'https://psd2.other.example/';
let server: Server;
/** The base URL of the login. */
let present: string;

async function baseUrlIn(env: Environment): Promise<string> {
  const shown = await operator.psd2(['profile', 'show', '--json'], { env });
  return JSON.parse(shown.stdout).settings.baseUrl.value;
}

beforeAll(async () => {
  server = startServer();
  server.create('bank');
  present = await baseUrlIn({});
});
afterAll(() => server.stop());

/** The environment of a machine with the login, in files or in a database. */
async function machine(home: string): Promise<Environment> {
  const PSD2_CONFIG_DIR = join(operator.folder, home);
  rmSync(PSD2_CONFIG_DIR, { recursive: true, force: true });
  cpSync(operator.config, PSD2_CONFIG_DIR, { recursive: true });
  if (home === 'files') return { PSD2_CONFIG_DIR };
  const env = { PSD2_CONFIG_DIR, PSD2_STORE: server.url('bank'), PSD2_STORE_PLAIN_TOKENS: '1' };
  server.sql('bank', 'drop schema if exists psd2 cascade');
  await operator.psd2(['store', 'init', '--plain-tokens'], { env });
  const copied = await operator.psd2(['store', 'copy', '--from', 'files', '--to', 'postgres'], { env });
  expect(copied, copied.stderr).toMatchObject({ code: 0 });
  return env;
}

describe.each(['files', 'postgres'])('logins at another base URL, with %s', (home) => {
  const said = () => `1 login of this profile belongs to ${new URL(present).href}`;

  it('psd2 says that the logins belong to the other base URL, and prints the same on stdout', async () => {
    const env = { ...(await machine(home)), PSD2_BASE_URL: OTHER };
    const run = (...args: string[]) => operator.psd2([...args, '--json'], { env });
    for (const args of [
      ['auth', 'list'],
      ['expiring', '--within', '0d'],
    ]) {
      const ended = await run(...args);
      expect(ended).toMatchObject({ code: 0, stdout: '[]\n' });
      expect(ended.stderr).toContain(`{"event":"warning","message":"${said()}.`);
    }
    for (const args of [
      ['auth', 'status'],
      ['accounts', 'list'],
    ]) {
      expect(readError(await run(...args))).toMatchObject({
        code: 'not_logged_in',
        hint: expect.stringContaining(said()),
      });
    }
    const { checks } = shapes.checks.parse(JSON.parse((await run('doctor', '--timeout', '1')).stdout));
    expect(checks.find(({ name }) => name === 'token')?.detail).toContain(said());
    // At the base URL of the login, nothing is said.
    const there = await operator.psd2(['auth', 'list', '--json'], {
      env: { ...env, PSD2_BASE_URL: present },
    });
    expect(there).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(there.stdout)).toHaveLength(1);
  });

  it('psd2 profile set and profile add ask before the base URL changes', async () => {
    const env = await machine(home);
    const set = ['profile', 'set', 'sandbox', '--base-url', OTHER, '--json'];
    const refused = await operator.psd2(set, { env });
    expect(readError(refused)).toMatchObject({
      code: 'confirmation_needed',
      exitCode: 2,
      message: `1 login of the profile sandbox belongs to ${new URL(present).href}, and psd2 cannot ask without a terminal`,
    });
    expect(await baseUrlIn(env)).toBe(present);
    const asked = await inTerminal(['profile', 'set', 'sandbox', '--base-url', OTHER], { env });
    await asked.prints(
      /1 login of the profile sandbox belongs to .+ but cannot use it at\s+https:\/\/psd2\.other/s,
    );
    await asked.prints(/Change the base URL\?/);
    await asked.write('n\r');
    expect(await asked.ended).toMatchObject({ code: 2 });
    expect(await baseUrlIn(env)).toBe(present);
    expect(await operator.psd2([...set, '--yes'], { env })).toMatchObject({ code: 0 });
    expect(await baseUrlIn(env)).toBe(OTHER);
    // There is no login at the other one, so psd2 does not ask on the way back.
    const back = ['profile', 'set', 'sandbox', '--base-url', present, '--json'];
    expect(await operator.psd2(back, { env })).toMatchObject({ code: 0 });
    // Other settings need no question.
    const amount = ['profile', 'set', 'sandbox', '--max-amount', '5.00', '--json'];
    expect(await operator.psd2(amount, { env })).toMatchObject({ code: 0 });
  });

  it('psd2 auth move takes the logins along to a new address of the same bank, after a yes', async () => {
    const env = await machine(home);
    const moving = (...more: string[]) => ['auth', 'move', ...more, '--json'];
    const run = (...args: string[]) => operator.psd2(args, { env });
    const from = ['--from', present];
    expect(readError(await run(...moving()))).toMatchObject({
      message: '--from is missing',
      hint: `All logins and consents of the profile belong to its base URL ${new URL(present).href}.`,
    });
    expect(readError(await run(...moving(...from)))).toMatchObject({ exitCode: 2 });
    // The sandbox answers at both names.
    const local = present.replace('127.0.0.1', 'localhost');
    expect(await run('profile', 'set', 'sandbox', '--base-url', local, '--yes', '--json')).toMatchObject({
      code: 0,
    });
    expect(readError(await run('accounts', 'list', '--json')).hint).toContain('psd2 auth move');
    expect(readError(await run(...moving()))).toMatchObject({
      hint: `The profile has logins or consents at: ${new URL(present).href}.`,
    });
    for (const wrong of ['http://127.0.0.1', OTHER, 'nonsense'])
      expect(readError(await run(...moving('--from', wrong, '--yes')))).toMatchObject({
        code: 'usage',
        exitCode: 2,
      });
    expect(readError(await run(...moving(...from)))).toMatchObject({
      code: 'confirmation_needed',
      exitCode: 2,
      message: `psd2 would move 1 login of the profile sandbox from ${new URL(present).href} to ${new URL(local).href}, and psd2 cannot ask without a terminal`,
    });
    expect(readError(await run('auth', 'token', '--json'))).toMatchObject({ exitCode: 4 });
    const moved = await run(...moving(...from, '--yes'));
    expect(moved, moved.stderr).toMatchObject({ code: 0, stderr: '' });
    const result = { profile: 'sandbox', from: new URL(present).href, to: new URL(local).href };
    expect(JSON.parse(moved.stdout)).toEqual({ ...result, logins: 1, customers: 0 });
    const again = await run(...moving(...from));
    expect(JSON.parse(again.stdout)).toEqual({ ...result, logins: 0, customers: 0 });
    const listed = await run('accounts', 'list', '--json');
    expect(listed, listed.stderr).toMatchObject({ code: 0 });
    expect((await run('audit', '--json')).stdout).toContain('logins moved to the base URL');
  });
});
