import fs, { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod/mini';
import {
  appendToFlowFile,
  assertNotOvertaken,
  createFlowFile,
  type KnownFile,
  readFirstEvent,
  readFlowFile,
} from '../../src/store/files/flows/file.ts';
import { temporaryFolder } from './temporary-folder.ts';

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
/** A flow is the names of its events. `last` can follow nothing but another event, and nothing follows it. */
function fold(types: string[] | undefined, { type }: { type: string }): string[] {
  if (types?.at(-1) === 'last') throw new TypeError('nothing follows');
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

/** How the next read of a file goes. */
function nextRead(...work: Parameters<ReturnType<typeof spyOnRead>['mockImplementationOnce']>): void {
  spyOnRead().mockImplementationOnce(...work);
  syncBuiltinESMExports();
  onTestFinished(restore);
}

const spyOnRead = () => vi.spyOn(fs, 'readSync');

function restore(): void {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
}

describe('the file of a flow is damaged', () => {
  it('where there is nothing in it', () => {
    writeFileSync(path, '', { mode: 0o600 });
    expect(read).toThrow(damagedAt(1));
  });

  it('where a line cannot follow the one before it, and why is kept', () => {
    twoEvents();
    appendFileSync(path, line('last', 3) + line('more', 4));
    expect(read).toThrow(damagedAt(4));
    expect(read).toThrow(expect.objectContaining({ cause: new TypeError('nothing follows') }));
  });

  it('where a line is JSON and no event, and not only cut short', () => {
    twoEvents();
    appendFileSync(path, `{"at":"${AT}"}\n`);
    expect(read).toThrow(damagedAt(3));
  });

  it('where a line has a character too few, and why is kept', () => {
    twoEvents();
    appendFileSync(path, line('third', 3).replace('"by"', '"by'));
    expect(read).toThrow(damagedAt(3));
    expect(read).toThrow(expect.objectContaining({ cause: expect.any(SyntaxError) }));
  });

  it('where somebody appends what is no event while a process works on it', () => {
    const known = twoEvents();
    appendFileSync(path, '{"event":1}\n');
    expect(() => assertNotOvertaken(path, known)).toThrow(damagedAt(3));
    expect(() => appendToFlowFile(path, known, event('third'))).toThrow(damagedAt(3));
  });

  it('where less can be read of it than there was', () => {
    const known = twoEvents();
    appendFileSync(path, line('third', 3));
    nextRead(() => 0);
    expect(() => assertNotOvertaken(path, known)).toThrow(damagedAt(3));
  });
});

it('a time may have any offset, as that of a journal which was mended by hand', () => {
  writeFileSync(path, line('first', 1).replace(AT, '2026-11-21T11:00:00+01:00'), { mode: 0o600 });
  expect(read()?.current).toEqual(['first']);
});

it('what begins a flow is read also where the rest is damaged, and is nothing without a file', () => {
  expect(readFirstEvent(path, schema)).toBeUndefined();
  twoEvents();
  appendFileSync(path, 'garbage\n');
  expect(readFirstEvent(path, schema)).toEqual({ type: 'first' });
  writeFileSync(path, 'garbage\n', { mode: 0o600 });
  expect(() => readFirstEvent(path, schema)).toThrow(damagedAt(1));
});

it('a flow that cannot be written is an error that says what to do', () => {
  path = join(temporary, 'missing', 'tr-1.ndjson');
  expect(() => createFlowFile(path, event('first'))).toThrow(
    expect.objectContaining({
      code: 'config',
      message: expect.stringContaining(`The journal ${path} cannot be written: `),
      hint: 'Check the free space, and who owns the folder. psd2 does nothing that it cannot record first.',
    }),
  );
});

it('who goes on after a line that a crash has cut short leaves no empty line', () => {
  twoEvents();
  appendFileSync(path, line('third', 3).slice(0, 30));
  const { current, ...known } = read() ?? expect.fail('there is a file');
  expect(current).toEqual(['first', 'second']);
  appendToFlowFile(path, appendToFlowFile(path, known, event('third')), event('fourth'));
  expect(read()?.current).toEqual(['first', 'second', 'third', 'fourth']);
  expect(readFileSync(path, 'utf8')).not.toContain('\n\n');
});

it('what is appended is read whole where the disk gives it in pieces', () => {
  const known = twoEvents();
  appendFileSync(path, line('third', 3));
  const { readSync } = fs;
  nextRead((file, bytes) => readSync(file, bytes, { length: 10, position: known.size }));
  expect(() => assertNotOvertaken(path, known)).toThrow(overtaken);
});

it('leaves no file open', () => {
  const known = createFlowFile(path, event('first'));
  const opening = vi.spyOn(fs, 'openSync');
  const closing = vi.spyOn(fs, 'closeSync');
  syncBuiltinESMExports();
  onTestFinished(restore);
  assertNotOvertaken(path, appendToFlowFile(path, known, event('second')));
  const opened = opening.mock.results.map(({ value }) => value);
  expect(opened).toHaveLength(2);
  expect(closing.mock.calls.map(([file]) => file)).toEqual(opened);
});

describe('a process learns that another has gone on with the flow', () => {
  it.each([
    ['also after a line that came too late', line('late', 1) + line('third', 3)],
    ['also before a line that came too late', line('third', 3) + line('late', 1)],
    ['by a line of psd2 0.1, which has no number', line('third')],
    ['by such a line after one that came too late', line('late', 1) + line('third')],
  ])('%s', (_, added) => {
    const known = twoEvents();
    appendFileSync(path, added);
    expect(() => assertNotOvertaken(path, known)).toThrow(overtaken);
    const before = readFileSync(path, 'utf8');
    expect(() => appendToFlowFile(path, known, event('third'))).toThrow(overtaken);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('by a line of psd2 0.1 that follows its own', () => {
    const known = twoEvents();
    const { fsyncSync } = fs;
    vi.spyOn(fs, 'fsyncSync').mockImplementationOnce((file) => {
      fsyncSync(file);
      appendFileSync(path, line('fourth'));
    });
    syncBuiltinESMExports();
    onTestFinished(restore);
    expect(() => appendToFlowFile(path, known, event('third'))).toThrow(overtaken);
    expect(read()?.current).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('and not by a line that came too late', () => {
    const known = twoEvents();
    appendFileSync(path, line('late', 1) + line('late', 2));
    assertNotOvertaken(path, known);
    const further = appendToFlowFile(path, known, event('third'));
    assertNotOvertaken(path, further);
    expect(read()?.current).toEqual(['first', 'second', 'third']);
  });
});
