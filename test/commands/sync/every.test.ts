import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { Rounds } from '../../../src/store/ports/sync.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { useOperatorHere } from '../operator.ts';
import { runService, type Service } from './service.ts';

// psd2 sync --every, round after round.

const operator = useOperatorHere();
const temporary = temporaryFolder();
const DAY_MS = 86_400_000;

let out: string;
let anna: string;
beforeEach(async () => {
  operator.folder = newConfigFolder(temporary);
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
  const { printed, said, failure, waits } = await runService(operator, words, [
    () => void calls.push(value('calls_total{profile="env"')),
    () => {
      calls.push(value('calls_total{profile="env"'));
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
  const { printed, said, failure, waits } = await runService(
    operator,
    every('40s'),
    [() => {}, () => {}, ({ stop }) => stop('SIGINT')],
    PRESENT,
  );
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
  /** A terminal that tells when a round begins. */
  const atRound = (begins: (service: Service) => void, ends = (_service: Service) => {}) => ({
    ...PRESENT,
    context: (context: Context, service: Service): Context => ({
      ...context,
      terminal: {
        ...context.terminal,
        whileWaiting: async (line, work) => {
          begins(service);
          const result = await context.terminal.whileWaiting(line, work);
          ends(service);
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
    const end = ({ stop }: Service) => {
      rounds += 1;
      if (rounds === 2) stop(signal);
    };
    const ended = await runService(
      operator,
      every('30s'),
      [() => {}],
      atRound(() => {}, end),
    );
    expect(ended.said).toBe(ROUND);
    expect(ended.failure).toEqual(failure);
    expect(JSON.parse(ended.printed)).toMatchObject({ totals: { customers: 1, synced: 1 } });
  });

  it('a signal when a round begins lets it begin no customer', async () => {
    const how = atRound(({ stop }) => stop('SIGTERM'));
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
  const { printed, said, failure } = await runService(
    operator,
    every('30s', '--all-customers'),
    [() => {}, ({ stop }) => stop('SIGTERM')],
    PRESENT,
  );
  expect(failure).toBeNull();
  const { customers, totals } = JSON.parse(printed);
  expect(totals).toMatchObject({ customers: 2, synced: 1 });
  expect(customers).toMatchObject([
    { customerId: '1000001', status: 'failed', errors: [{ productId: null }] },
  ]);
  const round = `Customer 1000001: ${customers[0].errors[0].message}\nA round has ended: 1 of 2 customers are completely synced.\n`;
  expect(said).toBe(round.repeat(2));
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
