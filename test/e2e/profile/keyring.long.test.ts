import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { type Server, startServer } from '../../store/postgres/server.ts';
import { readError } from '../support/errors.ts';
import { type Environment, readDocument, useLoggedIn, words } from '../support/psd2.ts';
import { secretsIn } from '../support/secrets.ts';
import * as shapes from '../support/shapes.ts';

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
  await startKeyring(env, options, password);
  return env;
}

async function startKeyring(env: Environment, options: string[], password: string): Promise<void> {
  const keyring = await operator.startProgram(
    'gnome-keyring-daemon',
    ['--foreground', '--components=secrets', ...options],
    env,
  );
  await keyring.write(password);
  keyring.closeInput();
  await vi.waitFor(async () => expect(await hasKeyring(env)).toBe(true), WAIT);
  if (!options.includes('--unlock')) return;
  await vi.waitFor(async () => {
    expect(await askBus(env, 'secrets', 'ReadAlias', 'string:default')).toContain('/login"');
  }, WAIT);
}

async function hasKeyring(env: Environment): Promise<boolean> {
  const asked = await askBus(env, 'DBus', 'NameHasOwner', 'string:org.freedesktop.secrets');
  return asked.includes('boolean true');
}

/**
 * Runs a program on the desktop. gnome-keyring itself crashes now and then while its clients come and go (its issues 190, 196
 * and 199). A desktop then starts it anew, and the user runs the program again.
 */
async function onceMoreIfItCrashed<Ended extends { code: number | null }>(
  work: () => Promise<Ended>,
): Promise<Ended> {
  const [outcome] = await Promise.allSettled([work()]);
  const isAlive = await hasKeyring(desktop);
  if (!isAlive) await startKeyring(desktop, ['--unlock'], PASSWORD);
  if (outcome.status === 'fulfilled' && (isAlive || outcome.value.code === 0)) return outcome.value;
  if (isAlive && outcome.status === 'rejected') throw outcome.reason;
  return work();
}

const psd2: typeof operator.psd2 = (args, options) => {
  const work = () => operator.psd2(args, options);
  const isOnDesktop = options?.env?.DBUS_SESSION_BUS_ADDRESS === desktop.DBUS_SESSION_BUS_ADDRESS;
  return isOnDesktop ? onceMoreIfItCrashed(work) : work();
};

/** Calls a method of a bus, or of the Secret Service on it. */
async function askBus(
  env: Environment,
  service: 'DBus' | 'secrets',
  method: string,
  argument: string,
): Promise<string> {
  const asked = await operator.startProgram(
    'dbus-send',
    words`--session --print-reply --dest=org.freedesktop.${service} /org/freedesktop/${service}
      org.freedesktop.${service === 'DBus' ? 'DBus' : 'Secret.Service'}.${method} ${argument}`,
    env,
  );
  const { code, stdout, stderr } = await asked.ended;
  expect(code, stderr).toBe(0);
  return stdout;
}

/** A desktop with a logged-in user, whose keyring is therefore open. */
let desktop: Environment;
const PASSWORD = 'the password of the session';
beforeAll(async () => {
  desktop = await openSession(['--unlock'], PASSWORD);
});

const onDesktop = (...args: string[]) => psd2(args, { env: desktop });
const onServer = (...args: string[]) => psd2(args);

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

  it('psd2 profile unprotect writes the profile in clear, and the keyring forgets its key', async () => {
    const { id } = z
      .object({ id: z.string() })
      .parse(JSON.parse(readFileSync(join(operator.config, 'protection', 'sandbox.json'), 'utf8')));
    expect(await entriesOf(`sandbox ${id}`)).toBe(1);
    const ended = await onDesktop('profile', 'unprotect', '--yes');
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(await entriesOf(`sandbox ${id}`)).toBe(0);
    expect(tokensInClear()).toHaveLength(2);
    expect(await onServer('accounts', 'list')).toMatchObject({ code: 0 });
  });
});

it('with a locked keyring psd2 profile protect exits with 3 where nobody can unlock it', async () => {
  const env = await openSession([], '');
  const ended = await psd2(['profile', 'protect', '--json'], { env });
  expect(readError(ended)).toMatchObject({ code: 'config', exitCode: 3 });
  expect(tokensInClear()).toHaveLength(2);
});

describe('a store in PostgreSQL whose passphrase is in the keyring', () => {
  const PSD2_CONFIG_PASSPHRASE = 'staple battery horse correct';
  const WRONG = { PSD2_CONFIG_PASSPHRASE: 'another passphrase' };
  let server: Server;
  let owner: Environment;
  /** A machine with a keyring, whose user of the database may not change tables. */
  let worker: Environment;
  /** The name of the entry in the keyring. */
  let account: string;

  beforeAll(() => {
    server = startServer();
    server.create('bank');
    server.sql('bank', 'create role worker login');
    owner = { ...desktop, PSD2_STORE: server.url('bank') };
    worker = { ...owner, PSD2_STORE: server.url('bank').replace('psd2@', 'worker@') };
    const host = new URL(server.url('bank').replace('@/', '@here/')).searchParams.get('host');
    account = `store ${host}:5432/bank`;
  });
  afterAll(() => server.stop());

  const list = (env: Environment) => psd2(['accounts', 'list', '--json'], { env });

  it('psd2 store init --keyring stores the passphrase, and copies and workers need no variable', async () => {
    const env = { ...owner, PSD2_CONFIG_PASSPHRASE };
    const made = await psd2(['store', 'init', '--roles', '--keyring'], { env });
    expect(made, made.stderr).toMatchObject({ code: 0 });
    server.sql('bank', 'grant psd2_worker to worker');
    const copied = await psd2(['store', 'copy', '--from', 'files', '--to', 'postgres'], {
      env: owner,
    });
    expect(copied, copied.stderr).toMatchObject({ code: 0 });
    expect(server.sql('bank', 'select secrets from psd2.tokens')).toContain('sealed');
    expect(await list(worker)).toMatchObject({ code: 0 });
    // A passphrase that is set comes before that of the keyring.
    const wrong = readError(await list({ ...worker, ...WRONG })).message;
    expect(wrong).toMatch(/^The passphrase does not open the tokens of sandbox at /);
    expect(await entriesOf(account)).toBe(1);
  });
});

/** The number of entries in the keyring with this account. */
async function entriesOf(name: string): Promise<number> {
  const search = `dict:string:string:username,${name}`;
  if (!(await hasKeyring(desktop))) await startKeyring(desktop, ['--unlock'], PASSWORD);
  return (await askBus(desktop, 'secrets', 'SearchItems', search)).match(/object path/g)?.length ?? 0;
}

function contentOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${name} ${readFileSync(join(parentPath, name), 'latin1')}`)
    .sort()
    .join('\n');
}
