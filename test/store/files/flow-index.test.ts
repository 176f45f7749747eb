import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkedLine } from '../../../src/store/files/flows/checked-lines.ts';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import { FlowIndex } from '../../../src/store/files/flows/lookup.ts';
import type { EventOf } from '../../../src/store/ports/flows.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { thrownBy } from '../../support/thrown.ts';
import { begun, opened } from '../flows.ts';
import { startProgram } from '../process.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
let folder: string;
let path: string;
beforeEach(() => {
  folder = newConfigFolder(temporary).flows('p');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  path = join(folder, 'index');
});

const flowsOf = () => new FileFlows(folder, { now: () => new Date(), random: Math.random });
const transfer = (reference: string | null) =>
  begun(flowsOf(), 'transfer', {
    transactionId: 't',
    commits: 'on execute',
    order: { ...transferOrder(), reference },
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

describe('without the index', () => {
  it('a reference and a resource id are still found, in the journals', async () => {
    const open = await transfer('INV-1');
    await open.record({ type: 'verify-sent', requestId: 'q', digest: null });
    await open.record(VERIFIED);
    const { flow, verification } = open.current;
    for (const isFolder of [false, true]) {
      rmSync(path);
      if (isFolder) mkdirSync(path);
      expect((await flowsOf().find('transfer', verification?.resourceId ?? '')).flow).toBe(flow);
      await expect(transfer('INV-1')).rejects.toThrow(`was used by transfer ${flow}`);
    }
  });

  it('a journal whose beginning is damaged may have any reference, so none is free', async () => {
    const { flow } = (await transfer('INV-1')).current;
    const journal = join(folder, `${flow}.ndjson`);
    const [first = ''] = readFileSync(journal, 'utf8').split('\n');
    for (const content of ['garbage\n', `${first.replace('"created"', '"sca-started"')}\n`]) {
      rmSync(path, { force: true });
      writeFileSync(journal, content);
      await expect(transfer('INV-2')).rejects.toMatchObject({
        code: 'config',
        message: expect.stringContaining(`so psd2 cannot tell which reference ${flow} has`),
        hint: expect.stringMatching(/ Or leave out --reference\.$/),
      });
      expect((await transfer(null)).current.state).toBe('created');
    }
  });
});

describe('the index and the resources of flows', () => {
  const SENT = { requestId: 'q', digest: null };
  const record = async (...events: EventOf<'transfer'>[]) => {
    const open = await transfer(null);
    for (const event of events) await open.record(event);
    return open;
  };
  const again = (resourceId: string) => record({ ...VERIFIED, resourceId });
  const pathOf = (flow: string) => join(folder, `${flow}.ndjson`);

  it('an index from an old backup does not forget the flows since', async () => {
    const { flow } = (await transfer(null)).current;
    const backup = readFileSync(path);
    await (await opened(flowsOf(), 'transfer', flow)).record({ ...VERIFIED, resourceId: 'r1' });
    const later = await again('r2');
    writeFileSync(path, backup);
    await expect(again('R1')).rejects.toThrow(`belongs to ${flow}`);
    await expect(again('R2')).rejects.toThrow(`belongs to ${later.current.flow}`);
  });

  it('if two journals have one resource, it belongs to the older flow', async () => {
    const first = await again('r1');
    const second = await again('r2');
    const journal = pathOf(second.current.flow);
    writeFileSync(journal, readFileSync(journal, 'utf8').replace('"r2"', '"r1"'));
    rmSync(path);
    await expect(again('r1')).rejects.toThrow(`belongs to ${first.current.flow}`);
  });

  it('a journal that is missing keeps its resource', async () => {
    const { flow } = (await again('r1')).current;
    rmSync(pathOf(flow));
    await expect(again('r1')).rejects.toThrow(`belongs to ${flow}`);
  });

  it('a damaged journal does not stop others from being verified', async () => {
    const { flow } = (await again('r1')).current;
    rmSync(path);
    writeFileSync(pathOf(flow), 'garbage\n');
    expect((await again('r2')).current.state).toBe('verified');
  });

  it('an index that was rebuilt from the journals knows that execute was sent', async () => {
    const open = await record({ type: 'verify-sent', ...SENT }, VERIFIED, { type: 'execute-sent', ...SENT });
    const { flow } = open.current;
    await open.record({ type: 'executed', cro: null });
    rmSync(path);
    await again('r2');
    const lines = readFileSync(pathOf(flow), 'utf8').split('\n').slice(0, 3);
    writeFileSync(pathOf(flow), `${lines.join('\n')}\n`);
    expect((await opened(flowsOf(), 'transfer', flow)).current.state).toBe('unknown');
  });

  it('a process that was killed after the index and before the journal is continued: nothing was executed', async () => {
    const { flow } = (await record({ type: 'verify-sent', ...SENT })).current;
    new FlowIndex(folder).add({ flow, resourceId: 'r1', sent: null });
    expect((await opened(flowsOf(), 'transfer', flow)).current.state).toBe('created');
  });

  it('if the index cannot say that execute is about to be sent, it is not sent, and the flow continues', async () => {
    const open = await record({ type: 'verify-sent', ...SENT }, VERIFIED, {
      type: 'authorization',
      status: 'AUTHORIZED',
      bankStatus: 'AUTHORIZED',
    });
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

  it('of several processes that get one resource at the same time, one has it', async () => {
    const program = `
      import { FlowFolder } from '../../../src/store/files/flows/lookup.ts';
      import { FlowIndex } from '../../../src/store/files/flows/lookup.ts';
      import { FlowResources } from '../../../src/store/files/flows/references.ts';
      const [folder, flow] = process.argv.slice(2);
      const resources = new FlowResources(new FlowFolder(folder), new FlowIndex(folder));
      process.stdin.once('data', () => {
        const taken = [];
        for (let n = 1; n <= 30; n += 1) {
          try {
            resources.take(flow, 'r' + n);
            taken.push(n);
          } catch (error) {
            if (error.code !== 'bank_answer') throw error;
          }
        }
        process.stdout.write(taken.join(' '), () => process.exit());
      });`;
    const started = await Promise.all(
      ['tr-1', 'tr-2', 'tr-3'].map((flow) => startProgram(program, temporary, { arguments: [folder, flow] })),
    );
    for (const { process } of started) process.stdin?.write('go');
    const taken = await Promise.all(started.map(({ output }) => output));
    const all = taken.flatMap((each) => each.split(' ').filter(Boolean).map(Number));
    expect(all.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  }, 20_000);
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
