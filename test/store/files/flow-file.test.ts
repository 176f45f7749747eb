import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod/mini';
import {
  appendToFlowFile,
  assertNotOvertaken,
  createFlowFile,
  FlowsUnderWay,
  type KnownFile,
  readFirstEvent,
  readFlowFile,
} from '../../../src/store/files/flows/file.ts';
import { thrownBy } from '../../support/thrown.ts';
import { openBelow } from '../open-files.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace } from '../waiting.ts';

const temporary = temporaryFolder();
const AT = '2026-11-21T10:00:00.000Z';
const DAMAGED_HINT =
  'It is the record of a flow. Restore it from a backup, repair the line by hand, or update psd2 if a newer version wrote it.';
let path: string;
let count = 0;

beforeEach(() => {
  count += 1;
  path = join(temporary, `tr-${count}.ndjson`);
});

const schema = z.object({ type: z.string() });
const NOTHING_FOLLOWS = new TypeError('nothing follows');
/** A flow is the list of its event names. `last` must follow another event, and nothing may follow it. */
function fold(types: string[] | undefined, { type }: { type: string }): string[] {
  if (types?.at(-1) === 'last') throw NOTHING_FOLLOWS;
  return [...(types ?? []), type];
}
const read = () => readFlowFile(path, schema, fold);
const event = (type: string, by = 'me') => ({ at: AT, by, event: { type } });
const line = (type: string, n?: number, by = 'other') =>
  `${JSON.stringify({ at: AT, n, by, event: { type } })}\n`;
const overtaken = expect.objectContaining({ code: 'overtaken' });
const damagedAt = (number: number) =>
  expect.objectContaining({
    code: 'config',
    message: `The journal ${path} is damaged at line ${number}`,
    hint: DAMAGED_HINT,
  });

/** A file with a first and a second event, as its writer knows it. */
function twoEvents(): KnownFile {
  return appendToFlowFile(path, createFlowFile(path, event('first')), event('second'));
}

describe('a damaged file of a flow', () => {
  it('a file of a flow is damaged if it is empty', () => {
    writeFileSync(path, '', { mode: 0o600 });
    expect(read).toThrow(damagedAt(1));
  });

  it.each([
    ['cannot follow the one before it', line('last', 3) + line('more', 4), 4, { cause: NOTHING_FOLLOWS }],
    ['is JSON but not an event', `{"at":"${AT}"}\n`, 3, {}],
    ['lacks a character', line('third', 3).replace('"by"', '"by'), 3, { cause: expect.any(SyntaxError) }],
  ])(
    'a file of a flow is damaged if a line %s, and the error keeps the reason',
    (_what, added, at, reason) => {
      twoEvents();
      appendFileSync(path, added);
      expect(read).toThrow(damagedAt(at));
      expect(thrownBy(read)).toMatchObject(reason);
    },
  );

  it('a file of a flow is damaged if somebody appends something else while a process works on it', () => {
    const known = twoEvents();
    appendFileSync(path, '{"event":1}\n');
    expect(() => assertNotOvertaken(path, known)).toThrow(damagedAt(3));
    expect(() => appendToFlowFile(path, known, event('third'))).toThrow(damagedAt(3));
  });

  it('a file of a flow is damaged if it has become shorter', () => {
    const known = twoEvents();
    appendFileSync(path, line('third', 3));
    once('readSync', () => 0);
    expect(() => assertNotOvertaken(path, known)).toThrow(damagedAt(3));
    writeFileSync(path, line('first', 1));
    expect(() => assertNotOvertaken(path, known)).toThrow(damagedAt(3));
    expect(() => appendToFlowFile(path, known, event('third'))).toThrow(damagedAt(3));
    expect(readFileSync(path, 'utf8')).toBe(line('first', 1));
  });
});

it('a time may have any offset, for a journal that was repaired by hand', () => {
  writeFileSync(path, line('first', 1).replace(AT, '2026-11-21T11:00:00+01:00'), { mode: 0o600 });
  expect(read()?.current).toEqual(['first']);
});

it('the first event of a flow is readable even if the rest is damaged, and undefined without a file', () => {
  expect(readFirstEvent(path, schema)).toBeUndefined();
  twoEvents();
  appendFileSync(path, 'garbage\n');
  expect(readFirstEvent(path, schema)).toEqual({ type: 'first' });
  writeFileSync(path, 'garbage\n', { mode: 0o600 });
  expect(() => readFirstEvent(path, schema)).toThrow(damagedAt(1));
});

it('if a flow cannot be written, the error says what to do', () => {
  path = join(temporary, 'missing', 'tr-1.ndjson');
  expect(thrownBy(() => createFlowFile(path, event('first')))).toMatchObject({
    code: 'config',
    message: expect.stringContaining(`The journal ${path} cannot be written: `),
    hint: 'Check the free space, and who owns the folder. psd2 does nothing that it cannot record first.',
  });
});

it('a process that continues after a line that a crash cut short leaves no empty line', () => {
  twoEvents();
  appendFileSync(path, line('third', 3).slice(0, 30));
  const { current, ...known } = read() ?? expect.fail('there is no file');
  expect(current).toEqual(['first', 'second']);
  appendToFlowFile(path, appendToFlowFile(path, known, event('third')), event('fourth'));
  expect(read()?.current).toEqual(['first', 'second', 'third', 'fourth']);
  expect(readFileSync(path, 'utf8')).not.toContain('\n\n');
});

it('new lines are read completely even if the disk returns them in pieces', () => {
  const known = twoEvents();
  appendFileSync(path, line('third', 3));
  once('readSync', (_read, file, bytes) => readSync(file, bytes, { length: 10, position: known.size }));
  expect(() => assertNotOvertaken(path, known)).toThrow(overtaken);
});

it('psd2 leaves no file of a flow open', () => {
  const known = createFlowFile(path, event('first'));
  assertNotOvertaken(path, appendToFlowFile(path, known, event('second')));
  expect(openBelow(path)).toEqual([]);
  // What is open would be seen.
  const file = openSync(path, 'r');
  expect(openBelow(path)).toEqual([path]);
  closeSync(file);
});

describe('another process has continued the flow', () => {
  it.each([
    ['a newer line after one that came too late', line('late', 1) + line('third', 3)],
    ['a newer line before one that came too late', line('third', 3) + line('late', 1)],
  ])('a process learns that another has continued the flow from %s', (_, added) => {
    const known = twoEvents();
    appendFileSync(path, added);
    expect(() => assertNotOvertaken(path, known)).toThrow(overtaken);
    const before = readFileSync(path, 'utf8');
    expect(() => appendToFlowFile(path, known, event('third'))).toThrow(overtaken);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('a line that came too late does not mean that another process has continued the flow', () => {
    const known = twoEvents();
    appendFileSync(path, line('late', 1) + line('late', 2));
    assertNotOvertaken(path, known);
    const further = appendToFlowFile(path, known, event('third'));
    assertNotOvertaken(path, further);
    expect(read()?.current).toEqual(['first', 'second', 'third']);
  });
});

describe('the flows that are under way', () => {
  // A crashed transfer must be found, and one that another process works on must not be called crashed.

  const NOW = new Date('2026-11-22T12:00:00Z');
  const SECOND = 1_000;
  const DAY = 24 * 60 * 60 * SECOND;
  const FLOW = 'tr-0mi7x7x8x00001';
  let folder: string;
  let flows: FlowsUnderWay;

  beforeEach(() => {
    folder = newConfigFolder(temporary).flows('bank');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    flows = new FlowsUnderWay(folder);
    vi.useFakeTimers({ toFake: ['Date'], now: NOW });
    onTestFinished(() => void vi.useRealTimers());
  });

  const marker = (flow = FLOW) => join(folder, 'open', flow);
  const markers = () => readdirSync(join(folder, 'open'));
  const ago = (milliseconds: number) => new Date(NOW.getTime() - milliseconds);

  /** What a process wrote that was seen last at some time. */
  function worker(pid: number, host: string, seen: Date, flow = FLOW): void {
    mkdirSync(join(folder, 'open'), { recursive: true, mode: 0o700 });
    writeFileSync(marker(flow), `${pid} ${host}`);
    utimesSync(marker(flow), seen, seen);
  }

  it('the marker names the process, for its owner alone', () => {
    flows.begin(FLOW);
    expect(readFileSync(marker(), 'utf8')).toBe(`${process.pid} ${hostname()}`);
    expect(statSync(marker()).mode & 0o777).toBe(0o600);
  });

  it('a process that cannot write the marker says so and does nothing', () => {
    mkdirSync(marker(), { recursive: true, mode: 0o700 });
    expect(thrownBy(() => flows.begin(FLOW))).toMatchObject({
      code: 'config',
      message: `${marker()} cannot be written, so psd2 does nothing: a folder has that name`,
      hint: 'Check the free space, and who owns the folder.',
    });
  });

  it('a flow that ended leaves no marker, even if it never had one', () => {
    flows.begin(FLOW);
    flows.end(FLOW);
    flows.end(FLOW);
    expect(markers()).toEqual([]);
  });

  describe('a flow of which a process has given a sign lately', () => {
    const DEAD = 2 ** 30;

    it.each([
      ['is left behind if the process was on this host and is dead', DEAD, hostname(), [FLOW]],
      ['is at work if the process is alive', process.pid, hostname(), []],
      ['is at work if the process is on another host', DEAD, 'elsewhere', []],
    ])('%s', (_what, pid, host, left) => {
      worker(pid, host, NOW);
      expect(flows.leftBehind()).toEqual(left);
    });

    it('is at work if the process belongs to another user', () => {
      replace(process, 'kill', failing('EPERM'));
      worker(DEAD, hostname(), NOW);
      expect(flows.leftBehind()).toEqual([]);
    });

    it('is at work if what names the process cannot be read', () => {
      mkdirSync(marker(), { recursive: true, mode: 0o700 });
      expect(flows.leftBehind()).toEqual([]);
    });
  });

  describe('a flow of which a process on another host gives a sign', () => {
    it('is left behind when the last sign is more than ten seconds old', () => {
      worker(1, 'elsewhere', ago(10 * SECOND));
      expect(flows.leftBehind()).toEqual([]);
      worker(1, 'elsewhere', ago(10 * SECOND + 1));
      expect(flows.leftBehind()).toEqual([FLOW]);
    });

    it('is at work while its lock is touched', () => {
      worker(1, 'elsewhere', ago(60 * SECOND));
      writeFileSync(join(folder, `${FLOW}.ndjson.lock`), '');
      utimesSync(join(folder, `${FLOW}.ndjson.lock`), NOW, NOW);
      expect(flows.leftBehind()).toEqual([]);
    });

    it('is forgotten after a week', () => {
      worker(1, 'elsewhere', ago(7 * DAY));
      expect(flows.leftBehind()).toEqual([FLOW]);
      worker(1, 'elsewhere', ago(7 * DAY + 1));
      expect(flows.leftBehind()).toEqual([]);
      expect(markers()).toEqual([]);
    });
  });

  describe('a flow that its process leaves', () => {
    it.each([
      ['now', NOW, ago(20 * SECOND)],
      ['an hour ago', ago(60 * 60 * SECOND), ago(60 * 60 * SECOND)],
      ['by a clock that is ahead', new Date(NOW.getTime() + DAY), ago(20 * SECOND)],
    ])('is left behind at once if it last changed %s', (_, since, silent) => {
      flows.begin(FLOW);
      expect(flows.leftBehind()).toEqual([]);
      flows.leave(FLOW, since);
      expect(flows.leftBehind()).toEqual([FLOW]);
      expect(statSync(marker()).mtime).toEqual(silent);
    });

    it('is no longer left behind when its process takes it up again', () => {
      flows.leave(FLOW, NOW);
      flows.begin(FLOW);
      utimesSync(marker(), ago(60 * SECOND), ago(60 * SECOND));
      expect(flows.leftBehind()).toEqual([]);
      expect(new FlowsUnderWay(folder).leftBehind()).toEqual([FLOW]);
    });
  });

  it('flows are named newest first, whatever their kind', () => {
    for (const flow of ['tr-0mi7x7x8x00001', 'co-0mi7x7x8x00003', 'op-0mi7x7x8x00002'])
      worker(1, 'elsewhere', ago(60 * SECOND), flow);
    expect(flows.leftBehind()).toEqual(['co-0mi7x7x8x00003', 'op-0mi7x7x8x00002', 'tr-0mi7x7x8x00001']);
  });
});
