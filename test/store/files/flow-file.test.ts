import { appendFileSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  appendToFlowFile,
  assertNotOvertaken,
  createFlowFile,
  type KnownFile,
  readFirstEvent,
  readFlowFile,
} from '../../../src/store/files/flows/file.ts';
import { thrownBy } from '../../support/thrown.ts';
import { openBelow } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { once } from '../waiting.ts';

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
/** A flow is the list of its event names. `last` must follow another event, and nothing may follow it. */
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

describe('a damaged file of a flow', () => {
  it('a file of a flow is damaged if it is empty', () => {
    writeFileSync(path, '', { mode: 0o600 });
    expect(read).toThrow(damagedAt(1));
  });

  it.each([
    [
      'cannot follow the one before it',
      line('last', 3) + line('more', 4),
      4,
      { cause: new TypeError('nothing follows') },
    ],
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
