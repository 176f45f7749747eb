import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FlowJournal } from '../../src/store/files/journal.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { transferOrder } from '../domain/orders.ts';
import { startProgram } from './process.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();

function openJournal(folder: StoreFolder): FlowJournal {
  return new FlowJournal(
    folder,
    'sandbox',
    () => new Date('2026-11-21T10:00:00.000Z'),
    () => 0.5,
  );
}

/** A transfer up to its execution, with characters of several bytes in it. */
function writeTransfer(): { folder: StoreFolder; flow: string; content: Buffer; states: string[] } {
  const folder = newConfigFolder(temporary);
  const open = openJournal(folder).createTransfer({ transactionId: 't1', order: transferOrder() });
  const states = [open.current.state];
  const record = (...event: Parameters<typeof open.record>) => states.push(open.record(...event).state);
  const resourceId = 'r1';
  const money = { amount: transferOrder().amount, currency: 'EUR' };
  record({ type: 'verify-sent', requestId: 'q1', digest: 'd1' });
  record({
    type: 'verified',
    resourceId,
    totalAmount: money,
    commissions: money,
    bankName: 'Banca del Caffè €',
    nextStep: 'execute',
  });
  record({ type: 'accepted' });
  record({ type: 'sca-started' });
  record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
  record({ type: 'execute-sent', requestId: 'q2', digest: 'd2' });
  record({ type: 'executed', cro: '1' });
  const { flow } = open.current;
  return { folder, flow, content: readFileSync(join(folder.flows('sandbox'), `${flow}.ndjson`)), states };
}

it('a journal cut at any byte is the fold of its whole lines, and goes on from there', () => {
  const { flow, content, states } = writeTransfer();
  const folder = newConfigFolder(temporary);
  mkdirSync(folder.flows('sandbox'), { recursive: true, mode: 0o700 });
  const path = join(folder.flows('sandbox'), `${flow}.ndjson`);
  const journal = openJournal(folder);

  const beginning = content.indexOf(0x0a);
  for (let length = 0; length <= content.length; length += 1) {
    const cut = content.subarray(0, length);
    writeFileSync(path, cut, { mode: 0o600 });
    // A line that lacks its line break only is whole.
    const whole = cut.filter((byte) => byte === 0x0a).length + (content[length] === 0x0a ? 1 : 0);
    // A flow's file appears with its first line, so that one without it is damaged.
    if (length < beginning) {
      expect(() => [...journal.transfers()]).toThrow(`The journal ${path} is damaged at line 1`);
      continue;
    }
    const found = [...journal.transfers()];
    expect(found.map(({ state }) => state)).toEqual([states[whole - 1]]);
    const byLineEnd = [-1, 0, 1, 2].some((offset) => content[length + offset - 1] === 0x0a);
    if (!byLineEnd) continue;

    const open = journal.openTransfer(flow);
    const before = open.current;
    open.record({ type: 'approach-sent', requestId: 'q3', digest: null });
    open.record({ type: 'sca-returned' });
    expect(journal.openTransfer(flow).current).toEqual(before);
  }
});

it('an event that the disk takes only in part has not happened', async () => {
  const folder = newConfigFolder(temporary);
  const program = `
    import { storeFolder } from '../../src/store/machine/folder.ts';
    import { FlowJournal } from '../../src/store/files/journal.ts';
    import { transferOrder } from '../domain/orders.ts';
    const journal = new FlowJournal(storeFolder(process.argv[2]), 'sandbox', () => new Date(), Math.random);
    const open = journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    let recorded = 0;
    try {
      for (; recorded < 100; recorded += 1) open.record({ type: 'approach-sent', requestId: 'q', digest: 'd' });
    } catch (error) {
      process.stdout.write(recorded + ' ' + error.code + ' ' + error.message);
    }`;
  const { output } = await startProgram(program, temporary, { arguments: [folder.root], blocks: 1 });
  const [recorded, code] = (await output).split(' ', 2);
  expect(code).toBe('config');

  const [file = ''] = readdirSync(folder.flows('sandbox')).filter((name) => name.endsWith('.ndjson'));
  const content = readFileSync(join(folder.flows('sandbox'), file), 'utf8');
  // The limit falls inside a line: part of it was taken.
  expect(content.length).toBe(1024);
  expect(content.endsWith('\n')).toBe(false);
  expect(content.split('\n')).toHaveLength(Number(recorded) + 2);
  expect([...openJournal(folder).transfers()]).toHaveLength(1);
}, 20_000);

it('a flow that finds no room leaves nothing behind, and says why', async () => {
  const folder = newConfigFolder(temporary);
  const program = `
    import { storeFolder } from '../../src/store/machine/folder.ts';
    import { FlowJournal } from '../../src/store/files/journal.ts';
    import { transferOrder } from '../domain/orders.ts';
    const journal = new FlowJournal(storeFolder(process.argv[2]), 'sandbox', () => new Date(), Math.random);
    try {
      journal.createTransfer({ transactionId: 't1', order: transferOrder() });
    } catch (error) {
      process.stdout.write(error.code + ' ' + error.message);
    }`;
  const { output } = await startProgram(program, temporary, { arguments: [folder.root], blocks: 0 });
  expect(await output).toMatch(/^config .*: the limit for the size of a file is reached$/);
  const left = readdirSync(folder.flows('sandbox'), { recursive: true, withFileTypes: true });
  expect(left.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([]);
}, 20_000);

it('leaves no file behind but the journal and its index', async () => {
  const { folder, flow } = writeTransfer();
  await openJournal(folder).claimed(flow, async () => {
    expect(existsSync(join(folder.flows('sandbox'), `${flow}.ndjson.lock`))).toBe(true);
  });
  expect(readdirSync(folder.flows('sandbox'), { recursive: true }).sort()).toEqual([
    'index',
    'open',
    `${flow}.ndjson`,
  ]);
});
