import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { writeStorePage } from '../../../scripts/docs/store-page.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { type Decimal, isDecimal } from '../../../src/domain/decimal.ts';
import type { Dealt, Round, SyncTarget } from '../../../src/store/ports/sync.ts';
import { PostgresAudit } from '../../../src/store/postgres/audit.ts';
import { type Claim, Claims } from '../../../src/store/postgres/claims.ts';
import { databaseSide } from '../../../src/store/postgres/copy/side.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { PostgresRounds } from '../../../src/store/postgres/sync/rounds.ts';
import { PostgresSync } from '../../../src/store/postgres/sync/rows.ts';
import {
  BOOKED_COLUMNS,
  declared,
  MARK_COLUMNS,
  PENDING_COLUMNS,
} from '../../../src/store/postgres/transaction-columns.ts';
import { batchAdded } from '../../domain/batch/lines.ts';
import { allOf, begun, opened, TRANSFER_BEGIN } from '../flows.ts';
import { append, rowOf } from '../row-of.ts';
import { replaceForStore } from '../waiting.ts';
import { BANK, batchLine, granting, login } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores();
const SENT = { type: 'verify-sent', requestId: 'r', digest: null } as const;
const DAY = parseDate('--date', '2026-11-20');
const ROW = rowOf('a', DAY);
const OVERTAKEN = { code: 'overtaken' };
const signal = new AbortController().signal;
const decimal = (text: string): Decimal => (isDecimal(text) ? text : expect.unreachable());
const keySources = { passphrase: async () => 'correct horse', signal };

beforeEach(async () => {
  await stores.init();
});
const worker = () => stores.worker().open('p', BANK);
/** Without a passphrase, whose key takes long. */
const logIn = async (customers: readonly string[]) => {
  const { tokens } = stores.worker({ isPlain: true }).open('p', BANK);
  for (const customer of customers) await tokens.change(customer, (slot) => slot.write(login));
};
/** All claims expire, as if their workers had stalled for an hour. */
const expireClaims = () => stores.sql(`update psd2.claims set until = '-infinity'`);

describe('the claims of workers', () => {
  const claims = () => new Claims(stores.database(), 'p', undefined);
  const within = (of: Claims, work: (claim: Claim) => Promise<void>, more: object = {}) =>
    of.within('sync', '42', { what: 'The sync', patienceMs: 0, ...more }, work);
  const held = () =>
    stores.sql(`select number, until > clock_timestamp() from psd2.claims where name = '42'`);

  it('a worker that lost its claim knows it, and does not release it from the worker that has it now', async () => {
    const [late, other] = [claims(), claims()];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let working: Promise<void> | undefined;
    let first = 0;
    await within(late, async (claim) => {
      first = Number.parseInt(held(), 10);
      expect(await claim.isOurs()).toBe(true);
      expireClaims();
      expect(await claim.isOurs()).toBe(true);
      // Its heartbeat may have come in between.
      expireClaims();
      await new Promise<void>((hasBegun) => {
        working = within(other, async (its) => {
          expect([await claim.isOurs(), await its.isOurs()]).toEqual([false, true]);
          hasBegun();
          return ended;
        });
      });
    });
    expect(held()).toBe(`${first + 1}|t`);
    end();
    await working;
    expect(held()).toBe(`${first + 1}|f`);
  });

  it('a worker that did not get the claim names its holder, and one that takes over names the holder before', async () => {
    const [one, other] = [claims(), claims()];
    await one.within('sync', '1', { what: 'The sync', patienceMs: 0 }, () =>
      within(one, async ({ takenOverFrom }) => {
        expect(takenOverFrom).toBeUndefined();
        stores.sql(`update psd2.claims set worker = 'process 7' where name = '42'`);
        await expect(within(other, async () => {})).rejects.toMatchObject({
          code: 'config',
          message: 'The sync is in use by process 7',
          hint: 'Wait until it has ended, then run this again.',
        });
        expireClaims();
        await within(other, async (claim) => expect(claim.takenOverFrom).toBe('process 7'));
      }),
    );
    await within(one, async ({ takenOverFrom }) => expect(takenOverFrom).toBeUndefined());
  });

  it('a worker waits for a claim as long as it has patience, and no longer than its command', async () => {
    const stop = new AbortController();
    await within(claims(), async () => {
      const soon = within(claims(), async () => {}, { patienceMs: 400 });
      await expect(soon).rejects.toMatchObject({ message: expect.stringContaining('The sync is in use') });
      const waiting = within(claims(), async () => {}, { patienceMs: 3_600_000, signal: stop.signal });
      stop.abort(new Error('the end'));
      await expect(waiting).rejects.toThrow('the end');
    });
    await expect(within(claims(), async () => {}, { signal: stop.signal })).rejects.toThrow('the end');
  });

  it('a worker extends its claim while it works, and never that of another worker', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const database = stores.database();
    const statements = vi.spyOn(database, 'query');
    const beat = async () => {
      // Less than half of a claim's time.
      await vi.advanceTimersByTimeAsync(4_000);
      await Promise.all(statements.mock.results.map(({ value }) => value));
    };
    const isExtended = () =>
      stores.sql(`select until > clock_timestamp() - interval '1 hour' from psd2.claims`) === 't';
    await within(new Claims(database, 'p', undefined), async () => {
      stores.sql(`update psd2.claims set until = clock_timestamp() - interval '1 day'`);
      await beat();
      expect(isExtended()).toBe(true);
      stores.sql(`update psd2.claims set number = number + 1, until = clock_timestamp() - interval '1 day'`);
      await beat();
      expect(isExtended()).toBe(false);
    });
  });

  it('a worker that lost its claim does not go on with the flow, even if the other worker has not written yet', async () => {
    const late = await begun(worker().flows, 'transfer', TRANSFER_BEGIN('a'));
    const other = await opened(worker().flows, 'transfer', late.current.flow);
    await expect(late.assertOurs()).rejects.toMatchObject(OVERTAKEN);
    await expect(late.record(SENT)).rejects.toMatchObject(OVERTAKEN);
    await other.assertOurs();
    expect((await other.record(SENT)).state).toBe('created');
  });
});

describe('a connection that is lost', () => {
  let { proxy, through } = {} as Awaited<ReturnType<typeof stores.proxied>>;
  beforeEach(async () => {
    ({ proxy, through } = await stores.proxied());
  });
  /** A worker whose statements go through the proxy. */
  const cutOff = () => stores.worker({ address: through }).open('p', BANK);

  it('an event counts as written if only the answer was lost, and psd2 stops if the event itself was', async () => {
    const flow = await begun(cutOff().flows, 'transfer', TRANSFER_BEGIN('a'));
    proxy.cutNext();
    await flow.record(SENT);
    proxy.dropNext();
    await expect(flow.record({ type: 'cancelled' })).rejects.toMatchObject({
      code: 'config',
      message: `The journal of ${flow.current.flow} cannot be written: the connection was lost`,
      hint: expect.stringMatching(
        /^psd2 does nothing that it cannot record first\. Check PostgreSQL at \/.*, then resume\.$/,
      ),
    });
    expect(proxy.cuts()).toBe(2);
    const moments = await worker().flows.history(flow.current.flow);
    expect(moments?.map(({ type }) => type)).toEqual(['created', 'verify-sent']);
  });

  it('a flow begins if only the answer to its commit was lost, and there is none if the commit was', async () => {
    const { flows } = cutOff();
    proxy.cutNext(/\bcommit\b/);
    const { flow } = (await begun(flows, 'transfer', TRANSFER_BEGIN('a'))).current;
    proxy.dropNext(undefined, /\bcommit\b/);
    await expect(begun(flows, 'transfer', TRANSFER_BEGIN('b'))).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('cannot be written: the connection was lost'),
    });
    expect(proxy.cuts()).toBe(2);
    expect((await allOf(worker().flows, 'transfer')).map((each) => each.flow)).toEqual([flow]);
  });

  it.each(['cut', 'drop'] as const)(
    'a sync stores its rows once if a commit or its answer was lost: %s',
    async (how) => {
      const { sync } = cutOff();
      await sync(undefined).run(signal, (run) =>
        run.customer('42', async (to) => {
          await append(await to.booked('A1', true), [ROW]);
          to.remember('A1', { from: DAY, through: DAY }, DAY);
          to.replace('balances/A1', [{ accountBalance: { amount: '1.10', currency: 'EUR' } }]);
          if (how === 'cut') proxy.cutNext(/\bcommit\b/);
          else proxy.dropNext(undefined, /\bcommit\b/);
        }),
      );
      expect(proxy.cuts()).toBe(1);
      expect(stores.sql('select count(*) from psd2.transactions')).toBe('1');
      expect(stores.sql('select count(*) from psd2.sync_progress')).toBe('1');
      expect(stores.sql('select kind, amount from psd2.balances')).toBe('account_balance|1.10');
    },
  );

  const added = batchAdded({ by: 'ada', user: 'ada', machine: 'm' });
  const order = { added, lines: [batchLine()], again: false };
  const listed = async () => {
    const ids: string[] = [];
    for await (const { batch } of worker().batches.list()) ids.push(batch);
    return ids;
  };

  it('a batch was added if only the answer to its commit was lost, and was not if the commit was', async () => {
    const { batches } = cutOff();
    proxy.dropNext(undefined, /\bcommit\b/);
    await expect(batches.add(order)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(
        /^The journal of the batch \S+ cannot be written: the connection was lost$/,
      ),
      hint: expect.stringMatching(
        /^psd2 does nothing that it cannot record first\. Check PostgreSQL at \/.*, then/,
      ),
    });
    expect(await listed()).toEqual([]);
    proxy.cutNext(/\bcommit\b/);
    const { batch } = await batches.add(order);
    expect([proxy.cuts(), await listed()]).toEqual([2, [batch]]);
  });

  it('a line of a batch begins if only the answer was lost, and does not if the event was', async () => {
    const { batches } = cutOff();
    const { batch } = await batches.add(order);
    const begin = (flow: string) => batches.change(batch, () => ({ type: 'line-begun', line: 1, flow }));
    const writing = /insert into psd2\.batch_events/;
    proxy.dropNext(undefined, writing);
    await expect(begin('tr-1')).rejects.toMatchObject({
      code: 'config',
      message: `The journal of the batch ${batch} cannot be written: the connection was lost`,
    });
    expect((await worker().batches.find(batch)).flows).toEqual(new Map());
    proxy.cutNext(writing);
    expect((await begin('tr-2')).recorded).toBe(true);
    expect([proxy.cuts(), stores.sql('select count(*) from psd2.batch_events')]).toEqual([2, '2']);
    expect((await worker().batches.find(batch)).flows).toEqual(new Map([[1, 'tr-2']]));
  });

  it('a worker joins a round if a commit or its answer was lost, and begins no second one', async () => {
    const rounds = await cutOff().rounds();
    await logIn(['1']);
    proxy.cutNext(/\bcommit\b/);
    const round = await rounds.join();
    expect('share' in round && round.share).toMatchObject({ round: 1, size: 1 });
    expect(proxy.cuts()).toBe(1);
  });
});

describe('the customers of a round', () => {
  const IDS = ['1', '2', '3'];
  beforeEach(async () => {
    await logIn(IDS);
  });
  const join = async (): Promise<Round> => {
    const round = await (await worker().rounds()).join();
    if ('dueIn' in round) return expect.unreachable();
    onTestFinished(() => round.leave());
    return round;
  };
  const next = async (round: Round, most = 1) => {
    const dealt = await round.next(most);
    return typeof dealt === 'string' ? dealt : dealt.customerId;
  };

  it('while another worker takes a customer, the round gives out the next one, without waiting', async () => {
    const round = await join();
    const other = await stores.holding(
      `update psd2.sync_customers set worker = gen_random_uuid(), number = number + 1 where customer_id = '1'`,
    );
    const customer = next(round);
    expect(await stores.waits(customer)).toBe(false);
    await other.end();
    expect([await customer, await next(round), await next(round)]).toEqual(['2', '3', 'later']);
  });

  it('the status has the calls a second and the customers a second of the last minutes, until the round ends', async () => {
    const rounds = await worker().rounds();
    const round = await join();
    stores.sql(`update psd2.sync_rounds set begun_at = begun_at - interval '100 seconds';
      insert into psd2.sync_minutes values ('p', clock_timestamp() - interval '1 hour', 90000, 90000),
        ('p', clock_timestamp() - interval '100 seconds', 6000, 600)`);
    const { callsPerSecond, customersPerSecond } = (await rounds.status()) ?? expect.unreachable();
    expect(Number(callsPerSecond)).toBeGreaterThan(1);
    expect(Number(callsPerSecond)).toBeLessThanOrEqual(60);
    expect(Number(customersPerSecond)).toBeCloseTo(Number(callsPerSecond) / 10);
    for (let next = await round.next(3); typeof next !== 'string'; next = await round.next(3))
      await next.finish({ status: 'synced', code: null, message: null });
    expect(await rounds.status()).toMatchObject({
      ...{ endedAt: expect.any(String), callsPerSecond: null, customersPerSecond: null },
    });
  });

  it('all workers count what they have done in a minute together, and nothing leaves no row', async () => {
    const [one, other] = [await join(), await join()];
    const counted = () => stores.sql('select sum(calls), sum(customers) from psd2.sync_minutes');
    await one.note({ calls: 0, ends: [], isOver: false });
    expect(counted()).toBe('|');
    const end = { customerId: '1', status: 'synced' as const, code: null, message: null };
    await one.note({ calls: 1, ends: [end], isOver: false });
    await one.note({ calls: 1, ends: [], isOver: false });
    await other.note({ calls: 0, ends: [end, end], isOver: false });
    await other.note({ calls: 3, ends: [], isOver: true });
    expect(counted()).toBe('5|3');
  });

  it('a worker takes part in the round that is under way, however long the pause between rounds is', async () => {
    const round = await join();
    const joined = await (await worker().rounds()).join(3_600_000);
    expect('share' in joined && joined.share).toEqual(round.share);
  });

  it('a worker that came too early asks the database again after half a second', async () => {
    let now = 1_000_000;
    replaceForStore(performance, 'now', () => now);
    const [one, other] = [await join(), await join()];
    expect(await next(one, 3)).toBe('1');
    expect(await next(other)).toBe('later');
    await one.leave();
    now += 499;
    expect(await next(other)).toBe('later');
    now += 1;
    expect(await next(other)).not.toBe('later');
  });

  it('a worker that was there before the store was copied away gets no customer', async () => {
    const round = await join();
    stores.sql(`update psd2.store set moved_to = 'elsewhere'`);
    await expect(round.next(1)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/^The store in .+ was copied to elsewhere, and is no longer used$/),
    });
    expect(stores.sql('select count(*) from psd2.sync_customers where worker is not null')).toBe('0');
  });

  it('a worker that was there before a newer psd2 changed the schema begins no other round', async () => {
    const rounds = await worker().rounds();
    await rounds.join();
    stores.sql('update psd2.store set version = version + 1');
    await expect(rounds.join()).rejects.toMatchObject({
      code: 'config',
      hint: 'Update psd2 on this machine.',
    });
  });

  it('workers that come at once join one round', async () => {
    const other = await stores.holding(`select pg_advisory_xact_lock(hashtext('psd2.rounds p'))`);
    const joined = join();
    expect(await stores.waits(joined)).toBe(true);
    await other.end();
    expect((await joined).share).toMatchObject({ round: 1 });
  });

  it('a customer whom another worker has taken over is not dealt again to the first one', async () => {
    const round = await join();
    const dealt = await round.next(1);
    if (typeof dealt === 'string') return expect.unreachable(dealt);
    const { customerId } = dealt;
    stores.sql(`update psd2.sync_customers set worker = gen_random_uuid(), number = number + 1
      where customer_id = '${customerId}'`);
    dealt.again();
    const rest = IDS.filter((id) => id !== customerId);
    expect([await next(round), await next(round), await next(round)]).toEqual([...rest, 'later']);
  });

  it('a worker that leaves gives back the customers that it has not begun', async () => {
    const [leaving, staying] = [await join(), await join()];
    const dealt = await leaving.next(IDS.length);
    if (typeof dealt === 'string') return expect.unreachable(dealt);
    expect(await next(staying)).toBe('later');
    await dealt.finish({ status: 'synced', code: null, message: null });
    await leaving.leave();
    expect(await staying.counts()).toEqual({ due: 2, atWork: 0 });
    const last = await join();
    expect([await next(last), await next(last)].sort()).toEqual(['2', '3']);
  });

  it('a late heartbeat does not bring back a worker that has left', async () => {
    const beats = vi.spyOn(globalThis, 'setInterval');
    onTestFinished(() => beats.mockRestore());
    const round = await join();
    await round.next(1);
    const beat = beats.mock.calls.at(-1)?.[0];
    const other = await stores.holding('lock table psd2.sync_workers in share mode');
    const leaving = round.leave();
    expect(await stores.waits(leaving)).toBe(true);
    beat?.();
    expect(await stores.waits(leaving, 2)).toBe(true);
    await other.end();
    await leaving;
    const working = `select count(*) from pg_stat_activity where application_name = 'psd2' and state <> 'idle'
      and datname = current_database()`;
    await vi.waitUntil(() => stores.sql(working) === '0', { timeout: 30_000 });
    expect(stores.sql('select count(*) from psd2.sync_workers')).toBe('0');
  });

  it('an unfinished round without workers is continued for twelve hours, and one with workers for longer', async () => {
    const age = (hours: number) =>
      stores.sql(`update psd2.sync_rounds set begun_at = clock_timestamp() - interval '${hours} hours'`);
    const joined = async () => {
      const { share } = await join();
      return 'round' in share ? share.round : expect.unreachable();
    };
    expect(await joined()).toBe(1);
    age(11);
    expect(await joined()).toBe(1);
    age(13);
    const working = await join();
    expect(working.share).toMatchObject({ round: 2 });
    await next(working);
    age(13);
    expect(await joined()).toBe(2);
  });
});

describe('the worker of a round', () => {
  const IDS = ['1', '2', '3', '4'];
  const SYNCED = { status: 'synced', code: null, message: null } as const;
  /** What stands for each clock of the store. */
  const clock = { steady: 1_000_000, time: Date.parse('2026-11-20T12:00:00Z') };
  beforeEach(async () => {
    await logIn(IDS);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    Object.assign(clock, { steady: 1_000_000, time: Date.parse('2026-11-20T12:00:00Z') });
    replaceForStore(performance, 'now', () => clock.steady);
    replaceForStore(Date, 'now', () => clock.time);
  });
  const join = async (database = stores.database()): Promise<Round> => {
    const round = await new PostgresRounds(database, 'p', BANK).join();
    if ('dueIn' in round) return expect.unreachable();
    onTestFinished(() => round.leave());
    return round;
  };
  const deal = async (round: Round, most = 1): Promise<Dealt> => {
    const dealt = await round.next(most);
    return typeof dealt === 'string' ? expect.unreachable(dealt) : dealt;
  };
  /** The customers that a round still gives out. Each ends at once. */
  const rest = async (round: Round): Promise<string[]> => {
    const given: string[] = [];
    for (let next = await round.next(1); typeof next !== 'string'; next = await round.next(1)) {
      given.push(next.customerId);
      await next.finish(SYNCED);
    }
    return given;
  };
  const finished = () =>
    stores
      .sql(
        `select customer_id from psd2.sync_customers where worker is null and status = 'synced' order by 1`,
      )
      .split('\n');
  const rename = (table: string, name: string) => stores.sql(`alter table psd2.${table} rename to ${name}`);
  /** What psd2 asks the database from now on. */
  const asked = (database: Database) => {
    const kinds = {
      'find dead workers': /with dead/,
      deal: /with quick/,
      'is it over': /select exists/,
      'end the round': /update psd2\.sync_rounds/,
      'report ends': /json_to_recordset/,
      'show life': /update psd2\.sync_workers/,
      'read what is mine': /^select customer_id, number/,
      leave: /delete from psd2\.sync_workers/,
    };
    const spies = [vi.spyOn(database, 'query'), vi.spyOn(database, 'look')];
    return () => {
      const statements = spies.flatMap(({ mock }) =>
        mock.calls.map(([, sql], n) => ({ sql, order: mock.invocationCallOrder[n] ?? 0 })),
      );
      for (const spy of spies) spy.mockClear();
      return statements
        .toSorted((a, b) => a.order - b.order)
        .map(({ sql }) => Object.entries(kinds).find(([, kind]) => kind.test(sql))?.[0] ?? sql);
    };
  };

  it('a worker asks the database only what it has to', async () => {
    const database = stores.database();
    const [round, other] = [await join(database), await join()];
    const statements = asked(database);
    await round.leave();
    expect(statements()).toEqual([]);
    expect((await deal(other)).customerId).toBe('1');
    const first = await deal(round, 2);
    expect(statements()).toEqual(['find dead workers', 'deal']);
    const second = await deal(round);
    expect(statements()).toEqual([]);
    await first.finish(SYNCED);
    expect(statements()).toEqual(['report ends']);
    clock.steady += 2_001;
    // Its own heartbeat is part of it.
    await (await deal(round, 2)).finish(SYNCED);
    expect(statements()).toEqual(['find dead workers', 'deal', 'report ends']);
    expect(await round.next(1)).toBe('later');
    expect(statements()).toEqual(['deal', 'deal', 'is it over']);
    expect(await round.next(1)).toBe('later');
    expect(statements()).toEqual([]);
    await second.finish(SYNCED);
    await round.leave();
    expect(statements()).toEqual(['report ends', 'leave']);
    const late = await join(database);
    statements();
    expect(await late.next(1)).toBe('later');
    expect(statements()).toEqual(['find dead workers', 'deal', 'is it over']);
  });

  it('a worker asks nothing more once the round is over, whatever comes then', async () => {
    const database = stores.database();
    const round = await join(database);
    expect(await rest(round)).toEqual(IDS);
    const statements = asked(database);
    stores.sql(`update psd2.sync_customers set finished_at = '-infinity'`);
    clock.steady += 3_600_000;
    expect([await round.next(1), statements()]).toEqual(['over', []]);
  });

  it('a worker shows every two seconds that it lives, also after it could not, and no longer when it has left', async () => {
    const database = stores.database();
    const round = await join(database);
    const statements = vi.spyOn(database, 'query');
    const beat = async (milliseconds: number) => {
      await vi.advanceTimersByTimeAsync(milliseconds);
      await Promise.allSettled(statements.mock.results.map(({ value }) => value));
    };
    /** How many seconds from now its time is over, by the clock of the database: from the earliest moment to the latest. */
    const lives = (begun: string) =>
      stores.sql(`select until between '${begun}'::timestamptz + interval '10 seconds'
        and clock_timestamp() + interval '10 seconds' from psd2.sync_workers`);
    const now = () => stores.sql('select clock_timestamp()');
    let begun = now();
    await deal(round);
    expect(lives(begun)).toBe('t');
    begun = now();
    await deal(round);
    expect(lives(begun)).toBe('t');
    begun = now();
    await beat(1_999);
    expect(lives(begun)).toBe('f');
    await beat(1);
    expect(lives(begun)).toBe('t');
    rename('sync_workers', 'gone');
    await beat(2_000);
    rename('gone', 'sync_workers');
    begun = now();
    await beat(2_000);
    expect(lives(begun)).toBe('t');
    expect(vi.getTimerCount()).toBe(1);
    await round.leave();
    expect(vi.getTimerCount()).toBe(0);
    expect(stores.sql('select count(*) from psd2.sync_workers')).toBe('0');
  });

  it.each([
    ['gives out what it has after four seconds', { steady: 4_000, time: 4_000 }, ['2', '3', '4']],
    ['asks what it still has after more than four seconds', { steady: 4_001, time: 4_001 }, ['3', '4']],
    [
      'gives out what it has if its clock was set four seconds ahead',
      { steady: 0, time: 4_000 },
      ['2', '3', '4'],
    ],
    ['asks what it still has if the machine slept for longer', { steady: 0, time: 4_001 }, ['3', '4']],
    [
      'gives out what it has if its clock was set back four seconds',
      { steady: 0, time: -4_000 },
      ['2', '3', '4'],
    ],
    ['asks what it still has if its clock was set back further', { steady: 0, time: -4_001 }, ['3', '4']],
  ])('a worker %s', async (_, { steady, time }, expected) => {
    const round = await join();
    await deal(round, 3);
    stores.sql(`update psd2.sync_customers set worker = gen_random_uuid(), number = number + 1
      where customer_id = '2'`);
    clock.steady += steady;
    clock.time += time;
    expect(await rest(round)).toEqual(expected);
  });

  it('a worker knows by a heartbeat that came too late that it may have lost a customer, also after the next one', async () => {
    const database = stores.database();
    const round = await join(database);
    await deal(round, 3);
    const statements = vi.spyOn(database, 'query');
    stores.sql(`update psd2.sync_customers set worker = gen_random_uuid(), number = number + 1
      where customer_id = '2'`);
    for (const passed of [4_001, 2_000]) {
      clock.steady += passed;
      await vi.advanceTimersByTimeAsync(2_000);
      await Promise.all(statements.mock.results.map(({ value }) => value));
    }
    expect(await rest(round)).toEqual(['3', '4']);
  });

  it.each([
    ['nothing', '', ['2', '3', '4']],
    [
      'another worker has a waiting one',
      `worker = gen_random_uuid(), number = 2 where customer_id = '2'`,
      ['3', '4'],
    ],
    ['a waiting one was given back', `worker = null where customer_id = '2'`, ['3', '4', '2']],
    [
      'a waiting one was given back and dealt to it again',
      `number = 7 where customer_id = '2'`,
      ['3', '2', '4'],
    ],
    [
      'one in work was given back and dealt to it again',
      `number = 7 where customer_id = '1'`,
      ['2', '3', '1', '4'],
    ],
    [
      'one more was dealt to it',
      `worker = (select worker from psd2.sync_workers) where customer_id = '4'`,
      ['2', '3', '4'],
    ],
  ])('a worker that may have lost customers asks which it has: %s', async (_, change, expected) => {
    const round = await join();
    await deal(round, 3);
    if (change !== '') stores.sql(`update psd2.sync_customers set ${change}`);
    clock.steady += 4_001;
    expect(await rest(round)).toEqual(expected);
    expect(finished()).toEqual(expected.toSorted());
  });

  it('a worker gives nobody out twice who begins or ends while it asks which customers it has', async () => {
    const database = stores.database();
    const round = await join(database);
    const first = await deal(round, 3);
    const query = database.query.bind(database);
    let during = async () => {};
    vi.spyOn(database, 'query').mockImplementation(async (row, sql, values) => {
      const rows = await query(row, sql, values);
      if (sql.startsWith('select customer_id, number')) await during();
      return rows;
    });
    during = () => first.finish(SYNCED);
    clock.steady += 4_001;
    const second = await deal(round);
    // Two ask at once, and both have the answer before the first one goes on.
    const goOn: (() => void)[] = [];
    const bothHave = new Promise<void>((resolve) => {
      during = () =>
        new Promise((has) => {
          if (goOn.push(has) === 2) resolve();
        });
    });
    second.again();
    const dealt = [deal(round), deal(round)];
    await bothHave;
    goOn[0]?.();
    await Promise.race(dealt);
    goOn[1]?.();
    const customers = (await Promise.all(dealt)).map(({ customerId }) => customerId);
    expect(customers.toSorted()).toEqual(['2', '3']);
    during = async () => {};
    clock.steady += 4_001;
    expect(await rest(round)).toEqual(['4']);
  });

  it.each([
    ['it asks for the next one', async (round: Round) => void (await round.next(1))],
    ['another one ends', async (_: Round, other: Dealt) => other.finish(SYNCED)],
    ['it leaves', (round: Round) => round.leave()],
  ])('a worker reports what it could not report before, when %s', async (_, then) => {
    const round = await join();
    const [first, second, third] = [await deal(round, 3), await deal(round), await deal(round)];
    rename('sync_customers', 'gone');
    for (const { finish } of [first, second])
      await expect(finish(SYNCED)).rejects.toMatchObject({ code: 'config' });
    rename('gone', 'sync_customers');
    expect(finished()).toEqual(['']);
    await then(round, third);
    expect(finished()).toEqual(expect.arrayContaining(['1', '2']));
  });

  it('a worker leaves without an error if the database does not let it', async () => {
    const round = await join();
    await deal(round);
    rename('sync_workers', 'gone');
    await expect(round.leave()).resolves.toBeUndefined();
    rename('gone', 'sync_workers');
    expect(stores.sql('select count(*) from psd2.sync_workers')).toBe('1');
  });

  it.each([
    ['last if it looked for dead workers two seconds ago', 2_000, ['3', '4', '1']],
    ['first if it looked for dead workers earlier', 2_001, ['1', '3', '4']],
  ])('a worker gets the customers of a dead worker %s', async (_, passed, order) => {
    const [dying, round] = [await join(), await join()];
    await deal(dying);
    expect((await deal(round)).customerId).toBe('2');
    stores.sql(`update psd2.sync_workers set until = '-infinity' where worker in
      (select worker from psd2.sync_customers where customer_id = '1')`);
    clock.steady += passed;
    expect((await deal(round)).customerId).toBe(order[0]);
    clock.steady += 10_000;
    expect((await rest(round)).toSorted()).toEqual(order.slice(1).toSorted());
  });

  it('a worker gets the customers that a living worker gave back last', async () => {
    const [leaving, round] = [await join(), await join()];
    await deal(leaving);
    await deal(round);
    await leaving.leave();
    clock.steady += 2_001;
    expect(await rest(round)).toEqual(['3', '4', '1']);
  });

  it.each(['cutNext', 'dropNext'] as const)(
    'a worker gets each customer once if the answer to a deal was lost, or the deal itself: %s',
    async (how) => {
      const { proxy, through } = await stores.proxied();
      const round = await join(stores.database(through));
      await deal(round);
      const dealing = /insert into psd2\.sync_workers/;
      if (how === 'cutNext') proxy.cutNext(dealing);
      else proxy.dropNext(undefined, dealing);
      await expect(round.next(2)).rejects.toMatchObject({ name: 'Psd2Error', code: 'config' });
      expect(proxy.cuts()).toBe(1);
      expect(await rest(round)).toEqual(['2', '3', '4']);
      expect(finished()).toEqual(['2', '3', '4']);
    },
  );
});

describe('one worker that keeps out the others', () => {
  const exclusively = (work: () => Promise<void>) => worker().flows.exclusively(work);

  it('while a worker has the journal to itself, no other begins a flow', async () => {
    const { flows } = worker();
    await exclusively(async () => {
      await expect(begun(flows, 'transfer', TRANSFER_BEGIN('a'))).rejects.toMatchObject({
        code: 'config',
        message: expect.stringMatching(/^The journal of the profile is in use by process \d+ on /),
        hint: 'Wait until it has ended, then run this again.',
      });
    });
    expect((await begun(flows, 'transfer', TRANSFER_BEGIN('a'))).current.state).toBe('created');
  });

  it('while a flow begins, no worker gets the journal to itself', async () => {
    // The begin waits for this table after it has asked whether it may.
    const first = (await begun(worker().flows, 'transfer', TRANSFER_BEGIN('a'))).current;
    const inserting = await stores.holding('lock table psd2.flows in exclusive mode');
    const beginning = begun(worker().flows, 'transfer', TRANSFER_BEGIN('b'));
    expect(await stores.waits(beginning)).toBe(true);
    let hasItself = false;
    const working = worker().flows.exclusively(async () => {
      hasItself = true;
    });
    expect(await stores.waits(working, 2)).toBe(true);
    expect(hasItself).toBe(false);
    await inserting.end();
    const { flow } = (await beginning).current;
    await working;
    expect(hasItself).toBe(true);
    expect(flow > first.flow).toBe(true);
  });

  it('psd2 store copy marks a database once those that began before have their claim', async () => {
    const beginning = await stores.holding(
      `insert into psd2.claims (profile, kind, name, number, worker, until)
       values ('p', 'flow', 'tr-1', 1, 'process 7', clock_timestamp() + interval '1 hour')`,
    );
    const side = databaseSide(stores.database(undefined, true), keySources, false);
    const marking = side.setMark({ movedTo: { id: 'x', place: 'there' } });
    expect(await stores.waits(marking)).toBe(true);
    await beginning.end();
    await marking;
    expect(await side.atWork()).toEqual(['process 7 (flow tr-1)']);
  });
});

it('the rows of a sync and its progress are stored together, or not at all', async () => {
  stores.sql(`create function public.refuse() returns trigger language plpgsql as $$ begin raise 'full'; end $$;
    create trigger refuses before insert on psd2.sync_progress for each row execute function public.refuse()`);
  const synced = worker()
    .sync(undefined)
    .run(signal, (run) =>
      run.customer('42', async (to) => {
        await append(await to.booked('A1', true), [ROW]);
        to.remember('A1', { from: DAY, through: DAY }, DAY);
      }),
    );
  await expect(synced).rejects.toThrow('full');
  expect(stores.sql('select count(*) from psd2.transactions')).toBe('0');
});

it('what a sync does not know is null in its tables, also after it has known it', async () => {
  const SAID = { says: 'one', from: DAY, through: DAY };
  const progress = { from: DAY, through: DAY };
  const rows: string[] = [];
  for (const known of [
    {},
    {
      newest: 'N',
      balance: { amount: decimal('1.00'), currency: 'EUR' },
      difference: decimal('0.50'),
      contradictions: [SAID],
    },
    { contradictions: [] },
  ]) {
    await worker()
      .sync(undefined)
      .run(signal, (run) =>
        run.customer('42', async (to) => to.remember('A1', { ...progress, ...known }, DAY)),
      );
    rows.push(
      stores.sql(`select newest, balance, balance_currency, balance_difference, contradictions, account
        from psd2.sync_progress`),
    );
  }
  expect(rows).toEqual(['|||||', `N|1.00|EUR|0.50|${JSON.stringify([SAID])}|`, '|||||']);
});

it('a run that another has overtaken writes nothing', async () => {
  const lost = worker()
    .sync(undefined)
    .run(signal, ({ customer }) =>
      customer('42', async (to) => {
        await append(await to.booked('001', false), [ROW]);
        stores.sql('update psd2.claims set number = number + 1');
      }),
    );
  await expect(lost).rejects.toMatchObject({ code: 'overtaken' });
  expect(stores.sql('select count(*) from psd2.transactions')).toBe('0');
});

it.each([
  ['transactions', [...BOOKED_COLUMNS, ...MARK_COLUMNS]],
  ['pending_transactions', PENDING_COLUMNS],
])('psd2 writes the columns that %s has', (table, columns) => {
  const keys = ['profile', 'customer_id', 'product_id', 'month', 'n', 'synced_at'];
  const inDatabase = stores.sql(`select
      column_name || ' ' || data_type || case is_nullable when 'NO' then ' not null' else '' end
    from information_schema.columns where table_schema = 'psd2' and table_name = '${table}'
      and column_name not in (${keys.map((key) => `'${key}'`).join(', ')}) order by ordinal_position`);
  expect(declared(columns).split(/,\s+/)).toEqual(inDatabase.split('\n'));
});

it('the page of the store says what each column of a transaction is', () => {
  const page = readFileSync('docs/store.md', 'utf8');
  expect(writeStorePage(page)).toBe(page);
});

it('a row without texts in the database has empty ones, and psd2 knows it again', async () => {
  const appended: number[] = [];
  for (const _sync of [1, 2]) {
    await worker()
      .sync(undefined)
      .run(signal, (run) =>
        run.customer('42', async (to) => {
          appended.push(await append(await to.booked('A1', true), [{ ...ROW, description: '' }]));
          to.remember('A1', { from: DAY, through: DAY }, DAY);
        }),
      );
    stores.sql('update psd2.transactions set description = null, details = null');
  }
  expect(appended).toEqual([1, 0]);
  const synced = await worker().synced(undefined);
  const found = await synced.booked('42', 'A1', DAY);
  expect(found?.rows.map(({ description, details, code }) => [description, details, code])).toEqual([
    ['', '', null],
  ]);
});

it('a sync writes what there is to write, and nothing else', async () => {
  const database = stores.database();
  const transactions = vi.spyOn(database, 'transactionAgain');
  const sync = new PostgresSync(database, 'p', new Claims(database, 'p', undefined));
  const writes = {
    rows: async (to: SyncTarget) => void (await append(await to.booked('A1', true), [ROW])),
    marks: async (to: SyncTarget) => {
      const booked = await to.booked('A1', true);
      const covered = { from: DAY, to: undefined };
      await booked.append([], { of: { productId: 'A1', currency: 'EUR' }, covered });
      await booked.replace(await booked.gone());
    },
    balances: async (to: SyncTarget) =>
      to.replace('balances/A1', [{ accountBalance: { amount: '1.10', currency: 'EUR' } }]),
    progress: async (to: SyncTarget) => to.remember('A1', { from: DAY, through: DAY }, DAY),
  };
  const stored = () =>
    stores.sql(`select (select count(*) from psd2.transactions), (select count(*) from psd2.transactions where replaced),
      (select count(*) from psd2.balances), (select count(*) from psd2.sync_progress)`);
  const ends: string[] = [];
  for (const kinds of [
    ...([[], ['rows'], ['marks'], ['balances'], ['progress']] as const),
    ...([
      ['rows', 'balances'],
      ['rows', 'progress'],
      ['balances', 'progress'],
    ] as const),
  ]) {
    if (!kinds.some((kind) => kind === 'marks'))
      stores.sql('truncate psd2.transactions, psd2.balances, psd2.sync_progress');
    transactions.mockClear();
    await sync.run(signal, (run) =>
      run.customer('42', async (to) => {
        for (const kind of kinds) await writes[kind](to);
      }),
    );
    ends.push(`${kinds.join(' and ')}: ${stored()}, ${transactions.mock.calls.length}`);
  }
  expect(ends).toEqual([
    ': 0|0|0|0, 0',
    'rows: 1|0|0|0, 1',
    'marks: 1|1|0|0, 1',
    'balances: 0|0|1|0, 1',
    'progress: 0|0|0|1, 1',
    'rows and balances: 1|0|1|0, 1',
    'rows and progress: 1|0|0|1, 1',
    'balances and progress: 0|0|1|1, 1',
  ]);
});

/** Makes the server one that may forget the last commits, and notes which tables have changed, and how durably. */
function noteCommits(...tables: string[]) {
  stores.sql(`alter database ${stores.name()} set synchronous_commit = off;
    create table public.commits (place text, how text);
    create function public.note_commit() returns trigger language plpgsql as $$ begin
      insert into public.commits values (tg_table_name, current_setting('synchronous_commit'));
      return null;
    end $$`);
  for (const table of tables)
    stores.sql(`create trigger noted after insert or update or delete on psd2.${table}
      for each statement execute function public.note_commit()`);
  return () => {
    const noted = stores.sql(`select string_agg(distinct place || ' ' || how, ', ') from public.commits`);
    stores.sql('truncate public.commits');
    return noted;
  };
}

it('what psd2 must not lose is on the disk before it continues, on a server that may forget the last commits', async () => {
  const noted = noteCommits(
    ...['customers', 'audit', 'pseudonyms', 'batches', 'batch_lines', 'batch_events', 'flow_events'],
  );
  const { customers, audit, personal, batches, flows } = stores.worker({ isPlain: true }).open('p', BANK);
  const added = batchAdded({ by: 'ada', user: 'ada', machine: 'm' });
  const { batch } = await batches.add({ added, lines: [batchLine(1, '2.00')], again: false });
  const { flow } = (await begun(flows, 'transfer', TRANSFER_BEGIN('a'))).current;
  const works: Record<string, () => Promise<unknown>> = {
    'a batch': () =>
      batches.add({ added: { ...added, messageId: null }, lines: [batchLine()], again: false }),
    'an event of a batch': () => batches.change(batch, () => ({ type: 'line-begun', line: 1, flow: 'tr-1' })),
    'a batch without a name': async () =>
      batches.pseudonymise(await batches.find(batch), (line) => ({ ...line, name: 'X' })),
    'a record of a customer': () => customers.change('42', granting('co-1')),
    'a line of the audit log': () => audit.append({ action: 'logged-out' }),
    'a pseudonym': () => personal.pseudonymOf('42', '42'),
    'that a pseudonym is gone': () => personal.forgetPseudonyms('42'),
    'that a customer is gone': () => personal.removeRows('42'),
    'that no customer is left': () => customers.forgetAll(),
    'a journal without a name': () => personal.rewriteFlow(flow, (event) => event),
  };
  const ends: Record<string, string> = {};
  for (const [what, work] of Object.entries(works)) {
    noted();
    await work();
    ends[what] = noted();
  }
  expect(ends).toEqual({
    'a batch': 'batch_events on, batch_lines on, batches on',
    'an event of a batch': 'batch_events on, batches on',
    'a batch without a name': 'batch_events on, batch_lines on, batches on',
    'a record of a customer': 'customers on',
    'a line of the audit log': 'audit on',
    'a pseudonym': 'pseudonyms on',
    'that a pseudonym is gone': 'pseudonyms on',
    'that a customer is gone': 'customers on',
    'that no customer is left': 'customers on',
    'a journal without a name': 'flow_events on',
  });
});

it('only the owner forgets a customer, and only who works writes to the audit log', async () => {
  const { personal } = worker();
  await expect(personal.assertMayForget()).resolves.toBeUndefined();
  stores.sql(`create or replace function psd2.is_owner() returns boolean language sql as 'select false'`);
  await expect(personal.assertMayForget()).rejects.toMatchObject({
    code: 'config',
    message: expect.stringMatching(
      /^The user of PostgreSQL at \/.* may not change journals, so psd2 cannot forget a customer$/,
    ),
    hint: 'Workers may only add to journals. Use the rights of the owner of the schema psd2, as for psd2 store init.',
  });
  const copy = new PostgresAudit(stores.database(), 'p');
  await expect(copy.append({ action: 'logged-out' })).rejects.toThrow('A copy appends nothing of its own');
});
