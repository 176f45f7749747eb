import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sample } from '../../support/sample.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, PROGRAM, readDocument, useLoggedIn } from '../support/psd2.ts';
import { secretsIn } from '../support/secrets.ts';
import * as shapes from '../support/shapes.ts';
import { callsOf } from '../support/verbose.ts';
import {
  customerFile,
  everything,
  expectNoSecretIn,
  PASSPHRASE,
  protectedProfile,
  useProfileCopies,
} from './profile-copies.ts';

const operator = keepRunning(useLoggedIn());
const { settings, original, copy, protectedCopy, own, run, protect, token } = useProfileCopies(operator);

describe('a profile that is protected by a passphrase', () => {
  it('a protected profile has no token, secret or key in clear on the disk, and works as before', async () => {
    const config = copy();
    const secrets = secretsIn(config);
    await protect(config);
    expectNoSecretIn(config, secrets);
    const ended = await run(config, ['accounts', 'list', '--json'], PASSPHRASE);
    expect(ended.code, ended.stderr).toBe(0);
    expect(readDocument(shapes.accounts, ended.stdout)).toHaveLength(3);
    expect(await token(config)).toBe(await token(original()));
    // New secrets are encrypted too.
    for (const args of [
      ['auth', 'refresh'],
      ['auth', 'login'],
      ['auth', 'login', '--client-credentials'],
    ])
      expect(await run(config, args, PASSPHRASE)).toMatchObject({ code: 0 });
    expect(secretsIn(config)).toEqual([]);
    expect(await token(config)).not.toBe(await token(original()));
  });

  it('psd2 says that a profile is protected, and shows what is not secret without the passphrase', async () => {
    const config = copy();
    const shown = z.looseObject({ protected: z.string() });
    const show = async () => readDocument(shown, (await run(config, ['profile', 'show', '--json'])).stdout);
    expect((await show()).protected).toBe('no');
    await protect(config);
    expect(await show()).toMatchObject({
      protected: 'passphrase',
      settings: { clientSecret: { value: 'encrypted' }, qwacKey: { value: 'encrypted' } },
    });
    expect(await run(config, ['auth', 'status'])).toMatchObject({ code: 0 });
    expect(await run(config, ['transfer', 'list'])).toMatchObject({ code: 0 });
  });

  it.each(sample([[['cert', 'check']], [['cert', 'inspect']], [['doctor']]], 1))(
    'psd2 %j works with a protected profile',
    async (args) => {
      const config = copy();
      const before = await run(config, args);
      await protect(config);
      const { code, stdout, stderr } = await run(config, args, PASSPHRASE);
      expect(code, stderr).toBe(before.code);
      // The outputs differ in milliseconds, in days, and in which clock is ahead.
      const steady = (text: string) => text.replaceAll(/\d+|(ahead of|behind)(?= the bank)/g, '');
      expect(steady(stdout)).toBe(steady(before.stdout));
      expect(await run(config, args)).toMatchObject({ code: 3 });
    },
  );

  it.each([
    ['without the passphrase', undefined, 'is protected by a passphrase', 'PSD2_CONFIG_PASSPHRASE'],
    [
      'with a wrong passphrase',
      'guessed',
      'The passphrase does not open the profile bank',
      'PSD2_CONFIG_PASSPHRASE',
    ],
  ])('psd2 exits with 3 %s, before it sends or stores anything', async (_how, passphrase, message, hint) => {
    const config = await protectedCopy();
    expire(config);
    const before = everything(config);
    for (const args of [
      ['accounts', 'list'],
      ['auth', 'login'],
      ['auth', 'login', '--client-credentials'],
    ]) {
      const ended = await run(config, [...args, '--json', '--verbose'], passphrase);
      expect(readError(ended)).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      });
      expect(callsOf(ended)).toEqual([]);
    }
    expect(everything(config)).toBe(before);
  });

  it('psd2 refuses a protected profile if one of its files was changed, and names the file', async () => {
    const config = await protectedCopy();
    const changed = JSON.parse(readFileSync(customerFile(config), 'utf8'));
    changed.sealed.data = Buffer.from('something else').toString('base64');
    writeFileSync(customerFile(config), JSON.stringify(changed));
    expect(readError(await run(config, ['accounts', 'list', '--json'], PASSPHRASE))).toMatchObject({
      code: 'config',
      exitCode: 3,
      message: expect.stringContaining(`${customerFile(config)} is damaged`),
    });
  });

  it('ten commands at the same time renew the token of a protected profile once', async () => {
    const config = copy();
    await logInAnew(config);
    await protect(config);
    expire(config);
    const list = () => run(config, ['accounts', 'list', '--json', '--verbose'], PASSPHRASE);
    const ended = await Promise.all(Array.from({ length: 10 }, list));
    for (const { code, stdout, stderr } of ended) {
      expect(code, stderr).toBe(0);
      expect(readDocument(shapes.accounts, stdout)).toHaveLength(3);
    }
    const renewals = ended.flatMap(callsOf).filter(({ path }) => path === '/auth/oauth/v2/token');
    expect(renewals.map(({ method, outcome }) => [method, outcome])).toEqual([['POST', '200']]);
    expect(secretsIn(config)).toEqual([]);
  });

  it('psd2 profile unprotect writes the profile in clear only after a confirmation', async () => {
    const config = await protectedCopy();
    expect(readError(await run(config, ['profile', 'unprotect', '--json'], PASSPHRASE))).toMatchObject({
      code: 'confirmation_needed',
      exitCode: 2,
    });
    expect(readError(await run(config, ['profile', 'unprotect', '--yes', '--json']))).toMatchObject({
      exitCode: 3,
    });
    expect(secretsIn(config)).toEqual([]);
    const ended = await run(config, ['profile', 'unprotect', '--yes', '--json'], PASSPHRASE);
    expect(readDocument(protectedProfile, ended.stdout)).toEqual({ name: 'bank', protected: 'no' });
    expect(new Set(secretsIn(config))).toEqual(new Set(secretsIn(original())));
    expect(readdirSync(join(config, 'protection'))).toEqual([]);
    expect(await run(config, ['accounts', 'list'])).toMatchObject({ code: 0 });
  });

  it('at a terminal psd2 asks for the passphrase of the profile without echo', async () => {
    const config = copy();
    const inTerminal = (...args: string[]) =>
      operator.startProgram(
        'script',
        ['-qefc', [process.execPath, PROGRAM, ...args].join(' '), '/dev/null'],
        {
          ...own(config),
          TERM: 'xterm-256color',
        },
      );
    const asking = await inTerminal('profile', 'protect', '--passphrase');
    for (const question of [/New passphrase of the profile bank/, /Repeat the passphrase/]) {
      await asking.prints(question);
      await asking.write('typed by hand\r');
    }
    const asked = await asking.ended;
    expect(asked.code, asked.stdout).toBe(0);
    expect(secretsIn(config)).toEqual([]);
    const listing = await inTerminal('accounts', 'list');
    await listing.prints(/Passphrase of the profile bank/);
    await listing.write('typed by hand\r');
    const listed = await listing.ended;
    expect(listed.code, listed.stdout).toBe(0);
    expect(listed.stdout).toContain('0010482620');
    for (const { stdout } of [asked, listed])
      expect(stripVTControlCharacters(stdout)).not.toMatch(/typed|hand/);
  });

  it('psd2 profile protect takes a new passphrase from standard input', async () => {
    const config = await protectedCopy();
    const changed = await operator.psd2(['profile', 'protect', '--passphrase-stdin'], {
      env: own(config, PASSPHRASE),
      input: 'another one\n',
    });
    expect(changed, changed.stderr).toMatchObject({ code: 0 });
    expect(await run(config, ['accounts', 'list'], PASSPHRASE)).toMatchObject({ code: 3 });
    expect(await run(config, ['accounts', 'list'], 'another one')).toMatchObject({ code: 0 });
  });

  it('a profile stays protected if it is added again, but not after it was removed', async () => {
    const config = await protectedCopy();
    const add = (passphrase?: string) =>
      operator.psd2(['profile', 'add', 'bank', '--yes'], {
        env: { ...settings(), ...own(config, passphrase) },
      });
    expect(await add()).toMatchObject({ code: 3 });
    expect(await add(PASSPHRASE)).toMatchObject({ code: 0 });
    expect(secretsIn(config)).toEqual([]);
    expect(await run(config, ['profile', 'remove', 'bank', '--yes'])).toMatchObject({ code: 0 });
    expect(await add()).toMatchObject({ code: 0 });
    expect(secretsIn(config)).not.toEqual([]);
  });
});

describe('protection from the start', () => {
  it('psd2 profile add --protect never writes a secret in clear', async () => {
    const config = join(operator.folder, 'from-the-start');
    const env = { ...settings(), ...own(config, PASSPHRASE) };
    for (const args of [
      ['profile', 'add', 'bank', '--protect'],
      ['auth', 'login'],
    ]) {
      const ended = await operator.psd2(args, { env });
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
      expect(secretsIn(config)).toEqual([]);
    }
    expect(await run(config, ['accounts', 'list'], PASSPHRASE)).toMatchObject({ code: 0 });
  });

  it('psd2 profile add --protect stores nothing if it cannot keep the key', async () => {
    const config = join(operator.folder, 'nothing-kept');
    const env = { ...settings(), ...own(config) };
    const ended = await operator.psd2(['profile', 'add', 'bank', '--protect', '--json'], { env });
    expect(readError(ended)).toMatchObject({ code: 'config', exitCode: 3 });
    expect(secretsIn(config)).toEqual([]);
    expect(await run(config, ['profile', 'show'])).toMatchObject({ code: 3 });
  });

  it('psd2 profile protect also protects the tokens of the profile "env"', async () => {
    const config = join(operator.folder, 'environment');
    const env = { ...settings(), ...own(config, PASSPHRASE), PSD2_PROFILE: 'env' };
    for (const args of [
      ['profile', 'protect'],
      ['auth', 'login'],
      ['accounts', 'list'],
    ]) {
      const ended = await operator.psd2(args, { env });
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
    }
    expect(readFileSync(customerFile(config, 'env'), 'utf8')).toContain('aes-256-gcm');
    expect(secretsIn(config)).toEqual([]);
  });
});

/** A separate login for this folder, since all copies share one refresh token. */
async function logInAnew(config: string): Promise<void> {
  const ended = await run(config, ['auth', 'login']);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
}

/** Makes the access token end a minute ago. Its end is not secret, so it is not encrypted. */
function expire(config: string): void {
  const stored = JSON.parse(readFileSync(customerFile(config), 'utf8'));
  const accessTokenExpiresAt = new Date(Date.now() - 60_000).toISOString();
  writeFileSync(customerFile(config), JSON.stringify({ ...stored, accessTokenExpiresAt }));
}
