import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Observation } from '../../../src/bank/ports/call.ts';
import type { AccountReads, Context } from '../../../src/commands/context.ts';
import {
  CallTally,
  callRecorder,
  countingReads,
  forgetRefusedCall,
  notingCalls,
  notingRefreshes,
  openAccountReads,
} from '../../../src/commands/open/call-records.ts';
import { countingByConsent } from '../../../src/commands/open/consent-reads.ts';
import { bankDay } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { readCalls } from '../../../src/store/machine/call-log.ts';
import type { ReadTurn, UnattendedReads } from '../../../src/store/ports/access.ts';
import type { GrantType, TokenSlot } from '../../../src/store/ports/tokens.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';
import { callsTo, type Outcome, reading, statusOf } from './calls.ts';

const ROUTE = { path: '/private/accounts', kind: 'ais' } as const;

const temporary = temporaryFolder();
/** At the bank it is 13:00, minute 780 of the day. */
const NOW = '2026-11-21T12:00:00.000Z';
const open = (how?: Parameters<typeof openCommand>[2]) => openCommand(newConfigFolder(temporary), NOW, how);
const recorderOf = async (context: Context, grant: GrantType = 'authorization_code') =>
  (await callRecorder(context, grant, 'psd2.bank.example')).call;

it.each([
  [7, ''],
  [8, 'psd2 has made 8 of the 10 calls a day with client credentials.\n'],
])(
  'psd2 warns when four fifths of the calls of a day are used up: after %i of 10 it says %j',
  async (made, warning) => {
    const { context, said } = open({ env: { PSD2_CC_DAILY_LIMIT: '10' } });
    const { calls } = await context.store();
    for (let call = 0; call < made; call += 1) await calls.count(bankDay(new Date(NOW)));
    await callRecorder(context, 'client_credentials', 'psd2.bank.example');
    expect(said()).toBe(warning);
  },
);

const observed = (more: Partial<Observation> = {}): Observation => ({
  ...{ method: 'GET', path: '/private/accounts', outcome: 200, at: new Date(NOW), milliseconds: 7 },
  ...{ tppRequestId: 'q1', transactionId: 't1', requestId: 'r1', apiTrackId: 'track-1' },
  ...{ isPrivate: true, mayHaveLeft: true, irrevocable: false, route: ROUTE, ...more },
});

describe('the record of a call', () => {
  it('in the log has all that the bank and psd2 call it, and the flow that it belongs to', async () => {
    const { context, said } = open();
    const record = await recorderOf(context);
    context.openFlows.set('t2', 'tr-2');
    await record(observed());
    const more = { apiTrackId: undefined, requestId: null, mayHaveLeft: false, irrevocable: true };
    await record(
      observed({ ...more, outcome: 'timed out', transactionId: 't2', customer: 'ada', begun: 'p1' }),
    );
    // Without --verbose.
    expect(said()).toBe('');
    const logged = {
      ...{ at: NOW, profile: 'env', host: 'psd2.bank.example', method: 'GET', path: '/private/accounts' },
      ...{ milliseconds: 7, tppRequestId: 'q1', route: '/private/accounts', kind: 'ais' },
    };
    expect([...readCalls(context.folder.log)]).toEqual([
      {
        ...{ ...logged, status: null, failure: 'timed out', transactionId: 't2', requestId: null },
        ...{ apiTrackId: null, flow: 'tr-2', neverLeft: true, irrevocable: true },
        ...{ begun: 'p1', customer: 'ada' },
      },
      {
        ...{ ...logged, status: 200, failure: null, transactionId: 't1', requestId: 'r1' },
        ...{ apiTrackId: 'track-1', flow: null },
      },
    ]);
  });

  // What the journal reads there after a restore, and what `log stats` counts.
  it.each<Partial<Observation>>([
    ...(['began', 'nothing began', 'unknown', 'ask again'] as const).map((verdict) => ({ verdict })),
    ...(['own', 'unusable', 'no reply'] as const).map((failureKind) => ({ failureKind })),
    { gives: { what: 'password' } },
    { gives: { what: 'code', ofCancellation: true } },
    { begun: 'p1' },
    { customer: 'ada' },
    { connectMs: 3 },
    { connectMs: 0 },
    { firstByteMs: 7 },
    { firstByteMs: 0 },
    { irrevocable: true },
  ])('in the log has %j', async (more) => {
    const { context } = open();
    const record = await recorderOf(context);
    await record(observed(more));
    await record(observed());
    const [last, first] = [...readCalls(context.folder.log)];
    expect(first).toEqual({ ...last, ...more });
    for (const name of Object.keys(more)) expect(last).not.toHaveProperty(name);
  });

  it.each([
    ['r', 'r'],
    ['Nightly_7.a-b', 'Nightly_7.a-b'],
    ['r'.repeat(64), 'r'.repeat(64)],
    ['', undefined],
    [undefined, undefined],
  ])('in the log has the run of the script, PSD2_RUN %j: %j', async (run, expected) => {
    const { context } = open({ env: { PSD2_RUN: run } });
    await (await recorderOf(context))(observed());
    const [logged] = [...readCalls(context.folder.log)];
    expect(logged?.run).toBe(expected);
  });

  it.each(['a b', 'a/b', 'r'.repeat(65), 'é', ' '])('has no run of the name %j', async (run) => {
    const { context } = open({ env: { PSD2_RUN: run } });
    await expect(recorderOf(context)).rejects.toMatchObject({
      code: 'usage',
      message: `PSD2_RUN ${JSON.stringify(run)} is not the id of a run`,
      context: { hint: 'Choose 1 to 64 letters, digits, ".", "_" and "-".' },
    });
  });

  it('is followed by a line of its own if psd2 cannot use its answer, and is no other call for it', async () => {
    const { context } = open();
    const record = await callRecorder(context, 'authorization_code', 'psd2.bank.example');
    for (const outcome of [200, 404, 503, 'timed out']) {
      await record.call(observed({ outcome, customer: 'ada' }));
      // Only the first of them counts as nothing else.
      record.unusable(observed({ outcome, customer: 'ada' }));
    }
    expect([...readCalls(context.folder.log)].map(({ status }) => status)).toEqual([null, 503, 404, 200]);
    const lines = readFileSync(join(context.folder.log, 'calls.ndjson'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(5);
    expect(JSON.parse(lines[1] ?? '')).toEqual({
      ...{ at: NOW, profile: 'env', host: 'psd2.bank.example', method: 'GET', path: '/private/accounts' },
      ...{ transactionId: 't1', unusable: 'q1', flow: null, customer: 'ada' },
      ...{ route: '/private/accounts', kind: 'ais' },
    });
  });

  it.each([
    [{}, 'GET /private/accounts → 200', ' track track-1'],
    [{ outcome: 'timed out', apiTrackId: undefined }, 'GET /private/accounts → timed out', ''],
    [{ path: '/a\u001b[31mb' }, 'GET /a\ufffd[31mb → 200', ' track track-1'],
  ])('with --verbose stands on stderr too: %j', async (more, call, track) => {
    const { context, said } = open({ globals: { verbose: true } });
    await (await recorderOf(context))(observed(more));
    expect(said()).toBe(`${call} in 7 ms (request q1 transaction t1${track})\n`);
  });

  it('as an event has what a program needs, and no more', async () => {
    const told: unknown[] = [];
    const { context } = open({
      globals: { verbose: true },
      changes: ({ terminal }) => ({ terminal: { ...terminal, tell: (event) => void told.push(event) } }),
    });
    const record = await recorderOf(context);
    await record(observed({ begun: 'p1', customer: 'ada', apiTrackId: undefined }));
    expect(told).toEqual([
      {
        ...{ event: 'call', method: 'GET', path: '/private/accounts', outcome: 200, milliseconds: 7 },
        ...{ tppRequestId: 'q1', transactionId: 't1', requestId: 'r1', apiTrackId: null },
      },
    ]);
  });

  it('that cannot be written is one warning, and the next calls go on', async () => {
    const { context, said } = open();
    mkdirSync(context.folder.root, { recursive: true, mode: 0o700 });
    writeFileSync(context.folder.log, 'no folder');
    const record = await recorderOf(context);
    for (const _ of ['first', 'second', 'third']) await record(observed());
    expect(said().split('\n')).toEqual([
      expect.stringMatching(/^The log of calls in .+ cannot be written \(.+\)\.$/),
      '',
    ]);
  });
});

describe('the count of calls with client credentials', () => {
  const counted = async (context: Context) => (await context.store()).calls.on(bankDay(new Date(NOW)));

  it.each([
    ['with a token', 'client_credentials', true, 1],
    ['without a token', 'client_credentials', false, 0],
    ["with a customer's token", 'authorization_code', true, 0],
  ] as const)('has a call %s', async (_, grant, isPrivate, count) => {
    const { context, said } = open();
    await (await recorderOf(context, grant))(observed({ isPrivate }));
    expect([await counted(context), said()]).toEqual([count, '']);
  });

  it('that cannot be written is one warning, and a fault ends the command', async () => {
    const { context, said } = open();
    const store = await context.wholeStore();
    const opened = store.open('env');
    const errors = [new Psd2Error('config', 'The disk is full'), new Psd2Error('config', 'Still full')];
    const fault = new TypeError('A fault');
    const calls = { on: async () => 0, count: () => Promise.reject(errors.shift() ?? fault) };
    vi.spyOn(store, 'open').mockReturnValue({ ...opened, calls });
    const record = await recorderOf(context, 'client_credentials');
    await record(observed());
    await record(observed());
    expect(said()).toBe('The disk is full\n');
    await expect(record(observed())).rejects.toBe(fault);
  });
});

describe('the tally of calls', () => {
  it('counts each by its result, in all threads that share it', () => {
    const tally = new CallTally();
    const other = new CallTally(tally.state);
    for (const outcome of [200, 204, 302, 404, 499, 503, 'timed out', 199, 600]) other.count(outcome);
    expect(Object.fromEntries(tally.byResult)).toEqual({ '2xx': 2, '3xx': 1, '4xx': 2, '5xx': 1, none: 3 });
    expect([tally.renewals, tally.secondsWaited]).toEqual([0, 0]);
  });

  it('counts renewed tokens, and passes everything to the slot', async () => {
    const tally = new CallTally();
    const tokens = {
      ...{ accessToken: 'a', refreshToken: 'r', accessTokenExpiresAt: null },
      ...{ refreshTokenExpiresAt: null, scope: null, generation: 1 },
    };
    const [write, refuse, prove] = [vi.fn(async () => {}), vi.fn(async () => {}), vi.fn(async () => {})];
    const replace = vi.fn<TokenSlot['replace']>(async (_spent, fresh) => fresh);
    const [read, isOurs] = [async () => tokens, async (given?: object) => given === tokens];
    const slot = tally.countingRenewals({
      ...{ takenOverFrom: 'process 1', read, isOurs, write, replace, refuse, prove },
    });
    const asked = [slot.takenOverFrom, await slot.read(), await slot.isOurs(tokens)];
    expect(asked).toEqual(['process 1', tokens, true]);
    await slot.write(tokens);
    await slot.refuse(tokens);
    await slot.prove(tokens, true);
    expect(tally.renewals).toBe(0);
    expect(await slot.replace(undefined, tokens)).toBe(tokens);
    expect(tally.renewals).toBe(1);
    const calls = [write, refuse, prove, replace].map(({ mock }) => mock.calls);
    expect(calls).toEqual([[[tokens]], [[tokens]], [[tokens, true]], [[undefined, tokens]]]);
  });

  it('counts how long calls wait for their turn, also for one that is interrupted', async () => {
    const tally = new CallTally();
    const asked: unknown[] = [];
    let microseconds = 0n;
    const now = vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => microseconds * 1000n);
    const interrupted = new Psd2Error('interrupted', 'Interrupted');
    const turns = tally.timing({
      turn: async () => {
        microseconds += 1_500_000n;
        if (tally.secondsWaited > 0) throw interrupted;
      },
      slowDown: async (milliseconds) => void asked.push(milliseconds),
      goOn: async () => void asked.push('go on'),
    });
    await turns.turn();
    await expect(turns.turn()).rejects.toBe(interrupted);
    await turns.slowDown(7);
    await turns.goOn();
    now.mockRestore();
    expect([tally.secondsWaited, asked]).toEqual([3, [7, 'go on']]);
  });
});

describe('the note of what the bank refused', () => {
  const REFUSED = new Psd2Error('not_logged_in', 'Revoked', { httpStatus: 400 });
  const noted = async (context: Context, holder: string) => {
    const { notes, tokens } = await context.store();
    const login = await tokens.login(holder);
    return login && (await notes.read(holder, login));
  };
  const callOf = async (context: Context, holder: string) => (await noted(context, holder))?.call;
  const note = (message: string) => ({ at: NOW, message });
  /** A command after logins of these customers. */
  const loggedIn = async (...customers: string[]) => {
    const { context } = open();
    for (const customer of customers) await storeLogin(context, customer);
    return { context, ...(await context.store()) };
  };

  it.each<[string, Error, 'current' | 'renewed', boolean, string?]>([
    ['is kept if the bank refuses to renew the login', REFUSED, 'current', true, 'Revoked'],
    ['is kept if the bank refuses that for a token that it refused', REFUSED, 'renewed', true, 'Revoked'],
    ['is not kept if psd2 has not asked', new Psd2Error('not_logged_in', 'It has ended'), 'current', true],
    [
      'is not kept if the bank fails',
      new Psd2Error('bank_failing', '', { httpStatus: 500 }),
      'current',
      true,
    ],
    ['is not kept if psd2 has a fault', new TypeError('A fault'), 'current', true],
    ['is not kept if the login has gone meanwhile', REFUSED, 'current', false],
  ])('%s', async (_, error, how, isThere, message) => {
    const { context, tokens } = await loggedIn('ada');
    const fails = () => Promise.reject(error);
    const login = async () => (isThere ? tokens.login('ada') : undefined);
    const source = notingRefreshes({ current: fails, renewed: fails }, context, 'ada', login);
    await expect(source[how]('old')).rejects.toBe(error);
    const kept = { refresh: message === undefined ? undefined : note(message), call: undefined };
    expect(await noted(context, 'ada')).toEqual(kept);
  });

  it('is not needed for a token that there is', async () => {
    const { context } = open();
    const given = { current: async () => 'now', renewed: async (old: string) => `after ${old}` };
    const source = notingRefreshes(given, context, 'ada', async () => undefined);
    expect([await source.current(), await source.renewed('old')]).toEqual(['now', 'after old']);
  });

  it('of a call that is not allowed is kept until the bank allows one that needs a consent', async () => {
    const { context } = await loggedIn('ada');
    const no = (message: string) => new Psd2Error('forbidden', message);
    const { caller } = callsTo([no('First'), no('Second'), 200, 200, 403, no('Third')]);
    const noting = notingCalls(caller, context, 'ada');
    const needsConsent = reading('list');
    const needsNone = reading(null, { facts: { reads: null, needsConsent: false, login: false } });
    for (const message of ['First', 'Second'])
      await expect(noting.ask(needsConsent, statusOf)).rejects.toThrow(message);
    await noting.ask(needsNone, statusOf);
    expect(await noted(context, 'ada')).toEqual({ refresh: undefined, call: note('First') });
    await noting.ask(needsConsent, statusOf);
    expect(await callOf(context, 'ada')).toBeUndefined();
    expect((await noting.send(needsConsent)).status).toBe(403);
    expect(await callOf(context, 'ada')).toBeUndefined();
    await expect(noting.ask(needsConsent, statusOf)).rejects.toThrow('Third');
    expect(await callOf(context, 'ada')).toEqual(note('Third'));
  });

  it('of an earlier command is taken back by a call that the bank allows, and other errors say nothing', async () => {
    const { context, notes } = await loggedIn('ada', 'bob');
    await notes.callRefused('ada', note('Before'));
    const failing = new Psd2Error('bank_failing', 'Down');
    const fault = Object.assign(new TypeError('A fault'), { code: 'forbidden' });
    const noting = notingCalls(callsTo([failing]).caller, context, 'ada');
    const others = [failing, fault].map((error) => notingCalls(callsTo([error]).caller, context, 'bob'));
    for (const each of [noting, ...others])
      await expect(each.ask(reading('list'), statusOf)).rejects.toThrow(/Down|A fault/);
    expect([await callOf(context, 'ada'), await callOf(context, 'bob')]).toEqual([note('Before'), undefined]);
    await noting.ask(reading('list'), statusOf);
    expect(await callOf(context, 'ada')).toBeUndefined();
  });

  it('hides no error if it cannot be kept', async () => {
    const { context } = open();
    const store = await context.wholeStore();
    const opened = store.open('env');
    const full = () => Promise.reject(new Psd2Error('config', 'The disk is full'));
    const notes = { ...opened.notes, hasRefusedCall: full };
    vi.spyOn(store, 'open').mockReturnValue({ ...opened, notes });
    const forbidden = new Psd2Error('forbidden', 'No');
    const { caller } = callsTo([forbidden]);
    await expect(notingCalls(caller, context, 'ada').ask(reading('list'), statusOf)).rejects.toBe(forbidden);
    await forgetRefusedCall(context, 'ada');
    const fault = new TypeError('A fault');
    vi.spyOn(notes, 'hasRefusedCall').mockRejectedValue(fault);
    await expect(forgetRefusedCall(context, 'ada')).rejects.toBe(fault);
  });

  it('of a call is forgotten with a new consent, and another one stays', async () => {
    const { context, notes } = await loggedIn('ada', 'bob');
    for (const customer of ['ada', 'bob']) await notes.callRefused(customer, note('No'));
    for (const customer of ['ada', 'cleo']) await forgetRefusedCall(context, customer);
    expect([await callOf(context, 'ada'), await callOf(context, 'bob')]).toEqual([undefined, note('No')]);
  });
});

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
  let begin: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let resolve: (answer: string) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const answer = new Promise<string>((...both) => {
    [resolve, reject] = both;
  });
  const slow = async () => {
    begin();
    return answer;
  };
  return { resolve, reject, begun, slow: { ...call('', hasData), call: slow } };
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
      ' at 780',
    ]),
    [USED_UP, ' at 780'],
    [REFUSED_LOGIN, ' at 780'],
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
    expect(told).toEqual(['take ada a1', 'take ada a1', 'succeeded ada a1', 'give back ada a1 at 780']);
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
    const { slow, resolve, begun } = slowCall(false);
    const work = reads.during(slow);
    await begun;
    await reads.giveBack('ada');
    expect(told).toEqual(['take ada a1']);
    resolve('nothing');
    await work;
    expect(told.slice(1)).toEqual(['give back ada a1']);
    // Taken again, no call is under way any more.
    await reads.take('ada', 'a1');
    await reads.giveBack('ada');
    expect(told.slice(2)).toEqual(['take ada a1', 'give back ada a1']);
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
    ['spread over the day: more than half of it has passed', true, '{"budget":3,"minute":780}'],
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

  it('are counted for the account, or for the list, and given back if they fail', async () => {
    const { calls, told } = await of([200, 200, lost]);
    await calls.ask(reading('list'), statusOf);
    await calls.ask(reading({ account: 'a1', of: 'balances' }), statusOf);
    const both = ['take ada null', 'succeeded ada null', 'take ada a1', 'succeeded ada a1'];
    expect(told.splice(0)).toEqual(both);
    await expect(calls.ask(reading('list'), statusOf)).rejects.toBe(lost);
    expect(told).toEqual(['take ada null', 'give back ada null at 780']);
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
