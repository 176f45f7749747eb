import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Server, startServer } from '../store/postgres/server.ts';
import { sample } from '../support/sample.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { asTried, choose, cutsOf, type Point, problemsAt } from './matrix.ts';
import { recordAtDoor, rulesOf, tryAtDoor, tryTogether, WAYS } from './nextgenpsd2.ts';
import { databaseHome, filesHome, recordSync, trySync } from './nextgenpsd2-sync.ts';

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
        1,
      ),
    )(
      'if a %s is stopped at any step (%s), nothing is asked for twice, and no login is lost',
      async (command, how) => {
        const all = await recordAtDoor(bank, way, command);
        const points = choose(how === 'cut' ? cutsOf(all) : all, undefined, 8);
        const one = (point: Point) => tryAtDoor(bank, way, command, how, point);
        expect(await problemsAt([`door ${command} ${way.name}`, how], points, one, asTried)).toEqual([]);
      },
      PATIENCE_MS,
    );

    it(
      'if a worker stalls at any step and another one goes on, both end, and the bank has one consent',
      async () => {
        const points = choose(await recordAtDoor(bank, way, 'consent'), undefined, 4);
        const name = [`door consent ${way.name}`, 'two workers'] as const;
        const one = ({ at }: Point) => tryTogether(bank, way, at);
        expect(await problemsAt(name, points, one, asTried)).toEqual([]);
      },
      PATIENCE_MS,
    );
  },
);

describe('a sync at this interface', () => {
  const [way] = WAYS;
  if (!way) throw new TypeError('There is no way of SCA');
  const bank = useCrashBank([...rulesOf(way), '--page-size', '10']);
  let server: Server;
  beforeAll(() => {
    server = startServer();
    server.create('synced');
  });
  afterAll(() => server.stop());
  const homeOf = (name: 'files' | 'PostgreSQL') => {
    const sql = (text: string) => server.sql('synced', text);
    return name === 'files'
      ? filesHome(bank, way)
      : databaseHome(bank, way, { url: server.url('synced'), sql });
  };

  it.each(
    sample(
      (['files', 'PostgreSQL'] as const).flatMap((home) => HOW.map((how) => [home, how] as const)),
      1,
    ),
  )(
    'if a sync into %s is stopped at any step (%s), the next one leaves every row once',
    async (name, how) => {
      const home = await homeOf(name);
      const { points: all, rows } = await recordSync(home);
      expect(rows.length).toBeGreaterThan(20);
      expect(new Set(rows).size).toBe(rows.length);
      const points = choose(how === 'cut' ? cutsOf(all) : all, undefined, 9);
      const one = (point: Point) => trySync(home, how, point, rows);
      // They share the home.
      const problems = await problemsAt([`door sync ${name}`, how], points, one, asTried, 1);
      home.place.remove();
      expect(problems).toEqual([]);
    },
    PATIENCE_MS,
  );
});
