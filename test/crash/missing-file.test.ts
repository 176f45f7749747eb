import { cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { doneBut, nameOf, refused } from '../scenarios/row.ts';
import { bySeed, fewer } from '../support/sample.ts';
import { ALL, PATIENCE_MS, type Place, useCrashBank } from './bank.ts';
import {
  between,
  CONSENT_REQUEST,
  forAnotherOrder,
  INSTANTLY,
  type Means,
  newFlows,
  transferOrder,
} from './gateway.ts';
import { asTried, type Point, problemsAt, SIDE_BY_SIDE } from './matrix.ts';
import { useRelay } from './relay.ts';
import { type Flow, judgeEnd, newTry, succeeded, type Tried, useFollowers } from './tried.ts';

/** An order that was given before the file went missing. */
interface Given {
  name: string;
  order: string[];
  flow: Flow;
}

/** A store with everything in it, which each try copies. */
interface LivedIn {
  place: Place;
  orders: Given[];
  consent: Flow;
  /** The files of its store. */
  files: Point[];
}

/** Where a sync of a place writes its rows. */
const rowsOf = ({ config }: Place) => `${config}-rows`;
const syncOf = (place: Place) => ['sync', '--unattended-reads', '9999', '--out', rowsOf(place), '--json'];

/** Fills a store: payments that are finished, unknown and at the customer's, a consent, rows that were read. */
async function liveIn({ bank, relay, followers }: Means): Promise<LivedIn> {
  const place = bank.newPlace();
  let answersAreLost = false;
  let isSent = false;
  const env = between(relay, place, 'status is conclusive', async (call, toBank) => {
    const name = nameOf(call);
    isSent ||= answersAreLost && name === 'execute';
    const isLost = isSent && (name === 'execute' || name === 'status');
    return isLost ? doneBut(refused(504))(call, toBank) : toBank();
  });
  const run = async (args: string[], code: number) =>
    succeeded(args, await followers.psd2(place, args, env), code);
  const orders: Given[] = [];
  const pay = async (name: string, more: string[], allowed: number) => {
    const order = transferOrder(forAnotherOrder(bank, place), more);
    const known = orders.map(({ flow }) => flow);
    await run(order, allowed);
    const [flow] = await newFlows(followers, place, 'transfer', env, known);
    if (!flow) throw new Error(`${name}: there is no flow`);
    orders.push({ name, order, flow });
  };
  await pay('finished', [], 0);
  await pay('finished, instant', INSTANTLY, 0);
  await run(CONSENT_REQUEST, 0);
  const [consent] = await newFlows(followers, place, 'consent', env);
  if (!consent) throw new Error('there is no consent');
  await run(syncOf(place), 0);
  answersAreLost = true;
  await pay('unknown', [], 9);
  return { place, orders, consent, files: filesOf(place).map((at) => ({ at, phase: '' })) };
}

function filesOf({ config }: Place): string[] {
  return readdirSync(config, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(config, file)).isFile())
    .sort();
}

/** A name that is the same in every run. */
function withoutIds(file: string): string {
  return file.replace(/\b(?:tr|co|op)-\w+/g, (id) => `${id.slice(0, 3)}…`).replace(/[0-9a-f]{16,}/g, '…');
}

/** Removes a file of a store. psd2 must pay nothing again, and each command must end with its result or a clear error. */
async function tryMissing(
  { bank, relay, followers }: Means,
  { place: base, orders, consent }: LivedIn,
  name: string,
  file: string,
): Promise<Tried> {
  const place = bank.newPlace();
  rmSync(place.config, { recursive: true });
  cpSync(base.config, place.config, { recursive: true });
  rmSync(join(place.config, file));
  const tried = newTry('missing file', name, 'removed', file, '');
  const { problems } = tried;
  let paid = 0;
  const env = between(relay, place, 'status is conclusive', async (call, toBank) => {
    const answer = await toBank();
    if (nameOf(call) === 'execute' && answer.status === 200) paid += 1;
    return answer;
  });
  const run = async (args: string[]) => {
    const ended = await followers.psd2(place, args, env);
    judgeEnd(`psd2 ${args.slice(0, 3).join(' ')}`, ended, problems);
    return ended;
  };
  for (const given of orders) {
    const { code, stderr } = await run(given.order);
    if (code === 0) problems.push(`the order that is ${given.name} was taken again: ${stderr}`);
    const resumed = await run(['transfer', 'resume', given.flow.flow, '--json', '--yes', '--payee-verified']);
    tried.ends.push(`${given.name}: ${resumed.code}`);
    const again = await run(given.order);
    if (again.code === 0)
      problems.push(`after resume, the order that is ${given.name} was taken again: ${again.stderr}`);
  }
  await run(['consent', 'resume', consent.flow, '--json']);
  for (const args of [
    ['transfer', 'list', '--json'],
    ['consent', 'list', '--json'],
    ['customer', 'id', '--json'],
    syncOf(place),
    ['status', '--json'],
  ])
    await run(args);
  tried.twice = paid > 0;
  if (paid > 0) problems.push(`paid twice: the bank executed ${paid} more`);
  rmSync(rowsOf(place), { recursive: true, force: true });
  place.remove();
  return tried;
}

const bank = useCrashBank(['--page-size', '1000']);
const followers = useFollowers(bank, SIDE_BY_SIDE);
const relay = useRelay(bank.sandbox);
const means = { bank, relay, followers };
/** The files of a store that a test run removes, one at a time. */
const SOME = 6;

it(
  'if any file of a store is missing, psd2 pays nothing again, and says what is wrong',
  async () => {
    const lived = await liveIn(means);
    const seeded = bySeed(lived.files, ({ at }) => withoutIds(at));
    const files = ALL ? lived.files : seeded.slice(0, fewer(SOME));
    const name = 'a store with payments';
    const one = ({ at }: Point) => tryMissing(means, lived, name, at);
    const problems = await problemsAt([name, 'removed'], files, one, asTried);
    lived.place.remove();
    expect(problems).toEqual([]);
  },
  PATIENCE_MS,
);
