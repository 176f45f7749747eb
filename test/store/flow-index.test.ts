import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FlowIndex } from '../../src/store/files/flows/flow-index.ts';
import { FileFlows } from '../../src/store/files/flows/flows.ts';
import { transferOrder, VERIFIED } from '../domain/orders.ts';
import { begun } from './flows.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

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
  begun(flowsOf(), 'transfer', { transactionId: 't', order: { ...transferOrder(), reference } });

describe('the index of flows', () => {
  it('has what was added, of each flow all its resource ids', () => {
    const index = new FlowIndex(folder);
    expect(index.read()).toEqual(new Map());
    index.add({ flow: 'a', reference: 'INV-1' }, { flow: 'b', resourceId: null });
    index.add({ flow: 'a', resourceId: 'r1' });
    index.add({ flow: 'a', resourceId: 'r2' }, { flow: 'c', reference: null });
    expect(index.read()).toEqual(
      new Map([
        ['a', { reference: 'INV-1', resourceIds: new Set(['r1', 'r2']) }],
        ['b', { resourceIds: new Set() }],
        ['c', { reference: null }],
      ]),
    );
  });

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
    expect(() => index.add({ flow: 'a', reference: null })).toThrow(
      expect.objectContaining({
        code: 'config',
        message: `The index ${path} cannot be written: there is a folder of that name`,
        hint: 'Check the free space, and who owns the folder. If it is not a file, remove it. psd2 creates it again.',
      }),
    );
  });

  it('is not believed if another user may have written it', () => {
    const index = new FlowIndex(folder);
    index.add({ flow: 'a', reference: 'INV-1' });
    chmodSync(path, 0o666);
    expect(() => index.read()).toThrow(`${path} can be changed by others (mode 0666)`);
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
      await expect(transfer('INV-2')).rejects.toThrow(
        expect.objectContaining({
          code: 'config',
          message: expect.stringContaining(`so psd2 cannot tell which reference ${flow} has`),
          hint: expect.stringMatching(/ Or leave out --reference\.$/),
        }),
      );
      expect((await transfer(null)).current.state).toBe('created');
    }
  });
});
