import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { FlowsAtRest } from '../../../src/store/files/flows/at-rest.ts';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import { countStates } from '../../../src/store/files/flows/list.ts';
import { FlowFolder } from '../../../src/store/files/flows/lookup.ts';
import type { Filter } from '../../../src/store/ports/flows.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { allOf, begun } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
const SENT = { requestId: 'q1', digest: 'SHA-256=x' };
const PAID: TransferEvent[] = [
  { ...VERIFIED, resourceId: 'r1' },
  { type: 'execute-sent', ...SENT },
  { type: 'executed', cro: null },
];
const REFUSED: TransferEvent = { type: 'execute-refused', description: 'no' };
let folder: string;
let path: string;
let resources = 0;
beforeEach(() => {
  folder = newConfigFolder(temporary).flows('p');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  path = join(folder, 'at-rest');
});

/** The flows, as a new process sees them. */
const flowsOf = () => new FileFlows(folder, { now: () => new Date(), random: Math.random });
const journalOf = (flow: string) => join(folder, `${flow}.ndjson`);
const listed = async (filter: Filter) => (await allOf(flowsOf(), 'transfer', filter)).map(({ flow }) => flow);

async function made(
  events: readonly TransferEvent[],
  instant = false,
  reference: string | null = null,
): Promise<string> {
  const transfer = await begun(flowsOf(), 'transfer', {
    transactionId: 't',
    commits: 'on execute',
    order: transferOrder({ instant, name: 'Ada Lovelace', reference }),
  });
  resources += 1;
  for (const event of events)
    await transfer.record(event.type === 'verified' ? { ...event, resourceId: `r${resources}` } : event);
  return transfer.current.flow;
}

/** Makes the journal unreadable without a change of its size. */
function spoil(flow: string): void {
  writeFileSync(journalOf(flow), 'x'.repeat(statSync(journalOf(flow)).size));
}

it('flows at rest are counted without a look into their journals, and the others by their journals', async () => {
  const counted = () =>
    Object.fromEntries(countStates(new FlowFolder(folder), new FlowsAtRest(folder), 'transfer'));
  const paid = await made(PAID);
  await made([{ type: 'cancelled' }]);
  await made([{ ...VERIFIED, resourceId: 'r1' }]);
  expect(counted()).toEqual({ executed: 1, cancelled: 1, verified: 1 });
  spoil(paid);
  expect(counted()).toEqual({ executed: 1, cancelled: 1, verified: 1 });
  appendFileSync(journalOf(paid), 'x');
  expect(counted()).toEqual({ damaged: 1, cancelled: 1, verified: 1 });
});

describe('a flow at rest', () => {
  it.each<[string, TransferEvent[], boolean]>([
    ['executed', PAID, false],
    ['cancelled', [{ type: 'cancelled' }], false],
    ['settled', [...PAID, { type: 'settlement', status: 'OK', description: null }], true],
  ])('is not read by lists that leave out %s transfers', async (state, events, instant) => {
    const flow = await made(events, instant);
    expect([...new FlowsAtRest(folder).read()]).toMatchObject([[flow, { state }]]);
    spoil(flow);
    expect(await listed({ attention: true })).toEqual([]);
    expect(await listed({ states: ['unknown'] })).toEqual([]);
    expect(await listed({ customer: '7654321' })).toEqual([]);
    expect(await listed({ order: { payee: 'Grace' } })).toEqual([]);
    await expect(listed({ order: { payee: 'ada  love' } })).rejects.toMatchObject({ code: 'config' });
    await expect(listed({})).rejects.toMatchObject({ code: 'config' });
  });

  it.each<[string, Filter]>([
    ['a name', { order: { payee: 'lovelace' } }],
    ['an IBAN', { order: { payee: transferOrder().to } }],
    ['the beginning of an IBAN, with blanks', { order: { payee: `${transferOrder().to.slice(0, 4)} ` } }],
    ['an amount', { order: { amount: transferOrder().amount } }],
    ['a reference', { order: { reference: 'inv  7' } }],
    ['a customer', { customer: transferOrder().customerId }],
    ['a state', { states: ['executed'] }],
    ['all of it', { customer: transferOrder().customerId, order: { payee: 'ada', reference: 'INV 7' } }],
  ])('is found by %s, before it is written down and after', async (_, filter) => {
    const flow = await made(PAID, false, 'INV 7');
    expect(new FlowsAtRest(folder).read().size).toBe(1);
    expect(await listed(filter)).toEqual([flow]);
    rmSync(path);
    for (let time = 0; time < 2; time += 1) expect(await listed(filter)).toEqual([flow]);
    expect(new FlowsAtRest(folder).read().size).toBe(1);
  });

  it.each<[string, TransferEvent[], boolean]>([
    ['waits for the customer', PAID.slice(0, 1), false],
    ['may be paid', PAID.slice(0, 2), false],
    ['is executed and not settled', PAID, true],
    ['was refused, and nothing else is known', [...PAID.slice(0, 2), REFUSED], false],
  ])('is not one that %s', async (_, events, instant) => {
    const flow = await made(events, instant);
    for (let time = 0; time < 2; time += 1) expect(await listed({ attention: true })).toEqual([flow]);
    expect(new FlowsAtRest(folder).read().size).toBe(0);
  });

  it('is read again if its journal has grown, or is an older one', async () => {
    const grown = await made(PAID);
    appendFileSync(journalOf(grown), 'x\n');
    await expect(listed({ attention: true })).rejects.toMatchObject({ code: 'config' });
    const lines = readFileSync(journalOf(grown), 'utf8').split('\n');
    writeFileSync(journalOf(grown), `${lines.slice(0, 3).join('\n')}\n`);
    expect(await listed({ attention: true })).toEqual([grown]);
  });

  it.each([
    ['removed', () => rmSync(path)],
    ['cut short', () => writeFileSync(path, readFileSync(path).subarray(0, -5))],
    ['damaged', () => writeFileSync(path, readFileSync(path, 'utf8').replace('executed', 'rejected'))],
    ['written by nobody', () => writeFileSync(path, 'tr-1 1 executed {}\n')],
  ])('is written down again if the file was %s', async (_, damage) => {
    const flow = await made(PAID);
    damage();
    expect(new FlowsAtRest(folder).read().size).toBe(0);
    expect(await listed({ attention: true })).toEqual([flow]);
    expect(new FlowsAtRest(folder).read().get(flow)).toMatchObject({ state: 'executed' });
    spoil(flow);
    expect(await listed({ attention: true })).toEqual([]);
  });

  it('is written down by a list that ends early', async () => {
    const flows = [await made(PAID), await made(PAID.slice(0, 1)), await made(PAID)];
    rmSync(path);
    for await (const each of flowsOf().list('transfer', { attention: true })) {
      expect(each.flow).toBe(flows[2]);
      break;
    }
    expect([...new FlowsAtRest(folder).read().keys()]).toEqual([flows[2]]);
  });

  it('goes when psd2 forgets it', async () => {
    const [flow, other] = [await made(PAID), await made(PAID)];
    const atRest = new FlowsAtRest(folder);
    atRest.forget(flow);
    expect([...atRest.read().keys()]).toEqual([other]);
    expect(readFileSync(path, 'utf8')).not.toContain(flow);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('counts only in a file that nobody else can write', async () => {
    await made(PAID);
    chmodSync(path, 0o622);
    await expect(listed({ attention: true })).rejects.toMatchObject({ code: 'config' });
  });

  it('costs nothing but time if it cannot be written down', async () => {
    mkdirSync(path);
    const flow = await made(PAID);
    expect(await listed({ states: ['executed'] })).toEqual([flow]);
  });
});
