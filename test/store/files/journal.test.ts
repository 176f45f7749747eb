import {
  appendFileSync,
  chmodSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { allOf, begun, begunTransfer, opened } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { once } from '../waiting.ts';

const temporary = temporaryFolder();
let folder: StoreFolder;
let journal: FileFlows;
let clock: number;

beforeEach(() => {
  folder = newConfigFolder(temporary);
  clock = Date.parse('2026-11-21T10:00:00.000Z');
  journal = openJournal('sandbox');
});

function openJournal(profile: string): FileFlows {
  let random = 0;
  return new FileFlows(folder.flows(profile), {
    now: () => {
      clock += 1000;
      return new Date(clock);
    },
    random: () => {
      random = (random + 0.07) % 1;
      return random;
    },
  });
}

function pathOf(flow: string): string {
  return join(folder.flows('sandbox'), `${flow}.ndjson`);
}

function linesOf(flow: string): unknown[] {
  return readFileSync(pathOf(flow), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const verified = { ...VERIFIED, resourceId: '3f2b8c1e-0000-4000-8000-000000000001' };
const SENT = { type: 'verify-sent', requestId: 'q1', digest: 'SHA-256=x' } as const;
const OVERTAKEN = { code: 'overtaken' };

it('the journal has one line for each event, with its time, and reads back the same flow', async () => {
  const open = await begunTransfer(journal);
  expect(await open.record(SENT)).toBe(open.current);
  await open.record(verified);
  await open.record({ type: 'accepted' });

  const { flow } = open.current;
  const by = expect.stringMatching(/^[0-9a-f]{8}$/);
  expect(linesOf(flow)).toEqual([
    {
      at: '2026-11-21T10:00:01.000Z',
      n: 1,
      by,
      event: { type: 'created', flow, transactionId: 't1', commits: 'on execute', order: transferOrder() },
    },
    { at: '2026-11-21T10:00:02.000Z', n: 2, by, event: SENT },
    { at: '2026-11-21T10:00:03.000Z', n: 3, by, event: verified },
    { at: '2026-11-21T10:00:04.000Z', n: 4, by, event: { type: 'accepted' } },
  ]);
  expect(await openJournal('sandbox').find('transfer', flow)).toEqual(open.current);
  expect(open.current).toMatchObject({
    state: 'verified',
    accepted: true,
    createdAt: '2026-11-21T10:00:01.000Z',
    updatedAt: '2026-11-21T10:00:04.000Z',
  });
});

it('only the owner can read the journal, and psd2 refuses one that others can read or write to, also in a list', async () => {
  const { flow } = (await begunTransfer(journal)).current;
  expect(statSync(pathOf(flow)).mode & 0o777).toBe(0o600);
  for (let path = folder.flows('sandbox'); path.startsWith(folder.root); path = dirname(path))
    expect(statSync(path).mode & 0o777).toBe(0o700);

  chmodSync(pathOf(flow), 0o644);
  const hint = `Run: chmod 600 ${pathOf(flow)}`;
  await expect(journal.find('transfer', flow)).rejects.toMatchObject({
    ...{ code: 'config', message: `${pathOf(flow)} can be read by others (mode 0644)`, hint },
  });
  chmodSync(pathOf(flow), 0o666);
  const onDamaged = () => expect.unreachable('a list does not skip it');
  await expect(allOf(journal, 'transfer', { onDamaged })).rejects.toMatchObject({ code: 'config', hint });
});

describe('finding one of many flows', () => {
  const damage = (flow: string) => writeFileSync(pathOf(flow), 'garbage');
  const begin = (transactionId: string, reference: string | null = null) =>
    begun(journal, 'transfer', {
      transactionId,
      commits: 'on execute',
      order: { ...transferOrder(), reference },
    });

  it('an id, its prefix and a resource id open only the file that they name', async () => {
    const open = await begin('t1');
    await open.record(verified);
    const other = await begin('t2');
    await other.record({ ...verified, resourceId: 'other' });
    // Reading this file would be an error.
    chmodSync(pathOf(other.current.flow), 0o644);
    const { flow } = open.current;
    for (const reference of [flow, flow.slice(0, -1), verified.resourceId, '3f2b']) {
      expect((await journal.find('transfer', reference)).flow).toBe(flow);
    }
  });

  it('flows are listed in the order of their creation, even if the clock was set back', async () => {
    const first = (await begin('t1')).current.flow;
    clock -= 86_400_000;
    const second = (await begin('t2')).current.flow;
    clock += 3_600_000;
    const third = (await begin('t3')).current.flow;
    expect((await allOf(journal, 'transfer')).map(({ flow }) => flow)).toEqual([third, second, first]);
    expect((await journal.find('transfer', second)).createdAt).toBe('2026-11-20T10:00:02.000Z');
  });

  it('a list since a time reads no flow that was created earlier', async () => {
    const first = (await begin('t1')).current.flow;
    clock += 3_600_000;
    const second = (await begin('t2')).current.flow;
    damage(first);
    const since = new Date(clock - 60_000);
    expect((await allOf(journal, 'transfer', { since })).map(({ flow }) => flow)).toEqual([second]);
  });
});

it('a flow whose file was removed does not come back without its beginning', async () => {
  const open = await begunTransfer(journal);
  rmSync(pathOf(open.current.flow));
  await expect(open.record({ type: 'cancelled' })).rejects.toMatchObject({ code: 'config' });
  expect(open.current.state).toBe('created');
  await expect(open.reread()).rejects.toThrow(`The file of ${open.current.flow} is gone`);
  expect(await allOf(journal, 'transfer')).toEqual([]);
});

const AT = /"at":"[^"]*"/;
it.each<[string, number, (line: string, first?: string) => string | undefined]>([
  ['the second line holds an unknown event', 2, (line) => line.replace('verify-sent', 'verify-seen')],
  ['the second line lacks a field', 2, (line) => line.replace('"requestId":"q1",', '')],
  ['the second line has no time', 2, (line) => line.replace(AT, '"at":"__proto__"')],
  [
    'the second line has a time that does not exist',
    2,
    (line) => line.replace(AT, '"at":"2026-02-31T00:00:00Z"'),
  ],
  ['the second line is empty', 2, () => ''],
  ['the second line is the first one again', 2, (_, first) => first],
  ['the second line is overwritten with zeros', 2, (line) => '\0'.repeat(line.length)],
  ['the first line is empty', 1, () => ''],
  ['the first line is missing', 1, () => undefined],
])('a journal is refused if %s', async (_, number, damage) => {
  const open = await begunTransfer(journal);
  await open.record(SENT);
  await open.record(verified);
  const path = pathOf(open.current.flow);
  const lines = readFileSync(path, 'utf8').split('\n');
  const damaged = lines.flatMap((line, index) =>
    index === number - 1 ? (damage(line, lines[0]) ?? []) : line,
  );
  writeFileSync(path, damaged.join('\n'));
  await expect(journal.find('transfer', open.current.flow)).rejects.toMatchObject({
    code: 'config',
    message: `The journal ${path} is damaged at line ${number}`,
  });
});

describe('a process that is stopped in the middle of a write', () => {
  /** A transfer for which two processes write the second event, and the other one writes it first. */
  async function overtakenInWriting() {
    const open = await begunTransfer(journal);
    const { flow } = open.current;
    const other = await opened(openJournal('sandbox'), 'transfer', flow);
    // The other process writes after the first has checked the file, and before the first writes its line.
    once('appendFileSync', (append) => {
      void other.record(SENT);
      return append();
    });
    return { open, other, flow };
  }

  it("a process learns after its write that another's line came first, and its own line does not count", async () => {
    const { open, other, flow } = await overtakenInWriting();
    await expect(open.record({ type: 'cancelled' })).rejects.toMatchObject(OVERTAKEN);
    expect(linesOf(flow)).toHaveLength(3);
    expect(await openJournal('sandbox').find('transfer', flow)).toEqual(other.current);
    expect((await other.record(verified)).state).toBe('verified');
    expect(await openJournal('sandbox').find('transfer', flow)).toEqual(other.current);
  });

  it('two processes are told apart even if both write the same event at the same time', async () => {
    const { open, flow } = await overtakenInWriting();
    clock -= 1000;
    await expect(open.record(SENT)).rejects.toMatchObject(OVERTAKEN);
    const [, first, second] = linesOf(flow);
    expect(second).toMatchObject({ n: 2, event: { type: 'verify-sent' } });
    expect(second).not.toEqual(first);
  });

  it('a process has lost if another has already continued from its line', async () => {
    const open = await begunTransfer(journal);
    const { flow } = open.current;
    const other = await opened(openJournal('sandbox'), 'transfer', flow);
    let written: Promise<unknown> | undefined;
    once('fsyncSync', (sync) => {
      sync();
      void other.reread();
      written = other.record(verified);
    });
    await expect(open.record(SENT)).rejects.toMatchObject(OVERTAKEN);
    await written;
    expect((await openJournal('sandbox').find('transfer', flow)).state).toBe('verified');
  });

  it('a process continues if another was killed in the middle of a line after its own', async () => {
    const open = await begunTransfer(journal);
    const { flow } = open.current;
    once('fsyncSync', (sync) => {
      sync();
      appendFileSync(pathOf(flow), '{"at":"2026-11-21T10:00:0');
    });
    await open.record(SENT);
    await open.record(verified);
    expect(await openJournal('sandbox').find('transfer', flow)).toEqual(open.current);
    expect(open.current.state).toBe('verified');
  });

  it('a process has lost if a line that seemed cut short by a crash is completed', async () => {
    const { flow } = (await begunTransfer(journal)).current;
    const at = '2026-11-21T10:00:02.000Z';
    const line = JSON.stringify({ at, n: 2, by: 'x', event: { type: 'cancelled' } });
    appendFileSync(pathOf(flow), line.slice(0, 20));
    const open = await opened(openJournal('sandbox'), 'transfer', flow);
    appendFileSync(pathOf(flow), `${line.slice(20)}\n`);
    await expect(open.assertOurs()).rejects.toMatchObject(OVERTAKEN);
    await expect(open.record(SENT)).rejects.toMatchObject(OVERTAKEN);
    expect(linesOf(flow)).toHaveLength(2);
  });
});

it('psd2 does not write through a link that has replaced the file', async () => {
  const open = await begunTransfer(journal);
  const path = pathOf(open.current.flow);
  const elsewhere = join(temporary, 'elsewhere.ndjson');
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
  const before = readFileSync(elsewhere, 'utf8');
  await expect(open.record({ type: 'cancelled' })).rejects.toMatchObject({ code: 'config' });
  await expect(open.assertOurs()).rejects.toMatchObject({ code: 'config' });
  expect(readFileSync(elsewhere, 'utf8')).toBe(before);
});
