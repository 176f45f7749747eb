import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { allOf, begunTransfer, opened } from '../flows.ts';
import { startProgram } from '../process.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();

function openJournal(folder: StoreFolder): FileFlows {
  return new FileFlows(folder.flows('sandbox'), {
    now: () => new Date('2026-11-21T10:00:00.000Z'),
    random: () => 0.5,
  });
}

/** A transfer up to its execution. Its journal has multi-byte characters. */
async function writeTransfer() {
  const folder = newConfigFolder(temporary);
  const open = await begunTransfer(openJournal(folder));
  const states = [open.current.state];
  const record = async (...event: Parameters<typeof open.record>) =>
    states.push((await open.record(...event)).state);
  await record({ type: 'verify-sent', requestId: 'q1', digest: 'd1' });
  await record({ ...VERIFIED, bankName: 'Banca del Caffè €' });
  await record({ type: 'accepted' });
  await record({ type: 'sca-started' });
  await record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
  await record({ type: 'execute-sent', requestId: 'q2', digest: 'd2' });
  await record({ type: 'executed', cro: '1' });
  const { flow } = open.current;
  return { folder, flow, content: readFileSync(join(folder.flows('sandbox'), `${flow}.ndjson`)), states };
}

it('a journal that is cut at any byte is the result of its whole lines, and can be continued', async () => {
  const { flow, content, states } = await writeTransfer();
  const folder = newConfigFolder(temporary);
  mkdirSync(folder.flows('sandbox'), { recursive: true, mode: 0o700 });
  const path = join(folder.flows('sandbox'), `${flow}.ndjson`);
  const journal = openJournal(folder);

  const beginning = content.indexOf(0x0a);
  for (let length = 0; length <= content.length; length += 1) {
    const cut = content.subarray(0, length);
    writeFileSync(path, cut, { mode: 0o600 });
    // A line that lacks only its line break is whole.
    const whole = cut.filter((byte) => byte === 0x0a).length + (content[length] === 0x0a ? 1 : 0);
    // A flow's file appears together with its first line, so a file without that line is damaged.
    if (length < beginning) {
      await expect(allOf(journal, 'transfer')).rejects.toThrow(`The journal ${path} is damaged at line 1`);
      continue;
    }
    const found = await allOf(journal, 'transfer');
    expect(found.map(({ state }) => state)).toEqual([states[whole - 1]]);
    const byLineEnd = [-1, 0, 1, 2].some((offset) => content[length + offset - 1] === 0x0a);
    if (!byLineEnd) continue;

    const open = await opened(journal, 'transfer', flow);
    const before = open.current;
    await open.record({ type: 'approach-sent', requestId: 'q3', digest: null });
    await open.record({ type: 'sca-returned' });
    expect(await journal.find('transfer', flow)).toEqual({ ...before, returned: true });
  }
});

/** Begins a flow in another process, and records events until the disk takes no more. @returns what it says then */
async function fillDisk(folder: StoreFolder, blocks: number): Promise<string> {
  const program = `
    import { storeFolder } from '../../../src/store/machine/folder.ts';
    import { FileFlows } from '../../../src/store/files/flows/flows.ts';
    import { begunTransfer } from '../flows.ts';
    const journal = new FileFlows(storeFolder(process.argv[2]).flows('sandbox'), { now: () => new Date(), random: Math.random });
    let recorded = 0;
    try {
      const open = await begunTransfer(journal);
      for (; recorded < 100; recorded += 1) await open.record({ type: 'approach-sent', requestId: 'q', digest: 'd' });
    } catch (error) {
      process.stdout.write(recorded + ' ' + error.code + ' ' + error.message);
    }`;
  return (await startProgram(program, temporary, { arguments: [folder.root], blocks })).output;
}

it('an event that the disk stores only in part has not happened', async () => {
  const folder = newConfigFolder(temporary);
  const [recorded, code] = (await fillDisk(folder, 1)).split(' ', 2);
  expect(code).toBe('config');

  const [file = ''] = readdirSync(folder.flows('sandbox')).filter((name) => name.endsWith('.ndjson'));
  const content = readFileSync(join(folder.flows('sandbox'), file), 'utf8');
  // The limit falls inside a line, so a part of the line was written.
  expect(content.length).toBe(1024);
  expect(content.endsWith('\n')).toBe(false);
  expect(content.split('\n')).toHaveLength(Number(recorded) + 2);
  expect(await allOf(openJournal(folder), 'transfer')).toHaveLength(1);
}, 20_000);

it('a flow that cannot be written leaves nothing behind, and the error says why', async () => {
  const folder = newConfigFolder(temporary);
  const said = await fillDisk(folder, 0);
  expect(said).toMatch(/^0 config .*: the limit for the size of a file is reached$/);
  const left = readdirSync(folder.flows('sandbox'), { recursive: true, withFileTypes: true });
  expect(left.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([]);
}, 20_000);

it('a flow leaves behind only its journal and the index', async () => {
  const { folder, flow } = await writeTransfer();
  await openJournal(folder).resume('transfer', flow, async () => {
    expect(existsSync(join(folder.flows('sandbox'), `${flow}.ndjson.lock`))).toBe(true);
  });
  expect(readdirSync(folder.flows('sandbox'), { recursive: true }).sort()).toEqual([
    'index',
    'open',
    `${flow}.ndjson`,
  ]);
});
