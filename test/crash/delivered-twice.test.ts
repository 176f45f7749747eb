import { expect, it } from 'vitest';
import { bySeed, sample } from '../support/sample.ts';
import { BACKENDS, type Backend, useBackends } from './backends.ts';
import { ALL, PATIENCE_MS, useCrashBank } from './bank.ts';
import {
  DECISIVE,
  type Delivery,
  EARLIER,
  SECONDS,
  type Second,
  TOKEN_CALLS,
  type TokenCall,
  tryDelivery,
  tryTokenCall,
} from './delivered-twice.ts';
import { judgeLedger, STATUSES, type StatusKind } from './gateway.ts';
import { goThrough, problemsOf, SIDE_BY_SIDE, sideBySide } from './matrix.ts';
import { useRelay } from './relay.ts';
import { triedShape, useFollowers } from './tried.ts';

const bank = useCrashBank(['--page-size', '1000']);
const followers = useFollowers(bank, SIDE_BY_SIDE);
const relay = useRelay(bank.sandbox);
const lodge = useBackends(bank, followers);
const means = { bank, relay, followers };

/** The second answers of a test run: the bank's own, one that a client easily believes, and another one. */
const chosen = (name: string, count: number): Second[] => {
  // The order is random, so that an interrupted run has tried some of each kind.
  const seeded = bySeed(SECONDS, ({ at }) => `${name} ${at}`);
  if (ALL) return seeded;
  const known = SECONDS.filter(({ status }) => status === undefined || status === 409);
  return [...new Set([...bySeed(known, ({ at }) => `${name} ${at}`), ...seeded])].slice(0, count);
};

interface Way {
  statusKind: StatusKind;
  backend: Backend;
}
const WAYS: Way[] = STATUSES.flatMap((statusKind) => BACKENDS.map((backend) => ({ statusKind, backend })));
const named = (deliveries: Delivery[], ways: Way[]) =>
  deliveries.flatMap((delivery) =>
    ways.map((way) => [delivery.name, `${way.statusKind}, ${way.backend}`, delivery, way] as const),
  );

async function tryAll(delivery: Delivery, way: Way, seconds: Second[]): Promise<string[]> {
  const how = `${way.statusKind}, ${way.backend}`;
  const tries = await goThrough(triedShape, delivery.name, how, seconds, async (some) => {
    const tried = await sideBySide(some, (second) =>
      lodge(way.backend, (lodging) => tryDelivery(means, lodging, delivery, way, second)),
    );
    await judgeLedger(bank, tried);
    return tried;
  });
  return problemsOf(tries);
}

const nameOf = ([what, how]: readonly [string, string, ...unknown[]]) => `${what} ${how}`;
it.each(sample(named(DECISIVE, WAYS), 3, nameOf))(
  'if %s is delivered twice and the second is refused (%s), psd2 does not believe it, and does nothing twice',
  async (name, how, delivery, way) => {
    expect(await tryAll(delivery, way, chosen(`${name} ${how}`, 2))).toEqual([]);
  },
  PATIENCE_MS,
);

const conclusive = WAYS.filter(({ statusKind }) => statusKind === 'status is conclusive');
it.each(sample(named(EARLIER, conclusive), 2, nameOf))(
  'if %s is delivered twice (%s), psd2 makes one payment or consent',
  async (name, how, delivery, way) => {
    expect(await tryAll(delivery, way, chosen(`${name} ${how}`, 1))).toEqual([]);
  },
  PATIENCE_MS,
);

const isTokenCall = (name: string): name is TokenCall => name in TOKEN_CALLS;
const tokenCalls = Object.keys(TOKEN_CALLS)
  .filter(isTokenCall)
  .flatMap((name) => BACKENDS.map((backend) => [name, backend] as const));
it.each(sample(tokenCalls, 2, nameOf))(
  'if %s is delivered twice (%s), psd2 loses no login that the bank has not ended',
  async (name, backend) => {
    const tries = await goThrough(triedShape, name, backend, chosen(`${name} ${backend}`, 1), (some) =>
      sideBySide(some, (second) =>
        lodge(backend, (lodging) => tryTokenCall(means, lodging, name, backend, second)),
      ),
    );
    expect(problemsOf(tries)).toEqual([]);
  },
  PATIENCE_MS,
);
