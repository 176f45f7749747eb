import { expect, it } from 'vitest';
import { type LogOptions, nameOf, selectCalls } from '../../../src/commands/log/select-calls.ts';
import { CallLog, type LoggedCall } from '../../../src/store/machine/call-log.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';

/** The requests that psd2 log selects from these calls, oldest first. Each is named by its number. */
async function selected(
  calls: Partial<LoggedCall>[],
  options: Partial<LogOptions> = {},
  globals: { profile?: string; customer?: string } = {},
): Promise<string> {
  const folder = newConfigFolder(temporary);
  const log = new CallLog(folder.log);
  for (const [index, changes] of calls.entries())
    log.append({
      ...{ at: NOW, profile: 'bank', host: 'psd2.bank.example', method: 'GET', path: '/private/x' },
      ...{ status: 200, failure: null, milliseconds: 12, tppRequestId: `${index}`, transactionId: 't1' },
      ...{ requestId: null, apiTrackId: null, flow: null, route: '/private/x', kind: 'other' },
      ...changes,
    });
  const { context } = openCommand(folder, NOW, { globals });
  return [...(await selectCalls(context, options))]
    .map(({ tppRequestId }) => tppRequestId)
    .reverse()
    .join(' ');
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

it('psd2 log --since also finds a call that another process logged up to a minute late', async () => {
  const calls = [{ at: '2026-11-21T11:59:30.000Z' }, { at: '2026-11-21T11:58:31.000Z' }, {}];
  expect(await selected(calls, { since: '1m' })).toBe('0 2');
});

it('a long call that began before --since does not hide the calls that ended before it', async () => {
  const long = { at: '2026-11-21T11:50:00.000Z', milliseconds: 595_000 };
  expect(await selected([{ at: '2026-11-21T11:59:30.000Z' }, long, {}], { since: '1m' })).toBe('0 2');
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
  'a call by a clock that was wrong does not hide those before it from --since and %j',
  async (wanted) => {
    const mine = { transactionId: 'mine', tppRequestId: 'mine-0' };
    expect(await selected([mine, { at: '2025-01-01T12:00:00.000Z' }, {}], { ...wanted, since: '1h' })).toBe(
      'mine-0',
    );
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
  expect(await selected(calls, wanted, { profile: 'bank' })).toBe('q-1 q-2');
  expect(await selected(calls, { ...wanted, limit: '1' }, { profile: 'bank' })).toBe('q-2');
  expect(await selected(calls, { ...wanted, limit: '2' }, { profile: 'bank' })).toBe('q-1 q-2');
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

const ID = '6f1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44';
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
  [`/v1/consents/${ID}`, '/v1/consents/6f1c2b9e…'],
  [`/v1/consents/${ID.toUpperCase()}/status`, '/v1/consents/6F1C2B9E…/status'],
  [`/v1/${ID}/authorisations/${ID}`, '/v1/6f1c2b9e…/authorisations/6f1c2b9e…'],
  [`/v1/consents/${ID}0`, `/v1/consents/${ID}0`],
  [`/v1/consents/x${ID}`, `/v1/consents/x${ID}`],
])('psd2 log names the call of %s %s', (path, name) => {
  expect(nameOf({ method: 'PUT', path })).toBe(`PUT ${name}`);
});
