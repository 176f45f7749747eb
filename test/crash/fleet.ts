import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import * as z from 'zod';
import { storeFolder } from '../../src/store/machine/folder.ts';
import { openStore } from '../../src/store/open.ts';
import type { Ended, Environment, Running } from '../e2e/support/psd2.ts';
import { type Server, startServer } from '../store/postgres/server.ts';
import { settingsOf } from '../store/settings.ts';
import { SEED } from '../support/sample.ts';
import { shiftClock } from '../support/shift-clock.ts';
import { ACCOUNT, type CrashBank } from './bank.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';

/** The faults that a fleet meets, and how often. */
export interface Troubles {
  killed: number;
  /** Customers who logged in again because a worker was killed while it renewed their login. */
  loggedInAgain: number;
  stalled: number;
  crashes: number;
  cuts: number;
}

/** Workers with a machine each, one database, and the sandbox bank. */
export interface Fleet {
  server: Server;
  database: string;
  /** The orders so far, by reference. */
  orders: ReadonlyMap<string, Order>;
  /** Messages about processes that were not killed and ended with an error that is not allowed. */
  problems: string[];
  /** Runs psd2 on a separate machine, with a direct connection to the database. */
  psd2(args: string[]): Promise<Ended>;
  /** Lets the workers work, with faults, while `goesOn` returns true. @returns the faults they met */
  work(workers: number, goesOn: (had: Troubles) => boolean): Promise<Troubles>;
  /** Also logs the generated customers in to the operator's own files. */
  logInToFiles(): Promise<void>;
  /** How many processes were started. */
  started(): number;
  /** The commands that run now, each with its process. */
  running(): string[];
}

export interface Order {
  reference: string;
  amount: string;
}

const PASSPHRASE = 'fleet-passphrase';
const DATABASE = 'fleet';
/** The customer who pays. */
const PAYER = '1048262';
/** Longer than a claim lasts: a worker that stalls for this time has lost its claims. */
const STALL_MS = 13_000;
const MAX_WRONG_CLOCK_MS = 45_000;
/** Several workers ask for each reference. */
const TRIES_OF_A_REFERENCE = 3;
const COMMISSION_CENTS = 50;

/** Errors that a worker may end with if it was stalled, cut off or too late, but not killed. */
const MAY_END_WITH = [
  'duplicate_reference',
  'config',
  'overtaken',
  'outcome_unknown',
  'bank_unreachable',
  'authorisation_timeout',
  'flow_not_found',
  // Another worker may have spent the refresh token, and not stored the new one yet. The end of the test shows lost logins.
  'not_logged_in',
];
/** For this long after a database crash, a worker may hold tokens that it could not store, without a claim to them. */
const CALM_AFTER_CRASH_MS = 30_000;
/** After that, workers are killed again for this long before the next crash. */
const KILLS_FOR_MS = 20_000;

/** Messages about damage to the store, which no fault may cause. */
const DAMAGE = /damaged|did not write/;

/** @param customers how many customers to generate and log in, in addition to the one who pays */
export function useFleet(bank: CrashBank, customers: number): Fleet {
  const { operator } = bank;
  const orders = new Map<string, Order>();
  const problems: string[] = [];
  const chance = seeded(SEED);
  let server: Server;
  let proxy: CuttingProxy;
  let started = 0;

  beforeAll(async () => {
    server = startServer();
    server.create(DATABASE);
    proxy = await startCuttingProxy(socketFolder(server));
    const made = await psd2(['store', 'init']);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    for (const args of [
      ['auth', 'login'],
      ['consent', 'request', '--category', 'ACCOUNT_INFO', '--category', 'PAYMENTS', '--all-accounts'],
    ]) {
      const ended = await psd2(args);
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
    }
    await logInMany(operator.config, direct(), madeUp(customers));
  });
  afterAll(() => {
    proxy?.close();
    server?.stop();
  });

  let machine: Environment | undefined;
  /** The environment of a machine that keeps nothing in files and reaches the database without the proxy. */
  const direct = () => {
    machine ??= machineOf(operator.config, join(operator.folder, 'machine'), {
      PSD2_STORE: server.url(DATABASE),
      PSD2_CONFIG_PASSPHRASE: PASSPHRASE,
    });
    return machine;
  };
  /** The commands that run now. */
  const now = new Set<string>();
  const during = async <T>(command: string, work: Promise<T>): Promise<T> => {
    now.add(command);
    return work.finally(() => now.delete(command));
  };
  const psd2 = (args: string[]) => during(`psd2 ${args.join(' ')}`, operator.psd2(args, { env: direct() }));

  const someFlowUnderWay = () => {
    try {
      return server.sql(
        DATABASE,
        "select flow from psd2.flows where under_way and standing in ('open', 'sent') and kind = 'transfer' order by random() limit 1",
      );
    } catch {
      // The database is down.
      return '';
    }
  };

  /** What one worker does next. */
  const nextJob = (): string[] => {
    const kind = chance();
    if (kind < 0.3) return SYNC;
    const leftBehind = kind < 0.45 ? someFlowUnderWay() : '';
    if (leftBehind !== '') return ['transfer', 'resume', leftBehind, '--json', '--yes'];
    const known = [...orders.values()];
    const last = known.at(-Math.ceil(chance() * TRIES_OF_A_REFERENCE));
    if (last && chance() < 0.6) return pay(last);
    const order = newOrder(orders.size);
    orders.set(order.reference, order);
    return pay(order);
  };

  /** Kills a worker. The customers whose tokens it was changing may have lost their login, and log in again. */
  const kill = async (victim: Running) => {
    victim.kill('SIGSTOP');
    const held = server.sql(
      DATABASE,
      `select name from psd2.claims where kind = 'tokens' and worker like 'process ${victim.pid} on %'`,
    );
    victim.kill('SIGKILL');
    await victim.ended;
    for (const holder of held.split('\n').filter(Boolean)) {
      if (holder === PAYER) await psd2(['auth', 'login']);
      else await logInMany(operator.config, direct(), [holder]);
    }
    return held === '' ? 0 : held.split('\n').length;
  };

  const work = async (workers: number, goesOn: (had: Troubles) => boolean): Promise<Troubles> => {
    const had: Troubles = { killed: 0, loggedInAgain: 0, stalled: 0, crashes: 0, cuts: 0 };
    let calmFrom = 0;
    const before = proxy.cuts();
    const atWork = new Map<Running, 'free' | 'stalled' | 'killed'>();
    let isOver = false;
    const worker = async (number: number) => {
      const env = machineOf(operator.config, join(operator.folder, `machine-${number}`), {
        ...direct(),
        PSD2_STORE: `postgres://psd2@/${DATABASE}?host=${encodeURIComponent(proxy.folder)}`,
        ...shiftClock((chance() * 2 - 1) * MAX_WRONG_CLOCK_MS),
      });
      while (!isOver) {
        const args = nextJob();
        const running = await operator.start(args, env);
        started += 1;
        running.closeInput();
        atWork.set(running, 'free');
        const name = `psd2 ${args.slice(0, 3).join(' ')} (worker ${number}, process ${running.pid})`;
        const ended = await during(name, running.ended);
        const wasKilled = atWork.get(running) === 'killed';
        atWork.delete(running);
        if (!wasKilled) judge(args, ended, problems);
      }
    };
    const trouble = async () => {
      const free = [...atWork].filter(([, state]) => state === 'free').map(([running]) => running);
      const victim = free[Math.floor(chance() * free.length)];
      const kind = chance();
      if (kind < 0.4) {
        proxy.cutNext();
      } else if (kind < 0.6 && victim && Date.now() > calmFrom) {
        had.killed += 1;
        atWork.set(victim, 'killed');
        had.loggedInAgain += await kill(victim);
      } else if (kind < 0.85 && victim) {
        had.stalled += 1;
        atWork.set(victim, 'stalled');
        victim.kill('SIGSTOP');
        void delay(STALL_MS).then(() => victim.kill('SIGCONT'));
      } else if (kind > 0.9 && had.killed > 1 && had.stalled > 1 && Date.now() > calmFrom + KILLS_FOR_MS) {
        had.crashes += 1;
        server.crash();
        // Some workers wait for the database, and some give up.
        await delay(chance() < 0.7 ? 1_000 : 10_000);
        server.start();
        calmFrom = Date.now() + CALM_AFTER_CRASH_MS;
      }
    };
    const all = Array.from({ length: workers }, (_, number) => worker(number));
    try {
      while (goesOn({ ...had, cuts: proxy.cuts() - before })) {
        await delay(500 + chance() * 2_000);
        await trouble();
      }
    } finally {
      isOver = true;
      await Promise.all(all);
    }
    return { ...had, cuts: proxy.cuts() - before };
  };

  return {
    get server() {
      return server;
    },
    database: DATABASE,
    orders,
    problems,
    psd2,
    work,
    logInToFiles: () => logInMany(operator.config, {}, madeUp(customers)),
    started: () => started,
    running: () => [...now],
  };
}

/** Syncs all customers, without the limit on unattended reads. */
export const SYNC = ['sync', '--all-customers', '--json', '--cores', '1', '--concurrency', '4'].concat(
  '--unattended-reads',
  '9999',
);

/** The command that pays an order. */
export function pay({ reference, amount }: Order): string[] {
  return [
    ...['transfer', 'create', '--json', '--yes', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
    ...['--name', 'Ada Lovelace', '--amount', amount, '--description', reference, '--reference', reference],
  ];
}

/** Nobody else orders this amount, and it is not the commission, so the ledger shows what the order paid. */
function newOrder(index: number): Order {
  const cents = index + 1 < COMMISSION_CENTS ? index + 1 : index + 2;
  return { reference: `FLEET-${index + 1}`, amount: (cents / 100).toFixed(2) };
}

/** A worker may lose its claims. It may not end with a bug. */
function judge(args: string[], { code, signal, stderr }: Ended, problems: string[]): void {
  if (code === 0) return;
  const said = /"code":"([a-z_]+)"/.exec(stderr)?.[1] ?? 'nothing';
  if (code !== null && MAY_END_WITH.includes(said) && !DAMAGE.test(stderr)) return;
  problems.push(`psd2 ${args.slice(0, 2).join(' ')} ended with ${code ?? signal}: ${stderr}`);
}

/** Gives a machine its own settings and certificates, and nothing that a payment depends on. */
function machineOf(from: string, folder: string, env: Environment): Environment {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const part of ['profiles', 'config.json'])
    cpSync(join(from, part), join(folder, part), { recursive: true });
  return { ...env, PSD2_CONFIG_DIR: folder };
}

/** Returns numbers between 0 and 1. The same seed gives the same numbers. */
function seeded(seed: string): () => number {
  let count = 0;
  return () => {
    count += 1;
    return createHash('sha256').update(`${seed} ${count}`).digest().readUInt32BE() / 2 ** 32;
  };
}

function socketFolder(server: Server): string {
  return (
    new URL(server.url(DATABASE).replace('postgres://psd2@/', 'postgres://psd2@host/')).searchParams.get(
      'host',
    ) ?? ''
  );
}

function madeUp(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(5_000_001 + index));
}

const runningShape = z.object({ baseUrl: z.string(), customerSiteUrl: z.string(), controlToken: z.string() });
const grantedShape = z.object({
  accessToken: z.string(),
  accessTokenSeconds: z.number(),
  refreshToken: z.string(),
  refreshTokenSeconds: z.number(),
});

/** Writes tokens of the generated customers to a store, as a login of each would. */
async function logInMany(config: string, env: Environment, ids: string[]): Promise<void> {
  const bank = runningShape.parse(JSON.parse(readFileSync(join(config, 'sandbox', 'running.json'), 'utf8')));
  const folder = storeFolder(env.PSD2_CONFIG_DIR ?? config);
  const store = await openStore(settingsOf(folder, env, PASSPHRASE));
  const { tokens } = store.open('sandbox', new URL(bank.baseUrl));
  const later = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  for (const customerId of ids) {
    const granted = grantedShape.parse(await grant(bank, customerId));
    await tokens.change(customerId, (slot) =>
      slot.write({
        accessToken: granted.accessToken,
        accessTokenExpiresAt: later(granted.accessTokenSeconds),
        refreshToken: granted.refreshToken,
        refreshTokenExpiresAt: later(granted.refreshTokenSeconds),
        scope: null,
      }),
    );
  }
  await store.close();
}

/** Gets tokens for a customer without a login. */
async function grant(bank: z.infer<typeof runningShape>, customerId: string): Promise<unknown> {
  const answer = await fetch(`${bank.customerSiteUrl}/control/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bank.controlToken}` },
    body: JSON.stringify({ customerId }),
  });
  return answer.json();
}
