import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type { Observation } from '../../../src/bank/ports/call.ts';
import type { Context } from '../../../src/commands/context.ts';
import {
  CallTally,
  callRecorder,
  forgetRefusedCall,
  notingCalls,
  notingRefreshes,
} from '../../../src/commands/open/call-records.ts';
import { bankDay } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { readCalls } from '../../../src/store/machine/call-log.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';
import { callsTo, reading, statusOf } from './calls.ts';

const ROUTE = { path: '/private/accounts', kind: 'ais' } as const;

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const open = (how?: Parameters<typeof openCommand>[2]) => openCommand(newConfigFolder(temporary), NOW, how);
const recorderOf = (context: Context) => callRecorder(context, 'authorization_code', 'psd2.bank.example');

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

  it.each([
    [{}, 'GET /private/accounts → 200 in 7 ms (request q1 transaction t1 track track-1)'],
    [
      { outcome: 'timed out', apiTrackId: undefined },
      'GET /private/accounts → timed out in 7 ms (request q1 transaction t1)',
    ],
    [{ path: '/a\u001b[31mb' }, 'GET /a\ufffd[31mb → 200 in 7 ms (request q1 transaction t1 track track-1)'],
  ])('with --verbose stands on stderr too: %j', async (more, line) => {
    const { context, said } = open({ globals: { verbose: true } });
    const record = await recorderOf(context);
    await record(observed(more));
    expect(said()).toBe(`${line}\n`);
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
    await (await callRecorder(context, grant, 'psd2.bank.example'))(observed({ isPrivate }));
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
    const record = await callRecorder(context, 'client_credentials', 'psd2.bank.example');
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
    const passed: unknown[] = [];
    const pass =
      (name: string) =>
      async (...given: unknown[]) =>
        void passed.push([name, ...given]);
    const slot = tally.countingRenewals({
      takenOverFrom: 'process 1',
      read: async () => tokens,
      isOurs: async (read) => read === tokens,
      write: pass('write'),
      replace: async (spent, fresh) => {
        passed.push(['replace', spent, fresh]);
        return fresh;
      },
      refuse: pass('refuse'),
      prove: pass('prove'),
    });
    const asked = [slot.takenOverFrom, await slot.read(), await slot.isOurs(tokens)];
    expect(asked).toEqual(['process 1', tokens, true]);
    await slot.write(tokens);
    await slot.refuse(tokens);
    await slot.prove(tokens, true);
    expect(tally.renewals).toBe(0);
    expect(await slot.replace(undefined, tokens)).toBe(tokens);
    expect(tally.renewals).toBe(1);
    const [written, refused] = [
      ['write', tokens],
      ['refuse', tokens],
    ];
    expect(passed).toEqual([written, refused, ['prove', tokens, true], ['replace', undefined, tokens]]);
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
  const of = async (context: Context, holder: string) => {
    const { notes, tokens } = await context.store();
    const login = await tokens.login(holder);
    return login && (await notes.read(holder, login));
  };
  const note = (message: string) => ({ at: NOW, message });
  /** A command after logins of these customers. */
  const loggedIn = async (...customers: string[]) => {
    const { context } = open();
    for (const customer of customers) await storeLogin(context, customer);
    return { context, ...(await context.store()) };
  };

  it.each(['current', 'renewed'] as const)(
    'is kept if the bank refuses to renew the login (%s)',
    async (how) => {
      const { context, tokens } = await loggedIn('ada');
      const fails = () => Promise.reject(REFUSED);
      const source = notingRefreshes({ current: fails, renewed: fails }, context, 'ada', () =>
        tokens.login('ada'),
      );
      await expect(how === 'current' ? source.current() : source.renewed('old')).rejects.toBe(REFUSED);
      expect(await of(context, 'ada')).toEqual({ refresh: note('Revoked'), call: undefined });
    },
  );

  it.each<[string, Error, boolean]>([
    ['psd2 has not asked the bank', new Psd2Error('not_logged_in', 'It has ended'), true],
    ['the bank fails', new Psd2Error('bank_failing', 'Down', { httpStatus: 500 }), true],
    ['psd2 has a fault', new TypeError('A fault'), true],
    ['the login has gone meanwhile', REFUSED, false],
  ])('is not kept if %s', async (_, error, isThere) => {
    const { context, tokens, notes } = await loggedIn('ada');
    const fails = () => Promise.reject(error);
    const source = notingRefreshes({ current: fails, renewed: fails }, context, 'ada', async () =>
      isThere ? tokens.login('ada') : undefined,
    );
    await expect(source.current()).rejects.toBe(error);
    expect(await notes.holders()).toEqual([]);
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
    await expect(noting.ask(needsConsent, statusOf)).rejects.toThrow('First');
    await expect(noting.ask(needsConsent, statusOf)).rejects.toThrow('Second');
    await noting.ask(needsNone, statusOf);
    expect(await of(context, 'ada')).toEqual({ refresh: undefined, call: note('First') });
    await noting.ask(needsConsent, statusOf);
    expect(await of(context, 'ada')).toEqual({ refresh: undefined, call: undefined });
    expect((await noting.send(needsConsent)).status).toBe(403);
    expect(await of(context, 'ada')).toEqual({ refresh: undefined, call: undefined });
    await expect(noting.ask(needsConsent, statusOf)).rejects.toThrow('Third');
    expect(await of(context, 'ada')).toEqual({ refresh: undefined, call: note('Third') });
  });

  it('of an earlier command is taken back by a call that the bank allows, and other errors say nothing', async () => {
    const { context, notes } = await loggedIn('ada', 'bob');
    await notes.callRefused('ada', note('Before'));
    const failing = new Psd2Error('bank_failing', 'Down');
    const { caller } = callsTo([failing]);
    const noting = notingCalls(caller, context, 'ada');
    await expect(noting.ask(reading('list'), statusOf)).rejects.toBe(failing);
    expect((await of(context, 'ada'))?.call).toEqual(note('Before'));
    const fault = Object.assign(new TypeError('A fault'), { code: 'forbidden' });
    for (const error of [failing, fault]) {
      const other = notingCalls(callsTo([error]).caller, context, 'bob');
      await expect(other.ask(reading('list'), statusOf)).rejects.toBe(error);
    }
    expect((await of(context, 'bob'))?.call).toBeUndefined();
    await noting.ask(reading('list'), statusOf);
    expect((await of(context, 'ada'))?.call).toBeUndefined();
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
    await forgetRefusedCall(context, 'ada');
    await forgetRefusedCall(context, 'cleo');
    const calls = [(await of(context, 'ada'))?.call, (await of(context, 'bob'))?.call];
    expect(calls).toEqual([undefined, note('No')]);
  });
});
