import fs, { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FlowCopies } from '../../../src/store/files/copy/flows.ts';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import { FlowIndex } from '../../../src/store/files/flows/lookup.ts';
import type { FlowRecord } from '../../../src/store/ports/copy.ts';
import type { EventOf } from '../../../src/store/ports/flows.ts';
import { consentCategories, transferOrder, VERIFIED } from '../../domain/orders.ts';
import { thrownBy } from '../../support/thrown.ts';
import { begun, opened } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace } from '../waiting.ts';

const temporary = temporaryFolder();
const SENT = { requestId: 'q', digest: null };
/** A payment that was verified twice and executed. */
const PAID: EventOf<'transfer'>[] = [
  { type: 'verify-sent', ...SENT },
  VERIFIED,
  { type: 'verify-again' },
  { type: 'verify-sent', ...SENT },
  { ...VERIFIED, resourceId: 'r2' },
  { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
  { type: 'execute-sent', ...SENT },
  { type: 'executed', cro: null },
];
let from: string;
let to: string;
beforeEach(() => {
  [from, to] = [newConfigFolder(temporary).flows('p'), newConfigFolder(temporary).flows('p')];
});

const flowsOf = (folder: string) => new FileFlows(folder, { now: () => new Date(), random: Math.random });
const pathOf = (folder: string, flow: string) => join(folder, `${flow}.ndjson`);
/** A transfer with these events. */
async function transfer(reference: string | null, events: EventOf<'transfer'>[] = []): Promise<string> {
  const begin = { transactionId: 't', commits: 'on execute' as const, order: transferOrder({ reference }) };
  const open = await begun(flowsOf(from), 'transfer', begin);
  for (const event of events) await open.record(event);
  return open.current.flow;
}
function recordOf(flow: string): FlowRecord {
  const record = new FlowCopies(from).read(flow);
  if (!record) throw new TypeError(`${flow} is not there`);
  return record;
}
const copied = (flow: string) => new FlowCopies(to).add(recordOf(flow));
/** What the index of a folder knows of a flow. */
const indexed = (folder: string, flow: string) => new FlowIndex(folder).read().get(flow);

describe('flows that are read for a copy', () => {
  it('stop the copy if a journal is missing whose reference is taken: the copy would free it', async () => {
    const flow = await transfer('INV-1');
    rmSync(pathOf(from, flow));
    const [claim = ''] = readdirSync(join(from, 'references'));
    const known = join(from, 'references', claim);
    expect(thrownBy(() => new FlowCopies(from).all())).toMatchObject({
      code: 'config',
      message: `The journal ${pathOf(from, flow)} is missing, and ${known} names its flow`,
      hint: `Its flow may have been executed, and a copy would forget it. Restore the journal from a backup. If it is lost for good, look at the account's statement, move ${known} away, then run the same psd2 store copy again.`,
    });
    rmSync(known);
    // Without a resource, the flow never reached the bank.
    expect(new FlowCopies(from).all()).toEqual([]);
  });

  it('stop the copy if a journal is missing whose flow had a resource of the bank', async () => {
    const flow = await transfer(null, PAID);
    rmSync(pathOf(from, flow));
    expect(() => new FlowCopies(from).all()).toThrow(
      `The journal ${pathOf(from, flow)} is missing, and ${join(from, 'index')} names its flow`,
    );
  });

  it.each([1, 3, 7])(
    'stop the copy if a journal with its first %i events does not say that execute was sent',
    async (events) => {
      const flow = await transfer(null, PAID);
      expect(recordOf(flow).events).toHaveLength(PAID.length + 1);
      const lines = readFileSync(pathOf(from, flow), 'utf8').split('\n').slice(0, events);
      writeFileSync(pathOf(from, flow), `${lines.join('\n')}\n`);
      expect(() => new FlowCopies(from).read(flow)).toThrow(
        `The journal ${pathOf(from, flow)} is older than what psd2 knows about ${flow}`,
      );
    },
  );

  it('are copied in the middle of execute, and while nothing was sent', async () => {
    for (const events of [PAID.slice(0, 5), PAID.slice(0, 7)]) {
      const flow = await transfer(null, [
        ...events.map((event) =>
          'resourceId' in event ? { ...event, resourceId: `${event.resourceId}-${events.length}` } : event,
        ),
      ]);
      expect(recordOf(flow).events).toHaveLength(events.length + 1);
    }
    for (const none of ['tr-0mi7x7x8x00000', `../p/${await transfer(null)}`])
      expect(new FlowCopies(from).read(none)).toBeUndefined();
  });
});

describe('a flow that is added by a copy', () => {
  it('gets the events that it lacks, with their times, and keeps the ones that it has', async () => {
    const flow = await transfer('Rent');
    const first = recordOf(flow);
    await copied(flow);
    const before = readFileSync(pathOf(to, flow), 'utf8');
    const open = await opened(flowsOf(from), 'transfer', flow);
    await open.record({ type: 'verify-sent', ...SENT });
    await open.record({ type: 'cancelled' });
    await copied(flow);
    const after = readFileSync(pathOf(to, flow), 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(new FlowCopies(to).read(flow)).toEqual(recordOf(flow));
    const lines = after
      .trimEnd()
      .split('\n')
      .map((line): { n: number; by: string } => JSON.parse(line));
    expect(lines.map(({ n, by }) => [n, by])).toEqual([1, 2, 3].map((n) => [n, 'copy']));
    await new FlowCopies(to).add(first);
    expect(readFileSync(pathOf(to, flow), 'utf8')).toBe(after);
    expect(fs.statSync(pathOf(to, flow)).mode & 0o777).toBe(0o600);
  });

  it('takes its reference if its holder failed, not if it is gone, and unless it has failed itself', async () => {
    const cancelled = { type: 'cancelled' } as const;
    const references = join(to, 'references');
    const holders = () =>
      readdirSync(references)
        .sort()
        .map((name) => readFileSync(join(references, name), 'utf8'));
    for (const flow of [await transfer('Rent', [cancelled]), await transfer('')]) await copied(flow);
    expect(existsSync(references)).toBe(false);
    const first = await transfer('Rent');
    await copied(first);
    await (await opened(flowsOf(from), 'transfer', first)).record(cancelled);
    const second = await transfer('Rent');
    // The first one is still alive here.
    await copied(second);
    expect(holders()).toEqual([first]);
    await copied(first);
    await copied(second);
    expect(holders()).toEqual([first, second]);
    rmSync(pathOf(to, second));
    await (await opened(flowsOf(from), 'transfer', second)).record(cancelled);
    await copied(await transfer('Rent'));
    expect(holders()).toEqual([first, second]);
  });

  it.each([
    ['never before', PAID.length],
    ['before execute was sent', 6],
    ['when it was verified', 2],
  ])(
    'is in the index with its reference, every resource, and that execute was sent: copied %s',
    async (_when, count) => {
      const flow = await transfer('INV-1', PAID.slice(0, count));
      await copied(flow);
      const open = await opened(flowsOf(from), 'transfer', flow);
      for (const event of PAID.slice(count)) await open.record(event);
      await copied(flow);
      const known = { reference: 'INV-1', resourceIds: new Set(['r1', 'r2']), sent: 'r2' };
      expect(indexed(to, flow)).toEqual(known);
      // So an older journal is noticed in the copy too.
      const lines = readFileSync(pathOf(to, flow), 'utf8').split('\n').slice(0, 7);
      writeFileSync(pathOf(to, flow), `${lines.join('\n')}\n`);
      expect((await opened(flowsOf(to), 'transfer', flow)).current.state).toBe('unknown');
    },
  );

  it('that is copied again without a change adds nothing to the index', async () => {
    const flow = await transfer('INV-1', PAID.slice(0, 2));
    await copied(flow);
    const content = readFileSync(join(to, 'index'), 'utf8');
    await copied(flow);
    expect(readFileSync(join(to, 'index'), 'utf8')).toBe(content);
  });

  it('of another kind has no reference in the index', async () => {
    const open = await begun(flowsOf(from), 'consent', {
      transactionId: 't',
      customerId: '42',
      categories: consentCategories(),
    });
    await open.record({ type: 'requested', resourceId: 'c1', outcomes: [] });
    await copied(open.current.flow);
    expect(indexed(to, open.current.flow)).toEqual({ resourceIds: new Set(['c1']), sent: null });
  });

  it('is under way since its last event', async () => {
    const flow = await transfer(null);
    const at = '2020-01-01T00:00:00.000Z';
    const { events } = recordOf(flow);
    await new FlowCopies(to).add({
      kind: 'flow',
      flow,
      underWay: true,
      events: events.map(({ event }) => ({ at, event })),
    });
    expect(existsSync(join(to, 'open', flow))).toBe(true);
    expect(fs.statSync(join(to, 'open', flow)).mtimeMs).toBeLessThan(Date.now() - 20_000);
  });
});

describe('a journal that a copy cannot create', () => {
  const isFull = (path: string) => ({
    code: 'config',
    message: `The journal ${path} cannot be written: the disk is full`,
    hint: 'Check the free space, and who owns the folder. Then run the same psd2 store copy again.',
  });

  it('is created once more if a copy that was killed has left half of it', async () => {
    const flow = await transfer(null);
    mkdirSync(to, { recursive: true, mode: 0o700 });
    writeFileSync(`${pathOf(to, flow)}.new`, '{"at":');
    await copied(flow);
    expect(new FlowCopies(to).read(flow)).toEqual(recordOf(flow));
    expect(existsSync(`${pathOf(to, flow)}.new`)).toBe(false);
  });

  it('leaves nothing behind', async () => {
    const flow = await transfer(null);
    once('linkSync', failing('ENOSPC'));
    await expect(copied(flow)).rejects.toMatchObject(isFull(pathOf(to, flow)));
    expect(readdirSync(to)).toEqual([]);
  });

  it('is reported if what a killed copy left cannot be removed', async () => {
    const flow = await transfer(null);
    const beginning = `${pathOf(to, flow)}.new`;
    mkdirSync(to, { recursive: true, mode: 0o700 });
    const { rmSync: remove } = fs;
    let times = 0;
    replace(fs, 'rmSync', (path: never, options: never) => {
      if (path === beginning && times++ === 0) return failing('ENOSPC')();
      return remove(path, options);
    });
    await expect(copied(flow)).rejects.toMatchObject(isFull(pathOf(to, flow)));
    expect(existsSync(pathOf(to, flow))).toBe(false);
  });
});
