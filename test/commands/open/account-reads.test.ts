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
const FAILED_AT = 750;

/** Counts the reads of a command in a store that keeps what it was told. */
async function counter(how: Parameters<typeof openCommand>[2] = {}) {
  const clock = { now: NOW };
  const { context, said } = openCommand(newConfigFolder(temporary), () => new Date(clock.now), how);
  const told: unknown[] = [];
  /** What the store says to the next ones. */
  const answers: (ReadTurn | Error)[] = [];
  const note = async (...what: unknown[]): Promise<ReadTurn> => {
    told.push(what);
    const answer = answers.shift() ?? 'taken';
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const reads: UnattendedReads = {
    begin: () => void told.push(['begin']),
    take: ({ day, customerId, productId }, limit) =>
      note('take', `${day} ${customerId} ${productId}`, ...(limit ? [limit] : [])),
    giveBack: async ({ customerId, productId }, failedAt) => {
      await note('give back', `${customerId} ${productId}`, ...(failedAt === undefined ? [] : [failedAt]));
    },
    succeeded: async ({ customerId, productId }) => {
      await note('succeeded', `${customerId} ${productId}`);
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

/** An answer that the test gives later. */
function answerLater() {
  let resolve: (answer: string) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<string>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}

describe('a read while the customer is absent', () => {
  it('is counted before the call, and stays counted if it brings data', async () => {
    const { reads, told } = await counter();
    expect(await reads.during(call('data'))).toBe('data');
    expect(told).toEqual([
      ['take', `${DAY} ada a1`],
      ['succeeded', 'ada a1'],
    ]);
  });

  it('is given back if the answer has no data', async () => {
    const { reads, told } = await counter();
    expect(await reads.during(call('nothing', false))).toBe('nothing');
    expect(told).toEqual([
      ['take', `${DAY} ada a1`],
      ['give back', 'ada a1'],
    ]);
  });

  it.each<[string, Psd2Error | TypeError, boolean]>([
    ['the bank cannot be reached', lost, true],
    ['the bank fails', new Psd2Error('bank_failing', 'Down'), true],
    ['the bank refuses it', new Psd2Error('bank_refused', 'No'), true],
    ['the bank forbids it', new Psd2Error('forbidden', 'No'), true],
    ['the bank wants SCA', new Psd2Error('sca_required', 'SCA'), true],
    ['its answer is wrong', new Psd2Error('bank_answer', 'No JSON'), true],
    ['the list changes', new Psd2Error('list_changed', 'Again'), true],
    [
      'the reads of the day are used up at the bank',
      new Psd2Error('too_many_calls', 'No', { lasts: true }),
      true,
    ],
    ['the bank refuses the login', new Psd2Error('not_logged_in', 'No', { httpStatus: 401 }), true],
    ['there is no login, and psd2 asks nobody', new Psd2Error('not_logged_in', 'No'), false],
    ['there are too many calls, for which all calls wait', new Psd2Error('too_many_calls', 'No'), false],
    ['the operator interrupts', new Psd2Error('interrupted', 'No'), false],
    ['psd2 has a fault', new TypeError('A fault'), false],
  ])('is given back if %s, with a pause or without', async (_, error, pauses) => {
    const { reads, told } = await counter();
    await expect(reads.during(call(error))).rejects.toBe(error);
    expect(told).toEqual([
      ['take', `${DAY} ada a1`],
      ['give back', 'ada a1', ...(pauses ? [FAILED_AT] : [])],
    ]);
  });

  it('of two calls at once is given back by the last one, if neither brings data', async () => {
    const { reads, told } = await counter();
    const first = answerLater();
    const slow = reads.during({ ...call(''), call: () => first.promise, hasData: () => false });
    await expect(reads.during(call(lost))).rejects.toBe(lost);
    expect(told).toEqual([
      ['take', `${DAY} ada a1`],
      ['take', `${DAY} ada a1`],
    ]);
    first.resolve('nothing');
    await slow;
    expect(told.slice(2)).toEqual([['give back', 'ada a1']]);
  });

  it('that has brought data is not given back by a later call that fails', async () => {
    const { reads, told } = await counter();
    const first = answerLater();
    const slow = reads.during({ ...call(''), call: () => first.promise });
    await reads.during(call('data'));
    first.reject(lost);
    await expect(slow).rejects.toBe(lost);
    expect(told.map((each) => String(each).split(',')[0])).toEqual([
      'take',
      'take',
      'succeeded',
      'give back',
    ]);
    await reads.giveBack('ada');
    expect(told).toHaveLength(4);
  });

  it('is another one for the list, and for each account and customer', async () => {
    const { reads, told } = await counter();
    await reads.take('ada', null);
    await reads.take('ada', 'a1');
    await reads.take('bob', 'a1');
    await reads.giveBack('ada');
    expect(told).toEqual([
      ['take', `${DAY} ada null`],
      ['take', `${DAY} ada a1`],
      ['take', `${DAY} bob a1`],
      ['give back', 'ada null'],
      ['give back', 'ada a1'],
    ]);
  });

  it('that was taken, and that no call followed, is given back once', async () => {
    const { reads, told } = await counter();
    await reads.take('ada', 'a1');
    await reads.giveBack('ada');
    await reads.giveBack('ada');
    expect(told.slice(1)).toEqual([['give back', 'ada a1']]);
  });

  it('is not given back while a call is under way', async () => {
    const { reads, told } = await counter();
    const answer = answerLater();
    const work = reads.during({ ...call(''), call: () => answer.promise });
    await vi.waitFor(() => expect(told).toHaveLength(1), { interval: 1 });
    await reads.giveBack('ada');
    answer.resolve('data');
    await work;
    expect(told.slice(1)).toEqual([['succeeded', 'ada a1']]);
  });

  it('of another run, or of another day, is another one', async () => {
    const { reads, told, clock } = await counter();
    await reads.take('ada', 'a1');
    reads.begin();
    await reads.giveBack('ada');
    expect(told).toEqual([['take', `${DAY} ada a1`], ['begin']]);
    await reads.take('ada', 'a1');
    clock.now = '2026-11-21T23:30:00.000Z';
    await reads.take('ada', 'a1');
    expect(told.slice(2)).toEqual([
      ['take', `${DAY} ada a1`],
      ['take', '2026-11-22 ada a1'],
    ]);
  });
});

describe('the budget of the day', () => {
  it.each([
    ['alone', false, { budget: 4 }],
    ['spread over the day: half of it has passed', true, { budget: 3, minute: FAILED_AT }],
  ])('is given to the store %s', async (_, isSpread, limit) => {
    const { reads, told } = await counter();
    await reads.take('ada', 'a1', { budget: 4, isOperators: false, isSpread });
    expect(told).toEqual([['take', `${DAY} ada a1`, limit]]);
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
    expect(said()).toBe('The disk is full\n');
    expect(told).toEqual([1, 2, 3].map(() => ['take', `${DAY} ada a1`]));
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
    expect(told).toEqual([
      ...[
        ['take', `${DAY} ada null`],
        ['succeeded', 'ada null'],
      ],
      ...[
        ['take', `${DAY} ada a1`],
        ['succeeded', 'ada a1'],
      ],
    ]);
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
    expect(told[1]).toEqual([hasData ? 'succeeded' : 'give back', 'ada a1']);
  });

  it('one that fails is given back', async () => {
    const { calls, told } = await of([lost]);
    await expect(calls.ask(reading('list'), statusOf)).rejects.toBe(lost);
    expect(told[1]).toEqual(['give back', 'ada null', FAILED_AT]);
  });
});

/** Records what is counted. */
function counterOfBudgets() {
  const counted: { account: string | null; budget: number | undefined }[] = [];
  const reads: AccountReads = {
    begin: () => {},
    giveBack: async () => {},
    async take(_customer, account, allowance) {
      counted.push({ account, budget: allowance?.budget });
      return 'taken';
    },
    async during({ productId: account, call }) {
      counted.push({ account, budget: undefined });
      return call();
    },
  };
  return { reads, counted };
}

it('reads are counted by account and consent, as often as the consent and the operator allow', async () => {
  const { reads, counted } = counterOfBudgets();
  let consent = { consentId: 'x'.repeat(500), frequencyPerDay: 6, reads: [] };
  const ofConsent = countingByConsent(reads, { for: async () => consent, instead: async () => undefined });
  const taken = (account: string | null, budget: number, isOperators: boolean) =>
    ofConsent.take('anna', account, { budget, isOperators, isSpread: false });
  await taken('a1', 4, false);
  await taken('a1', 4, true);
  await taken(null, 9, true);
  consent = { consentId: 'other', frequencyPerDay: 1, reads: [] };
  await taken('a1', 4, false);
  expect(counted.map(({ budget }) => budget)).toEqual([6, 4, 6, 1]);
  const [first, second, list, other] = counted.map(({ account }) => account);
  expect(first).toBe(second);
  expect(new Set([first, list, other]).size).toBe(3);
  const answer = await ofConsent.during({
    ...{ customerId: 'anna', productId: 'a1', call: async () => 'data', hasData: () => true },
  });
  expect(answer).toBe('data');
  expect(counted.at(-1)?.account).toBe(other);
});

it('when the consent for one reading is used up, another one is counted and read with', async () => {
  const counted: (string | null)[] = [];
  const reads: AccountReads = {
    ...counterOfBudgets().reads,
    async take(_customer, account) {
      counted.push(account);
      return counted.length === 1 ? 'used-up' : 'taken';
    },
  };
  const consent = (consentId: string) => ({ consentId, frequencyPerDay: 1, reads: [] });
  const asked: unknown[] = [];
  const ofConsent = countingByConsent(reads, {
    for: async () => consent('once'),
    instead: async (...which) => {
      asked.push(which);
      return consent('recurring');
    },
  });
  const allowance = { budget: 4, isOperators: false, isSpread: false };
  expect(await ofConsent.take('anna', 'a1', allowance)).toBe('taken');
  expect(asked).toEqual([['once', { account: 'a1' }]]);
  expect(new Set(counted).size).toBe(2);
});
