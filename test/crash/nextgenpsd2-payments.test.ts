import { describe, expect, it } from 'vitest';
import { sample } from '../support/sample.ts';
import { BACKENDS, useBackends } from './backends.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, cutsOf, type Point, problemsAt, SIDE_BY_SIDE, shareOf } from './matrix.ts';
import {
  judgePayments,
  PAYING_DOORS,
  recordPayment,
  rulesOf,
  tryRestored,
  tryStopped,
} from './nextgenpsd2-payments.ts';
import { type Tried, useFollowers } from './tried.ts';

const HOW = ['SIGKILL', 'cut', 'SIGINT', 'SIGTERM', 'twice', 'SIGSTOP'] as const;
/** The points that a run of all tests takes of each case. */
const SOME = 6;
/** The lines of the journal of a payment that nothing stops. The last one of some has the account that the bank names. */
const LINES = 7;

/**
 * Where all points are tried, the first case has every point in every way. Of each of the others the ways share at most
 * this many, spread over the payment, and each case has other ones.
 */
const MOST = 120;

const cases = PAYING_DOORS.flatMap((door) => BACKENDS.map((backend) => [door.name, backend, door] as const));

/** A door takes minutes, so a run of all tests takes the first one, and `npm run reliability` all. */
const [FIRST] = PAYING_DOORS;
const everyPoint = (name: string, backend: string) => name === FIRST?.name && backend === BACKENDS[0];
const nameOf = ([name, backend]: (typeof cases)[number]) => `${name} ${backend}`;
const chosen = process.env.CRASH_MATRIX === 'all' ? cases : cases.filter(([, , door]) => door === FIRST);

describe.each(sample(chosen, 1, nameOf))(
  'a payment at the second interface (%s, %s)',
  (name, backend, door) => {
    const bank = useCrashBank(rulesOf(door));
    const followers = useFollowers(bank, SIDE_BY_SIDE);
    const means = { bank, followers, lodge: useBackends(bank, followers) };
    const what = `door payment ${name} ${backend}`;
    const judge = (tries: Tried[]) => judgePayments(bank, tries);

    it.each(sample(HOW, 1))(
      'stopped at any step (%s), it is paid once, and psd2 says what the bank says',
      async (how) => {
        const all = await recordPayment(means, door, backend);
        const number = cases.findIndex((each) => each[0] === name && each[1] === backend);
        const share = everyPoint(name, backend)
          ? all
          : shareOf(all, MOST, HOW.indexOf(how), HOW.length, number);
        const points = choose(how === 'cut' ? cutsOf(all) : share, undefined, SOME);
        const one = (point: Point) => tryStopped(means, door, backend, how, point);
        expect(await problemsAt([what, how], points, one, judge)).toEqual([]);
      },
      PATIENCE_MS,
    );

    it(
      'whose journal is put back to what it was before any but its first line, is paid once',
      async () => {
        const all = Array.from({ length: LINES - (door.namesAccount ? 0 : 1) }, (_, n) => ({
          at: `${n + 1}`,
          phase: '',
        }));
        const points = choose(all, undefined, 3);
        const one = ({ at }: Point) => tryRestored(means, door, backend, Number(at));
        expect(await problemsAt([what, 'restored journal'], points, one, judge)).toEqual([]);
      },
      PATIENCE_MS,
    );
  },
);
