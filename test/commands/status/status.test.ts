import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { item } from '../../../src/commands/status/item.ts';
import { status } from '../../../src/commands/status/status.ts';
import type { ConsentEvent } from '../../../src/domain/consent.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import type { TransferOrder } from '../../../src/domain/transfer.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import type { ReadFailure } from '../../../src/store/ports/read-results.ts';
import { batchAdded } from '../../domain/batch/lines.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { batchLine } from '../../store/whole-store.ts';
import {
  keepConsent,
  storeConsent,
  storeConsentFlow,
  storeLogin,
  storeOperation,
  storeTransfer,
} from '../access.ts';
import { type How, openCommand, runIn, useFolder } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const MARCH = '2026-03-01T00:00:00.000Z';
const MAY = '2026-05-01T00:00:00.000Z';
const OCTOBER = '2026-10-01T00:00:00.000Z';
const NO_MONEY = { amount: null, currency: null, payee: null };

const folder = useFolder(temporary);
let before: Context;
beforeEach(() => {
  before = openCommand(folder, MARCH).context;
});

/** What needs a person in October, who has named the profile, or none. */
async function attention(how?: How, profile: string | null = 'bank') {
  const { context, printed } = openCommand(folder, OCTOBER, how);
  if (profile !== null) context.repeated.profile = profile;
  const { code, message } = await failureOf(runIn(context, 'status'));
  const { attention } = JSON.parse(printed());
  const many = attention.length === 1 ? '1 thing needs' : `${attention.length} things need`;
  expect([code, message]).toEqual(['needs_attention', `${many} a person`]);
  return attention;
}

it('psd2 status of a profile without work says so, and ends without an error', async () => {
  const { context, printed } = openCommand(folder, MARCH, {
    env: { PSD2_ENVIRONMENT: 'production' },
  });
  await runIn(context, 'status');
  expect(JSON.parse(printed())).toEqual({
    ...{ profile: 'env', environment: 'production', interface: 'cb', store: 'files' },
    ...{ customers: 0, attention: [] },
  });
  expect(status.prints?.shape.is(JSON.parse(printed()))).toBe(true);
});

it.each([
  ['execute-unanswered', 'unknown'],
  // A refusal alone frees no reference: the bank is asked before a person's word counts.
  ['execute-refused', 'failed'],
] as const)('psd2 status has what needs a person, payments first: %s', async (type, state) => {
  const ends = { accessTokenExpiresAt: MARCH, refreshTokenExpiresAt: MAY };
  await storeLogin(before, '1000001', ends);
  await storeLogin(before, '1000002', { ...ends, refreshTokenExpiresAt: '2027-01-01T00:00:00.000Z' });
  await storeConsent(before, '1000001', [{ name: 'ACCOUNT_INFO', products: [] }]);
  const { notes, tokens } = await before.store();
  const order = { customerId: '1000002', name: 'Ada', reference: 'inv-7' };
  const sent = { requestId: 'q', digest: null };
  const flow = await storeTransfer(
    before,
    order,
    { type: 'verify-sent', ...sent },
    VERIFIED,
    { type: 'accepted' },
    { type: 'execute-sent', ...sent },
    { type, description: 'Busy' },
  );
  const login = await tokens.login('1000002');
  if (login) await notes.refreshRefused('1000002', login, { at: MAY, message: 'The bank refused' });

  const told = join(temporary, `told-${state}`);
  const env = { PATH: process.env.PATH, PSD2_NOTIFY: `tee ${told}` };
  const { context, printed } = openCommand(folder, OCTOBER, { env });
  context.repeated.profile = 'bank';
  await expect(runIn(context, 'status')).rejects.toMatchObject({
    code: 'needs_attention',
    message: '3 things need a person',
  });
  expect(existsSync(told)).toBe(state === 'unknown');
  const { attention, customers } = JSON.parse(printed());
  expect(customers).toBe(2);
  expect(attention).toEqual([
    {
      ...{ kind: 'transfer', id: flow, state, since: MARCH, customerId: '1000002' },
      ...{ amount: '12.50', currency: 'EUR', payee: 'Ada', message: 'to Ada, reference inv-7: Busy' },
      next: ['psd2', '--profile', 'bank', 'transfer', 'resume', flow],
    },
    {
      ...{ kind: 'login', id: '1000002', state: 'refused', since: MAY, customerId: '1000002' },
      ...{ ...NO_MONEY, message: 'The bank refused' },
      next: ['psd2', '--profile', 'bank', '--customer', '1000002', 'auth', 'login'],
    },
    {
      ...{ kind: 'login', id: '1000001', state: 'ended', since: MAY, customerId: '1000001' },
      ...{ ...NO_MONEY, message: 'the login' },
      next: ['psd2', '--customer', '1000001', 'auth', 'login'],
    },
  ]);
  for (const each of attention) expect(item.is(each)).toBe(true);
});

it('in a pipe each thing that needs a person has a line of its own', async () => {
  for (const customer of ['1000001', '1000002'])
    await storeLogin(before, customer, { refreshTokenExpiresAt: MAY });
  const { context, printed } = openCommand(folder, OCTOBER, { format: 'table' });
  await expect(runIn(context, 'status')).rejects.toMatchObject({ message: '2 things need a person' });
  const lines = printed().split('\n');
  expect(
    lines.filter((line) => /^Attention\tlogin 100000[12] ended since .*auth login$/.test(line)),
  ).toHaveLength(2);
});

const ADDED = batchAdded({ by: 'ada', user: 'ada', machine: 'm' });

it('a payment or a batch that psd2 cannot read needs a person, even if nothing else does', async () => {
  const { batches } = await before.store();
  const flow = await storeTransfer(before, {}, { type: 'cancelled' });
  const { batch } = await batches.add({ added: ADDED, lines: [batchLine()], again: false });
  rmSync(join(folder.flows('env'), 'batches', batch, 'events', '1'));
  const journal = join(folder.flows('env'), `${flow}.ndjson`);
  writeFileSync(journal, `no event\n${readFileSync(journal, 'utf8')}`);

  const { context, printed, said } = openCommand(folder, OCTOBER);
  context.repeated.profile = 'bank';
  await expect(runIn(context, 'status')).rejects.toMatchObject({ code: 'needs_attention' });
  const { attention } = JSON.parse(printed());
  expect(attention).toEqual([
    {
      ...{ kind: 'transfer', id: flow, state: 'damaged', since: null, customerId: null },
      ...{ ...NO_MONEY, message: `The journal ${journal} is damaged at line 1` },
      next: ['psd2', '--profile', 'bank', 'transfer', 'show', flow],
    },
    {
      ...{ kind: 'batch', id: batch, state: 'damaged', since: null, customerId: null },
      ...{ ...NO_MONEY, message: expect.stringContaining('events of its journal are missing') },
      next: ['psd2', '--profile', 'bank', 'batch', 'show', batch],
    },
  ]);
  expect(item.is(attention[0])).toBe(true);
  expect(said()).toBe('');
});

/** When a customer's data was read in September, and what failed then. */
const at = (day: number) => `2026-09-${day}T00:00:00.000Z`;
const read = (customerId: string, day: number, ...failures: ReadFailure[]) => ({
  ...{ customerId, at: at(day), failures, skipped: [] },
});

it('data that is older than the profile allows needs a person, of customers that psd2 can still read', async () => {
  for (const customer of ['1000001', '1000002', '1000003'])
    await storeLogin(before, customer, { refreshTokenExpiresAt: '2027-01-01T00:00:00.000Z' });
  const { results } = await before.store();
  const failure = { productId: 'A1', code: 'sca_required', message: 'The bank wants SCA' };
  await results.add([read('1000001', 28), read('1000002', 27), read('1000003', 30), read('9', 10)]);
  await results.add([read('1000002', 30, failure)]);
  const data = (customerId: string, since: string) => ({
    ...{ ...NO_MONEY, kind: 'data', id: customerId, state: 'stale', since, customerId },
  });
  expect(await attention()).toEqual([
    {
      ...data('1000002', at(27)),
      message: 'not read since: The bank wants SCA',
      next: ['psd2', '--profile', 'bank', '--customer', '1000002', 'accounts', 'transactions', 'A1'],
    },
    {
      ...data('1000001', at(28)),
      ...{ message: 'not read since', next: ['psd2', '--profile', 'bank', '--customer', '1000001', 'sync'] },
    },
  ]);
  const patient = openCommand(folder, OCTOBER, { env: { PSD2_STALE_AFTER: '30d' } });
  await runIn(patient.context, 'status');
  expect(JSON.parse(patient.printed()).attention).toEqual([]);
});

it('psd2 status says nothing of another base URL if a customer has a record at this one', async () => {
  const at = (PSD2_BASE_URL: string) => openCommand(folder, MARCH, { env: { PSD2_BASE_URL } });
  await storeLogin(at('https://old.bank.example').context, '1000001');
  const { context, said, printed } = at('https://new.bank.example');
  await (await context.store()).customers.change('ada', (kept) => kept);
  await runIn(context, 'status');
  expect([said(), JSON.parse(printed()).customers]).toEqual(['', 1]);
});

it('psd2 status says that nobody can use the profile because all that it has belongs to another base URL', async () => {
  const at = (PSD2_BASE_URL: string) => openCommand(folder, MARCH, { env: { PSD2_BASE_URL } });
  const { context: before } = at('https://old.bank.example');
  await storeLogin(before, '1000001');
  for (const name of ['ada', 'bob']) await (await before.store()).customers.change(name, (kept) => kept);
  const { context, said } = at('https://new.bank.example');
  await runIn(context, 'status');
  expect(said()).toContain(
    '1 login and the consents of 2 customers of this profile belong to https://old.bank.example/. If the same bank has a new address, psd2 auth move takes them along.',
  );
  await storeLogin(context, '1000002');
  const { context: again, said: saidAgain } = at('https://new.bank.example');
  await runIn(again, 'status');
  expect(saidAgain()).toBe('');
});

describe('as a person reads it', () => {
  const how = { format: 'table' } as const;

  it('the profile stands above, and nothing needs a person', async () => {
    const { context, printed } = openCommand(folder, MARCH, { ...how, columns: 200 });
    await runIn(context, 'status');
    expect(printed().split('\n')).toEqual([
      'Nothing needs a person.',
      `Profile env: the step interface (cb), 0 customers, in ${folder.root}.`,
      '',
    ]);
  });

  it('of more than thirty things the first thirty stand there', async () => {
    for (let index = 0; index < 32; index++)
      await storeLogin(before, `${1000001 + index}`, { refreshTokenExpiresAt: MAY });
    const { context, printed, said } = openCommand(folder, OCTOBER, { ...how, columns: 200 });
    expect(await failureOf(runIn(context, 'status'))).toEqual({
      ...{ code: 'needs_attention', exitCode: 12, message: '32 things need a person' },
    });
    // The error below says how many there are.
    expect(printed()).toMatch(/^Profile env: /);
    expect(printed().match(/psd2 --customer \d+ auth login$/gm)).toHaveLength(30);
    expect(said()).toContain('And 2 more: psd2 status --json has all.');
  });

  it.each<[string, Partial<TransferOrder>, string | undefined, string]>([
    ['nothing more', {}, undefined, ''],
    ['its reference', { reference: 'inv-7' }, undefined, 'reference inv-7'],
    ['why it failed', {}, 'Busy', 'Busy'],
    ['both', { reference: 'inv-7' }, 'Busy', 'reference inv-7: Busy'],
  ])('why a payment needs a person stands without its payee: %s', async (_, more, description, why) => {
    const sent = { requestId: 'q', digest: null };
    await storeTransfer(
      before,
      { customerId: '1000001', name: 'Ada', ...more },
      ...[{ type: 'verify-sent' as const, ...sent }, VERIFIED, { type: 'accepted' as const }],
      { type: 'execute-sent', ...sent },
      { type: 'execute-unanswered', ...(description !== undefined && { description }) },
    );
    const { context, printed } = openCommand(folder, OCTOBER, { ...how, columns: 250 });
    await failureOf(runIn(context, 'status'));
    const cells = printed().trimEnd().split('\n').at(-1)?.trim().split(/ {2,}/) ?? [];
    expect(cells.slice(1, -1)).toEqual([
      ...['transfer', 'unknown', '12.50 EUR', 'Ada', '1000001'],
      ...(why === '' ? [] : [why]),
    ]);
  });

  it('a payment stands with its amount, a batch without a customer, and a certificate with its end', async () => {
    const files = await loadOrCreateRegistration(inject('registration'));
    const order = { customerId: '1000001', name: 'Ada' };
    const flow = await storeTransfer(before, order, { type: 'verify-sent', requestId: 'q', digest: null });
    const end = new Date(new X509Certificate(readFileSync(files.qwacCertFile)).validTo);
    const now = new Date(end.getTime() - 24 * 60 * 60 * 1000).toISOString();
    const { context, printed } = openCommand(folder, now, {
      ...{ ...how, columns: 200, env: { PSD2_QWAC_CERT: files.qwacCertFile } },
    });
    expect((await failureOf(runIn(context, 'status'))).message).toBe('2 things need a person');
    const [, , , ...lines] = printed().trimEnd().split('\n');
    expect(lines.map((line) => line.split(/ {2,}/).slice(1))).toEqual([
      ['transfer', 'created', '12.50 EUR', 'Ada', '1000001', `psd2 transfer resume ${flow}`],
      ['certificate', 'ends', 'the certificate QWAC', "psd2 cert check '<new certificate>'"],
    ]);
  });
});

it('a call that the bank does not allow needs the doctor, a refused renewal a new login', async () => {
  const { tokens, notes } = await before.store();
  for (const customer of ['1000002', '1000001']) {
    await storeLogin(before, customer);
    await notes.callRefused(customer, { at: MAY, message: 'No consent' });
  }
  const login = await tokens.login('1000002');
  if (login) await notes.refreshRefused('1000002', login, { at: MAY, message: 'Revoked' });
  // The application's own refusal is nobody's, and one without a login is over.
  await notes.callRefused(null, { at: MAY, message: 'No' });
  for (const customer of ['1000000', '1000003'])
    await notes.callRefused(customer, { at: MAY, message: 'No' });
  // A newer login has not been refused anything.
  await storeLogin(before, '1000000a');
  const older = await tokens.login('1000000a');
  if (older) await notes.refreshRefused('1000000a', older, { at: MAY, message: 'Revoked' });
  const later = '2027-01-01T00:00:00.000Z';
  await storeLogin(before, '1000000a', { accessTokenExpiresAt: later, refreshTokenExpiresAt: later });
  const refused = (id: string, message: string, ...next: string[]) => ({
    ...{ ...NO_MONEY, kind: 'login', id, state: 'refused', since: MAY, customerId: id },
    ...{ message, next: ['psd2', '--customer', id, ...next] },
  });
  expect(await attention({}, null)).toEqual([
    refused('1000001', 'No consent', 'doctor'),
    refused('1000002', 'Revoked', 'auth', 'login'),
  ]);
});

it('consents and operations stand with what they are about, the oldest of a kind first', async () => {
  const later = openCommand(folder, MAY).context;
  const products = [parseProductId('0000012345')];
  const both = [
    { name: 'ACCOUNT_INFO' as const, products },
    { name: 'PAYMENTS' as const, products },
  ];
  const requested: ConsentEvent = { type: 'requested', resourceId: 'FLOW', outcomes: [] };
  const flowsOfConsents = [
    await storeConsentFlow(before, { categories: both }, requested),
    await storeConsentFlow(later, {}, requested),
  ];
  const order = { customerId: '1000002' };
  const operation = await storeOperation(before, order, {
    ...{ type: 'verify-sent', requestId: 'q', digest: null },
  });
  const next = (kind: string, flow = '') => ['psd2', '--profile', 'bank', kind, 'resume', flow];
  const [first, second] = flowsOfConsents;
  expect(await attention()).toEqual([
    {
      ...{ kind: 'operation', id: operation, state: 'created', since: MARCH, customerId: '1000002' },
      ...{ ...NO_MONEY, message: 'standingOrder', next: next('operation', operation) },
    },
    {
      ...{ kind: 'consent', id: first, state: 'requested', since: MARCH, customerId: '1000001', ...NO_MONEY },
      ...{ message: 'ACCOUNT_INFO, PAYMENTS', next: next('consent', first) },
    },
    {
      ...{ kind: 'consent', id: second, state: 'requested', since: MAY, customerId: '1000001', ...NO_MONEY },
      ...{ message: 'consent', next: next('consent', second) },
    },
  ]);
});

it('the oldest batch stands first, and one in two currencies has no total', async () => {
  const batches: string[] = [];
  for (const [at, lines] of [
    [MARCH, [batchLine()]],
    [MAY, [batchLine(), { ...batchLine(2), currency: 'PLN' }]],
  ] as const) {
    const store = await openCommand(folder, at).context.store();
    const { batch } = await store.batches.add({ added: ADDED, lines: [...lines], again: false });
    batches.push(batch);
  }
  const item = (batch: string | undefined, amount: string | null, message: string) => ({
    ...{ kind: 'batch', id: batch, amount, currency: amount && 'EUR', message },
    next: ['psd2', '--profile', 'bank', 'batch', 'approve', batch],
  });
  expect(await attention({ env: { PSD2_APPROVALS: '1' } })).toMatchObject([
    item(batches[0], '12.50', '1 payment, 0 of 1 approvals'),
    item(batches[1], null, '2 payments, 0 of 1 approvals'),
  ]);
});

it.each([
  ['the one that began first', [10, 20], 10],
  ['the one that began last', [30, 20], 20],
])('payments of a batch that need the same stand with the time of the oldest: %s', async (_, days, day) => {
  const store = await before.store();
  const { batch } = await store.batches.add({ added: ADDED, lines: [batchLine()], again: false });
  const sent = { type: 'verify-sent', requestId: 'q', digest: null } as const;
  for (const [index, since] of days.entries()) {
    // The id of a flow has the time when it began.
    const { context } = openCommand(folder, at(10 + index));
    const flow = await storeTransfer(context, { batch: { batch, line: index + 1 }, reference: `${index}` });
    const { flows } = await openCommand(folder, at(since)).context.store();
    await flows.resume('transfer', flow, (open) => open.record(sent));
  }
  expect(await attention()).toMatchObject([{ kind: 'batch', id: batch, payments: 2, since: at(day) }]);
});

it('a login that ends soon needs nobody yet, one that ends in this moment does', async () => {
  await storeLogin(before, '1000001', { refreshTokenExpiresAt: OCTOBER });
  await storeLogin(before, '1000002', { refreshTokenExpiresAt: '2026-10-01T00:00:00.001Z' });
  expect(await attention()).toMatchObject([{ id: '1000001', state: 'ended' }]);
});

it('a failure that a later read has made good is no reason, and who was never read is named so', async () => {
  for (const customer of ['1000001', '1000002', '1000003'])
    await storeLogin(before, customer, { refreshTokenExpiresAt: '2027-01-01T00:00:00.000Z' });
  const { results } = await before.store();
  const failed = (productId: string | null) => ({ productId, code: 'bank_failing', message: 'No answer' });
  await results.add([read('1000001', 10, failed('A1')), read('1000002', 11, failed(null))]);
  await results.add([read('1000001', 12), read('1000003', 13)]);
  expect(
    (await attention()).map(({ id, since, message }: Record<string, string>) => [id, since, message]),
  ).toEqual([
    ['1000002', at(11), 'never read: No answer'],
    ['1000001', at(12), 'not read since'],
    ['1000003', at(13), 'not read since'],
  ]);
});

it('a consent that its customer has withdrawn stands once for each customer, and not if another one is left', async () => {
  const { customers } = await before.store();
  const withdrawn = (customerId: string, state: 'revoked' | 'expired') =>
    storeConsentFlow(
      before,
      { customerId },
      { type: 'requested', resourceId: 'FLOW', outcomes: [] },
      {
        ...{ type: 'granted', bankStatus: 'valid', validUntil: null, frequencyPerDay: null },
        recurring: null,
      },
      { type: 'ended', state, bankStatus: null },
    );
  const flowOf = new Map<string, string>();
  for (const [customer, state] of [
    ['ada', 'revoked'],
    ['ada', 'expired'],
    ['bob', 'revoked'],
    ['eve', 'revoked'],
  ] as const)
    flowOf.set(customer, await withdrawn(customer, state));
  for (const customer of ['ada', 'bob', 'eve']) await customers.change(customer, (kept) => kept);
  await keepConsent(before, 'bob', 'co-1');
  const item = (customerId: string, state: string, message: string) => ({
    ...{ kind: 'consent', id: flowOf.get(customerId), state, since: MARCH, customerId },
    ...NO_MONEY,
    message,
    next: ['psd2', '--profile', 'bank', 'consent', 'request', '--customer', customerId],
  });
  expect(await attention()).toEqual([
    item('eve', 'revoked', 'the customer has withdrawn the consent'),
    item('ada', 'expired', 'the consent has ended'),
  ]);
});
