import type * as ChildProcess from 'node:child_process';
import { EventEmitter } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { learnersDoor } from '../../../src/sandbox/nextgenpsd2/door-rules.ts';
import { VARIATIONS } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/server/server.ts';
import type { ProfileSettings } from '../../../src/store/machine/profiles.ts';
import type { How } from '../command.ts';

/** How psd2 starts a process in the background. */
interface Spawning {
  stdio: [stdin: 'ignore', stdout: number, stderr: number];
}
/** What psd2 started: banks in its process, and processes in the background. */
const started = vi.hoisted(() => {
  vi.resetModules();
  return {
    options: [] as SandboxOptions[],
    banks: [] as Sandbox[],
    isBroken: false,
    /** Called with the words and options of a process. @returns it */
    spawn: (_words: string[], _options: Spawning): unknown => undefined,
  };
});
vi.mock(import('../../../src/sandbox/server/server.ts'), async (original) => {
  const { startSandbox } = await original();
  return {
    startSandbox: async (options) => {
      started.options.push(options);
      if (started.isBroken) throw new TypeError('The bank is broken');
      // The usual port may belong to another bank on this machine.
      const bank = await startSandbox({ ...options, port: 0 });
      started.banks.push(bank);
      return bank;
    },
  };
});
vi.mock('node:child_process', async (original) => ({
  ...(await original<typeof ChildProcess>()),
  spawn: (program: string, words: string[], options: Spawning) => started.spawn([program, ...words], options),
}));
const { readBankFile } = await import('../../bank-file/described.ts');
const { doorBankFile } = await import('../../../src/sandbox/folder/door-bank-file.ts');
const { runningSandbox } = await import('../../../src/sandbox/folder/running.ts');
const { temporaryFolder } = await import('../../store/temporary-folder.ts');
const { openCommand, ranIn, runIn, useFolder } = await import('../command.ts');
const { failureOf } = await import('../failure.ts');
afterAll(() => vi.resetModules());

const temporary = temporaryFolder();
const NOW = '2026-11-25T10:00:00.000Z';

const folder = useFolder(temporary);
beforeEach(() => {
  cpSync(inject('registration'), folder.sandbox, { recursive: true });
});
afterEach(async () => {
  started.isBroken = false;
  started.options.length = 0;
  // A bank that psd2 did not close does not stay open.
  for (const bank of started.banks.splice(0)) await bank.close();
});

const OWN = { baseUrl: 'https://psd2.bank.example/', qwacCertificate: { path: '/etc/qwac.pem' } };

/** Runs `psd2 sandbox start …`, which is interrupted once the bank is ready. @returns what it printed and said */
async function start(words: string[] = [], how: How = {}) {
  const ended = new AbortController();
  const command = openCommand(folder, NOW, {
    ...how,
    changes: ({ world, terminal }) => ({
      world: { ...world, signal: ended.signal },
      terminal: {
        ...terminal,
        say: (text) => {
          terminal.say(text);
          // It comes while psd2 waits for it.
          if (text.startsWith('The sandbox is ready')) queueMicrotask(() => ended.abort());
        },
      },
    }),
  });
  const { profiles } = command.context;
  return { ...(await ranIn(command, 'sandbox', 'start', ...words)), profiles };
}
const addressesOf = ({ running }: Sandbox) => ({
  ...{ baseUrl: running.baseUrl, customerSiteUrl: running.customerSiteUrl },
  ...{ consoleUrl: `${running.customerSiteUrl}/console`, pid: process.pid, profile: 'sandbox' },
});

const OTHER_BANK =
  'The profile sandbox belongs to another bank, so psd2 does not change it. Use: eval "$(psd2 sandbox env)"\n';
const readyAnd = (login: string) =>
  `The sandbox is ready. Try: ${login}. Stop it with Ctrl-C.\nThe sandbox has stopped.\n`;

describe('psd2 sandbox start', () => {
  it('prints the addresses, stores the profiles, and runs until it is interrupted', async () => {
    const { data, said, profiles } = await start();
    const [bank] = started.banks;
    expect(data).toEqual(bank && addressesOf(bank));
    expect(said).toBe(`psd2 now uses the profile sandbox by default.\n${readyAnd('psd2 auth login')}`);
    expect([profiles.list(), profiles.current()]).toEqual([['sandbox', 'sandbox-nextgen'], 'sandbox']);
    expect(profiles.read('sandbox')?.baseUrl).toBe(bank?.baseUrl);
    const door = profiles.read('sandbox-nextgen');
    expect(door).toMatchObject({
      ...{ baseUrl: `${bank?.baseUrl}/nextgenpsd2`, bank: expect.stringContaining('"nextgenpsd2"') },
      qwacCertificate: { path: bank?.registration.qwacCertFile },
    });
    expect(door).not.toHaveProperty('clientId');
    expect(await runningSandbox(folder.sandbox)).toBeUndefined();
  });

  it('the second time says nothing of the profile, and an interruption before it is ready ends it too', async () => {
    await start();
    const command = openCommand(folder, NOW, {
      format: 'table',
      changes: ({ world }) => ({ world: { ...world, signal: AbortSignal.abort() } }),
    });
    await runIn(command.context, 'sandbox', 'start');
    expect(command.said()).toBe(readyAnd('psd2 auth login'));
    expect(command.printed().split('\n')[0]).toBe(`Interface\t${started.banks[1]?.baseUrl}`);
    expect(await runningSandbox(folder.sandbox)).toBeUndefined();
  });

  const NAMED = 'psd2 --profile sandbox auth login';
  it.each<[string, string, NonNullable<How['globals']>, string]>([
    ['the sandbox is in use, and named too', 'sandbox', { profile: 'sandbox' }, 'psd2 auth login'],
    ['another one is named', 'sandbox', { profile: 'other' }, NAMED],
    ['another one is in use', 'other', {}, NAMED],
    ['another one is in use, and the sandbox named', 'other', { profile: 'sandbox' }, NAMED],
  ])('says how to log in: %s', async (_, used, globals, login) => {
    const { profiles } = openCommand(folder, NOW).context;
    await profiles.write('other', OWN);
    if (used === 'sandbox') await start();
    else await profiles.use(used);
    const { said } = await start([], { globals });
    expect(said).toBe(readyAnd(login));
    expect(profiles.current()).toBe(used);
  });

  it.each(['sandbox', 'sandbox-nextgen'])(
    'changes only what belongs to the bank of %s: a rule of the operator stays',
    async (name) => {
      await start();
      const { profiles } = openCommand(folder, NOW).context;
      const before = profiles.read(name);
      if (!before) throw new Error('no profile');
      const other = { path: '/etc/other.pem' };
      const rules: Partial<ProfileSettings> = { approvals: '1', maxAmount: '5000' };
      const changed: Partial<ProfileSettings> = {
        environment: 'production',
        ...{ bank: '{}', clientId: 'x', clientSecret: 'x', applicationName: 'x' },
        ...{ ccClientId: 'x', ccClientSecret: 'x', ccApplicationName: 'x', qwacKey: other, ca: other },
        ...{ qsealCertificate: other, qsealKey: other, bankSigningCertificate: other },
      };
      await profiles.write(name, { ...before, ...rules, ...changed, baseUrl: OWN.baseUrl });
      await start();
      const [old = '', now = ''] = started.banks.map(({ baseUrl }) => baseUrl);
      const wanted = JSON.stringify({ ...before, ...rules }).replaceAll(old, now);
      expect(profiles.read(name)).toEqual(JSON.parse(wanted));
    },
  );

  it('keeps what the operator set of a protected profile too, and says what keeps it from starting', async () => {
    await start();
    const env = { PSD2_CONFIG_PASSPHRASE: 'secret' };
    const { context } = openCommand(folder, NOW, { env });
    const before = context.profiles.read('sandbox');
    if (!before) throw new Error('no profile');
    await context.profiles.write('sandbox', { ...before, maxAmount: '5000' });
    await runIn(context, 'profile', 'protect', 'sandbox', '--passphrase');
    await expect(start()).rejects.toMatchObject({
      message: 'The profile sandbox is protected by a passphrase',
    });
    await start([], { env });
    expect(context.profiles.read('sandbox')).toMatchObject({ maxAmount: '5000', sealed: {} });
  });

  it("leaves the operator's own profiles of these names, and says how to use the sandbox without one", async () => {
    const { profiles } = openCommand(folder, NOW).context;
    const names = ['sandbox', 'sandbox-nextgen'];
    for (const name of names) await profiles.write(name, OWN);
    const { said } = await start();
    expect(said).toBe(`${OTHER_BANK}The sandbox is ready. Stop it with Ctrl-C.\nThe sandbox has stopped.\n`);
    expect(names.map((name) => profiles.read(name))).toEqual([OWN, OWN]);
    expect(profiles.current()).toBeUndefined();
  });

  it('describes the second door before it stores the profile of it', async () => {
    const { profiles } = await start(['--bank', 'sparkassen']);
    const described: unknown = JSON.parse(readFileSync(doorBankFile(folder.sandbox), 'utf8'));
    expect(JSON.parse(profiles.read('sandbox-nextgen')?.bank ?? '')).toEqual(described);
  });

  it('closes the bank if its profile cannot be stored', async () => {
    mkdirSync(folder.profile('sandbox'), { recursive: true });
    await expect(start()).rejects.toThrow();
    expect(started.banks).toHaveLength(1);
    expect(await runningSandbox(folder.sandbox)).toBeUndefined();
  });
});

describe('the rules of a sandbox', () => {
  const NAMES = Object.keys(VARIATIONS);
  const OUTSIDE = { host: '0.0.0.0', names: ['bank.example', '192.0.2.7'] };
  const USUAL = {
    ...{ port: 8443, outside: undefined, state: undefined, persona: 'clean' },
    ...{ consents: 'enforced', rotateRefreshTokens: true, log: expect.any(Function), ...learnersDoor },
  };

  it.each<[string[], object]>([
    [[], {}],
    [['--port', '0'], { port: 0 }],
    [['--port', '65535'], { port: 65_535 }],
    [['--persona', 'lived-in'], { persona: 'lived-in' }],
    [['--state', '/var/lib/sandbox'], { state: '/var/lib/sandbox' }],
    [['--no-enforce-consents'], { consents: 'recorded' }],
    [['--no-rotation'], { rotateRefreshTokens: false }],
    [['--no-enforce-consents', '--no-rotation'], { consents: 'recorded', rotateRefreshTokens: false }],
    [['--roles', 'PISP'], { roles: ['PISP'] }],
    [['--roles', ' aisp, PIISP,pisp'], { roles: ['AISP', 'PIISP', 'PISP'] }],
    [['--token-ttl', '1'], { tokenTtlSeconds: 1 }],
    [['--rate-limit', '1', '--daily-limit', '2'], { callsPerMinute: 1, clientCredentialsCallsPerDay: 2 }],
    [['--customers', '999999', '--page-size', '10000'], { customers: 999_999, rowsAPage: 10_000 }],
    [['--transactions', '10000000', '--page-size', '1'], { transactions: 10_000_000, rowsAPage: 1 }],
    [['--customers', '1', '--transactions', '1'], { customers: 1, transactions: 1 }],
    [['--variation', ' base-links'], { variations: ['base-links'] }],
    [['--variation', NAMES.join(' ,')], { variations: NAMES }],
    [['--strict'], { strict: true }],
    [['--host', '0.0.0.0', '--name', 'Bank.example', '--name', '192.0.2.7'], { outside: OUTSIDE }],
  ])('%j', async (words, rules) => {
    started.isBroken = true;
    await expect(start(words)).rejects.toThrow('The bank is broken');
    expect(started.options).toEqual([{ ...USUAL, folder: folder.sandbox, ...rules }]);
  });

  it('--bank gives the description of the bank, and --variation goes beside it', async () => {
    started.isBroken = true;
    const { description, file: own } = await readBankFile('sparkassen');
    await expect(start(['--bank', 'sparkassen'])).rejects.toThrow('The bank is broken');
    await expect(start(['--bank', 'sparkassen', '--variation', 'base-links'])).rejects.toThrow();
    const usual = { ...USUAL, folder: folder.sandbox, own, description };
    expect(started.options).toEqual([usual, { ...usual, variations: ['base-links'] }]);
  });

  it('--seed gives customers', async () => {
    started.isBroken = true;
    const path = join(temporary, 'seed.json');
    writeFileSync(path, JSON.stringify({ customers: [{ user: 'dora', accounts: [] }] }));
    await expect(start(['--seed', path])).rejects.toThrow('The bank is broken');
    expect(started.options[0]?.seed).toMatchObject([{ customer: { user: 'dora' } }]);
  });

  const ROLES = 'Use one or more of AISP,PISP,PIISP.';
  const ANY_VARIATION = `Use one or more of ${NAMES.join(',')}.`;
  const CLOSED = 'is a port that browsers and fetch refuse to open';
  const PORTS = 'Choose another port, or 0 for any free port.';
  it.each<[string, string, string, unknown?]>([
    ['--roles', 'AISP,boss', 'Unknown role "boss"', ROLES],
    ['--roles', '', 'Unknown role ""', ROLES],
    ['--variation', 'base-links,odd', 'Unknown variation "odd"', ANY_VARIATION],
    ['--port', '25', `--port 25 ${CLOSED}`, PORTS],
    ['--port', '6000', `--port 6000 ${CLOSED}`, PORTS],
    ['--port', '1.5', '--port "1.5" is not a port from 0 to 65535'],
    ['--port', ' 80', '--port " 80" is not a port from 0 to 65535'],
    ['--port', '080000', '--port "080000" is not a port from 0 to 65535'],
    ['--port', '65536', '--port "65536" is not a port from 0 to 65535'],
    ['--port', '', '--port "" is not a port from 0 to 65535'],
    ['--token-ttl', '0', '--token-ttl "0" is not a whole number from 1'],
    ['--rate-limit', '0', '--rate-limit "0" is not a whole number from 1'],
    ['--daily-limit', 'many', '--daily-limit "many" is not a whole number from 1'],
    ['--customers', '0', '--customers "0" is not a whole number from 1 to 999999'],
    ['--customers', '1000000', '--customers "1000000" is not a whole number from 1 to 999999'],
    ['--transactions', '0', '--transactions "0" is not a whole number from 1 to 10000000'],
    ['--page-size', '10001', '--page-size "10001" is not a whole number from 1 to 10000'],
    ['--name', 'bank.example', '--name needs --host', expect.any(String)],
  ])('%s %j starts nothing', async (option, value, message, hint) => {
    // What is wrong is said before the seed is read.
    const words = [option, value, '--seed', 'none.json'];
    for (const detach of [[], ['--detach']])
      expect(await failureOf(start([...words, ...detach]))).toEqual({
        ...{ code: 'usage', exitCode: 2, message, ...(hint !== undefined && { hint }) },
      });
    expect(started.options).toEqual([]);
  });
});

describe('psd2 sandbox start --detach', () => {
  /** A process that does these things, one each time that psd2 looks. */
  class Child extends EventEmitter {
    did: string[] = [];
    kill() {
      this.did.push('killed');
    }
    unref() {
      this.did.push('alone');
    }
  }
  const READY = {
    ...{ baseUrl: 'https://127.0.0.1:8443', customerSiteUrl: 'http://127.0.0.1:8444' },
    ...{ consoleUrl: 'http://127.0.0.1:8444/console', pid: 4711, profile: 'sandbox' },
  };
  const log = () => join(folder.root, 'sandbox.log');

  /** Runs it with a process that writes these texts, then ends. */
  async function detach(texts: string[], how: How & { isInterrupted?: boolean } = {}) {
    const child = new Child();
    const spawned: unknown[] = [];
    started.spawn = (words, options) => {
      spawned.push(words, options);
      // psd2 closes its own number of the file after the start.
      writeSync(options.stdio[1], texts.shift() ?? '');
      return child;
    };
    const sleep = async (milliseconds: number) => {
      expect(milliseconds).toBe(20);
      if (how.isInterrupted) throw new TypeError('interrupted');
      const text = texts.shift();
      if (text === undefined) child.emit('exit');
      else writeFileSync(log(), text, { flag: 'a' });
    };
    const changes: How['changes'] = ({ world }) => ({ world: { ...world, sleep } });
    const command = openCommand(folder, NOW, { ...how, changes });
    const failure = await runIn(command.context, 'sandbox', 'start', '--detach').catch(
      (error: unknown) => error,
    );
    return { failure, child, spawned, printed: command.printed(), said: command.said() };
  }
  const failed = (error: unknown) => failureOf(Promise.reject(error));

  it('starts the same command without --detach, and ends once that one prints its addresses', async () => {
    vi.stubEnv('PSD2_CONFIG_DIR', '/somewhere');
    vi.stubEnv('PSD2_CLIENT_SECRET', 'hush');
    const words = process.argv;
    const others = ['--daily-limit', '5', '--name', 'detach', '--no-rotation', '--strict'];
    process.argv = ['node', 'psd2.js', 'sandbox', 'start', '--detach', '--port', '0', ...others];
    const line = `${JSON.stringify(READY)}\n`;
    const texts = ['words\n{"event":"note","message":"x"}\n', line.slice(0, 9), line.slice(9, -1), '\n'];
    const { failure, child, spawned, printed, said } = await detach(texts, { format: 'json' });
    process.argv = words;
    vi.unstubAllEnvs();
    expect([failure, JSON.parse(printed), child.did, texts]).toEqual([undefined, READY, ['alone'], []]);
    expect(spawned).toEqual([
      [process.execPath, 'psd2.js', 'sandbox', 'start', '--port', '0', ...others, '--json'],
      {
        ...{ detached: true, stdio: ['ignore', expect.any(Number), expect.any(Number)] },
        env: expect.objectContaining({ PSD2_CONFIG_DIR: '/somewhere' }),
      },
    ]);
    expect(JSON.stringify(spawned)).not.toContain('hush');
    expect(said).toContain('Stop it with: psd2 sandbox stop\n');
    expect(statSync(log()).mode & 0o777).toBe(0o600);
  });

  it('reads only what this start has written', async () => {
    mkdirSync(folder.root, { recursive: true, mode: 0o700 });
    writeFileSync(log(), `${JSON.stringify({ ...READY, pid: 1 })}\n`, { mode: 0o600 });
    const { printed } = await detach(['', `${JSON.stringify(READY)}\n`]);
    expect(JSON.parse(printed)).toEqual(READY);
    expect(readFileSync(log(), 'utf8')).not.toContain('"pid":1,');
  });

  it.each([
    [['{"event":"note"}\n', '{"error":{"message":"Port 8443 is taken"}}\n'], 'Port 8443 is taken'],
    [['{"error":{"message":"first"}}\n{"error":{"message":"last"}}\n\n'], 'last'],
    [['{"error":{"message":"no key","hint":null}}\n'], 'no key'],
    [['first\n', 'node: out of memory  \n'], 'node: out of memory'],
    [['{"error":"odd"}\n'], '{"error":"odd"}'],
    [[JSON.stringify(READY)], JSON.stringify(READY)],
    [['\n'], 'it printed nothing'],
    [[], 'it printed nothing'],
  ])('says why a bank that printed %j did not start', async (texts, why) => {
    const { failure, child, printed, said } = await detach([...texts]);
    expect(await failed(failure)).toEqual({
      ...{ code: 'sandbox', exitCode: 3, message: `The sandbox did not start: ${why}` },
      hint: `See ${log()}, or choose another --port.`,
    });
    expect([child.did, printed, said]).toEqual([[], '', '']);
  });

  it('what the bank in the background says to do is said here', async () => {
    const { failure } = await detach(['{"error":{"message":"no key","hint":"Set one."}}\n']);
    expect(await failed(failure)).toMatchObject({ hint: 'Set one.' });
  });

  it('an interruption ends the process that it began', async () => {
    const { failure, child } = await detach(['', ''], { isInterrupted: true });
    expect([failure, child.did]).toEqual([new TypeError('interrupted'), ['killed']]);
  });

  it('says which profile psd2 uses from now on, or that it changed none', async () => {
    const { profiles } = openCommand(folder, NOW).context;
    const own = { baseUrl: READY.baseUrl, qwacCertificate: { path: join(folder.sandbox, 'qwac.pem') } };
    await profiles.write('sandbox', OWN);
    const line = `${JSON.stringify(READY)}\n`;
    expect((await detach([line], { format: 'table' })).said).toBe(
      `${OTHER_BANK}The sandbox is ready. Stop it with: psd2 sandbox stop\n`,
    );
    await profiles.write('sandbox', own);
    await profiles.use('sandbox');
    expect((await detach([line], { format: 'table' })).said).toBe(
      'The sandbox is ready. Try: psd2 auth login. Stop it with: psd2 sandbox stop\n',
    );
    rmSync(log());
  });
});
