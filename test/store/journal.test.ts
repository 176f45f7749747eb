import fs, {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFlowFile } from '../../src/store/files/flows/file.ts';
import { FileFlows } from '../../src/store/files/flows/flows.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import type { Open } from '../../src/store/ports/flows.ts';
import { transferOrder, VERIFIED } from '../domain/orders.ts';
import { allOf, begun, opened } from './flows.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

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
const intent = { requestId: 'q1', digest: 'SHA-256=x' };
const { customerId, from } = transferOrder();
const transferTarget = { customerId, from };

it('writes an event a line, with its time, and folds them again', async () => {
  const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
  expect(await open.record({ type: 'verify-sent', ...intent })).toBe(open.current);
  await open.record(verified);
  await open.record({ type: 'accepted' });

  const { flow } = open.current;
  const by = expect.stringMatching(/^[0-9a-f]{8}$/);
  expect(linesOf(flow)).toEqual([
    {
      at: '2026-11-21T10:00:01.000Z',
      n: 1,
      by,
      event: { type: 'created', flow, transactionId: 't1', order: transferOrder() },
    },
    { at: '2026-11-21T10:00:02.000Z', n: 2, by, event: { type: 'verify-sent', ...intent } },
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

it('keeps other operations beside them, with their data as it was given', async () => {
  const operation = await begun(journal, 'operation', {
    transactionId: 't3',
    order: { ...transferTarget, operation: 'standingOrder', data: '{"amount":1.50}' },
    furtherData: ['{"b":1}'],
  });
  await operation.record({ ...verified, nextStep: 'verify2' });
  await operation.record({ type: 'further-data', data: ['{"c":2.00}'] });
  await operation.record({ ...verified, type: 'further-verified' });
  const { flow } = operation.current;
  expect(flow).toMatch(/^op-/);
  expect(await allOf(journal, 'operation')).toEqual([operation.current]);
  expect(await journal.find('operation', flow)).toMatchObject({
    kind: 'operation',
    order: { operation: 'standingOrder', data: '{"amount":1.50}' },
    furtherData: ['{"c":2.00}'],
    furtherSteps: 1,
  });
  expect(await allOf(journal, 'transfer')).toEqual([]);
});

it('reads the journals of earlier versions, which know of no further data', async () => {
  const { flow } = (await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() }))
    .current;
  expect(linesOf(flow)).toEqual([
    expect.objectContaining({ event: expect.not.objectContaining({ furtherData: expect.anything() }) }),
  ]);
  expect((await journal.find('transfer', flow)).furtherData).toEqual([]);
});

it('is readable by its owner alone: folders 0700, files 0600', async () => {
  const { flow } = (await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() }))
    .current;
  expect(statSync(pathOf(flow)).mode & 0o777).toBe(0o600);
  for (let path = folder.flows('sandbox'); path.startsWith(folder.root); path = dirname(path)) {
    expect(statSync(path).mode & 0o777).toBe(0o700);
  }
});

it('is refused when others can read it', async () => {
  const { flow } = (await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() }))
    .current;
  chmodSync(pathOf(flow), 0o644);
  await expect(journal.find('transfer', flow)).rejects.toThrow(
    expect.objectContaining({
      code: 'config',
      message: `${pathOf(flow)} can be read by others (mode 0644)`,
      hint: `Run: chmod 600 ${pathOf(flow)}`,
    }),
  );
});

it('is not passed over in a list when others can write to it', async () => {
  const { flow } = (await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() }))
    .current;
  chmodSync(pathOf(flow), 0o666);
  const told: string[] = [];
  const onDamaged = ({ message }: Error) => void told.push(message);
  await expect(allOf(journal, 'transfer', { onDamaged })).rejects.toThrow(
    expect.objectContaining({ code: 'config', hint: `Run: chmod 600 ${pathOf(flow)}` }),
  );
  expect(told).toEqual([]);
});

describe('among many flows', () => {
  const damage = (flow: string) => writeFileSync(pathOf(flow), 'garbage');
  const begin = (transactionId: string, reference: string | null = null) =>
    begun(journal, 'transfer', { transactionId, order: { ...transferOrder(), reference } });

  it('an id, its prefix and a resource id open no file but the one they name', async () => {
    const open = await begin('t1');
    await open.record(verified);
    const other = await begin('t2');
    await other.record({ ...verified, resourceId: 'other' });
    // To read it would be an error.
    chmodSync(pathOf(other.current.flow), 0o644);
    const { flow } = open.current;
    for (const reference of [flow, flow.slice(0, -1), verified.resourceId, '3f2b']) {
      expect((await journal.find('transfer', reference)).flow).toBe(flow);
    }
  });

  it('a resource of flows that the index does not know is found, and known from then on', async () => {
    const open = await begin('t1');
    await open.record(verified);
    const other = await begin('t2');
    await other.record({ ...verified, resourceId: 'other' });
    rmSync(join(folder.flows('sandbox'), 'index'));
    expect(await journal.find('transfer', '3f2b')).toEqual(open.current);
    damage(other.current.flow);
    expect(await journal.find('transfer', '3f2b')).toEqual(open.current);
    await expect(journal.find('transfer', 'none')).rejects.toThrow(
      expect.objectContaining({ code: 'flow_not_found', hint: expect.not.stringContaining('damaged') }),
    );
  });

  it('what a damaged journal may hold is said where nothing is found', async () => {
    const { flow } = (await begin('t1')).current;
    damage(flow);
    await expect(journal.find('transfer', '3f2b')).rejects.toThrow(
      expect.objectContaining({
        code: 'flow_not_found',
        hint: expect.stringContaining(`The journal ${pathOf(flow)} is damaged at line 1`),
      }),
    );
  });

  it('a resource that the index has and the journal has not, as after a crash, is none of the flow', async () => {
    const open = await begin('t1');
    const before = readFileSync(pathOf(open.current.flow));
    await open.record(verified);
    writeFileSync(pathOf(open.current.flow), before);
    await expect(journal.find('transfer', verified.resourceId)).rejects.toThrow(
      expect.objectContaining({ code: 'flow_not_found' }),
    );
  });

  it('a reference is looked for without reading the others', async () => {
    const { flow: other } = (await begin('t1', 'INV-2')).current;
    const { flow: without } = (await begin('t2')).current;
    const { flow } = (await begin('t3', 'INV-1')).current;
    for (const each of [other, without]) damage(each);
    await expect(begin('t4', 'INV-1')).rejects.toMatchObject({
      code: 'duplicate_reference',
      message: `The reference "INV-1" was used by transfer ${flow}, which is created`,
    });
  });

  it('are in the order of their creation, also when the clock was put back', async () => {
    const first = (await begin('t1')).current.flow;
    clock -= 86_400_000;
    const second = (await begin('t2')).current.flow;
    clock += 3_600_000;
    const third = (await begin('t3')).current.flow;
    expect((await allOf(journal, 'transfer')).map(({ flow }) => flow)).toEqual([third, second, first]);
    expect((await journal.find('transfer', second)).createdAt).toBe('2026-11-20T10:00:02.000Z');
  });

  it('none is read that was created before the time that is asked for', async () => {
    const first = (await begin('t1')).current.flow;
    clock += 3_600_000;
    const second = (await begin('t2')).current.flow;
    damage(first);
    const since = new Date(clock - 60_000);
    expect((await allOf(journal, 'transfer', { since })).map(({ flow }) => flow)).toEqual([second]);
  });

  it('one is read that was created at the time that is asked for', async () => {
    const { flow, createdAt } = (await begin('t1')).current;
    const found = await allOf(journal, 'transfer', { since: new Date(createdAt) });
    expect(found.map((each) => each.flow)).toEqual([flow]);
  });
});

it('a flow whose file was removed does not come back without its beginning', async () => {
  const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
  rmSync(pathOf(open.current.flow));
  await expect(open.record({ type: 'cancelled' })).rejects.toThrow(
    expect.objectContaining({ code: 'config' }),
  );
  expect(await allOf(journal, 'transfer')).toEqual([]);
});

describe('a damaged journal', () => {
  const damages: [string, (line: string, first?: string) => string][] = [
    ['is no JSON', () => 'garbage'],
    ['lacks a character inside', (line) => line.replace('"event"', '"event')],
    ['holds an unknown event', (line) => line.replace('verify-sent', 'verify-seen')],
    ['lacks a field', (line) => line.replace('"requestId":"q1",', '')],
    ['has no time', (line) => line.replace(/"at":"[^"]*"/, '"at":"__proto__"')],
    [
      'has a time that no calendar has',
      (line) => line.replace(/"at":"[^"]*"/, '"at":"2026-02-31T00:00:00Z"'),
    ],
    ['is empty', () => ''],
    ['is the first one again', (_, first = '') => first],
    ['is overwritten with zeros', (line) => '\0'.repeat(line.length)],
  ];

  it.each(damages)('is refused when a line in its middle %s', async (_, damage) => {
    const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
    await open.record({ type: 'verify-sent', ...intent });
    await open.record(verified);
    const path = pathOf(open.current.flow);
    const lines = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, lines.map((line, index) => (index === 1 ? damage(line, lines[0]) : line)).join('\n'));
    await expect(journal.find('transfer', open.current.flow)).rejects.toThrow(
      expect.objectContaining({ code: 'config', message: `The journal ${path} is damaged at line 2` }),
    );
  });

  it.each([
    ['is empty', ''],
    ['is missing', undefined],
  ])('is refused when its first line %s', async (_, first) => {
    const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
    await open.record({ type: 'verify-sent', ...intent });
    const path = pathOf(open.current.flow);
    const [, ...others] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, [...(first === undefined ? [] : [first]), ...others].join('\n'));
    await expect(journal.find('transfer', open.current.flow)).rejects.toThrow(
      expect.objectContaining({ code: 'config', message: `The journal ${path} is damaged at line 1` }),
    );
  });
});

it('says so when there is no place for it', async () => {
  const flows = folder.flows('sandbox');
  mkdirSync(dirname(flows), { recursive: true, mode: 0o700 });
  writeFileSync(flows, '');
  await expect(begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() })).rejects.toThrow(
    expect.objectContaining({
      code: 'config',
      message: `The folder ${flows} cannot be made: there is something else of that name`,
    }),
  );
});

it('does not go on with a flow that another process has gone on with', async () => {
  const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
  const { flow } = open.current;
  const other = await opened(openJournal('sandbox'), 'transfer', flow);
  await other.record({ type: 'verify-sent', ...intent });
  const before = readFileSync(pathOf(flow), 'utf8');
  const overtaken = expect.objectContaining({
    code: 'overtaken',
    message: `Another psd2 has continued ${flow} in the meantime`,
    hint: 'This one stops working on it. See its current state:',
    next: [['transfer', 'show', flow]],
  });
  await expect(open.assertOurs()).rejects.toThrow(overtaken);
  await expect(open.record({ type: 'cancelled' })).rejects.toThrow(overtaken);
  expect(open.current.state).toBe('created');
  expect(readFileSync(pathOf(flow), 'utf8')).toBe(before);
  await other.assertOurs();
  expect((await other.record(verified)).state).toBe('verified');
  expect(await open.reread()).toEqual(other.current);
  expect((await open.record({ type: 'cancelled' })).state).toBe('cancelled');
});

describe('a process that was stopped in the middle of a write', () => {
  /** A transfer that one process writes the second event of, while another writes it first. */
  async function overtakenInWriting(more: (other: Open<'transfer'>) => void = () => {}) {
    const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
    const { flow } = open.current;
    const other = await opened(openJournal('sandbox'), 'transfer', flow);
    // What the second process wrote is there before the line of the first, which has looked already.
    beforeNextAppend(() => {
      void other.record({ type: 'verify-sent', ...intent });
      more(other);
    });
    return { open, other, flow };
  }

  /** Runs `work` when the next append is about to be handed to the system, as if the process were stopped there. */
  function beforeNextAppend(work: () => void): void {
    const { appendFileSync: append } = fs;
    vi.spyOn(fs, 'appendFileSync').mockImplementationOnce((file, data) => {
      const bytes = Buffer.from(String(data));
      work();
      append(file, bytes);
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
  }

  it('learns after its write that the line of another came first, and its own holds for nobody', async () => {
    const { open, other, flow } = await overtakenInWriting();
    await expect(open.record({ type: 'cancelled' })).rejects.toThrow(
      expect.objectContaining({ code: 'overtaken' }),
    );
    expect(linesOf(flow)).toHaveLength(3);
    expect(await openJournal('sandbox').find('transfer', flow)).toEqual(other.current);
    expect((await other.record(verified)).state).toBe('verified');
    expect(await openJournal('sandbox').find('transfer', flow)).toEqual(other.current);
  });

  it('is told apart also where both write the same at the same time', async () => {
    const { open, flow } = await overtakenInWriting();
    clock -= 1000;
    await expect(open.record({ type: 'verify-sent', ...intent })).rejects.toThrow(
      expect.objectContaining({ code: 'overtaken' }),
    );
    const [, first, second] = linesOf(flow);
    expect(second).toMatchObject({ n: 2, event: { type: 'verify-sent' } });
    expect(second).not.toEqual(first);
  });

  it('has lost where another has gone further, too', async () => {
    const { open, other, flow } = await overtakenInWriting((another) => void another.record(verified));
    await expect(open.record({ type: 'cancelled' })).rejects.toThrow(
      expect.objectContaining({ code: 'overtaken' }),
    );
    expect((await other.record({ type: 'accepted' })).state).toBe('verified');
    expect(await openJournal('sandbox').find('transfer', flow)).toEqual(other.current);
  });

  /** Runs `work` when the next event is on the disk, before its writer has looked what else is there. */
  function afterNextFsync(work: () => void): void {
    const { fsyncSync: sync } = fs;
    vi.spyOn(fs, 'fsyncSync').mockImplementationOnce((file) => {
      sync(file);
      work();
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
  }

  it('has lost where another has gone on from its own line already', async () => {
    const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
    const { flow } = open.current;
    const other = await opened(openJournal('sandbox'), 'transfer', flow);
    let written: Promise<unknown> | undefined;
    afterNextFsync(() => {
      void other.reread();
      written = other.record(verified);
    });
    await expect(open.record({ type: 'verify-sent', ...intent })).rejects.toThrow(
      expect.objectContaining({ code: 'overtaken' }),
    );
    await written;
    expect((await openJournal('sandbox').find('transfer', flow)).state).toBe('verified');
  });

  it('goes on where another was killed in the middle of a line after its own', async () => {
    const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
    const { flow } = open.current;
    afterNextFsync(() => appendFileSync(pathOf(flow), '{"at":"2026-11-21T10:00:0'));
    await open.record({ type: 'verify-sent', ...intent });
    await open.record(verified);
    expect(await openJournal('sandbox').find('transfer', flow)).toEqual(open.current);
    expect(open.current.state).toBe('verified');
  });

  it('has lost where a line that it took for one cut short by a crash has come to its end', async () => {
    const { flow } = (await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() }))
      .current;
    const line = JSON.stringify({
      at: '2026-11-21T10:00:02.000Z',
      n: 2,
      by: 'x',
      event: { type: 'cancelled' },
    });
    appendFileSync(pathOf(flow), line.slice(0, 20));
    const open = await opened(openJournal('sandbox'), 'transfer', flow);
    appendFileSync(pathOf(flow), `${line.slice(20)}\n`);
    const overtaken = expect.objectContaining({ code: 'overtaken' });
    await expect(open.assertOurs()).rejects.toThrow(overtaken);
    await expect(open.record({ type: 'verify-sent', ...intent })).rejects.toThrow(overtaken);
    expect(linesOf(flow)).toHaveLength(2);
  });

  it('goes on where what another wrote came after its own', async () => {
    const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
    const { flow } = open.current;
    const late = JSON.stringify({
      at: '2026-11-21T10:00:00.000Z',
      n: 1,
      by: 'x',
      event: { type: 'cancelled' },
    });
    await open.record({ type: 'verify-sent', ...intent });
    appendFileSync(pathOf(flow), `${late}\n`);
    await open.assertOurs();
    await open.record(verified);
    expect(await openJournal('sandbox').find('transfer', flow)).toEqual(open.current);
  });
});

it('a line that psd2 0.1 wrote, without a number, is the next one', async () => {
  const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
  const { flow } = open.current;
  const old = JSON.stringify({ at: '2026-11-21T10:00:02.000Z', event: { type: 'verify-sent', ...intent } });
  appendFileSync(pathOf(flow), `${old}\n`);
  await expect(open.record(verified)).rejects.toThrow(expect.objectContaining({ code: 'overtaken' }));
  const again = await opened(openJournal('sandbox'), 'transfer', flow);
  expect((await again.record(verified)).state).toBe('verified');
  expect(linesOf(flow)[2]).toMatchObject({ n: 3 });
});

it('never takes the place of another flow of the same id', async () => {
  const { flow } = (await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() }))
    .current;
  const before = readFileSync(pathOf(flow), 'utf8');
  expect(() => createFlowFile(pathOf(flow), { at: '', by: '', event: {} })).toThrow(
    expect.objectContaining({ code: 'config' }),
  );
  expect(readFileSync(pathOf(flow), 'utf8')).toBe(before);
});

it('a flow whose file has lost what was written is damaged, and nothing is added to it', async () => {
  const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
  const path = pathOf(open.current.flow);
  const beginning = readFileSync(path, 'utf8');
  await open.record({ type: 'verify-sent', ...intent });
  writeFileSync(path, beginning);
  const damaged = expect.objectContaining({
    code: 'config',
    message: `The journal ${path} is damaged at line 3`,
  });
  await expect(open.assertOurs()).rejects.toThrow(damaged);
  await expect(open.record(verified)).rejects.toThrow(damaged);
  expect(readFileSync(path, 'utf8')).toBe(beginning);
});

it('what is written does not follow a link that has taken the place of the file', async () => {
  const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
  const path = pathOf(open.current.flow);
  const elsewhere = join(temporary, 'elsewhere.ndjson');
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
  const before = readFileSync(elsewhere, 'utf8');
  await expect(open.record({ type: 'cancelled' })).rejects.toThrow(
    expect.objectContaining({ code: 'config' }),
  );
  await expect(open.assertOurs()).rejects.toThrow(expect.objectContaining({ code: 'config' }));
  expect(readFileSync(elsewhere, 'utf8')).toBe(before);
});

it('an event that cannot be written has not happened', async () => {
  const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
  const path = pathOf(open.current.flow);
  appendFileSync(path, ' ');
  await expect(open.record(verified)).rejects.toThrow(expect.objectContaining({ code: 'config' }));
  expect(open.current.state).toBe('created');
});

it('a flow whose file is gone cannot be read again', async () => {
  const open = await begun(journal, 'transfer', { transactionId: 't1', order: transferOrder() });
  rmSync(pathOf(open.current.flow));
  await expect(open.reread()).rejects.toThrow(`The file of ${open.current.flow} is gone`);
});
