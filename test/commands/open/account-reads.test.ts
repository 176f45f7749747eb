import { describe, expect, it, vi } from 'vitest';
import type { AccountReads } from '../../../src/commands/context.ts';
import { countingReads, openAccountReads } from '../../../src/commands/open/call-records.ts';
import { countingByConsent } from '../../../src/commands/open/consent-reads.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { ReadTurn, UnattendedReads } from '../../../src/store/ports/access.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { callsTo, type Outcome, reading, statusOf } from './calls.ts';

const temporary = temporaryFolder();
/** At the bank it is 12:30, minute 750 of the day. */
const NOW = '2026-11-21T11:30:00.000Z';

/** Counts the reads of a command in a store that keeps what it was told. Its day is that of the bank, if no other is named. */
async function counter(how: Parameters<typeof openCommand>[2] = {}) {
  const clock = { now: NOW };
  const { context, said } = openCommand(newConfigFolder(temporary), () => new Date(clock.now), how);
  const told: string[] = [];
  /** What the store says to the next ones. */
  const answers: (ReadTurn | Error)[] = [];
  const note = async (what: string): Promise<ReadTurn> => {
    told.push(what);
    const answer = answers.shift() ?? 'taken';
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const reads: UnattendedReads = {
    begin: () => void told.push('begin'),
    take: ({ day, customerId, productId }, limit) =>
      note(
        `take ${customerId} ${productId}${day === DAY ? '' : ` of ${day}`}${limit ? ` ${JSON.stringify(limit)}` : ''}`,
      ),
    giveBack: async ({ customerId, productId }, failedAt) => {
      await note(`give back ${customerId} ${productId}${failedAt === undefined ? '' : ` at ${failedAt}`}`);
    },
    succeeded: async ({ customerId, productId }) => {
      await note(`succeeded ${customerId} ${productId}`);
    },
  };
  const store = await context.wholeStore();
  const opened = store.open('env');
  vi.spyOn(store, 'open').mockReturnValue({ ...opened, reads });
  return { reads: await openAccountReads(context), told, answers, said, clock };
}
const DAY = '2026-11-21';
const lost = new Psd2Error('bank_unreachable', 'The connection was lost');
const call = (outcome: unknown, hasData = true) => ({
  ...{ customerId: 'ada', productId: 'a1', hasData: () => hasData },
  call: async () => {
    if (outcome instanceof Error) throw outcome;
    return outcome;
  },
});
/** A call whose answer the test gives later. */
function slowCall(hasData = true) {
  let resolve: (answer: string) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const answer = new Promise<string>((...both) => {
    [resolve, reject] = both;
  });
  return { resolve, reject, slow: { ...call('', hasData), call: () => answer } };
}

describe('a read while the customer is absent', () => {
  it.each([
    ['stays counted if it brings data', true, 'succeeded ada a1'],
    ['is given back if the answer has no data', false, 'give back ada a1'],
  ])('is counted before the call, and %s', async (_, hasData, end) => {
    const { reads, told } = await counter();
    expect(await reads.during(call('answer', hasData))).toBe('answer');
    expect(told).toEqual(['take ada a1', end]);
  });

  const USED_UP = new Psd2Error('too_many_calls', 'Used up at the bank', { lasts: true });
  const REFUSED_LOGIN = new Psd2Error('not_logged_in', 'Refused at the bank', { httpStatus: 401 });
  const pausing = ['bank_unreachable', 'bank_failing', 'bank_refused', 'forbidden', 'sca_required'] as const;
  it.each<[Error, string]>([
    ...[...pausing, 'bank_answer' as const, 'list_changed' as const].map((code): [Error, string] => [
      new Psd2Error(code, code),
      ' at 750',
    ]),
    [USED_UP, ' at 750'],
    [REFUSED_LOGIN, ' at 750'],
    [new Psd2Error('not_logged_in', 'Nobody is logged in, and psd2 asks nobody'), ''],
    [new Psd2Error('too_many_calls', 'For which all calls wait'), ''],
    [new Psd2Error('interrupted', 'Interrupted'), ''],
    [new TypeError('A fault'), ''],
  ])('is given back after the error %s, with a pause from then on or without: "%s"', async (error, pause) => {
    const { reads, told } = await counter();
    await expect(reads.during(call(error))).rejects.toBe(error);
    expect(told).toEqual(['take ada a1', `give back ada a1${pause}`]);
  });

  it('of two calls at once is given back by the last one, if neither brings data', async () => {
    const { reads, told } = await counter();
    const { slow, resolve } = slowCall(false);
    const first = reads.during(slow);
    await expect(reads.during(call(lost))).rejects.toBe(lost);
    expect(told).toEqual(['take ada a1', 'take ada a1']);
    resolve('nothing');
    await first;
    expect(told.slice(2)).toEqual(['give back ada a1']);
  });

  it('that has brought data is not given back by a later call that fails', async () => {
    const { reads, told } = await counter();
    const { slow, reject } = slowCall();
    const first = reads.during(slow);
    await reads.during(call('data'));
    reject(lost);
    await expect(first).rejects.toBe(lost);
    expect(told).toEqual(['take ada a1', 'take ada a1', 'succeeded ada a1', 'give back ada a1 at 750']);
    await reads.giveBack('ada');
    expect(told).toHaveLength(4);
  });

  it('is another one for the list, and for each account and customer, and is given back once', async () => {
    const { reads, told } = await counter();
    await reads.take('ada', null);
    await reads.take('ada', 'a1');
    await reads.take('bob', 'a1');
    expect(told.splice(0)).toEqual(['take ada null', 'take ada a1', 'take bob a1']);
    await reads.giveBack('ada');
    await reads.giveBack('ada');
    expect(told).toEqual(['give back ada null', 'give back ada a1']);
  });

  it('is not given back while a call is under way', async () => {
    const { reads, told } = await counter();
    const { slow, resolve } = slowCall();
    const work = reads.during(slow);
    await vi.waitFor(() => expect(told).toHaveLength(1), { interval: 1 });
    await reads.giveBack('ada');
    resolve('data');
    await work;
    expect(told.slice(1)).toEqual(['succeeded ada a1']);
  });

  it('of another run, or of another day, is another one', async () => {
    const { reads, told, clock } = await counter();
    await reads.take('ada', 'a1');
    reads.begin();
    await reads.giveBack('ada');
    expect(told.splice(0)).toEqual(['take ada a1', 'begin']);
    await reads.take('ada', 'a1');
    clock.now = '2026-11-21T23:30:00.000Z';
    await reads.take('ada', 'a1');
    expect(told).toEqual(['take ada a1', 'take ada a1 of 2026-11-22']);
  });
});

describe('the budget of the day', () => {
  it.each([
    ['alone', false, '{"budget":4}'],
    ['spread over the day: half of it has passed', true, '{"budget":3,"minute":750}'],
  ])('is given to the store %s', async (_, isSpread, limit) => {
    const { reads, told } = await counter();
    await reads.take('ada', 'a1', { budget: 4, isOperators: false, isSpread });
    expect(told).toEqual([`take ada a1 ${limit}`]);
  });

  it.each<ReadTurn>(['used-up', 'paused'])(
    'that is %s takes nothing that could be given back',
    async (answer) => {
      const { reads, told, answers } = await counter();
      answers.push(answer);
      expect(await reads.take('ada', 'a1', { budget: 4, isOperators: false, isSpread: false })).toBe(answer);
      await reads.giveBack('ada');
      expect(told).toHaveLength(1);
    },
  );

  it('counts nothing while the customer is present', async () => {
    const { reads, told } = await counter({ globals: { psuIp: '192.0.2.1' } });
    expect(await reads.take('ada', 'a1', { budget: 0, isOperators: true, isSpread: true })).toBe('taken');
    expect(await reads.during(call('data'))).toBe('data');
    await reads.giveBack('ada');
    expect(told).toEqual([]);
  });

  it('that cannot be counted is one warning, and psd2 reads all the same', async () => {
    const { reads, answers, said, told } = await counter();
    const full = new Psd2Error('config', 'The disk is full');
    answers.push(full, full, full);
    expect(await reads.take('ada', 'a1')).toBe('taken');
    expect(await reads.take('ada', 'a1')).toBe('taken');
    expect(await reads.during(call('data'))).toBe('data');
    expect([said(), told]).toEqual(['The disk is full\n', ['take ada a1', 'take ada a1', 'take ada a1']]);
    const fault = new TypeError('A fault');
    answers.push(fault);
    await expect(reads.take('ada', 'a1')).rejects.toBe(fault);
  });
});

describe('the calls that read an account', () => {
  const of = async (outcomes: Outcome[] = []) => {
    const { reads, told } = await counter();
    const { caller, made } = callsTo(outcomes);
    return { calls: countingReads(caller, reads, 'ada'), told, made };
  };

  it('are counted for the account, or for the list', async () => {
    const { calls, told } = await of();
    await calls.ask(reading('list'), statusOf);
    await calls.ask(reading({ account: 'a1', of: 'balances' }), statusOf);
    expect(told).toEqual(['take ada null', 'succeeded ada null', 'take ada a1', 'succeeded ada a1']);
  });

  it('others are not', async () => {
    const { calls, told, made } = await of();
    await calls.ask(reading(null), statusOf);
    await calls.send(reading(null));
    expect([told, made.length]).toEqual([[], 2]);
  });

  it.each([
    [199, false],
    [200, true],
    [299, true],
    [204, false],
    [300, false],
    [404, false],
  ])('a free call that the bank answers with %i has data: %s', async (status, hasData) => {
    const { calls, told } = await of([status]);
    expect((await calls.send(reading({ account: 'a1' }))).status).toBe(status);
    expect(told[1]).toBe(`${hasData ? 'succeeded' : 'give back'} ada a1`);
  });

  it('one that fails is given back', async () => {
    const { calls, told } = await of([lost]);
    await expect(calls.ask(reading('list'), statusOf)).rejects.toBe(lost);
    expect(told[1]).toBe('give back ada null at 750');
  });
});

/** A consent whose readings are counted. */
const consentOf = (consentId: string, frequencyPerDay: number) => ({ consentId, frequencyPerDay, reads: [] });
/** Records what is counted. @param answers what it says to the first ones */
function counterOfBudgets(...answers: ReadTurn[]) {
  const counted: { account: string | null; budget?: number }[] = [];
  const reads: AccountReads = {
    begin: () => {},
    giveBack: async () => {},
    async take(_customer, account, { budget } = { budget: 0, isOperators: false, isSpread: false }) {
      counted.push({ account, budget });
      return answers.shift() ?? 'taken';
    },
    async during({ productId: account, call }) {
      counted.push({ account });
      return call();
    },
  };
  return { reads, counted };
}

it('reads are counted by account and consent, as often as the consent and the operator allow', async () => {
  const { reads, counted } = counterOfBudgets();
  let consent = consentOf('x'.repeat(500), 6);
  const ofConsent = countingByConsent(reads, { for: async () => consent, instead: async () => undefined });
  const taken = (account: string | null, budget: number, isOperators: boolean) =>
    ofConsent.take('anna', account, { budget, isOperators, isSpread: false });
  await taken('a1', 4, false);
  await taken('a1', 4, true);
  await taken(null, 9, true);
  consent = consentOf('other', 1);
  await taken('a1', 4, false);
  expect(counted.map(({ budget }) => budget)).toEqual([6, 4, 6, 1]);
  const [first, second, list, other] = counted.map(({ account }) => account);
  expect(first).toBe(second);
  expect(new Set([first, list, other]).size).toBe(3);
  expect(await ofConsent.during({ ...call('data'), customerId: 'anna' })).toBe('data');
  expect(counted.at(-1)?.account).toBe(other);
});

it('when the consent for one reading is used up, another one is counted and read with', async () => {
  const { reads, counted } = counterOfBudgets('used-up');
  const asked: unknown[] = [];
  const ofConsent = countingByConsent(reads, {
    for: async () => consentOf('once', 1),
    instead: async (...which) => {
      asked.push(which);
      return consentOf('recurring', 1);
    },
  });
  const allowance = { budget: 4, isOperators: false, isSpread: false };
  expect(await ofConsent.take('anna', 'a1', allowance)).toBe('taken');
  expect(asked).toEqual([['once', { account: 'a1' }]]);
  expect(new Set(counted.map(({ account }) => account)).size).toBe(2);
});
