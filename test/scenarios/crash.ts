import { beforeAll, describe, expect, it } from 'vitest';
import { type How, PATIENCE_MS, type Place, useCrashBank } from '../crash/bank.ts';
import { choose, distinct, type Point, problemsOf, SIDE_BY_SIDE, sideBySide } from '../crash/matrix.ts';
import { pointsOf } from '../crash/outcome.ts';
import { type Relay, useRelay } from '../crash/relay.ts';
import { flowsAt, judgeEnd, useFollowers } from '../crash/tried.ts';
import { bySeed, sample } from '../support/sample.ts';
import { meet, profileOf, rulesOf } from './play.ts';
import { allowCredentials } from './program.ts';
import type { BankOfRow, Row, Step } from './row.ts';
import { byBank, ROWS } from './rows.ts';

// The first command of a row is stopped where money moves: from the announcement of the call that moves it. What it meets at the
// bank stays the same. Then only the ledger and the state in the end count.

const HOWS: readonly How[] = ['SIGKILL', 'SIGTERM', 'twice'];
const ENDED_UNPAID = ['failed', 'rejected', 'cancelled', 'expired'];
const PAID = ['executed', 'settled'];
/** What announces the call that moves money, or that psd2 makes once: at the other interface that is the initiation. */
const ANNOUNCED = { cb: /half .* (?:execute|confirm)-sent /, other: /half .* (?:verify|execute)-sent / };
/** What a body of embedded SCA has of the customer. */
const GIVEN = /"(password|scaAuthenticationData)"/;
/** How many points of each row. `npm run reliability` takes all. */
const EACH = 1;

const crashing = ROWS.filter(({ bank, waits, steps: [first] }) => {
  const command = first?.words.slice(0, 2).join(' ');
  const isConsent =
    command === 'consent request' && (bank === 'cb' || first?.env?.PSD2_EMBEDDED !== undefined);
  return !waits && (command === 'transfer create' || isConsent);
});

function useStops(kind: BankOfRow) {
  const bank = useCrashBank(rulesOf(kind));
  const relay = useRelay(bank.sandbox);
  const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));
  beforeAll(async () => {
    if (kind !== 'cb') await allowCredentials(bank.operator);
  });

  /** A place at which the first command meets what the row says. The relay sends the customer. */
  function open({ steps: [first] }: Row) {
    const place = bank.newPlace();
    if (!first) throw new TypeError('A row has a step');
    /** The PINs and TANs that came, from files: each goes once, whoever goes on. */
    const given: string[] = [];
    const counting: Relay = {
      ...relay,
      treat: (name, treatment) =>
        relay.treat(name, (call, toBank) => {
          const [, what] = GIVEN.exec(call.body) ?? [];
          if (what) given.push(what);
          return treatment(call, toBank);
        }),
    };
    meet({ relay: counting, name: place.name }, first);
    const env = {
      ...{ PSD2_PROFILE: profileOf(kind), PSD2_BROWSER: 'true' },
      ...{ PSD2_SCA_TIMEOUT: '2', ...relay.env(place.name), ...first.env },
    };
    return { place, env, given, begin: wordsAt(place, first), noun: first.words[0] ?? '' };
  }

  async function record(row: Row): Promise<Point[]> {
    const { place, begin, env } = open(row);
    const { trace } = await place.watched(begin, undefined, env);
    place.remove();
    const points = distinct(pointsOf(trace));
    const announced = ANNOUNCED[kind === 'cb' ? 'cb' : 'other'];
    const first = points.findIndex(({ at }) => announced.test(at));
    return first < 0 ? [] : points.slice(first);
  }

  /** Stops the first command at a point, goes on, and returns what became of it. */
  async function stopAt(row: Row, at: string) {
    const { place, begin, env, given, noun } = open(row);
    const how = bySeed(HOWS, (each) => `${each} ${row.name} ${at}`)[0] ?? 'SIGKILL';
    const problems: string[] = [];
    await place.watched(begin, { at, how }, env);
    place.passTime();
    const [flow] = await flowsAt(followers, place, noun, env);
    if (!flow) problems.push('the flow is lost');
    const goOn = [noun, 'resume', flow?.flow ?? '', '--json', ...(noun === 'transfer' ? ['--yes'] : [])];
    for (const who of ['resumed', 'resumed again'])
      judgeEnd(who, await followers.psd2(place, goOn, env), problems);
    const [last] = await flowsAt(followers, place, noun, env);
    for (const [nth, what] of given.entries())
      if (given.indexOf(what) < nth) problems.push(`the bank got the ${what} again`);
    place.remove();
    return { point: `${how} ${at}`, amount: place.amount, end: last?.state ?? 'nothing', problems };
  }

  return { bank, record, stopAt };
}

function wordsAt(place: Place, { words }: Step): string[] {
  return words.map((word) => word.replace('AMOUNT', place.amount).replace('REFERENCE', place.name));
}

/** Whether the bank's own status comes in the end, so that psd2 knows what the bank knows. */
function isHonest({ steps: [first] }: Row): boolean {
  const { status, settlement, 'sca-status': sca } = first?.meets ?? {};
  return !status && !settlement && !sca;
}

/** Stops the rows that move money: all of one interface, since a file is the work of one process. */
export function stopRows(isMine: (row: Row) => boolean): void {
  describe.each(byBank(sample(crashing.filter(isMine), 4, ({ name }) => name)))(
    'at %s',
    (_, { bank: kind, rows }) => {
      const { bank, record, stopAt } = useStops(kind);
      it.each(rows.map((row) => [row.name, row] as const))(
        '%s',
        async (_name, row) => {
          const points = choose(await record(row), undefined, EACH);
          const tried = await sideBySide(points, ({ at }) => stopAt(row, at));
          const booked = await bank.bookings();
          for (const { amount, end, problems } of tried) {
            const times = booked(amount);
            if (times > 1) problems.push(`paid ${times} times`);
            if (!isHonest(row)) continue;
            if (times === 0 && PAID.includes(end)) problems.push(`it ended ${end}, and nothing is paid`);
            if (times > 0 && ENDED_UNPAID.includes(end)) problems.push(`it ended ${end}, and is paid`);
          }
          expect(problemsOf(tried)).toEqual([]);
        },
        PATIENCE_MS,
      );
    },
  );
}
