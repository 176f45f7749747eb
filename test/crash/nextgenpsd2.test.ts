import { describe, expect, it } from 'vitest';
import { sample } from '../support/sample.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, cutsOf, goThrough, problemsOf, sideBySide } from './matrix.ts';
import { recordAtDoor, rulesOf, tryAtDoor, tryTogether, WAYS } from './nextgenpsd2.ts';
import { triedShape } from './tried.ts';

// The second interface, at a door of the sandbox that plays each way of SCA.

const HOW = ['SIGKILL', 'SIGINT', 'cut'] as const;

describe.each(sample(WAYS, 1, ({ name }) => name).map((way) => [way.name, way] as const))(
  'at a bank with %s',
  (_, way) => {
    const bank = useCrashBank(rulesOf(way));
    const commands = way.login ? (['login', 'consent'] as const) : (['consent'] as const);

    it.each(
      sample(
        commands.flatMap((command) => HOW.map((how) => [command, how] as const)),
        2,
      ),
    )(
      'if a %s is stopped at any step (%s), nothing is asked for twice, and no login is lost',
      async (command, how) => {
        const all = await recordAtDoor(bank, way, command);
        const points = choose(how === 'cut' ? cutsOf(all) : all, undefined, 9);
        const tries = await goThrough(triedShape, `door ${command} ${way.name}`, how, points, (some) =>
          sideBySide(some, (point) => tryAtDoor(bank, way, command, how, point)),
        );
        expect(problemsOf(tries)).toEqual([]);
      },
      PATIENCE_MS,
    );

    it(
      'if a worker stalls at any step and another one goes on, both end, and the bank has one consent',
      async () => {
        const points = choose(await recordAtDoor(bank, way, 'consent'), undefined, 6);
        const tries = await goThrough(triedShape, `door consent ${way.name}`, 'two workers', points, (some) =>
          sideBySide(some, ({ at }) => tryTogether(bank, way, at)),
        );
        expect(problemsOf(tries)).toEqual([]);
      },
      PATIENCE_MS,
    );
  },
);
