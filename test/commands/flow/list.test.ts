import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import {
  collect,
  type ListOptions,
  listedFlows,
  readDays,
  readOrderFilter,
  warnOfDamaged,
  whenEmpty,
} from '../../../src/commands/flow/list.ts';
import type { StepEvent } from '../../../src/domain/operation.ts';
import type { TransferEvent, TransferOrder } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { Flows } from '../../../src/store/ports/flows.ts';
import { ToyBank } from '../../bank/contract/toy.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { named } from '../../support/named.ts';
import { storeConsentFlow, storeOperation, storeTransfer } from '../access.ts';
import { BankHere, OWN_IBAN } from '../bank-here.ts';
import { openCommand, runIn, useFolder } from '../command.ts';
import { failureOf } from '../failure.ts';
import { payerAt } from '../payer-here.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const SENT = { requestId: 'q1', digest: null };
const AUTHORISED: StepEvent[] = [
  { type: 'verify-sent', ...SENT },
  { ...VERIFIED, resourceId: 'FLOW' },
  { type: 'accepted' },
  { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
];
const EXECUTED: StepEvent[] = [
  ...AUTHORISED,
  { type: 'execute-sent', ...SENT },
  { type: 'executed', cro: null },
];
const INSTANT = { instant: true, futureDated: false };

const folder = useFolder(temporary);
let context: Context;
beforeEach(() => {
  context = openCommand(folder, NOW).context;
});

/** Makes a transfer with these events. @returns its id */
const made = (events: TransferEvent[], order: Partial<TransferOrder> = {}) =>
  storeTransfer(context, order, ...events);

async function listed(attention: boolean, within = context): Promise<string[]> {
  return (await collect(listedFlows(within, 'transfer', { attention }))).map(({ flow }) => flow);
}

/** The context, with a store that behaves differently. */
async function withFlows(changed: (flows: Flows) => Partial<Flows>): Promise<Context> {
  const data = await context.store();
  const { flows } = data;
  const list: Flows['list'] = (kind, filter) => flows.list(kind, filter);
  const find: Flows['find'] = (kind, flow) => flows.find(kind, flow);
  const kept = { list, find, atWork: () => flows.atWork() };
  return { ...context, store: async () => ({ ...data, flows: { ...flows, ...kept, ...changed(flows) } }) };
}

interface Case {
  name: string;
  events: TransferEvent[];
  order?: Partial<TransferOrder>;
}

it.each(
  named<Case>([
    { name: 'is authorised, and execute was never sent', events: AUTHORISED },
    { name: 'is executing', events: [...AUTHORISED, { type: 'execute-sent', ...SENT }] },
    { name: 'is unknown', events: [...AUTHORISED, { type: 'execute-unanswered' }] },
    { name: 'is instant, and executed but not settled', events: EXECUTED, order: INSTANT },
    {
      name: 'has only a refusal of execute',
      events: [...AUTHORISED, { type: 'execute-refused', description: 'no' }],
    },
    { name: 'may have reached the bank', events: [{ type: 'verify-sent', ...SENT }] },
  ]),
)('a transfer that %s needs a person, unless another process works on it', async (_, { events, order }) => {
  expect(await listed(true)).toEqual([]);
  const flow = await made(events, order);
  expect(await listed(true)).toEqual([flow]);
  const busy = await withFlows(() => ({ atWork: async () => [{ flow, holder: 'another' }] }));
  expect(await listed(true, busy)).toEqual([]);
  expect(await listed(false, busy)).toEqual([flow]);
});

it.each(
  named<Case>([
    { name: 'is not instant and executed', events: EXECUTED, order: { instant: false } },
    {
      name: 'is instant, executed and for a later day',
      events: EXECUTED,
      order: { ...INSTANT, futureDated: true },
    },
    { name: 'never reached the bank', events: [] },
    { name: 'was cancelled', events: [...AUTHORISED, { type: 'cancelled' }] },
    {
      name: 'a person said was not executed',
      events: [
        ...AUTHORISED,
        { type: 'execute-refused', description: 'no' },
        { type: 'resolved', outcome: 'not-executed', by: 'ada@pisp', note: null },
      ],
    },
  ]),
)('a transfer that %s needs nobody', async (_, { events, order }) => {
  const flow = await made(events, order);
  expect(await listed(true)).toEqual([]);
  expect(await listed(false)).toEqual([flow]);
});

it.each([
  ['goes on', null, true],
  ['has failed', 'failed', false],
])('a payment for a later day needs a person while its cancellation %s', async (_, scaStatus, needs) => {
  const { flows } = await context.store();
  const begin = {
    transactionId: 't',
    commits: 'by the customer' as const,
    order: transferOrder({ instant: false }),
  };
  const flow = await flows.begin('transfer', begin, async (open) => {
    await open.record({ type: 'verify-sent', ...SENT });
    await open.record({ ...VERIFIED, resourceId: open.current.flow });
    await open.record({ type: 'ordered' });
    await open.record({ type: 'cancel-sca-started', id: 'c1', psuId: 'dora' });
    if (scaStatus !== null) await open.record({ type: 'cancel-noted', id: 'c1', scaStatus });
    return open.current.flow;
  });
  expect(await listed(true)).toEqual(needs ? [flow] : []);
});

it('a payment that ended well while psd2 read the list needs nobody', async () => {
  const flow = await made([...AUTHORISED, { type: 'execute-sent', ...SENT }], { instant: false });
  const ending = await withFlows((flows) => ({
    atWork: async () => {
      await flows.resume('transfer', flow, async (open) => open.record({ type: 'executed', cro: null }));
      return [];
    },
  }));
  expect(await listed(true)).toEqual([flow]);
  expect(await listed(true, ending)).toEqual([]);
});

it('--customer and PSD2_CUSTOMER list the flows of one customer', async () => {
  const first = await made(AUTHORISED, { customerId: '1' });
  const second = await made(AUTHORISED, { customerId: '12' });
  const as = (customer: string) => openCommand(folder, NOW, { globals: { customer } }).context;
  expect(await listed(false)).toEqual([second, first]);
  expect(await listed(false, as('1'))).toEqual([first]);
  expect(await listed(true, as('12'))).toEqual([second]);
  expect(await listed(false, as('2'))).toEqual([]);
  await expect(listed(false, as('../1'))).rejects.toMatchObject({ code: 'usage' });
});

it('--customer takes an id in the form of the interface', async () => {
  const flow = await made(AUTHORISED, { customerId: 'anna.b' });
  const globals = { customer: 'anna.b' };
  const find = async () => new ToyBank().interface;
  expect(await listed(false, openCommand(folder, NOW, { globals, find }).context)).toEqual([flow]);
  await expect(listed(false, openCommand(folder, NOW, { globals }).context)).rejects.toMatchObject({
    code: 'usage',
  });
});

describe('a store that finds more than it was asked for', () => {
  it('shows nobody the transfers of another customer', async () => {
    const first = await made(AUTHORISED, { customerId: '1' });
    await made(AUTHORISED, { customerId: '12' });
    context = openCommand(folder, NOW, { globals: { customer: '1' } }).context;
    const all = await withFlows((flows) => ({ list: (kind) => flows.list(kind) }));
    expect([await listed(false, all), await listed(true, all)]).toEqual([[first], [first]]);
  });

  it('is asked again only about those that a person must look at, and who works only if there is one', async () => {
    await made(EXECUTED, { instant: false });
    const asked: string[] = [];
    const all = await withFlows((flows) => ({
      list: (kind) => flows.list(kind),
      find: async (kind, flow) => {
        asked.push(flow);
        return flows.find(kind, flow);
      },
      atWork: async () => {
        asked.push('who works');
        return flows.atWork();
      },
    }));
    expect([await listed(true, all), asked]).toEqual([[], []]);
    const open = await made(AUTHORISED);
    expect([await listed(true, all), asked]).toEqual([[open], ['who works', open]]);
  });
});

it('operations and consents that a person must look at are found too', async () => {
  const operation = await storeOperation(context, {}, ...EXECUTED.slice(0, -1));
  const requested = { resourceId: 'r2', outcomes: [] };
  const consent = await storeConsentFlow(context, {}, { type: 'requested', ...requested });
  const found = async (kind: 'operation' | 'consent') =>
    (await collect(listedFlows(context, kind, { attention: true }))).map(({ flow }) => flow);
  expect([await found('operation'), await found('consent')]).toEqual([[operation], [consent]]);
});

it.each([
  ['Line 2 is damaged', { hint: 'Restore it.' }, 'Line 2 is damaged. Restore it.'],
  ['Line 2 is damaged.', { next: [['log', 'show']] }, 'Line 2 is damaged. Run: psd2 --profile bank log show'],
  ['Line \u001b2 is damaged', {}, 'Line \ufffd2 is damaged.'],
])('psd2 warns of a damaged flow: %j, %j', (message, advice, words) => {
  const damage = new Psd2Error('config', message, advice);
  const command = openCommand(folder, NOW, { changes: () => ({ repeated: { profile: 'bank' } }) });
  warnOfDamaged(command.context)(damage, 'tr-1');
  expect(command.said()).toBe(`psd2 cannot show tr-1. ${words}\n`);
});

it.each([
  [{}, undefined, undefined],
  [{ since: '2026-11-20' }, '2026-11-19T23:00:00Z', undefined],
  [{ until: '2026-11-20' }, undefined, '2026-11-20T23:00:00Z'],
  [{ since: '2026-11-20', until: '2026-11-20' }, '2026-11-19T23:00:00Z', '2026-11-20T23:00:00Z'],
])('the days %j begin at %s and end at %s', (days, since, until) => {
  expect(readDays(days)).toEqual({ since: since && new Date(since), until: until && new Date(until) });
});

it.each([
  [{ since: 'x', until: '2026-11-20' }, '--since'],
  [{ since: '2026-11-20', until: 'x' }, '--until'],
])('of %j, the error names %s', async (days, option) => {
  expect(await failureOf((async () => readDays(days))())).toEqual({
    ...{ code: 'invalid_date', exitCode: 2, message: `${option} "x" is not a date in the form YYYY-MM-DD` },
    hint: `For example ${option} 2026-01-31.`,
  });
});

it('a list of operations takes days, and says whether there is none or none matches', async () => {
  const said = async (...words: string[]) => {
    const command = openCommand(folder, NOW, { format: 'table' });
    await runIn(command.context, 'operation', 'list', ...words);
    return command.printed() + command.said();
  };
  const none = await said();
  await storeOperation(context, { operation: 'order' });
  expect([
    none,
    await said('--attention'),
    await said('--since', '2026-11-22'),
    await said('--until', '2026-11-20'),
    (await said('--since', '2026-11-21', '--until', '2026-11-21')).split('\t')[2],
  ]).toEqual([
    'This profile has no operations.\n',
    ...Array.from({ length: 3 }, () => 'No operation matches.\n'),
    'order',
  ]);
});

it.each<[string, boolean, Partial<ListOptions>, string | undefined, boolean?]>([
  ['of all', false, {}, undefined],
  ['of all, without those that it may leave out', false, { accepted: true, states: [] }, undefined],
  ['for attention', true, { attention: true }, undefined],
  ['from a day on', true, { since: new Date(NOW) }, undefined],
  ['until a day', true, { until: new Date(NOW) }, undefined],
  ['with an order', true, { order: readOrderFilter({ payee: 'Ada' }) }, undefined],
  ['of a customer', true, {}, '1'],
  ['that something else filters', true, {}, undefined, true],
])('an empty list %s says that none matches: %s', (_, isNarrow, options, customer, isFiltered) => {
  const { globals } = openCommand(folder, NOW, { globals: { customer } }).context;
  expect(whenEmpty({ globals }, 'transfer', { attention: false, ...options }, isFiltered)).toBe(
    isNarrow ? 'No transfer matches.' : 'This profile has no transfers.',
  );
});

// The lists at a terminal: which columns they have, and what a narrow terminal cuts or leaves out.

const CUSTOMER = 'customer-of-the-company';

/** An operator with a customer who has a long name, at a bank whose accounts are called by their IBANs. */
async function payerWithLongNames(bank: BankHere) {
  Object.assign(bank.interface, {
    readCustomerId: (text: string) => text,
    readAccountId: (text: string) => text,
  });
  bank.customersAgree = false;
  const payer = await payerAt(bank, temporary);
  await payer.logIn(CUSTOMER);
  return payer;
}

/** The list at a terminal of this width. Its times are replaced, because they are those of the machine. */
async function drawn(payer: Awaited<ReturnType<typeof payerAt>>, noun: string, stdout: number) {
  const { printed, said } = await payer.run([noun, 'list'], { format: 'table', stdout });
  expect(said).toBe('');
  return printed.replaceAll(/(TODAY|\d{4}-\d\d-\d\d) \d\d:\d\d/g, 'THE TIME');
}
const titlesOf = (list: string) => list.split('\n')[0]?.replaceAll(/ {2,}/g, ' ');

it('a list of transfers cuts the payee and the reference only, and leaves out what matters less', async () => {
  const payer = await payerWithLongNames(new BankHere({ commits: 'by the customer' }));
  const order = ['--from', OWN_IBAN, '--to', 'IT60X0542811101000000123456', '--amount', '12.50'];
  const words = ['transfer', 'create', ...order, '--name', 'Mario Rossi and Daughters'];
  const globals = { scaTimeout: '1', customer: CUSTOMER };
  await payer.run([...words, '--reference', 'INVOICE-2026-0001'], { globals });
  const [whole = '', ...others] = await Promise.all(
    [170, 220, 162, 140, 112, 81, 60].map((width) => drawn(payer, 'transfer', width)),
  );
  expect([whole, ...others.map(titlesOf)]).toMatchInlineSnapshot(`
    ["FLOW               STATE           AMOUNT  TO              IBAN                         CREATED           FROM                    REFERENCE        CUSTOMER
    tr-1  authorizing  12.50 EUR  Mario Rossi     IT60X0542811101000000123456  THE TIME  DE02100100109307118603  INVOICE-2026-00  customer-of-the-company
                                               and Daughters                                                                          01
    ",
     "FLOW STATE AMOUNT TO IBAN CREATED FROM REFERENCE CUSTOMER",
     "FLOW STATE AMOUNT TO IBAN CREATED REFERENCE CUSTOMER",
     "FLOW STATE AMOUNT TO CREATED REFERENCE CUSTOMER",
     "FLOW STATE AMOUNT TO CREATED REFERENCE CUSTOMER", "FLOW STATE AMOUNT TO REFERENCE",
     "FLOW STATE AMOUNT TO"]
  `);
});

it('a list of operations cuts the name of the operation only, and leaves out what matters less', async () => {
  const payer = await payerWithLongNames(new BankHere());
  const words = ['operation', 'run', 'standingOrderOfTheWholeCompany', '--account', OWN_IBAN];
  await payer.run(words, { globals: { scaTimeout: '1', customer: CUSTOMER } });
  const [whole = '', ...others] = await Promise.all(
    [65, 150, 98, 70, 50].map((width) => drawn(payer, 'operation', width)),
  );
  expect([whole, ...others.map(titlesOf)]).toMatchInlineSnapshot(`
    ["FLOW               STATE        NAME       ACCOUNT
    op-1  authorizing  standingO  DE02100100109307118603
                                    rderOfThe
                                    WholeComp
                                    any
    ",
     "FLOW STATE NAME ACCOUNT CREATED CUSTOMER", "FLOW STATE NAME ACCOUNT CUSTOMER",
     "FLOW STATE NAME ACCOUNT", "FLOW op-1"]
  `);
});
