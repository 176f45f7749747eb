import fs, { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkedLine } from '../../../src/store/files/flows/checked-lines.ts';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import {
  entriesOf,
  FlowFolder,
  FlowIndex,
  FlowLookup,
  type IndexEntry,
} from '../../../src/store/files/flows/lookup.ts';
import { FlowResources } from '../../../src/store/files/flows/references.ts';
import { KINDS } from '../../../src/store/flow/kinds.ts';
import type { EventOf } from '../../../src/store/ports/flows.ts';
import { consentCategories, transferOrder, VERIFIED } from '../../domain/orders.ts';
import { thrownBy } from '../../support/thrown.ts';
import { begun, begunTransfer, opened } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { once, replace, replaceForStore } from '../waiting.ts';

const temporary = temporaryFolder();
const SENT = { requestId: 'q', digest: null };
const verified = (resourceId: string) => ({ ...VERIFIED, resourceId });
const [R1, R2] = [verified('r1'), verified('r2')];
const AGAIN = { type: 'verify-again' } as const;
const AUTHORIZED = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' } as const;
const EXECUTE = { type: 'execute-sent', ...SENT } as const;
let folder: string;
let path: string;
let index: FlowIndex;
let flows: FlowFolder;
let resources: FlowResources;
beforeEach(() => {
  folder = newConfigFolder(temporary).flows('p');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  path = join(folder, 'index');
  index = new FlowIndex(folder);
  flows = new FlowFolder(folder);
  resources = new FlowResources(flows, index);
});

/** The flows, as another process opens them. */
const flowsOf = () => new FileFlows(folder, { now: () => new Date(), random: Math.random });
const begin = (reference: string | null) => begunTransfer(flowsOf(), { reference });
async function transfer(events: EventOf<'transfer'>[], reference: string | null = null): Promise<string> {
  const open = await begin(reference);
  for (const event of events) await open.record(event);
  return open.current.flow;
}
const currentOf = (flow: string) => {
  const read = flows.read(KINDS.transfer, flow);
  if (!read) throw new TypeError(`${flow} is not there`);
  return read.current;
};
/** What the index would learn from a journal. */
const learnt = (flow: string) =>
  entriesOf(flows, KINDS.transfer, currentOf(flow)).map(({ flow: of, ...entry }) => {
    expect(of).toBe(flow);
    return entry;
  });
const lookup = () => new FlowLookup(flows, index);
/** The index has only these entries. */
function onlyIndexed(...entries: IndexEntry[]): void {
  rmSync(path, { force: true });
  if (entries.length > 0) index.add(...entries);
}

describe('what the index learns from a journal', () => {
  const [HAD, UNSENT] = [{ resourceId: 'r1' }, { resourceId: 'r1', sent: null }];
  const NONE = { resourceId: null, sent: null };
  it.each<[string, EventOf<'transfer'>[], Omit<IndexEntry, 'flow'>[]]>([
    ['a flow that may still get a resource gives nothing yet', [], []],
    ['a flow that ended without a resource has none', [{ type: 'cancelled' }], [NONE]],
    ['a resource whose execute was not sent', [R1], [UNSENT]],
    ['a resource whose execute was sent', [R1, AUTHORIZED, EXECUTE], [{ resourceId: 'r1', sent: 'r1' }]],
    // The last one has what became of it.
    ['all that it ever had', [R1, AGAIN, R2, AUTHORIZED, EXECUTE], [HAD, { resourceId: 'r2', sent: 'r2' }]],
    [
      'a resource that it got again is the last one',
      [R1, AGAIN, R2, AGAIN, R1],
      [{ resourceId: 'r2' }, UNSENT],
    ],
    ['a flow that has lost its resource has had it', [R1, AGAIN], [HAD, NONE]],
  ])('%s', async (_what, events, expected) => {
    expect(learnt(await transfer(events))).toEqual(expected);
  });
});

describe('the entries of the index', () => {
  it('are as many as were added at once', () => {
    index.add({ flow: 'a', reference: null }, { flow: 'b', reference: null }, { flow: 'c', reference: null });
    expect([...index.read().keys()]).toEqual(['a', 'b', 'c']);
  });

  it('the first flow with a resource has it, whatever the case of its letters', () => {
    index.add({ flow: 'tr-1', reference: 'r1' }, { flow: 'tr-2', resourceId: null });
    expect(index.firstWith('r1')).toBeUndefined();
    index.add({ flow: 'tr-3', resourceId: 'R1', sent: null }, { flow: 'tr-4', resourceId: 'r1', sent: null });
    expect([index.firstWith('r1'), index.firstWith('R1'), index.firstWith('r')]).toEqual([
      'tr-3',
      'tr-3',
      undefined,
    ]);
  });

  it('the newest word about execute counts, except for the late entry of a resource', () => {
    const sent = (...entries: Omit<IndexEntry, 'flow'>[]) => {
      onlyIndexed(...entries.map((entry) => ({ flow: 'a', ...entry })));
      return index.read().get('a')?.sent;
    };
    expect(sent({ resourceId: 'r1' })).toBeUndefined();
    expect(sent({ resourceId: 'r1', sent: null })).toBeNull();
    expect(sent({ resourceId: 'r1', sent: null }, { sent: 'r1' }, { sent: null })).toBeNull();
    expect(sent({ sent: 'r1' }, { resourceId: 'r2', sent: null })).toBe('r1');
    expect(sent({ sent: 'r1' }, { resourceId: null, sent: null })).toBe('r1');
    expect(sent({ sent: 'r1' }, { resourceId: 'r2', sent: 'r2' })).toBe('r2');
    expect(sent({ resourceId: 'r1', sent: 'r1' }, { resourceId: 'r2' })).toBe('r1');
  });

  it('an index that others can read is not believed, and an empty line is none', () => {
    onlyIndexed({ flow: 'a', reference: null });
    writeFileSync(path, `${readFileSync(path, 'utf8')}00000000 \n`);
    expect([...index.read().keys()]).toEqual(['a']);
    chmodSync(path, 0o640);
    expect(() => index.read()).toThrow(`${path} can be read by others (mode 0640)`);
  });
});

describe('the resources of flows', () => {
  it('each step of a flow is in the index before the journal has it', () => {
    resources.take('tr-1', 'r1');
    expect(index.read().get('tr-1')).toEqual({ resourceIds: new Set(['r1']), sent: null });
    resources.announce('tr-1', 'r1');
    expect(index.read().get('tr-1')?.sent).toBe('r1');
    resources.revoke('tr-1');
    expect(index.read().get('tr-1')).toEqual({ resourceIds: new Set(['r1']), sent: null });
    resources.announce('tr-1', 'r1');
    resources.drop('tr-1');
    // The flow has had it, and what was announced stays announced.
    expect(index.read().get('tr-1')).toEqual({ resourceIds: new Set(['r1']), sent: 'r1' });
    resources.take('tr-1', 'R1');
    expect(() => resources.take('tr-2', 'r1')).toThrow('belongs to tr-1');
    resources.drop('tr-3');
    expect(index.read().get('tr-3')).toEqual({ resourceIds: new Set() });
  });

  it('of two processes that take a resource at the same moment, the one that writes first has it', () => {
    once('appendFileSync', (append) => {
      new FlowResources(flows, new FlowIndex(folder)).take('tr-2', 'r1');
      return append();
    });
    expect(() => resources.take('tr-1', 'r1')).toThrow('belongs to tr-2');
  });

  it('if the index is removed at the same moment, nobody has the resource', () => {
    const { fsyncSync } = fs;
    replace(fs, 'fsyncSync', (file: never) => {
      fsyncSync(file);
      rmSync(path, { force: true });
    });
    expect(thrownBy(() => resources.take('tr-1', 'r1'))).toMatchObject({
      code: 'config',
      message: 'The index of flows was removed while psd2 wrote it',
      hint: 'Run this again.',
    });
  });

  it('flows of every kind are learnt before one takes a resource, and those that are known are not read again', async () => {
    const of = flowsOf();
    const first = await transfer([R1]);
    const consent = await begun(of, 'consent', {
      transactionId: 't',
      customerId: '7',
      categories: consentCategories(),
    });
    await consent.record({ type: 'requested', resourceId: 'c1', outcomes: [] });
    const operation = await begun(of, 'operation', {
      transactionId: 't',
      commits: 'on execute',
      order: { ...transferOrder(), operation: 'standingOrder', data: '{}' },
    });
    await operation.record(verified('o1'));
    // As in an old backup, the index knows the reference of the first one.
    onlyIndexed({ flow: first, reference: null });
    for (const [resourceId, owner] of [
      ['r1', first],
      ['c1', consent.current.flow],
      ['o1', operation.current.flow],
    ] as const)
      expect(() => resources.take('tr-9', resourceId)).toThrow(`belongs to ${owner}`);
    // What the index knows by now is not added again.
    const lines = readFileSync(path, 'utf8').length;
    resources.take('tr-9', 'r9');
    const added = readFileSync(path, 'utf8').slice(lines);
    expect(added.split('\n').filter(Boolean)).toEqual([
      expect.stringMatching(/^[0-9a-f]{8} \{"flow":"tr-9","resourceId":"r9","sent":null\}$/),
    ]);
  });

  it('flows that may still get a resource are not written down, so the disk is asked once', async () => {
    for (const _ of [1, 2]) await transfer([]);
    onlyIndexed();
    let writes = 0;
    const { fsyncSync } = fs;
    replaceForStore(fs, 'fsyncSync', (file: never) => {
      writes += 1;
      fsyncSync(file);
    });
    const find = () => expect(() => lookup().find(KINDS.transfer, 'r7')).toThrow('No flow');
    find();
    const before = writes;
    find();
    expect(writes - before).toBe(0);
    resources.take('tr-9', 'r9');
    expect(writes - before).toBe(1);
  });

  it('a journal that others can change stops it, since it may say anything', async () => {
    const flow = await transfer([R1]);
    onlyIndexed();
    chmodSync(flows.pathOf(flow), 0o666);
    expect(() => resources.take('tr-9', 'r9')).toThrow('can be changed by others (mode 0666)');
    await expect(transfer([], 'INV-1')).rejects.toThrow('can be changed by others (mode 0666)');
    expect(() => lookup().find(KINDS.transfer, 'r9')).toThrow('can be changed by others (mode 0666)');
    const { current } = await begun(flowsOf(), 'consent', {
      ...{ transactionId: 't', customerId: '7', categories: consentCategories() },
    });
    chmodSync(flows.pathOf(current.flow), 0o666);
    expect(thrownBy(() => lookup().find(KINDS.consent, 'r9'))).toMatchObject({
      code: 'config',
      message: `${flows.pathOf(current.flow)} can be changed by others (mode 0666)`,
    });
  });

  it('a journal that is gone since the folder was listed has none', () => {
    const { readdirSync } = fs;
    replaceForStore(fs, 'readdirSync', (path: never) => ['tr-0mi7x7x8x00001.ndjson', ...readdirSync(path)]);
    resources.take('tr-9', 'r9');
    expect([...index.read().keys()]).toEqual(['tr-9']);
  });
});

describe('whether execute was sent without a word in the journal', () => {
  const isSent = (flow: string) => resources.isSentUnnoticed(KINDS.transfer, currentOf(flow));
  const isOlder = (flow: string) =>
    `The journal ${flows.pathOf(flow)} is older than what psd2 knows about ${flow}`;

  it('it was, if the index says so of the resource that the journal has', async () => {
    const flow = await transfer([R1]);
    expect(isSent(flow)).toBe(false);
    onlyIndexed({ flow, resourceId: 'r1', sent: 'r1' });
    expect(isSent(flow)).toBe(true);
    onlyIndexed();
    expect(isSent(flow)).toBe(false);
  });

  it('psd2 cannot tell, if it was for a resource that the journal does not have', async () => {
    for (const flow of [await transfer([R1]), await transfer([])]) {
      onlyIndexed({ flow, resourceId: 'r2', sent: 'r2' });
      expect(() => isSent(flow)).toThrow(isOlder(flow));
    }
  });

  it('psd2 cannot tell, if the call itself asked for the resource', async () => {
    const flow = await transfer([R1]);
    onlyIndexed({ flow, resourceId: 'r1', sent: null });
    expect(isSent(flow)).toBe(false);
    resources.announce(flow, null);
    expect(() => isSent(flow)).toThrow(isOlder(flow));
    resources.revoke(flow);
    expect(isSent(flow)).toBe(false);
  });

  it('it was not unnoticed, if the journal has it', async () => {
    const flow = await transfer([R1, AUTHORIZED, EXECUTE]);
    onlyIndexed({ flow, resourceId: 'r2', sent: 'r2' });
    expect(isSent(flow)).toBe(false);
  });
});

describe('flows that are looked up', () => {
  it('by a resource or a reference, what the index did not know is learnt at once', async () => {
    const flow = await transfer([R1, AGAIN, R2], 'INV-1');
    const other = await transfer([]);
    onlyIndexed();
    expect(lookup().find(KINDS.transfer, 'r2')).toBe(flow);
    expect(index.read().get(flow)).toEqual({ resourceIds: new Set(['r1', 'r2']), sent: null });
    // A flow without a resource may still get one, so nothing is learnt.
    expect(index.read().has(other)).toBe(false);
    expect(lookup().withReference('inv-1')).toMatchObject([{ flow, transfer: { state: 'verified' } }]);
    expect(index.read().get(flow)?.reference).toBe('INV-1');
    expect(index.read().get(other)).toEqual({ reference: null });
    const content = readFileSync(path, 'utf8');
    lookup().find(KINDS.transfer, 'r2');
    lookup().withReference('INV-1');
    expect(readFileSync(path, 'utf8')).toBe(content);
    // Without an index that can be written, the journals are searched.
    onlyIndexed();
    mkdirSync(path);
    expect(lookup().find(KINDS.transfer, 'r2')).toBe(flow);
    expect(lookup().withReference('inv-1')).toMatchObject([{ flow }]);
  });

  const CANCELLED = { type: 'cancelled' } as const;
  /** Transfers with the reference INV-1, the oldest first: as after the restore of old backups, in any state. */
  async function sameReference(states: string[]): Promise<string[]> {
    const all: string[] = [];
    for (const [number, state] of states.entries()) {
      const flow = await transfer(state === 'cancelled' ? [CANCELLED] : [], `INV-9${number}`);
      const journal = flows.pathOf(flow);
      const text = readFileSync(journal, 'utf8').replace(`INV-9${number}`, 'INV-1');
      writeFileSync(journal, state === 'damaged' ? `${text}garbage\ngarbage\n` : text);
      all.push(flow);
    }
    onlyIndexed();
    return all;
  }

  it.each<[states: string[], found: number]>([
    [['created'], 0],
    [['cancelled'], 0],
    [['damaged'], 0],
    [['cancelled', 'cancelled'], 1],
    [['cancelled', 'created'], 1],
    [['created', 'cancelled'], 0],
    [['cancelled', 'damaged', 'cancelled'], 1],
    [['damaged', 'created'], 1],
  ])(
    'by the reference of transfers %j, it is the one that holds it, else the newest',
    async (states, found) => {
      const all = await sameReference(states);
      const other = await transfer([], 'INV-2');
      for (const reference of ['INV-1', ' inv-1 '])
        expect(lookup().find(KINDS.transfer, reference)).toBe(all[found]);
      expect(lookup().find(KINDS.transfer, 'INV-2')).toBe(other);
      expect(() => lookup().find(KINDS.transfer, 'INV-')).toThrow('No flow of this profile matches "INV-"');
      expect(() => lookup().find(KINDS.operation, 'INV-1')).toThrow(
        'No flow of this profile matches "INV-1"',
      );
    },
  );

  it('by a reference, a transfer without a journal counts only if it reached the bank', () => {
    const flow = 'tr-0mi7x7x8x00001';
    for (const without of [{}, { resourceId: null, sent: null }]) {
      onlyIndexed({ flow, reference: 'INV-1', ...without });
      expect(lookup().withReference('INV-1')).toEqual([]);
    }
    onlyIndexed({ flow, reference: 'INV-1', resourceId: 'r1' });
    expect(thrownBy(() => lookup().withReference('inv-1'))).toMatchObject({
      code: 'config',
      message: `The journal ${flows.pathOf(flow)} is missing, and its transfer has the reference "inv-1"`,
      flow,
    });
    expect(lookup().withReference('INV-2')).toEqual([]);
    // One that is gone since the folder was listed.
    expect(lookup().withReference('INV-2', ['tr-0mi7x7x8x00002'])).toEqual([]);
    expect(index.read().get('tr-0mi7x7x8x00002')).toEqual({ reference: null });
  });

  it('are listed from the newest to the oldest, in whatever order the disk names them, without other files', async () => {
    const all = [await transfer([]), await transfer([]), await transfer([])];
    for (const name of ['tr-x', `${all[0]}.ndjson.lock`, 'other.ndjson'])
      writeFileSync(join(folder, name), '');
    const { readdirSync } = fs;
    replaceForStore(fs, 'readdirSync', (path: never) => {
      const [first = '', ...others] = readdirSync(path).toSorted().reverse();
      return [...others, first];
    });
    expect(flows.newestFirst(KINDS.transfer)).toEqual(all.toReversed());
    expect(flows.newestFirst({ prefix: '' })).toEqual([...all.toReversed(), 'other']);
    expect(flows.newestFirst(KINDS.consent)).toEqual([]);
    expect([all[0], 'tr-0mi7x7x8x00001'].map((flow = '') => flows.textOf(flow))).toEqual([
      expect.stringMatching(/^\{"at":.*"created".*\}\n$/),
      undefined,
    ]);
  });

  it('by a resource that the flow has lost, it is not found', async () => {
    await transfer([R1, AGAIN]);
    for (const isKnown of [true, false]) {
      if (!isKnown) onlyIndexed();
      expect(() => lookup().find(KINDS.transfer, 'r1')).toThrow('No flow of this profile matches "r1"');
    }
  });

  it('with a damaged journal, the index finds the resource, and the reference stays used', async () => {
    const flow = await transfer([R1, AGAIN, R2], 'INV-1');
    const [first] = readFileSync(flows.pathOf(flow), 'utf8').split('\n');
    writeFileSync(flows.pathOf(flow), `${first}\ngarbage\ngarbage\n`);
    for (const resourceId of ['r1', 'r2']) expect(lookup().find(KINDS.transfer, resourceId)).toBe(flow);
    expect(lookup().withReference('INV-1')).toMatchObject([{ flow, damage: { code: 'config' } }]);
    expect(thrownBy(() => lookup().find(KINDS.transfer, 'r7'))).toMatchObject({
      code: 'flow_not_found',
      hint: 'Give the id that psd2 printed, or the resource id.',
    });
    onlyIndexed();
    expect(thrownBy(() => lookup().find(KINDS.transfer, 'r7'))).toMatchObject({
      code: 'flow_not_found',
      hint: expect.stringMatching(
        /^Give the id that psd2 printed, or the resource id\. Not all flows could be searched: .*damaged.*\.$/,
      ),
    });
  });

  it('by what nobody has, an error about another journal says nothing of the search', async () => {
    const [damaged, headless] = [await transfer([R1]), await transfer([], 'INV-1')];
    const [first] = readFileSync(flows.pathOf(damaged), 'utf8').split('\n');
    writeFileSync(flows.pathOf(damaged), `${first}\ngarbage\ngarbage\n`);
    writeFileSync(flows.pathOf(headless), 'garbage\n');
    onlyIndexed();
    expect(thrownBy(() => lookup().find(KINDS.transfer, 'r7'))).toMatchObject({
      code: 'config',
      message: expect.stringMatching(`so psd2 cannot tell which reference ${headless} has$`),
      hint: expect.not.stringContaining('Not all flows could be searched'),
    });
  });
});

describe('the index of flows', () => {
  it('skips lines that are damaged, and ends a line that was cut', () => {
    const index = new FlowIndex(folder);
    index.add({ flow: 'a', reference: 'INV-1' });
    const [line = ''] = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    appendFileSync(path, `${line.replace('INV-1', 'INV-2')}\n12345678 \nshort\n${line.slice(0, -4)}`);
    index.add({ flow: 'b', reference: null });
    expect([...index.read().keys()]).toEqual(['a', 'b']);
    expect(index.read().get('a')).toEqual({ reference: 'INV-1' });
  });

  it('knows nothing if it is not a file, and says what to do when it must be written', () => {
    mkdirSync(path);
    const index = new FlowIndex(folder);
    expect(index.read()).toEqual(new Map());
    expect(thrownBy(() => index.add({ flow: 'a', reference: null }))).toMatchObject({
      code: 'config',
      message: `The index ${path} cannot be written: a folder has that name`,
      hint: 'Check the free space, and who owns the folder. If it is not a file, remove it. psd2 creates it again.',
    });
  });
});

it('without the index, a journal whose beginning is damaged may have any reference, so none is free', async () => {
  const { flow } = (await begin('INV-1')).current;
  const journal = join(folder, `${flow}.ndjson`);
  const [first = ''] = readFileSync(journal, 'utf8').split('\n');
  for (const content of ['garbage\n', `${first.replace('"created"', '"sca-started"')}\n`]) {
    rmSync(path, { force: true });
    writeFileSync(journal, content);
    await expect(begin('INV-2')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(`so psd2 cannot tell which reference ${flow} has`),
      hint: expect.stringMatching(/ Or leave out --reference\.$/),
    });
    expect((await begin(null)).current.state).toBe('created');
  }
});

describe('the index and the resources of flows', () => {
  const record = async (...events: EventOf<'transfer'>[]) => {
    const open = await begin(null);
    for (const event of events) await open.record(event);
    return open;
  };
  const again = (resourceId: string) => record({ ...VERIFIED, resourceId });

  it('if two journals have one resource, it belongs to the older flow, even after its journal is gone', async () => {
    const first = await again('r1');
    const second = await again('r2');
    const journal = flows.pathOf(second.current.flow);
    writeFileSync(journal, readFileSync(journal, 'utf8').replace('"r2"', '"r1"'));
    rmSync(path);
    await expect(again('r1')).rejects.toThrow(`belongs to ${first.current.flow}`);
    rmSync(flows.pathOf(first.current.flow));
    await expect(again('r1')).rejects.toThrow(`belongs to ${first.current.flow}`);
  });

  it('a damaged journal does not stop others from being verified', async () => {
    const { flow } = (await again('r1')).current;
    rmSync(path);
    writeFileSync(flows.pathOf(flow), 'garbage\n');
    expect((await again('r2')).current.state).toBe('verified');
  });

  it('if the index cannot say that execute is about to be sent, it is not sent, and the flow continues', async () => {
    const open = await record({ type: 'verify-sent', ...SENT }, VERIFIED, AUTHORIZED);
    const content = readFileSync(path);
    rmSync(path);
    mkdirSync(path);
    await expect(open.record({ type: 'execute-sent', ...SENT })).rejects.toMatchObject({ code: 'config' });
    expect(open.current.state).toBe('authorized');
    rmSync(path, { recursive: true });
    writeFileSync(path, content, { mode: 0o600 });
    expect((await opened(flowsOf(), 'transfer', open.current.flow)).current.state).toBe('authorized');
    expect((await open.record({ type: 'execute-sent', ...SENT })).state).toBe('executing');
  });
});

describe('an index that is read again and again', () => {
  const others = () => new FlowIndex(folder);

  it('has what another process adds, also while a line of it is still being written', () => {
    const index = new FlowIndex(folder);
    index.add({ flow: 'a', reference: 'INV-1' });
    expect([...index.read().keys()]).toEqual(['a']);
    others().add({ flow: 'b', resourceId: 'R1' });
    expect(index.firstWith('r1')).toBe('b');
    others().add({ flow: 'c', resourceId: 'r1' });
    const text = readFileSync(path, 'utf8');
    const cut = text.length - 5;
    writeFileSync(path, text.slice(0, cut));
    expect([...index.read().keys()]).toEqual(['a', 'b']);
    appendFileSync(path, text.slice(cut));
    expect([...index.read().keys()]).toEqual(['a', 'b', 'c']);
    expect(index.firstWith('R1')).toBe('b');
    expect([...index.compared()]).toEqual([['a', 'inv-1']]);
  });

  it('is not believed in part: a line that no psd2 wrote is an error each time', () => {
    const index = new FlowIndex(folder);
    index.add({ flow: 'a', reference: 'INV-1' });
    expect(index.read().size).toBe(1);
    appendFileSync(path, checkedLine('{"flow":7}'));
    for (const _ of [1, 2]) expect(() => index.read()).toThrow();
  });

  it('is read from its beginning if it was removed, replaced or changed', () => {
    const index = new FlowIndex(folder);
    index.add({ flow: 'a', resourceId: 'r1' });
    expect(index.firstWith('r1')).toBe('a');
    rmSync(path);
    expect(index.firstWith('r1')).toBeUndefined();
    // The new file may have the number of the old one, and is longer.
    others().add(
      { flow: 'b', resourceId: 'r2' },
      { flow: 'c', resourceId: 'r1' },
      { flow: 'd', reference: null },
    );
    expect([...index.read().keys()]).toEqual(['b', 'c', 'd']);
    const text = readFileSync(path, 'utf8');
    rmSync(path);
    writeFileSync(path, text.replace('"c"', '"x"'), { mode: 0o600 });
    expect([...index.read().keys()]).toEqual(['b', 'd']);
  });
});
