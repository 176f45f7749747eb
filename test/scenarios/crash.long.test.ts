import { expect, it } from 'vitest';
import { type How, PATIENCE_MS, type Place, useCrashBank } from '../crash/bank.ts';
import { choose, distinct, problemsOf, SIDE_BY_SIDE, sideBySide } from '../crash/matrix.ts';
import { pointsOf } from '../crash/outcome.ts';
import { useRelay } from '../crash/relay.ts';
import { flowsAt, judgeEnd, useFollowers } from '../crash/tried.ts';
import { bySeed, fewer, sample } from '../support/sample.ts';
import { meet } from './play.ts';
import type { Row, Step } from './row.ts';
import { ROWS } from './rows.ts';

// The first command of a row is stopped at each point where money moves. What it meets at the bank stays the same. Then only the
// ledger and the state in the end count.

const bank = useCrashBank();
const relay = useRelay(bank.sandbox);
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));
const HOWS: readonly How[] = ['SIGKILL', 'SIGTERM', 'twice'];
const ENDED_UNPAID = ['failed', 'rejected', 'cancelled', 'expired'];
const PAID = ['executed', 'settled'];

const crashing = ROWS.flatMap((row) =>
  row.crash && row.bank === 'cb' ? [{ ...row, crash: row.crash }] : [],
);

function wordsAt(place: Place, { words }: Step, flow = ''): string[] {
  return words.map((word) =>
    word.replace('AMOUNT', place.amount).replace('REFERENCE', place.name).replace('FLOW', flow),
  );
}

/** Stops the first command at a point, goes on, and returns what became of it. */
async function stopAt({ steps: [first] }: Row, at: string, how: How) {
  const place = bank.newPlace();
  const problems: string[] = [];
  if (!first) throw new TypeError('A row has a step');
  meet({ relay, name: place.name }, first);
  const env = relay.env(place.name);
  const begin = wordsAt(place, first);
  await place.watched(begin, { at, how }, env);
  place.passTime();
  const kind = first.words[0] ?? '';
  const [flow] = await flowsAt(followers, place, kind, env);
  const goOn = flow ? [kind, 'resume', flow.flow, '--yes', '--json'] : begin;
  for (const _ of ['resumed', 'resumed again'])
    judgeEnd('resume', await followers.psd2(place, goOn, env), problems);
  const [last] = await flowsAt(followers, place, kind, env);
  place.remove();
  return { point: `${how} ${at}`, amount: place.amount, end: last?.state ?? 'nothing', problems };
}

it.each(sample(crashing, 1, ({ name }) => name).map((row) => [row.name, row] as const))(
  '%s',
  async (_, row) => {
    const place = bank.newPlace();
    const [first] = row.steps;
    if (!first) throw new TypeError('A row has a step');
    meet({ relay, name: place.name }, first);
    const { trace } = await place.watched(wordsAt(place, first), undefined, relay.env(place.name));
    place.remove();
    const [from, to] = row.crash.map((event) => new RegExp(`half .* ${event} `));
    const all = choose(distinct(pointsOf(trace)), from && to && { from, to }, 2);
    const points = bySeed(all, ({ at }) => at).slice(0, fewer(24));
    const tried = await sideBySide(points, ({ at }) =>
      stopAt(row, at, bySeed(HOWS, (how) => `${how} ${at}`)[0] ?? 'SIGKILL'),
    );
    const booked = await bank.bookings();
    for (const { amount, end, problems } of tried) {
      const times = booked(amount);
      if (times > 1) problems.push(`paid ${times} times`);
      if (times === 0 && PAID.includes(end)) problems.push(`it ended ${end}, and nothing is paid`);
      if (times > 0 && ENDED_UNPAID.includes(end)) problems.push(`it ended ${end}, and is paid`);
      if (row.paid === 0 && times > 0 && !PAID.includes(end)) problems.push(`it ended ${end}, and is paid`);
    }
    expect(problemsOf(tried)).toEqual([]);
  },
  PATIENCE_MS,
);
