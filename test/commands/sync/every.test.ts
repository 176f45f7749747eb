import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DEFAULT_INTERFACE, interfaceNamed } from '../../../src/bank/open.ts';
import type { Context } from '../../../src/commands/context.ts';
import type { FindInterface } from '../../../src/commands/open/bank.ts';
import { profileProtect } from '../../../src/commands/profile/protect.ts';
import { ChangedKeys } from '../../../src/commands/sync/changed-keys.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { ForgottenCustomers } from '../../../src/store/machine/forgotten.ts';
import type { ProfileSettings } from '../../../src/store/machine/profiles.ts';
import type { Environment } from '../../../src/store/machine/settings.ts';
import type { Rounds } from '../../../src/store/ports/sync.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { useOperatorOfEachTest } from '../operator.ts';
import { runService, type Service } from './service.ts';

// psd2 sync --every, round after round.

const operator = useOperatorOfEachTest();
const temporary = temporaryFolder();
const DAY_MS = 86_400_000;

let out: string;
let anna: string;
beforeEach(async () => {
  out = join(operator.folder.root, 'banking');
  anna = await operator.logIn('anna');
});

const every = (time: string, ...more: string[]) => ['--out', out, '--every', time, ...more];
const PRESENT = { globals: { psuIp: '192.0.2.1' } };
const ROUND = 'A round has ended: 1 of 1 customers are completely synced.\n';
const INTERRUPTED = {
  ...{ code: 'interrupted', exitCode: 130 },
  message: 'Interrupted: psd2 has finished the customers in progress',
};

/** The rounds of the store, of which a test gives the next ones itself. */
type Join = (rounds: Rounds, every: number | undefined, service: Service) => ReturnType<Rounds['join']>;
const withRounds = (next: Join[]) => ({
  ...PRESENT,
  context: (context: Context, service: Service): Context => ({
    ...context,
    store: async (own) => {
      const store = await context.store(own);
      const rounds = await store.rounds();
      const changed: Rounds = {
        over: (customers) => rounds.over(customers),
        join: (interval) => next.shift()?.(rounds, interval, service) ?? rounds.join(interval),
        rejoin: (share) => rounds.rejoin(share),
        status: () => rounds.status(),
        isAway: (error) => error instanceof Psd2Error && error.message === 'The store is away',
      };
      return { ...store, rounds: async () => changed };
    },
  }),
});

it('the limit of the day holds in the second round too, and the next day psd2 reads again', async () => {
  const file = join(temporary, 'psd2.prom');
  const value = (name: string) =>
    Number(new RegExp(`^psd2_sync_${name}} (.+)$`, 'm').exec(readFileSync(file, 'utf8'))?.[1]);
  const calls: number[] = [];
  const words = every('30s', '--all-customers', '--unattended-reads', '1', '--metrics-file', file);
  const count = () => void calls.push(value('calls_total{profile="env"'));
  const { printed, said, failure, waits } = await runService(operator, words, [
    count,
    () => {
      count();
      operator.bank.clock.advance(DAY_MS);
    },
    ({ stop }) => stop('SIGTERM'),
  ]);
  expect(failure).toBeNull();
  expect(said.replace(/\d{4}-\d\d-\d\dT2[23]:00:00.000Z/, 'MIDNIGHT')).toBe(
    [
      ROUND,
      'Skipped: 1 customer. Without the customer, psd2 reads an account 1 time a day (--unattended-reads), spread over the day, and pauses after failed reads. The next turn begins at MIDNIGHT.\n',
      'A round has ended without a read.\n',
      ROUND,
    ].join(''),
  );
  // The third round is due at once.
  expect(waits).toEqual([15, 15, 15, 15]);
  // The first round has read three accounts and the second one nothing. The totals are those of the last round.
  const [first = 0, second] = calls;
  expect(first).toBeGreaterThan(6);
  expect(second).toBe(first);
  expect(JSON.parse(printed)).toMatchObject({
    ...{ out, customers: [], nextReadsAt: null },
    totals: { customers: 1, synced: 1, accounts: 3, calls: value('calls_total{profile="env"') - first },
  });
  expect(value('customers_done_total{profile="env",status="synced"')).toBe(2);
  expect(value('customers_done_total{profile="env",status="waiting"')).toBe(1);
});

it('a sync of one customer begins a round at the interval too', async () => {
  const rounds = [() => {}, () => {}, ({ stop }: Service) => stop('SIGINT')];
  const { printed, said, failure, waits } = await runService(operator, every('40s'), rounds, PRESENT);
  expect(said).toBe(ROUND.repeat(3));
  expect(waits).toEqual([15, 15, 10, 15, 15, 10, 15]);
  // Ctrl-C is no normal end of a service, but what it did is reported.
  expect(failure).toEqual(INTERRUPTED);
  expect(JSON.parse(printed)).toMatchObject({
    customers: [{ customerId: anna, status: 'synced' }],
    totals: { customers: 1, synced: 1, newTransactions: 0 },
  });
});

describe('the end of a service', () => {
  /** A terminal that tells when a round begins or ends. */
  const atRound = (tell: (round: 'begins' | 'ends', service: Service) => void) => ({
    ...PRESENT,
    context: (context: Context, service: Service): Context => ({
      ...context,
      terminal: {
        ...context.terminal,
        whileWaiting: async (line, work) => {
          tell('begins', service);
          const result = await context.terminal.whileWaiting(line, work);
          tell('ends', service);
          return result;
        },
      },
    }),
  });

  it('before the first round makes no call', async () => {
    const stopped = new AbortController();
    stopped.abort('SIGTERM');
    const { printed, said, failure } = await runService(operator, every('30s'), [], {
      changes: () => ({ stopGently: () => stopped.signal }),
    });
    expect([said, failure]).toEqual(['', null]);
    expect(JSON.parse(printed)).toMatchObject({ customers: [], totals: { customers: 0, calls: 0 } });
  });

  it.each([
    ['SIGTERM', null],
    ['SIGINT', INTERRUPTED],
  ] as const)('a %s in a round lets psd2 finish the customers in progress', async (signal, failure) => {
    let rounds = 0;
    const how = atRound((round, { stop }) => {
      if (round === 'ends') rounds += 1;
      if (rounds === 2) stop(signal);
    });
    const ended = await runService(operator, every('30s'), [() => {}], how);
    expect([ended.said, ended.failure]).toEqual([ROUND, failure]);
    expect(JSON.parse(ended.printed)).toMatchObject({ totals: { customers: 1, synced: 1 } });
  });

  it('a signal when a round begins lets it begin no customer', async () => {
    const how = atRound((_, { stop }) => stop('SIGTERM'));
    const ended = await runService(operator, every('30s', '--all-customers'), [], how);
    expect([ended.said, ended.failure]).toEqual(['', null]);
    expect(JSON.parse(ended.printed)).toMatchObject({ totals: { customers: 0, calls: 0 } });
  });

  it('a signal while psd2 reads a customer lets it begin no other one', async () => {
    await operator.logIn('bruno');
    const rounds = withRounds([
      async (store, interval, { stop }) => {
        const round = await store.join(interval);
        if ('dueIn' in round) throw new TypeError('The first round is due');
        const { next } = round;
        round.next = async (max) => {
          const dealt = await next.call(round, max);
          stop('SIGTERM');
          return dealt;
        };
        return round;
      },
    ]);
    const words = every('30s', '--all-customers', '--concurrency', '1');
    const ended = await runService(operator, words, [], rounds);
    expect([ended.said, ended.failure]).toEqual(['', null]);
    expect(JSON.parse(ended.printed)).toMatchObject({ totals: { customers: 1, synced: 1, accounts: 3 } });
  });
});

it('a second signal while psd2 waits ends it at once, without a report', async () => {
  const work = runService(operator, every('30s'), [({ interrupt }) => interrupt()], PRESENT);
  await expect(work).rejects.toThrow('Interrupted');
});

it('a customer who cannot be synced fails in each round, and a service ends well nevertheless', async () => {
  await storeLogin(operator.open().context, '1000001');
  const rounds = [() => {}, ({ stop }: Service) => stop('SIGTERM')];
  const words = every('30s', '--all-customers');
  const { printed, said, failure } = await runService(operator, words, rounds, PRESENT);
  expect(failure).toBeNull();
  const { customers, totals } = JSON.parse(printed);
  expect(totals).toMatchObject({ customers: 2, synced: 1 });
  expect(customers).toMatchObject([
    { customerId: '1000001', status: 'failed', errors: [{ productId: null }] },
  ]);
  const round = `Customer 1000001: ${customers[0].errors[0].message}\nA round has ended: 1 of 2 customers are completely synced.\n`;
  expect(said).toBe(round.repeat(2));
});

it('what failed in the last round is told, if the service ends in it', async () => {
  await storeLogin(operator.open().context, '1000001');
  let rounds = 0;
  const ending = (context: Context, { stop }: Service): Context => ({
    ...context,
    terminal: {
      ...context.terminal,
      whileWaiting: async (line, work) => {
        const result = await context.terminal.whileWaiting(line, work);
        rounds += 1;
        if (rounds === 2) stop('SIGTERM');
        return result;
      },
    },
  });
  const words = every('30s', '--all-customers');
  const { said } = await runService(operator, words, [() => {}], { ...PRESENT, context: ending });
  expect([rounds, said.match(/^Customer 1000001: /gm)?.length]).toEqual([2, 2]);
});

it('a customer whom another command forgets between two rounds, and who is back, is in the log again', async () => {
  const { context } = operator.open();
  const log = async () => {
    const lines = await operator.json(z.array(z.looseObject({ path: z.string() })), [
      'log',
      '--limit',
      '999',
    ]);
    return lines.filter(({ path }) => path.includes(anna)).length;
  };
  const counts: number[] = [];
  const forget = async () => {
    counts.push(await log());
    const other = new ForgottenCustomers(join(context.folder.log, 'forgotten.ndjson'));
    await other.add('env', [anna], operator.bank.clock.now());
  };
  const rounds = [forget, ({ stop }: Service) => stop('SIGTERM')];
  await runService(operator, every('30s'), rounds, PRESENT);
  expect(await log()).toBeGreaterThan(counts[0] ?? 0);
});

describe('rounds of a store that psd2 cannot always reach', () => {
  const isAway = () => Promise.reject(new Psd2Error('config', 'The store is away'));
  const isBroken = () => Promise.reject(new Psd2Error('config', 'The store is broken'));
  const words = () => every('1d', '--all-customers');

  it('a store that is away between two rounds is tried again', async () => {
    const rounds = withRounds([(store, interval) => store.join(interval), isAway, isAway]);
    const ended = await runService(operator, words(), [({ stop }) => stop('SIGTERM')], rounds);
    expect(ended).toMatchObject({ said: ROUND, failure: null, waits: [15] });
  });

  it('at the first round it is an error', async () => {
    const ended = await runService(operator, words(), [], withRounds([isAway]));
    expect(ended).toMatchObject({
      ...{ said: '', printed: '', waits: [] },
      failure: { code: 'config', exitCode: 3, message: 'The store is away' },
    });
  });

  it('another error of the store ends the service', async () => {
    const rounds = withRounds([(store) => store.join(0), isBroken]);
    const ended = await runService(operator, words(), [() => {}], rounds);
    expect(ended).toMatchObject({ said: ROUND, failure: { message: 'The store is broken' } });
  });

  it('a round that other workers began not long ago is named, and psd2 waits for the next one', async () => {
    const soon = operator.bank.clock.now().getTime() + 20_000;
    const waitsFor = async () => ({ dueIn: soon - operator.bank.clock.now().getTime() });
    const rounds = withRounds([waitsFor, waitsFor, (store, interval) => store.join(interval)]);
    const ended = await runService(operator, words(), [({ stop }) => stop('SIGTERM')], rounds);
    expect(ended.waits).toEqual([15, 5, 15]);
    expect(ended.said).toBe(
      `The last round began less than --every ago. The next one begins at ${new Date(soon).toISOString()}.\n${ROUND}`,
    );
  });
});

it.each([
  [2, true],
  [100, true],
  [101, false],
])(
  'a round of %i customers that many workers share warns of logins that end soon: %s',
  async (size, warns) => {
    const refreshTokenExpiresAt = new Date(operator.bank.clock.now().getTime() + 5 * DAY_MS).toISOString();
    await storeLogin(operator.open().context, '1000001', { refreshTokenExpiresAt });
    const rounds = withRounds([
      async (store, interval) => {
        const round = await store.join(interval);
        if ('dueIn' in round) throw new TypeError('The first round is due');
        return {
          share: { round: 1, begunAt: operator.bank.clock.now().toISOString(), size },
          size,
          next: (max) => round.next(max),
          counts: () => round.counts(),
          note: (done) => round.note(done),
          leave: () => round.leave(),
        };
      },
    ]);
    const end = ({ stop }: Service) => stop('SIGTERM');
    const { said, failure } = await runService(operator, every('30s', '--all-customers'), [end], rounds);
    expect(failure).toBeNull();
    expect(/^Expiring soon: .*1000001/m.test(said)).toBe(warns);
  },
);

it('a round without customers is an error at first, and later only a round', async () => {
  const leave = async () => {
    const { tokens } = await operator.open().context.store();
    await tokens.forget(anna);
  };
  const end = ({ stop }: Service) => stop('SIGTERM');
  const words = every('30s', '--all-customers');
  const ended = await runService(operator, words, [leave, end], PRESENT);
  expect(ended).toMatchObject({
    said: `${ROUND}A round has ended: 0 of 0 customers are completely synced.\n`,
    failure: null,
  });
  expect((await runService(operator, words, [], PRESENT)).failure).toEqual({
    ...{ code: 'not_logged_in', exitCode: 4, message: 'Nobody is logged in with the profile env' },
    next: [['--profile', 'env', 'auth', 'login']],
  });
});

describe('the certificates, if they change while psd2 runs', () => {
  const CHANGED = 'The certificates have changed. psd2 uses the new ones from now on.\n';
  /** The service has ended well, and has called with the old and the new certificate. */
  const BOTH_USED = { failure: null, certificates: 2 };
  const BY_ENVIRONMENT = { keyring: false, passphrase: false, passphraseStdin: false };
  const STILL = 'The certificates have changed, but psd2 still uses the old ones: ';

  let folder: string;
  beforeEach(() => {
    folder = join(operator.folder.root, 'keys');
    mkdirSync(folder, { recursive: true });
    for (const name of ['qwac', 'qseal', 'next-qwac', 'bank-signing'])
      for (const end of ['.pem', '-key.pem']) put(`${name}${end}`, `${name}${end}`);
  });

  const path = (name: string) => join(folder, name);

  /** Puts a file of the registration in the place of another one. */
  function put(name: string, of: string): void {
    copyFileSync(join(dirname(operator.bank.sandbox.registration.qwacCertFile), of), path(name));
  }

  function usePair(of: string): void {
    put('qwac.pem', `${of}.pem`);
    put('qwac-key.pem', `${of}-key.pem`);
  }

  /** The settings of an operator whose certificates are in the folder. */
  const inFolder = (): Environment => ({
    ...{ PSD2_QWAC_CERT: path('qwac.pem'), PSD2_QWAC_KEY: path('qwac-key.pem') },
    ...{ PSD2_QSEAL_CERT: path('qseal.pem'), PSD2_QSEAL_KEY: path('qseal-key.pem') },
  });

  type Change = (service: Service) => void | Promise<void>;

  /** Runs rounds with these changes between them. */
  async function syncing(changes: Change[], env = inFolder(), profile?: string) {
    const used = new Set<string>();
    const find: FindInterface = async () => {
      const known = await interfaceNamed(DEFAULT_INTERFACE);
      return {
        ...known,
        open: (settings) => {
          used.add(settings.identity.qwacCertificate.serialNumber);
          return known.open(settings);
        },
      };
    };
    const globals = { ...PRESENT.globals, ...(profile && { profile }) };
    const rounds: Change[] = [...changes, ({ stop }) => stop('SIGTERM')];
    const { said, printed, failure } = await runService(operator, every('30s'), rounds, {
      env,
      globals,
      find,
    });
    return { said, failure, certificates: used.size, totals: printed && JSON.parse(printed).totals };
  }

  it('certificates that are the same are not opened again', async () => {
    const { said } = await syncing([() => {}, () => usePair('qwac')]);
    expect(said).toBe(ROUND.repeat(3));
  });

  it.each(['qwac.pem', 'qwac-key.pem', 'qseal.pem', 'qseal-key.pem'])(
    'the next round uses a changed %s, and says so once',
    async (name) => {
      const { said, totals } = await syncing([() => appendFileSync(path(name), '\n'), () => {}]);
      expect(said).toBe(`${ROUND}${CHANGED}${ROUND}${ROUND}`);
      // The calls over the new connection count too.
      expect(totals.calls).toBeGreaterThan(6);
    },
  );

  it('psd2 calls the bank with the new certificate, and takes the old one again', async () => {
    const ended = await syncing([() => usePair('next-qwac'), () => usePair('qwac')]);
    expect(ended).toMatchObject({ ...BOTH_USED, said: `${ROUND}${CHANGED}${ROUND}${CHANGED}${ROUND}` });
  });

  it('a key that does not fit leaves the old pair in use, until the other half comes', async () => {
    const ended = await syncing([
      () => put('qwac-key.pem', 'next-qwac-key.pem'),
      () => {},
      () => put('qwac.pem', 'next-qwac.pem'),
    ]);
    const why = /still uses the old ones: (.*)\n/.exec(ended.said)?.[1] ?? '';
    expect(why).toMatch(/key.*\.$/);
    const said = `${ROUND}${STILL}${why}\n${ROUND}${ROUND}${CHANGED}${ROUND}`;
    expect(ended).toMatchObject({ ...BOTH_USED, said });
  });

  it('as long as a file is missing, each round says that psd2 still uses the old one', async () => {
    const [remove, putBack] = [() => rmSync(path('qwac.pem')), () => put('qwac.pem', 'qwac.pem')];
    const { said } = await syncing([remove, () => {}, putBack]);
    const missing = `${STILL}The QWAC certificate ${path('qwac.pem')} does not exist.\n`;
    expect(said).toBe(`${ROUND}${missing}${ROUND}${missing}${ROUND}${ROUND}`);
  });

  it('Ctrl-C while psd2 looks for changes ends the service', async () => {
    const change: Change = ({ interrupt }) => {
      appendFileSync(path('qwac.pem'), '\n');
      interrupt();
    };
    await expect(syncing([change])).rejects.toThrow('Interrupted');
  });

  it.each([
    [new Psd2Error('interrupted', 'Interrupted'), true],
    [new TypeError('A bug'), true],
    [new Psd2Error('certificate', 'The key does not fit'), false],
  ])('that cannot be looked at: %s ends the service: %s', async (error, ends) => {
    const { context, said } = operator.open({ env: inFolder() });
    let isAway = false;
    const unsealed: Context['unsealed'] = async () => {
      if (isAway) throw error;
      return context.unsealed();
    };
    const keys = await ChangedKeys.begin({ ...context, unsealed });
    isAway = true;
    const look = keys.look();
    if (ends) await expect(look).rejects.toBe(error);
    else await look;
    expect(said()).toBe(ends ? '' : `${STILL}The key does not fit.\n`);
  });

  describe('a profile with a file', () => {
    const PASSPHRASE = { PSD2_CONFIG_PASSPHRASE: 'correct horse' };
    /** None of the settings of the operator: they are in the file. */
    const free = (): Environment => Object.fromEntries(Object.keys(operator.env).map((name) => [name, '']));
    const open = (env: Environment = {}) =>
      operator.open({ env: { ...free(), ...env }, globals: { profile: 'bank' } }).context;
    const stored = (changes: Partial<ProfileSettings> = {}): ProfileSettings => {
      const { PSD2_BASE_URL, PSD2_APP_NAME, PSD2_CA, PSD2_BANK_SIGNING_CERT } = operator.env;
      return {
        ...{ baseUrl: PSD2_BASE_URL ?? '', applicationName: PSD2_APP_NAME ?? '', clientSecret: 'hush' },
        ...{ ca: { path: PSD2_CA ?? '' }, bankSigningCertificate: { path: PSD2_BANK_SIGNING_CERT ?? '' } },
        ...{ qwacCertificate: { path: path('qwac.pem') }, qwacKey: { path: path('qwac-key.pem') } },
        ...{ qsealCertificate: { path: path('qseal.pem') }, qsealKey: { path: path('qseal-key.pem') } },
        ...changes,
      };
    };
    const begin = async (env?: Environment, protect = false) => {
      const context = open(env);
      await context.profiles.write('bank', stored());
      if (protect) await profileProtect(context, undefined, BY_ENVIRONMENT);
      const { accessToken, refreshToken } = await operator.bank.tpp.login('anna');
      await storeLogin(open(env), operator.idOf('anna'), { accessToken, refreshToken });
    };
    const other = () => ({
      qwacCertificate: { path: path('next-qwac.pem') },
      qwacKey: { path: path('next-qwac-key.pem') },
    });

    it('is read again: other certificates count, and no other setting', async () => {
      await begin();
      const changed = stored({ ...other(), applicationName: 'Nobody', baseUrl: 'https://elsewhere.example' });
      const ended = await syncing([() => open().profiles.write('bank', changed), () => {}], free(), 'bank');
      expect(ended).toMatchObject({ ...BOTH_USED, said: `${ROUND}${CHANGED}${ROUND}${ROUND}` });
    });

    it('may have the key in the file of the certificate from now on', async () => {
      await begin();
      const pair = ['next-qwac.pem', 'next-qwac-key.pem'].map((name) => readFileSync(path(name)));
      writeFileSync(path('both.pem'), Buffer.concat(pair), { mode: 0o600 });
      const { qwacKey: _key, ...settings } = stored({ qwacCertificate: { path: path('both.pem') } });
      const ended = await syncing([() => open().profiles.write('bank', settings)], free(), 'bank');
      expect(ended).toMatchObject({ ...BOTH_USED, said: `${ROUND}${CHANGED}${ROUND}` });
    });

    it('may be protected', async () => {
      await begin(PASSPHRASE, true);
      const env = { ...free(), ...PASSPHRASE };
      const key = { pem: readFileSync(path('next-qwac-key.pem'), 'utf8') };
      const settings = stored({ ...other(), qwacKey: key });
      const change = () => open(PASSPHRASE).profiles.write('bank', settings);
      const ended = await syncing([() => {}, change, () => {}], env, 'bank');
      expect(ended).toMatchObject({ ...BOTH_USED, said: `${ROUND}${ROUND}${CHANGED}${ROUND}${ROUND}` });
    });
  });
});
