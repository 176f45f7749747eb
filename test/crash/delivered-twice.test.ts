import { expect, it } from 'vitest';
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
import { judgeLedger, STATUSES, type StatusTells } from './gateway.ts';
import { HOMES, type Home, useHomes } from './homes.ts';
import { goThrough, problemsOf, SIDE_BY_SIDE, sideBySide } from './matrix.ts';
import { useRelay } from './relay.ts';
import { bySeed, triedShape, useFollowers } from './tried.ts';

const bank = useCrashBank(['--page-size', '1000']);
const followers = useFollowers(bank, SIDE_BY_SIDE);
const relay = useRelay(bank.operator);
const lodge = useHomes(bank, followers);
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
  statusTells: StatusTells;
  home: Home;
}
const WAYS: Way[] = STATUSES.flatMap((statusTells) => HOMES.map((home) => ({ statusTells, home })));
const named = (deliveries: Delivery[], ways: Way[]) =>
  deliveries.flatMap((delivery) =>
    ways.map((way) => [delivery.name, `${way.statusTells}, ${way.home}`, delivery, way] as const),
  );

async function tryAll(delivery: Delivery, way: Way, seconds: Second[]): Promise<string[]> {
  const how = `${way.statusTells}, ${way.home}`;
  const tries = await goThrough(triedShape, delivery.name, how, seconds, async (some) => {
    const tried = await sideBySide(some, (second) =>
      lodge(way.home, (lodging) => tryDelivery(means, lodging, delivery, way, second)),
    );
    await judgeLedger(bank, tried);
    return tried;
  });
  return problemsOf(tries);
}

it.each(named(DECISIVE, WAYS))(
  'if %s is delivered twice and the second is refused (%s), psd2 does not believe it, and does nothing twice',
  async (name, how, delivery, way) => {
    expect(await tryAll(delivery, way, chosen(`${name} ${how}`, 2))).toEqual([]);
  },
  PATIENCE_MS,
);

it.each(
  named(
    EARLIER,
    WAYS.filter(({ statusTells }) => statusTells === 'status tells'),
  ),
)(
  'if %s is delivered twice (%s), psd2 makes one payment or consent',
  async (name, how, delivery, way) => {
    expect(await tryAll(delivery, way, chosen(`${name} ${how}`, 1))).toEqual([]);
  },
  PATIENCE_MS,
);

const isTokenCall = (name: string): name is TokenCall => name in TOKEN_CALLS;
it.each(
  Object.keys(TOKEN_CALLS)
    .filter(isTokenCall)
    .flatMap((name) => HOMES.map((home) => [name, home] as const)),
)(
  'if %s is delivered twice (%s), psd2 loses no login that the bank has not ended',
  async (name, home) => {
    const tries = await goThrough(triedShape, name, home, chosen(`${name} ${home}`, 1), (some) =>
      sideBySide(some, (second) =>
        lodge(home, (lodging) => tryTokenCall(means, lodging, name, home, second)),
      ),
    );
    expect(problemsOf(tries)).toEqual([]);
  },
  PATIENCE_MS,
);
