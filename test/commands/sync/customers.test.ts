import { describe, expect, it, vi } from 'vitest';
import type { Context, CustomerBank } from '../../../src/commands/context.ts';
import {
  type CustomerReport,
  type OnReport,
  SharedStop,
  syncCustomers,
} from '../../../src/commands/sync/customers.ts';
import { bankDay, parseDate } from '../../../src/domain/calendar.ts';
import { type ErrorCode, Psd2Error } from '../../../src/errors.ts';
import { ListedRound } from '../../../src/store/listed-round.ts';
import type { CustomerEnd, Round, SyncTarget } from '../../../src/store/ports/sync.ts';
import { answeringBank } from '../../bank/answering-bank.ts';
import { NO_ROWS } from '../../store/row-of.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { useOperatorHere } from '../operator.ts';

// The turns of the customers of a round, and what happens to them.

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';

/** What a turn of a customer comes to: an error, or all is read, or the bank has counted more reads than psd2. */
type Turn = Error | 'synced' | 'used up';

const NOTHING = { accounts: 0, newTransactions: 0, pending: 0, skipped: [], checks: [], errors: [] };
const TARGET: SyncTarget = {
  place: async (accounts) =>
    accounts.map((account) => ({ account, storedAs: account.productId, takenFor: null })),
  progress: async () => undefined,
  booked: async () => NO_ROWS,
  replace: () => {},
  remember: () => {},
  commit: async () => {},
};

/** A round of customers whose turns come to this, one after the other. */
async function syncing(
  turns: Record<string, Turn[]>,
  how: {
    concurrency?: number;
    /** What the round gives first, instead of a customer. */
    next?: (Error | 'later')[];
    /** Called at the beginning of each turn. */
    before?: (context: { interrupt(): void; stop: SharedStop }) => void;
    mayRead?: boolean;
  } = {},
) {
  const { concurrency = 1, next = [], before = () => {}, mayRead = true } = how;
  const { context: plain, said } = openCommand(newConfigFolder(temporary), NOW);
  const interruption = new AbortController();
  const stop = new SharedStop();
  const seen = { turns: [] as string[], sleeps: [] as number[], asked: [] as number[] };
  const listed = new ListedRound(Object.keys(turns));
  const ends: (CustomerEnd & { customerId: string })[] = [];
  const dealNext: Round['next'] = async (max) => {
    seen.asked.push(max);
    const first = next.shift();
    if (first instanceof Error) throw first;
    const dealt = first ?? (await ListedRound.prototype.next.call(listed));
    if (typeof dealt === 'string') return dealt;
    const finish = async (end: CustomerEnd) => void ends.push({ customerId: dealt.customerId, ...end });
    return { ...dealt, finish };
  };
  const [leave, giveBack] = [vi.fn(async () => {}), vi.fn(async () => {})];
  const round: Round = Object.assign(listed, { leave, next: dealNext });
  const opened = await plain.store();
  const isAway = (error: unknown) => error instanceof Error && error.message.startsWith('Away');
  const rounds = Object.assign(await opened.rounds(), { isAway });
  const store: Context['store'] = async () => ({
    ...opened,
    rounds: async () => rounds,
    sync: () => ({ run: (_signal, work) => work({ customer: (_customer, read) => read(TARGET) }) }),
  });
  const reads: CustomerBank['reads'] = {
    ...(await plain.reads()),
    take: async () => (mayRead ? 'taken' : 'used-up'),
    giveBack,
  };
  const unattendedBank = (customer: string) => async () => {
    seen.turns.push(customer);
    before({ interrupt: () => interruption.abort(new Psd2Error('interrupted', 'Interrupted')), stop });
    const turn = turns[customer]?.shift() ?? 'synced';
    if (turn instanceof Error) throw turn;
    const bank = answeringBank(() => {
      if (turn === 'used up') throw new Psd2Error('too_many_calls', 'Used up at the bank', { lasts: true });
      return { data: { accounts: [] } };
    });
    return Object.assign(Object.create(null), { bank, reads });
  };
  const context: Context = {
    ...plain,
    store,
    forCustomer: (customer) => ({ ...plain, unattendedBank: unattendedBank(customer) }),
    world: {
      ...plain.world,
      signal: interruption.signal,
      sleep: async (milliseconds) => void seen.sleeps.push(milliseconds),
    },
  };
  const reports: (CustomerReport & { failure: Psd2Error | undefined })[] = [];
  const job = {
    ...{ out: undefined, since: undefined, today: parseDate('--date', '2026-11-21'), concurrency, stop },
    allowance: { budget: 4, isOperators: true, isSpread: false },
  };
  const onReport: OnReport = (report, failure) => void reports.push({ ...report, failure });
  const work = syncCustomers(context, job, round, onReport).then(() => null);
  const thrown: unknown = await work.catch((error: unknown) => error);
  const [left, givenBack] = [leave.mock.calls.length, giveBack.mock.calls.length];
  return { ...seen, reports, ends, thrown, left, givenBack, said: said() };
}

const error = (code: ErrorCode, message = `It is ${code}`) => new Psd2Error(code, message);
const SYNCED = { status: 'synced', code: null, message: null };

it('each customer is read, and the round knows how it went', async () => {
  const { reports, ends, thrown, left, givenBack, asked } = await syncing({ '1': [], '2': [] });
  const both = ['1', '2'].map((customerId) => ({ customerId }));
  const report = { status: 'synced', ...NOTHING, failure: undefined };
  expect(reports).toEqual(both.map((each) => ({ ...each, ...report })));
  expect(ends).toEqual(both.map((each) => ({ ...each, ...SYNCED })));
  expect([thrown, left, givenBack, asked]).toEqual([null, 1, 2, [2, 2, 2]]);
});

it('several are read at a time, but no more than there are', async () => {
  const { asked, thrown } = await syncing({ '1': [], '2': [] }, { concurrency: 5 });
  expect([thrown, asked]).toEqual([null, [10, 10, 10, 10]]);
});

it('a failure of one customer does not stop the others', async () => {
  const { reports, ends, thrown } = await syncing({ '1': [error('bank_failing')], '2': [] });
  const failure = { code: 'bank_failing', message: 'It is bank_failing' };
  expect(thrown).toBeNull();
  expect(reports[0]).toEqual({
    ...{ customerId: '1', status: 'failed', ...NOTHING, errors: [{ productId: null, ...failure }] },
    failure: error('bank_failing'),
  });
  expect(ends).toEqual([
    { customerId: '1', status: 'failed', ...failure },
    { customerId: '2', ...SYNCED },
  ]);
});

it.each<[string, boolean, Turn[]]>([
  ['here, so without a call', false, []],
  ['at the bank', true, ['used up']],
])('a customer whose reads of the day are used up waits: %s', async (_, mayRead, turn) => {
  const { reports, ends } = await syncing({ '1': turn }, { mayRead });
  expect(reports).toEqual([{ customerId: '1', status: 'waiting', ...NOTHING, failure: undefined }]);
  expect(ends).toEqual([{ customerId: '1', ...SYNCED, status: 'waiting' }]);
});

it.each([
  [1, 0, 'synced'],
  [3, 0, 'synced'],
  [4, 0, 'failed'],
  // Each customer counts alone.
  [2, 2, 'synced'],
])('a customer turned away %i times, beside another %i times, is %s', async (times, others, status) => {
  const away = (length: number) => Array.from({ length }, () => error('too_many_calls'));
  const { turns, reports } = await syncing({ '1': away(times), '2': away(others) });
  const ended = reports.map((each) => `${each.customerId} ${each.status}`);
  expect(ended.toSorted()).toEqual([`1 ${status}`, '2 synced']);
  expect(turns.filter((customer) => customer === '1')).toHaveLength(Math.min(times + 1, 4));
  // The others come first.
  expect(turns.slice(0, 2)).toEqual(['1', '2']);
});

it('a customer whom another worker has taken over has not failed', async () => {
  const { reports, said } = await syncing({ '1': [error('overtaken', 'Another sync has taken 1')] });
  expect(said).toBe('Another sync has taken 1\n');
  expect(reports).toMatchObject([{ customerId: '1', status: 'synced' }]);
});

it.each([
  [[['auth', 'login']], [['auth', 'login', '--customer', '1']]],
  [[['--customer', '1', 'doctor']], [['--customer', '1', 'doctor']]],
  [undefined, undefined],
])('the commands that help, %j, become %j', async (next, named) => {
  const failure = new Psd2Error('not_logged_in', 'No', { ...(next && { next }) });
  const { reports } = await syncing({ '1': [failure] });
  expect(reports[0]?.failure?.next).toEqual(named);
});

const bug = new TypeError('A bug');
it.each<[string, Turn[], (how: { interrupt(): void; stop: SharedStop }) => void, Error | null, number]>([
  ['the operator, which is no error here', [error('interrupted')], ({ interrupt }) => interrupt(), null, 1],
  ['the operator between two calls', [], ({ interrupt }) => interrupt(), null, 2],
  ['another thread', [], ({ stop }) => stop.set(), null, 2],
  ['a bug, which is an error', [bug], () => {}, bug, 1],
])('the end of a round by %s begins no other customer', async (_, turn, before, failure, read) => {
  const customers = { '1': turn, '2': [], '3': [], '4': [] };
  // The second worker has begun its first customer, and ends it.
  const { turns, thrown, left, reports } = await syncing(customers, { before, concurrency: 2 });
  expect([turns, thrown, left, reports.length]).toEqual([['1', '2'], failure, 1, read]);
});

describe('while the store is away', () => {
  const away = () => new Psd2Error('config', 'Away for now');
  const TOLD =
    'Away for now. The sync continues when the store is back.\nThe store is back. The sync continues.\n';

  it.each<[string, Turn[][], (Error | 'later')[], string, number[], string[]]>([
    ['psd2 waits, says so once, and goes on', [[]], [away(), away()], TOLD, [1_000, 1_000], ['1']],
    ['a customer in progress gets another turn', [[away()]], [], TOLD, [1_000], ['1', '1']],
    ['it tells it again', [[]], [away(), 'later', away()], TOLD.repeat(2), [1_000, 250, 1_000], ['1']],
  ])('%s', async (_, customers, next, said, sleeps, turns) => {
    const named = Object.fromEntries(customers.map((turn, index) => [String(index + 1), turn]));
    const ended = await syncing(named, { next });
    expect(ended).toMatchObject({ said, sleeps, turns, thrown: null });
    expect(ended.reports).toHaveLength(customers.length);
  });

  it('an interruption ends the wait', async () => {
    const failure = away();
    const { thrown, turns } = await syncing({ '1': [failure] }, { before: ({ interrupt }) => interrupt() });
    expect([thrown, turns]).toEqual([failure, ['1']]);
  });

  it('another failure of the store ends the round', async () => {
    const failure = new Psd2Error('config', 'The store is broken');
    const { thrown, left, said } = await syncing({ '1': [] }, { next: [failure] });
    expect([thrown, left, said]).toEqual([failure, 1, '']);
  });
});

it('if other workers have the rest, psd2 asks again soon', async () => {
  const { sleeps, reports } = await syncing({ '1': [] }, { next: ['later', 'later'] });
  expect([sleeps, reports.length]).toEqual([[250, 250], 1]);
});

const operator = useOperatorHere();

/** Runs of `psd2 sync`, round after round. @param budget reads of an account a day. @param isSpread as with `--every` */
function atSandbox(budget: number, isSpread = false) {
  const { context } = operator.open();
  return async (customer: string): Promise<CustomerReport[]> => {
    const reports: CustomerReport[] = [];
    const job = {
      ...{ out: temporary, since: undefined, today: bankDay(context.world.now()), concurrency: 1 },
      ...{ stop: new SharedStop(), allowance: { budget, isOperators: true, isSpread } },
    };
    await syncCustomers(context, job, new ListedRound([customer]), (report) => void reports.push(report));
    return reports;
  };
}

it('a customer whose accounts psd2 may not all read today is synced in part', async () => {
  const bruno = await operator.logIn('bruno');
  // Another command of today has read one of the accounts.
  const read = '0020739150';
  await (await operator.open().context.reads()).take(bruno, read);
  const report = { status: 'partly', accounts: 3, skipped: [read], errors: [] };
  expect(await atSandbox(1)(bruno)).toMatchObject([report]);
});

it('every account that failed is reported, also if an error ends the sync of the customer', async () => {
  const carla = await operator.logIn('carla');
  // Reads are spread over the day. So many leave one also just after midnight.
  const round = atSandbox(100_000, true);
  const failed = async () => {
    const errors = (await round(carla)).flatMap((each) => each.errors);
    return Object.fromEntries(errors.map(({ productId, code }) => [productId, code]));
  };
  expect(await failed()).toMatchObject({ '0030981204': 'bank_answer', '0030981401': 'not_logged_in' });
  // psd2 pauses after the failures before, so it comes to the next account, and gives the customer more turns.
  expect(await failed()).toMatchObject({ '0030981403': 'forbidden', '0030981420': 'too_many_calls' });
});
