import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readPlan } from '../../../src/commands/sync/plan.ts';
import { addDays, bankDay, type IsoDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { granting } from '../../store/whole-store.ts';
import { storeConsentFlow } from '../access.ts';
import { BankHere } from '../bank-here.ts';
import { runIn } from '../command.ts';
import { useOperatorHere } from '../operator.ts';
import { ANNA, type Json, payerAt, TODAY } from '../payer-here.ts';

const operator = useOperatorHere();
const temporary = temporaryFolder();
const out = join(temporary, 'banking');
/** What the tests read; the first report is compared whole. */
const REPORT = z.looseObject({
  customers: z.array(
    z.looseObject({
      ...{ customerId: z.string(), status: z.string(), newTransactions: z.number() },
      checks: z.array(z.looseObject({ productId: z.string() })),
    }),
  ),
  totals: z.looseObject({ newTransactions: z.number(), pending: z.number(), calls: z.number() }),
});

let anna: string;
let today: IsoDate;
beforeAll(async () => {
  anna = await operator.logIn('anna');
  today = bankDay(operator.bank.clock.now());
});

const CHECK = { balanced: null, difference: null, complete: true, certainFrom: null, certainThrough: null };
const NONE = { late: 0, coming: 0, cancelled: 0, replaced: 0, vanished: 0, changed: 0, takenFor: null };
const sync = (...words: string[]) => operator.json(REPORT, ['sync', '--out', out, ...words]);

describe('psd2 sync', () => {
  it('brings what is new, and the next time nothing again', async () => {
    const metrics = join(temporary, 'psd2.prom');
    const first = await sync('--metrics-file', metrics);
    const [customer] = first.customers;
    const { newTransactions, pending, calls } = first.totals;
    const numbers = { newTransactions, pending, calls };
    expect(first).toEqual({
      ...{ out, since: addDays(today, -89), nextReadsAt: null },
      customers: [
        {
          ...{ customerId: anna, status: 'synced', accounts: 3, skipped: [], errors: [] },
          ...{ newTransactions, pending },
          checks: customer?.checks.map(({ productId }) => ({ productId, ...CHECK, ...NONE })),
        },
      ],
      totals: { ...numbers, customers: 1, synced: 1, accounts: 3 },
    });
    expect(customer?.newTransactions).toBeGreaterThan(10);
    expect(readdirSync(join(out, anna)).toSorted()).toContain('current.ndjson');
    expect(readFileSync(metrics, 'utf8')).toMatch(
      /^psd2_sync_customers_done_total\{.*status="synced".*\} 1$/m,
    );
    const second = await sync('--since', addDays(today, -30));
    expect(second.customers[0]?.checks).toMatchObject(Array(3).fill({ balanced: true, difference: '0.00' }));
    expect(second).toMatchObject({ since: addDays(today, -30), totals: { synced: 1, newTransactions: 0 } });
  });

  it('of all customers notes its progress, which psd2 sync status shows', async () => {
    const bruno = await operator.logIn('bruno');
    const { customers, totals } = await sync('--all-customers', '--concurrency', '1', '--cores', '1');
    expect(customers.map(({ customerId, status }) => [customerId, status])).toEqual(
      [anna, bruno].toSorted().map((customerId) => [customerId, 'synced']),
    );
    expect(totals).toMatchObject({ customers: 2, synced: 2 });
    expect(await operator.json(z.looseObject({}), ['sync', 'status'])).toMatchObject({
      ...{ due: 0, atWork: 0, failures: [], needSca: [], callsPerSecond: null, customersPerSecond: null },
      ...{ done: { synced: 2, partly: 0, waiting: 0, failed: 0 }, doneAt: null },
    });
    const { printed } = await operator.run(['sync', 'status'], { format: 'table' });
    expect(printed()).toMatch(
      /\nEnded\t\d{4}-[\s\S]+\nSynced\t2\nSynced in part\t0\nWaiting for their next read\t0\nFailed\t0\n$/,
    );
  });

  it('skips what was read often enough today, and is an error if nothing is left', async () => {
    await sync();
    const words = ['sync', '--out', out, '--unattended-reads', '1'];
    await expect(operator.run(words, { globals: { customer: anna } })).rejects.toThrow(
      new Psd2Error('reads_used_up', "Nothing was read: today's reads without the customer are used up", {
        hint: 'Run the same psd2 sync again tomorrow. If the customer is present, add --psu-ip <address>.',
      }),
    );
    // With the customer, psd2 does not count.
    const present = { globals: { customer: anna, psuIp: '192.0.2.1' } };
    const read = await operator.json(REPORT, words, present);
    expect(read).toMatchObject({ totals: { synced: 1 }, nextReadsAt: null });
  });
});

it('a first day before the bank’s history is that of the history, with a warning', async () => {
  const bank = new BankHere();
  bank.earliestDay = addDays(TODAY, -30);
  const payer = await payerAt(bank, temporary);
  const since = async (days: number) => {
    const day = addDays(TODAY, -days);
    const { data, said } = await payer.run(['sync', '--out', join(temporary, 'short'), '--since', day]);
    return [data.since, said.match(/The bank shows.*/)?.[0]];
  };
  const { earliestDay: first } = bank;
  expect([await since(31), await since(30), await since(0)]).toEqual([
    [first, `The bank shows no transactions before ${first}, so psd2 reads from that day on.`],
    [first, undefined],
    ['TODAY', undefined],
  ]);
});

/** An operator who names the customers, who have granted consents. */
async function namingCustomers() {
  const bank = new BankHere();
  Object.assign(bank.interface, { customers: 'named by the operator' });
  const payer = await payerAt(bank, temporary);
  const { context } = payer.open();
  const { customers, flows, tokens } = await context.store();
  const grant = async (customerId: string) => {
    const flow = await storeConsentFlow(
      context,
      { customerId },
      { type: 'requested', resourceId: 'FLOW', outcomes: [] },
      { type: 'granted', bankStatus: 'valid', validUntil: null, frequencyPerDay: 5, recurring: true },
    );
    await customers.change(customerId, granting(flow));
    return flow;
  };
  const [flow] = [await grant(ANNA), await grant('1000001')];
  const nexts: string[][][] = [];
  const round = async (...words: string[]) => {
    const ran = await payer.run(['sync', '--out', newConfigFolder(temporary).root, ...words]);
    const of: Json[] = Array.isArray(ran.data.customers) ? ran.data.customers : [];
    nexts.push(ran.failure?.next ?? []);
    return [ran.failure?.code, ...of.map(({ customerId, status }) => `${customerId} ${status}`)];
  };
  return { bank, payer, customers, flows, tokens, flow, round, nexts };
}

it('a round reports a customer whose consent was withdrawn once: the one that meets it, and each later one', async () => {
  const { bank, customers, flows, tokens, flow, round, nexts } = await namingCustomers();
  bank.meanwhile = async (call) => {
    if (call !== `accounts ${ANNA}`) return;
    bank.meets('accounts', new Psd2Error('not_logged_in', 'The consent is revoked', { isBanks: true }));
    await flows.resume('consent', flow, (open) =>
      open.record({ type: 'ended', state: 'revoked', bankStatus: 'revoked' }),
    );
    await customers.change(ANNA, (before) => ({ ...before, consents: [] }));
    await tokens.erase(ANNA);
  };
  const reported = ['not_logged_in', '1000001 synced', `${ANNA} failed`];
  const all = ['--all-customers', '--concurrency', '1'];
  expect([await round(...all), await round(...all)]).toEqual([reported, reported]);
  expect(nexts.at(-1)).toEqual([['consent', 'request', '--customer', ANNA]]);
});

it('where the operator names the customers, nobody is read before one has given a consent', async () => {
  const bank = new BankHere();
  Object.assign(bank.interface, { customers: 'named by the operator' });
  const { open } = await payerAt(bank, temporary);
  const { context } = open();
  const { tokens } = await context.store();
  await tokens.erase(ANNA);
  await expect(
    runIn(context, 'sync', '--out', join(temporary, 'none'), '--all-customers'),
  ).rejects.toMatchObject({
    ...{ code: 'not_logged_in', message: 'No customer has given a consent with the profile env' },
    next: [['--profile', 'env', 'consent', 'request']],
  });
});

it.each<[object, object | undefined]>([
  [{}, undefined],
  [{ metricsPort: '0' }, { host: '127.0.0.1', port: 0 }],
  [
    { metricsPort: '65535', metricsHost: '0.0.0.0' },
    { host: '0.0.0.0', port: 65535 },
  ],
])('with %j the metrics are served at %j', async (options, metricsAt) => {
  const { context } = (await payerAt(new BankHere(), temporary)).open();
  const plan = await readPlan(context, { out, concurrency: '8', ...options }, true);
  expect(plan).toMatchObject({ metricsAt, concurrency: 8, allCustomers: false, every: undefined });
});

it('the consent says how often psd2 reads without the customer, if the operator does not', async () => {
  const { payer } = await namingCustomers();
  const plan = (more: object) => readPlan(payer.open().context, { out, concurrency: '8', ...more }, true);
  expect(await plan({})).toMatchObject({ unattendedReads: 4, isByConsent: true });
  expect(await plan({ unattendedReads: '9' })).toMatchObject({ unattendedReads: 9, isByConsent: false });
});

it.each([
  ['sandbox', undefined, 9999],
  ['sandbox', '6h', 4],
  ['production', undefined, 4],
  ['production', '6h', 4],
  [undefined, undefined, 4],
] as const)(
  'in the environment %s, every %s, psd2 reads %i times a day',
  async (environment, every, reads) => {
    const { context } = (await payerAt(new BankHere(), temporary)).open();
    const { name, settings } = context.profile();
    const { environment: _, ...others } = settings;
    const profile = { name, settings: { ...others, ...(environment && { environment }) } };
    const options = { out, concurrency: '8', ...(every && { every }) };
    const plan = await readPlan({ ...context, profile: () => profile }, options, true);
    expect(plan).toMatchObject({ unattendedReads: reads, isByConsent: false });
  },
);

it.each([
  [[], 'Nobody is logged in with the profile "env"'],
  [['--all-customers'], 'Nobody is logged in with the profile env'],
])('psd2 sync %j without a login is refused', async (words, message) => {
  const { folder } = operator;
  operator.folder = newConfigFolder(temporary);
  const work = operator.run(['sync', '--out', join(temporary, 'none'), ...words]);
  operator.folder = folder;
  const next = [['--profile', 'env', 'auth', 'login']];
  await expect(work).rejects.toMatchObject({ code: 'not_logged_in', message, next });
});
