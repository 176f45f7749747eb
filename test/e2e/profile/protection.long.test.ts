import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { terminalOf } from '../support/in-terminal.ts';
import { keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import { secretsIn } from '../support/secrets.ts';
import * as shapes from '../support/shapes.ts';
import { expectNoSecretIn, PASSPHRASE, useProfileCopies } from './profile-copies.ts';

const operator = keepRunning(useLoggedIn());
const { settings, original, copy, own, run, protect, token } = useProfileCopies(operator);

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

  it('at a terminal psd2 asks for the passphrase of the profile without echo', async () => {
    const config = copy();
    const inTerminal = (...args: string[]) => terminalOf(operator)(args, { env: own(config) });
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
});

it('psd2 profile add --protect never writes a secret in clear', async () => {
  const config = join(operator.folder, 'from-the-start');
  const env = { ...settings(), ...own(config, PASSPHRASE) };
  for (const args of [
    ['profile', 'add', 'bank', '--protect'],
    ['auth', 'login'],
  ]) {
    await operator.succeeds(args, { env });
    expect(secretsIn(config)).toEqual([]);
  }
  expect(await run(config, ['accounts', 'list'], PASSPHRASE)).toMatchObject({ code: 0 });
});
