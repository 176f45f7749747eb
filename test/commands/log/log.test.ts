import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { bundle } from '../../../src/commands/log/bundle.ts';
import { list } from '../../../src/commands/log/list.ts';
import { type LogOptions, selectCalls, shortCall } from '../../../src/commands/log/select-calls.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { LoggedCall } from '../../../src/store/machine/call-log.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { transferOrder } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { cellsIn, type How, openCommand, ranIn, runIn } from '../command.ts';
import { failureOf } from '../failure.ts';
import { call, FIRST, logCalls, NOW } from './calls.ts';

const temporary = temporaryFolder();

let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

/** The same call as psd2 prints it. */
function shown(changes: Partial<LoggedCall> = {}): Omit<LoggedCall, 'route' | 'kind'> {
  const { route: _route, kind: _kind, ...printed } = call(changes);
  return printed;
}

const log = (...calls: Partial<LoggedCall>[]) => logCalls(folder, calls);

/** Runs `psd2 log …`. */
const run = (words: string[], how?: How) => ranIn(openCommand(folder, NOW, how), 'log', ...words);

describe('psd2 log list', () => {
  it('prints each call as it is stored, the newest first, without what only psd2 needs', async () => {
    log(
      { tppRequestId: 'r1' },
      { tppRequestId: 'r2', begun: 'b', irrevocable: true, customer: 'ada', status: null },
    );
    const { data } = await run(['list']);
    expect(data).toEqual([shown({ tppRequestId: 'r2', status: null }), shown()]);
    expect(list.prints?.shape.is(data)).toBe(true);
  });

  it('in a pipe each call is a line with all ids', async () => {
    log({}, { status: null, failure: 'no answer', requestId: '123', apiTrackId: 'track', flow: 'tr-1' });
    expect((await run(['list'], { format: 'table' })).printed.split('\n')).toEqual([
      `${NOW}\tno answer\t12\tGET\t/private/x\ttr-1\t${FIRST}\tr1\t123\ttrack\tenv`,
      `${NOW}\t200\t12\tGET\t/private/x\t\t${FIRST}\tr1\t\t\tenv`,
      '',
    ]);
  });

  it('at a terminal a call has the columns that have room, and the flow or the beginning of the transaction', async () => {
    log({ flow: 'tr-1', status: null }, { path: '/api/private/customers/1048262/products/7/balance' });
    const { printed } = await run(['list'], { format: 'table', columns: 160 });
    const rows = printed
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/));
    expect(rows).toEqual([
      ['TIME', 'STATUS', 'MS', 'CALL', 'FLOW OR TRANSACTION'],
      [expect.stringMatching(/:\d\d:00$/), '200', '12', 'GET …/7/balance', FIRST.slice(0, 18)],
      [expect.stringMatching(/:\d\d:00$/), 'none', '12', 'GET …/x', 'tr-1'],
    ]);
    const narrow = await run(['list'], { format: 'table', columns: 60 });
    expect(narrow.printed.split('\n')[0]?.trim().split(/ {2,}/)).not.toContain('MS');
  });

  it('with nothing to show says so', async () => {
    const nothing = { printed: '', said: 'No call in the log matches.\n' };
    expect(await run(['list'], { format: 'table' })).toMatchObject(nothing);
    expect((await run(['list'])).printed).toBe('[]\n');
  });

  it('has at most a hundred calls without a filter, and all with one', async () => {
    log(...Array.from({ length: 205 }, () => ({})));
    const count = async (...words: string[]) =>
      z.array(z.unknown()).parse((await run(['list', ...words])).data).length;
    expect(await count()).toBe(100);
    expect(await count('--since', '1d')).toBe(205);
    expect(await count('--limit', '150')).toBe(150);
  });

  /** An older file of the log, which nobody may read as it is. */
  const damageOlder = () => mkdirSync(join(folder.log, 'calls-2026-11-20T120000.000Z-1.ndjson'));

  it('prints what it has read a hundred calls at a time, also if it cannot read on', async () => {
    log(...Array.from({ length: 250 }, () => ({})));
    damageOlder();
    const command = openCommand(folder, NOW, { format: 'table' });
    expect(await failureOf(runIn(command.context, 'log', 'list', '--since', '1d'))).toMatchObject({
      ...{ code: 'config', exitCode: 3 },
    });
    expect(command.printed().trimEnd().split('\n')).toHaveLength(200);
  });

  it('reads no further back than --since', async () => {
    log({ at: '2026-11-21T10:00:00.000Z' }, { tppRequestId: 'r2' });
    damageOlder();
    expect((await run(['list', '--since', '1h'])).data).toEqual([shown({ tppRequestId: 'r2' })]);
    expect((await failureOf(run(['list']))).code).toBe('config');
  });

  it('--follow cannot be one JSON document', async () => {
    expect(await failureOf(run(['list', '--follow']))).toEqual({
      ...{ code: 'usage', exitCode: 2 },
      message: '--follow has no end, so it cannot print one JSON document',
      hint: 'With -o ndjson, each call is a line.',
    });
  });
});

/** The requests that psd2 log selects from these calls, oldest first. Each is named by its number. */
async function selected(
  calls: Partial<LoggedCall>[],
  options: Partial<LogOptions> = {},
  globals: { profile?: string; customer?: string } = {},
): Promise<string> {
  folder = newConfigFolder(temporary);
  log(...calls.map((each, index) => ({ tppRequestId: `${index}`, ...each })));
  const { context } = openCommand(folder, NOW, { globals });
  const found = [...(await selectCalls(context, options))].reverse();
  return found.map(({ tppRequestId }) => tppRequestId).join(' ');
}

it('psd2 log --failed shows the calls without an answer and those with a status from 400 on', async () => {
  const calls = [{ status: 200 }, { status: 399 }, { status: 400 }, { status: 503 }, { status: null }];
  expect(await selected(calls, { failed: true })).toBe('2 3 4');
});

it.each([
  ['90s', '2026-11-21T11:58:30.000Z'],
  ['3d', '2026-11-18T12:00:00.000Z'],
  ['2026-11-20T09:30:00+01:00', '2026-11-20T08:30:00.000Z'],
])('psd2 log --since %s shows the calls from %s on', async (since, from) => {
  const before = new Date(Date.parse(from) - 1).toISOString();
  expect(await selected([{ at: before }, { at: from }, {}], { since })).toBe('1 2');
});

it.each<[string, Partial<LoggedCall>]>([
  ['a call that another process logged up to a minute late', { at: '2026-11-21T11:58:31.000Z' }],
  ['the calls before a long one', { at: '2026-11-21T11:50:00.000Z', milliseconds: 595_000 }],
])('psd2 log --since finds %s', async (_, between) => {
  expect(await selected([{ at: '2026-11-21T11:59:30.000Z' }, between, {}], { since: '1m' })).toBe('0 2');
});

it('psd2 log finds transactions, flows and requests by the beginning of their ids', async () => {
  const calls = [
    { transactionId: 'abc1', tppRequestId: '0-a' },
    { flow: 'tr-abc', tppRequestId: '1-b' },
    { requestId: '77123', tppRequestId: '2-c' },
  ];
  expect(await selected(calls, { transaction: 'abc' })).toBe('0-a');
  expect(await selected(calls, { transaction: 'tr-' })).toBe('1-b');
  expect(await selected(calls, { request: '1-' })).toBe('1-b');
  expect(await selected(calls, { request: '77' })).toBe('2-c');
});

it('psd2 log --request finds the id of a bank that has quotes and backslashes', async () => {
  const calls = [{ requestId: 'ab' }, { requestId: 'a"b\\c' }, { requestId: 'a"c' }];
  expect(await selected(calls, { request: 'a"b' })).toBe('1');
  expect(await selected(calls, { request: 'a"b\\' })).toBe('1');
  expect(await selected(calls, { request: 'a"' })).toBe('1 2');
});

it.each([{ transaction: 'mine' }, { request: 'mine' }])(
  'a wrong clock hides no call before it from --since and %j',
  async (wanted) => {
    const mine = { transactionId: 'mine', tppRequestId: 'mine-0' };
    const calls = [mine, { at: '2025-01-01T12:00:00.000Z' }, {}];
    expect(await selected(calls, { ...wanted, since: '1h' })).toBe('mine-0');
  },
);

it('a call must match all that is given, and the limit counts those that do', async () => {
  const mine = { transactionId: 'abc', tppRequestId: 'q-1', status: 503 };
  const calls = [
    { ...mine, tppRequestId: 'q-0', at: '2026-11-20T12:00:00.000Z' },
    mine,
    { ...mine, tppRequestId: 'q-2' },
    { ...mine, tppRequestId: 'q-3', profile: 'other' },
    { ...mine, tppRequestId: 'q-4', status: 200 },
    { ...mine, tppRequestId: 'r-5' },
    { ...mine, tppRequestId: 'q-6', transactionId: 'abd' },
  ];
  const wanted = { transaction: 'abc', request: 'q', failed: true, since: '1h' } as const;
  expect(await selected(calls, wanted, { profile: 'env' })).toBe('q-1 q-2');
  expect(await selected(calls, { ...wanted, limit: '1' }, { profile: 'env' })).toBe('q-2');
  expect(await selected(calls, { ...wanted, limit: '2' }, { profile: 'env' })).toBe('q-1 q-2');
});

it('psd2 log --customer shows the calls whose path or line names the customer, and the others of the same transactions', async () => {
  const calls: Partial<LoggedCall>[] = [
    { path: '/private/customers/1000001/products', transactionId: 't1' },
    { path: '/private/sca', transactionId: 't1' },
    { path: '/private/customers/1000002/products', transactionId: 't1' },
    { path: '/v1/accounts', customer: '1000003', transactionId: 't2' },
    { path: '/v1/accounts', customer: '10000031', transactionId: 't3' },
    { path: '/v1/accounts', transactionId: 't4' },
    { path: '/bank/private/customers/100', transactionId: 't5' },
    { path: '/bank/private/customers/100/products/1/moneyTransfer/verify', transactionId: 't6' },
  ];
  expect(await selected(calls, {}, { customer: '1000001' })).toBe('0 1');
  expect(await selected(calls, {}, { customer: '1000003' })).toBe('3');
  expect(await selected(calls, {}, { customer: '100' })).toBe('6 7');
  expect(await selected(calls, {}, { customer: '10' })).toBe('');
  await expect(selected(calls, {}, { customer: '../1' })).rejects.toThrow('is not a number');
});

it.each([
  ['/api/private/customers/12/products/7/balance', '…/7/balance'],
  ['/api/private/customers/12/products', '…/products'],
  ['/api/private/customers/12/other', '…/other'],
  ['/api/private/customers/12', '…'],
  ['/api/private/customers/12x', '…/customers/12x'],
  ['/api/private/customers/12/productsx', '…/productsx'],
  ['/api/private/customerid-info', '…/customerid-info'],
  ['/api/privatex/customers/12', '/api/privatex/customers/12'],
  ['/api/oauth/token', '/api/oauth/token'],
  [`/v1/consents/${FIRST}`, '/v1/consents/6f1c2b9e…'],
  [`/v1/consents/${FIRST.toUpperCase()}/status`, '/v1/consents/6F1C2B9E…/status'],
  [`/v1/${FIRST}/authorisations/${FIRST}`, '/v1/6f1c2b9e…/authorisations/6f1c2b9e…'],
  [`/v1/consents/${FIRST}0`, `/v1/consents/${FIRST}0`],
  [`/v1/consents/x${FIRST}`, `/v1/consents/x${FIRST}`],
])('psd2 log names the call of %s %s', (path, name) => {
  expect(shortCall({ method: 'PUT', path })).toBe(`PUT ${name}`);
});

describe('the timeline of a transaction', () => {
  const timeline = (reference: string, how = {}) =>
    run(['list', '--transaction', reference], { format: 'table', ...how });

  it('begins with the oldest call, and an inquiry has no events', async () => {
    log(
      { at: '2026-11-21T12:00:01.000Z', tppRequestId: 'r1' },
      { at: '2026-11-21T12:00:02.000Z', tppRequestId: 'r2', status: null, failure: 'lost', requestId: '9' },
      { at: '2026-11-21T12:00:03.000Z', apiTrackId: 'track' },
      { transactionId: 'other' },
    );
    // Nor does it need the store.
    const env = { PSD2_STORE: 'postgres://127.0.0.1:1/none' };
    expect((await timeline(FIRST, { env })).printed.split('\n')).toEqual([
      '2026-11-21T12:00:01.000Z\tGET /private/x\t200\t12\tr1\t\t',
      '2026-11-21T12:00:02.000Z\tGET /private/x\tlost\t12\tr2\t9\t',
      '2026-11-21T12:00:03.000Z\tGET /private/x\t200\t12\tr1\t\ttrack',
      '',
    ]);
  });

  it('has the events of a flow between its calls, an event before a call of the same time', async () => {
    const { flows } = await openCommand(folder, NOW).context.store();
    const order = transferOrder();
    const begin = { transactionId: FIRST, commits: 'on execute' as const, order };
    const flow = await flows.begin('transfer', begin, async (open) => {
      await open.record({ type: 'verify-sent', requestId: 'r1', digest: null });
      await open.record({ type: 'verify-refused', description: 'No money' });
      return open.current.flow;
    });
    log(
      { at: '2026-11-21T11:59:59.000Z', tppRequestId: 'r0', flow },
      { flow, requestId: '9', apiTrackId: 'track', path: '/private/customers/1/products/2/verify' },
    );
    expect(cellsIn((await timeline(flow)).printed).map(([, what]) => what)).toEqual([
      'GET /private/x',
      expect.stringMatching(/^created/),
      expect.stringMatching(/^verify-sent/),
      'verify-refused (No money)',
      'GET /private/customers/1/products/2/verify',
    ]);

    const drawn = (await timeline(flow, { columns: 120 })).printed.split('\n');
    expect(drawn.slice(0, 3)).toEqual([`Flow         ${flow}`, `Transaction  ${FIRST}`, '']);
    const rest = drawn.slice(3).map((line) => line.replace(/^\d{4}-\S+ \S+/, 'T'));
    expect(rest).toEqual([
      'T    GET …/x → 200 in 12 ms',
      `${' '.repeat(29)}request r0`,
      expect.stringMatching(/^T {2}created/),
      expect.stringMatching(/^T {2}verify-sent/),
      'T  verify-refused (No money)',
      'T    GET …/2/verify → 200 in 12 ms',
      `${' '.repeat(29)}request r1`,
      `${' '.repeat(29)}bank    9`,
      `${' '.repeat(29)}track   track`,
      '',
    ]);
  });

  it('is in the order of time, whatever the order of the log, and calls of the same time stay as they were logged', async () => {
    const at = (second: number) => `2026-11-21T12:00:0${second}.000Z`;
    log(...[3, 1, 2, 2, 1].map((second, index) => ({ at: at(second), tppRequestId: `r${index}` })));
    const ids = cellsIn((await timeline(FIRST)).printed).map((cells) => cells[4]);
    expect(ids).toEqual(['r1', 'r4', 'r2', 'r3', 'r0']);
  });

  it('of an inquiry at a terminal has no flow, and a call without an answer says so', async () => {
    log({ status: null }, { status: null, failure: 'lost', tppRequestId: 'r2' });
    const drawn = (await timeline(FIRST, { columns: 120 })).printed.split('\n');
    expect(drawn.map((line) => line.replace(/^\d{4}-\S+ \S+/, 'T'))).toEqual([
      `Transaction  ${FIRST}`,
      '',
      'T    GET …/x → no answer in 12 ms',
      `${' '.repeat(29)}request r1`,
      'T    GET …/x → lost in 12 ms',
      `${' '.repeat(29)}request r2`,
      '',
    ]);
  });

  it('draws equal calls in a row once, with their number and the last time', async () => {
    const at = (second: number) => `2026-11-21T12:00:0${second}.000Z`;
    const both = { tppRequestId: 'r1', requestId: 'r1' };
    log(
      ...[1, 2, 3].map((second) => ({ at: at(second), ...both })),
      { at: at(4), status: 500 },
      { at: at(5) },
    );
    const drawn = (await timeline(FIRST, { columns: 120 })).printed.split('\n').slice(2);
    expect(drawn.map((line) => line.replace(/\d{4}-\S+ \S+/, 'T').trim())).toEqual([
      'T    GET …/x → 200 in 12 ms',
      'request r1',
      'and 2 more with the same answer, until T',
      ...['T    GET …/x → 500 in 12 ms', 'request r1', 'T    GET …/x → 200 in 12 ms', 'request r1', ''],
    ]);
  });

  it.each<[string, Partial<LoggedCall>, 'once' | 'twice']>([
    ['the same in all', {}, 'once'],
    ['another request', { tppRequestId: 'r9', requestId: '9', apiTrackId: 'x', milliseconds: 99 }, 'once'],
    ['another method', { method: 'POST' }, 'twice'],
    ['another path', { path: '/private/y' }, 'twice'],
    ['another status', { status: 201 }, 'twice'],
    ['no answer', { status: null }, 'twice'],
    ['a failure', { failure: 'lost' }, 'twice'],
  ])('a call after another one with %s is drawn as one: %s', async (_, changes, often) => {
    log({}, changes);
    const { printed } = await timeline(FIRST, { columns: 120 });
    expect(printed.split('\n').filter((line) => line.includes(' → '))).toHaveLength(often === 'once' ? 1 : 2);
    expect(printed.includes(`${' '.repeat(29)}and 1 more with the same answer, until 2026-11-2`)).toBe(
      often === 'once',
    );
  });

  it('a flow without a call has its events alone', async () => {
    const { flows } = await openCommand(folder, NOW).context.store();
    const begin = { transactionId: FIRST, commits: 'on execute' as const, order: transferOrder() };
    const flow = await flows.begin('transfer', begin, async ({ current }) => current.flow);
    expect((await timeline(flow, { columns: 120 })).printed.split('\n').slice(0, 2)).toEqual([
      `Flow         ${flow}`,
      '',
    ]);
  });

  it.each<[string, string | undefined, string | undefined, string]>([
    ['the profile that is named', 'bank', 'other', 'bank'],
    ['the profile in use', undefined, 'other', 'other'],
    ['the profile of the environment', undefined, undefined, 'env'],
  ])('a flow without a call is that of %s', async (_, named, used, mine) => {
    const { profiles } = openCommand(folder, NOW).context;
    const begin = { transactionId: FIRST, commits: 'on execute' as const, order: transferOrder() };
    const begun = new Map<string, string>();
    for (const [index, profile] of ['bank', 'other', 'env'].entries()) {
      const baseUrl = 'https://psd2.bank.example/';
      if (profile !== 'env') await profiles.write(profile, { baseUrl });
      // The id of a flow has its time.
      const at = `2026-11-21T0${index}:00:00.000Z`;
      const { flows } = await openCommand(folder, at, { globals: { profile } }).context.store();
      begun.set(profile, await flows.begin('transfer', begin, async ({ current }) => current.flow));
    }
    if (used !== undefined) await profiles.use(used);
    const globals = named === undefined ? {} : { profile: named };
    for (const [profile, flow] of begun) {
      const shown = timeline(flow, { globals });
      if (profile === mine) expect(cellsIn((await shown).printed)[0]?.[1]).toMatch(/^created/);
      else expect((await failureOf(shown)).message).toBe(`The log has no transaction "${flow}"`);
    }
    // The log knows of which profile the flow of a call is.
    const [flow] = [begun.get('bank')];
    log({ at: '2026-11-22T12:00:00.000Z', flow: flow ?? null, profile: 'bank' });
    const all = cellsIn((await timeline(FIRST)).printed).map(([, what]) => what);
    expect(all).toEqual([expect.stringMatching(/^created/), 'GET /private/x']);
  });

  it('is found by the reference of its payment, which may go with others', async () => {
    const { flows } = await openCommand(folder, NOW).context.store();
    const begin = (reference: string) => ({
      ...{ transactionId: FIRST, commits: 'by the customer' as const },
      order: { ...transferOrder(), reference },
    });
    const alone = await flows.begin('transfer', begin('INV-1'), async ({ current }) => current.flow);
    await flows.begin('transfer', begin('INV-2'), (open) =>
      open.record({ type: 'bulk-joined', bulk: 'op-1' }),
    );
    log({ flow: alone, tppRequestId: 'r1' }, { flow: 'op-1', transactionId: 'bulk', tppRequestId: 'r2' });
    const requests = async (reference: string) => {
      const { data } = await run(['list', '--transaction', reference]);
      return z.array(z.object({ tppRequestId: z.string() })).parse(data);
    };
    expect([await requests('INV-1'), await requests('INV-2'), await requests('INV-')]).toEqual([
      ...[[{ tppRequestId: 'r1' }], [{ tppRequestId: 'r2' }], []],
    ]);
    expect((await timeline('INV-1', { columns: 120 })).printed).toContain(`Flow         ${alone}`);
  });

  it.each([
    ['a store that cannot be read', new Psd2Error('config', 'The journal is damaged')],
    ['a fault of psd2', new TypeError('a fault')],
  ])('does not begin with %s', async (_, fault) => {
    const { context } = openCommand(folder, NOW);
    vi.spyOn((await context.store()).flows, 'find').mockRejectedValueOnce(fault);
    await expect(runIn(context, 'log', 'list', '--transaction', 'INV-1')).rejects.toBe(fault);
  });

  it('refuses a beginning that several transactions have, and names the first five', async () => {
    log(...['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((transactionId) => ({ transactionId })));
    expect(await failureOf(timeline('a'))).toEqual({
      ...{ code: 'flow_not_found', exitCode: 2, message: '"a" matches 6 transactions' },
      hint: 'Give more characters: a6, a5, a4, a3, a2.',
    });
    expect((await timeline('a1')).printed).toContain('GET /private/x');
  });

  it('of a transaction that is not in the log is an error, and an empty list as JSON', async () => {
    expect(await failureOf(timeline('none'))).toEqual({
      ...{ code: 'flow_not_found', exitCode: 2, message: 'The log has no transaction "none"' },
      ...{ hint: 'See the calls in the log with:', next: [['log']] },
    });
    expect((await run(['list', '--transaction', 'none'])).printed).toBe('[]\n');
  });
});

describe('psd2 log bundle', () => {
  const bundled = z.looseObject({
    calls: z.array(z.looseObject({ path: z.string() })),
    hosts: z.array(z.string()),
  });

  it('saves the calls, the oldest first, without what identifies a customer or the profile', async () => {
    log(
      { at: '2026-11-21T11:00:00.000Z', path: '/private/customers/1048262/products/0010482620/balance' },
      { host: 'other:443', path: '/private/customers/1048262/x', customer: 'ada', failure: 'for 1048262' },
      { host: 'other:443', profile: 'secret-profile' },
      { path: '/v1/accounts/ACC-9', route: '/v1/accounts/{account}', requestId: 'r-5254121234563241' },
    );
    const file = join(temporary, 'for-the-bank.json');
    const { data: report, said } = await run(['bundle', '--file', file]);
    expect(report).toEqual({ file, calls: 4, from: '2026-11-21T11:00:00.000Z', to: NOW });
    expect(bundle.prints?.shape.is(report)).toBe(true);
    const text = readFileSync(file, 'utf8');
    for (const word of ['1048262', '0010482620', 'secret-profile', 'ada"', 'ACC-9', '5254121234563241'])
      expect(text).not.toContain(word);
    const document = bundled.parse(JSON.parse(text));
    expect(document).toMatchObject({
      ...{ made: NOW, psd2: '0.0.0', node: process.versions.node, hosts: ['bank.example:443', 'other:443'] },
      platform: `${process.platform} ${process.arch}`,
      about: expect.stringMatching(/^Calls to the bank's PSD2 interface, oldest first.*Times are UTC\.$/),
    });
    const { profile: _profile, ...first } = shown({ at: '2026-11-21T11:00:00.000Z' });
    const path = '/private/customers/customer-1/products/account-1/balance';
    expect(document.calls[0]).toEqual({ ...first, path });
    expect(document.calls[1]).toMatchObject({ failure: 'for customer-1' });
    expect(document.calls[3]).toMatchObject({ path: '/v1/accounts/account-2' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(said.split('\n').slice(1)).toEqual([
      `The file contains 4 calls to bank.example:443, other:443 from 2026-11-21T11:00:00.000Z to ${NOW}:`,
      '  times, methods, paths, statuses, durations, the ids of requests, transactions, resources and flows,',
      '  and the versions of psd2 and Node.js.',
      expect.stringMatching(/^Replaced: .*1 customer.*\.$/),
      'Left out: queries, headers, bodies, tokens, keys, certificates, the name of the profile.',
      'Read it before you send it.',
      '',
    ]);
  });

  it('with - is standard output alone', async () => {
    log({});
    const bytes: Uint8Array[] = [];
    const printBytes = (some: Uint8Array) => void bytes.push(some);
    const { printed } = await run(['bundle', '--file', '-'], { changes: () => ({ printBytes }) });
    expect(printed).toBe('');
    expect(bundled.parse(JSON.parse(Buffer.concat(bytes).toString()))).toMatchObject({
      hosts: ['bank.example:443'],
    });
  });

  it('an id that only another call shows to be one is replaced, also in the ids of a call', async () => {
    log(
      { path: '/private/customers/1048262/x', status: 503 },
      {
        ...{ path: '/x', tppRequestId: 'r-1048262', transactionId: 't-1048262', requestId: '1048262' },
        ...{ apiTrackId: 'DE89370400440532013000', failure: 'for 1048262', flow: 'tr-1' },
      },
    );
    const file = join(temporary, 'ids.json');
    await run(['bundle', '--request', 'r-', '--file', file]);
    const ids = { tppRequestId: 'r-customer-1', transactionId: 't-customer-1', requestId: 'customer-1' };
    const others = { apiTrackId: 'iban-1', failure: 'for customer-1', flow: 'tr-1' };
    const { calls } = bundled.parse(JSON.parse(readFileSync(file, 'utf8')));
    expect(calls).toEqual([expect.objectContaining({ path: '/x', ...ids, ...others })]);
  });

  it.each(['failure', 'tppRequestId', 'transactionId', 'requestId', 'apiTrackId'])(
    'what %s alone shows to be an id is replaced everywhere',
    async (field) => {
      log({ [field]: 'of /customers/1048262/x', status: 503 }, { path: '/x/1048262' });
      const file = join(temporary, `only-${field}.json`);
      await run(['bundle', '--file', file]);
      const { calls } = bundled.parse(JSON.parse(readFileSync(file, 'utf8')));
      expect(calls[0]?.[field]).toBe('of /customers/customer-1/x');
      expect(calls[1]?.path).toBe('/x/customer-1');
    },
  );

  it('of one call says so, and what is in the file; as a table it prints nothing', async () => {
    log({});
    const file = join(temporary, 'one.json');
    const { printed, said } = await run(['bundle', '--file', file], { format: 'table' });
    expect(printed).toBe('');
    expect(said).toContain('The file contains 1 call to bank.example:443 from');
    expect(JSON.parse(readFileSync(file, 'utf8')).about).toBe(
      "Calls to the bank's PSD2 interface, oldest first, for the bank's support. Names such as customer-1 replace customers, accounts and IBANs; the same name means the same one throughout this file. Numbers of cards are masked. The file contains no queries, headers, bodies, tokens, keys or certificates. tppRequestId and transactionId are the TPP-Request-ID and TPP-Transaction-ID that psd2 sent, requestId is result.requestId of the bank's answer, apiTrackId is cb-apitrack-id. Times are UTC.",
    );
  });

  it('with no call that matches saves nothing', async () => {
    log({});
    const file = join(temporary, 'none.json');
    expect(await failureOf(run(['bundle', '--failed', '--file', file]))).toEqual({
      ...{ code: 'usage', exitCode: 2, message: 'No call in the log matches, so psd2 saved no file' },
      ...{ hint: 'See the calls in the log with:', next: [['log']] },
    });
    expect(() => statSync(file)).toThrow('ENOENT');
  });
});
