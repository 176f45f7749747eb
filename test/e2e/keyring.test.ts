import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { readError } from './errors.ts';
import { type Environment, readDocument, useLoggedIn } from './psd2.ts';
import { secretsIn } from './secrets.ts';
import * as shapes from './shapes.ts';

const operator = useLoggedIn();
const WAIT = { timeout: 20_000, interval: 50 };
const protectedProfile = z.strictObject({ name: z.string(), protected: z.string() });
const tokens = join(operator.config, 'tokens');
const tokensInClear = () => secretsIn(tokens);

/** A session bus with a gnome-keyring on it. */
async function openSession(options: string[], password: string): Promise<Environment> {
  const bus = await operator.startProgram('dbus-daemon', ['--session', '--nofork', '--print-address']);
  const [address] = await bus.prints(/^unix:\S+/m);
  const folder = mkdtempSync(join(operator.temporary, 'session-'));
  const env = { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: folder, XDG_DATA_HOME: folder };
  const keyring = await operator.startProgram(
    'gnome-keyring-daemon',
    ['--foreground', '--components=secrets', ...options],
    env,
  );
  await keyring.write(password);
  keyring.closeInput();
  await vi.waitFor(async () => {
    const asked = await askBus(env, 'DBus', 'NameHasOwner', 'string:org.freedesktop.secrets');
    expect(asked).toContain('boolean true');
  }, WAIT);
  return env;
}

/** Calls a method of a bus, or of the Secret Service on it. */
async function askBus(
  env: Environment,
  service: 'DBus' | 'secrets',
  method: string,
  argument: string,
): Promise<string> {
  const asked = await operator.startProgram(
    'dbus-send',
    [
      ...['--session', '--print-reply', `--dest=org.freedesktop.${service}`, `/org/freedesktop/${service}`],
      ...[`org.freedesktop.${service === 'DBus' ? 'DBus' : 'Secret.Service'}.${method}`, argument],
    ],
    env,
  );
  const { code, stdout, stderr } = await asked.ended;
  expect(code, stderr).toBe(0);
  return stdout;
}

/** A desktop with a logged-in user, whose keyring is therefore open. */
let desktop: Environment;
beforeAll(async () => {
  desktop = await openSession(['--unlock'], 'the password of the session');
});

const onDesktop = (...args: string[]) => operator.psd2(args, { env: desktop });
const onServer = (...args: string[]) => operator.psd2(args);

describe('a profile whose key is in the keyring', () => {
  it('psd2 protects a profile with the keyring by default, and then works without a passphrase', async () => {
    const secrets = [...tokensInClear(), ...secretsIn(join(operator.config, 'profiles'))];
    expect(secrets.length).toBeGreaterThan(3);
    const ended = await onDesktop('profile', 'protect', '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(readDocument(protectedProfile, ended.stdout)).toEqual({ name: 'sandbox', protected: 'keyring' });
    const text = ['tokens', 'profiles', 'protection']
      .map((name) => contentOf(join(operator.config, name)))
      .join();
    for (const secret of secrets) expect(text.includes(secret)).toBe(false);

    const accounts = await onDesktop('accounts', 'list', '--json');
    expect(accounts.code, accounts.stderr).toBe(0);
    expect(readDocument(shapes.accounts, accounts.stdout)).toHaveLength(3);
    for (const args of [
      ['auth', 'refresh'],
      ['auth', 'login'],
      ['accounts', 'list'],
    ]) {
      const { code, stderr } = await onDesktop(...args);
      expect(code, stderr).toBe(0);
    }
    expect(tokensInClear()).toEqual([]);
  });

  it('without a keyring psd2 exits with 3, says what to do, and changes nothing', async () => {
    const before = contentOf(operator.config);
    for (const args of [
      ['accounts', 'list'],
      ['auth', 'login'],
    ]) {
      expect(readError(await onServer(...args, '--json'))).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: expect.stringMatching(
          /^The system's keyring cannot be used: there is no D-Bus session here/,
        ),
        hint: expect.stringMatching(
          /key of the profile sandbox\..* psd2 profile protect sandbox --passphrase/,
        ),
      });
    }
    expect(contentOf(operator.config)).toBe(before);
    expect(await onServer('profile', 'show')).toMatchObject({ code: 0 });
  });

  it('a profile can move to a server with a passphrase, and back', async () => {
    const PSD2_CONFIG_PASSPHRASE = 'correct horse battery staple';
    const rewrap = await operator.psd2(['profile', 'protect', '--passphrase'], {
      env: { ...desktop, PSD2_CONFIG_PASSPHRASE },
    });
    expect(rewrap, rewrap.stderr).toMatchObject({ code: 0 });
    const list = (env: Environment) => operator.psd2(['accounts', 'list'], { env });
    expect(await list({ PSD2_CONFIG_PASSPHRASE })).toMatchObject({ code: 0 });
    expect(await list(desktop)).toMatchObject({ code: 3 });
    const back = await operator.psd2(['profile', 'protect', '--keyring'], {
      env: { ...desktop, PSD2_CONFIG_PASSPHRASE },
    });
    expect(back, back.stderr).toMatchObject({ code: 0 });
    expect(await list(desktop)).toMatchObject({ code: 0 });
    expect(await list({ PSD2_CONFIG_PASSPHRASE })).toMatchObject({ code: 3 });
  });

  it('psd2 profile unprotect writes the profile in clear, and the keyring forgets its key', async () => {
    const { id } = z
      .object({ id: z.string() })
      .parse(JSON.parse(readFileSync(join(operator.config, 'protection', 'sandbox.json'), 'utf8')));
    expect(await keysNamed(id)).toBe(1);
    const ended = await onDesktop('profile', 'unprotect', '--yes');
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(await keysNamed(id)).toBe(0);
    expect(tokensInClear()).toHaveLength(2);
    expect(await onServer('accounts', 'list')).toMatchObject({ code: 0 });
  });
});

describe('without a keyring', () => {
  it.each([[[]], [['--keyring']]])(
    'psd2 profile protect %j exits with 3, names the choices and changes nothing',
    async (options) => {
      const before = contentOf(operator.config);
      expect(readError(await onServer('profile', 'protect', ...options, '--json'))).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: expect.stringMatching(
          /^The system's keyring cannot be used: there is no D-Bus session here/,
        ),
        hint: expect.stringMatching(
          /Nothing was changed\..*PSD2_CONFIG_PASSPHRASE.*--passphrase-stdin.*keyring/,
        ),
      });
      expect(contentOf(operator.config)).toBe(before);
    },
  );
});

describe('a keyring that is locked', () => {
  it('with a locked keyring psd2 profile protect exits with 3 where nobody can unlock it', async () => {
    const env = await openSession([], '');
    const ended = await operator.psd2(['profile', 'protect', '--json'], { env });
    expect(readError(ended)).toMatchObject({ code: 'config', exitCode: 3 });
    expect(tokensInClear()).toHaveLength(2);
  });
});

/** The number of entries in the keyring for a key of the profile. */
async function keysNamed(id: string): Promise<number> {
  const search = `dict:string:string:username,sandbox ${id}`;
  return (await askBus(desktop, 'secrets', 'SearchItems', search)).match(/object path/g)?.length ?? 0;
}

function contentOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${name} ${readFileSync(join(parentPath, name), 'latin1')}`)
    .sort()
    .join('\n');
}
