import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { openStream } from '../terminal/stream.ts';

const folder = temporaryFolder();
const STREAMS = ['stdout', 'stderr'] as const;
const described = STREAMS.map((name) => Object.getOwnPropertyDescriptor(process, name) ?? {});
const exit = vi.fn<(code?: string | number | null) => never>();
let count = 0;

beforeEach(() => {
  count += 1;
  exit.mockReset();
  vi.spyOn(process, 'exit').mockImplementation(exit);
  onTestFinished(() => {
    STREAMS.forEach((name, index) => {
      Object.defineProperty(process, name, described[index] ?? {});
    });
    vi.doUnmock('node:fs');
    vi.restoreAllMocks();
    vi.resetModules();
  });
});

const place = (name: string) => join(folder, `${name}-${count}`);

/** Opens a file of this test for reading and writing, until the test ends. */
function openPlace(path: string, flags: string | number = 'a+'): number {
  const descriptor = fs.openSync(path, flags);
  onTestFinished(() => fs.closeSync(descriptor));
  return descriptor;
}

/**
 * A process whose descriptors 1 and 2 are the given ones, and whose streams are stand-ins: terminals or not.
 *
 * @param kind what the descriptors seem to be, if not what they are
 */
async function processWith({
  descriptor,
  terminal = 'no terminal',
  kind,
}: {
  descriptor: number;
  terminal?: Parameters<typeof openStream>[0];
  kind?: fs.Stats;
}) {
  vi.resetModules();
  const real = await vi.importActual<typeof fs>('node:fs');
  vi.doMock('node:fs', () => ({
    ...real,
    fstatSync: (one: number) =>
      one === 1 || one === 2 ? (kind ?? real.fstatSync(descriptor)) : real.fstatSync(one),
    writeSync: (one: number, bytes: Uint8Array) => real.writeSync(one === 1 ? descriptor : one, bytes),
    openSync: (path: string, flags: number) => {
      const opened = real.openSync(path.replace('/proc/self/fd/1', `/proc/self/fd/${descriptor}`), flags);
      onTestFinished(() => real.closeSync(opened));
      return opened;
    },
  }));
  const stand = openStream(terminal);
  let opened = 0;
  for (const name of STREAMS)
    Object.defineProperty(process, name, {
      configurable: true,
      get: () => {
        opened += 1;
        return stand.stream;
      },
    });
  const printing = await import('../../src/cli/print-at-once.ts');
  return { ...printing, ...stand, opened: () => opened };
}

/** A process whose output goes into a new file, whatever it seems to be. */
async function processWithFile(kind?: fs.Stats) {
  const file = place('file');
  const at = await processWith({ descriptor: openPlace(file), ...(kind && { kind }) });
  return { ...at, file, kept: () => fs.readFileSync(file, 'utf8') };
}

describe('output into a file', () => {
  it('is written at once, and the stream of stdout is never opened', async () => {
    const { printAtOnce, stdoutAtOnce, opened, columnsOfStdout, kept } = await processWithFile();
    printAtOnce('Hello\n');
    stdoutAtOnce.write('wörld\n');
    stdoutAtOnce.write(Buffer.from('bytes\n'));
    stdoutAtOnce.write('');
    const { isTTY, columns, rows } = stdoutAtOnce;
    expect([isTTY, columns, rows, columnsOfStdout()]).toEqual([false, undefined, undefined, undefined]);
    expect(kept()).toBe('Hello\nwörld\nbytes\n');
    // However much it is.
    for (let index = 0; index < 40; index += 1) stdoutAtOnce.write('x'.repeat(10_000));
    expect([kept().slice(18), opened()]).toEqual(['x'.repeat(400_000), 0]);
  });

  it('that cannot be written goes to the stream, which says why, and so does all that follows', async () => {
    const { stdoutAtOnce, printAtOnce, written } = await processWith({
      descriptor: openPlace('/dev/full', 'w'),
    });
    stdoutAtOnce.write('one\n');
    printAtOnce('two\n');
    expect(written()).toBe('one\ntwo\n');
  });
});

it('output into nothing needs no stream, and nothing is no terminal', async () => {
  const descriptor = openPlace('/dev/null', 'w');
  const at = await processWith({ descriptor, terminal: { columns: 40 } });
  at.stdoutAtOnce.write('gone');
  at.printAtOnce('gone');
  expect([at.stdoutAtOnce.isTTY, at.isTerminalOnStdout(), at.isTerminalOnStderr()]).toEqual([
    ...[false, false, false],
  ]);
  expect([at.stdoutAtOnce.rows, at.columnsOfStdout(), at.opened()]).toEqual([undefined, undefined, 0]);
});

describe('a device that is not /dev/null', () => {
  it('may be a terminal, and then it has a width and a height', async () => {
    const at = await processWith({ descriptor: openPlace('/dev/zero', 'w'), terminal: { columns: 40 } });
    expect([at.isTerminalOnStdout(), at.isTerminalOnStderr(), at.stdoutAtOnce.isTTY]).toEqual([
      ...[true, true, true],
    ]);
    expect([at.stdoutAtOnce.columns, at.columnsOfStdout(), at.stdoutAtOnce.rows]).toEqual([40, 40, 24]);
    const before = at.opened();
    at.stdoutAtOnce.write('seen');
    expect([at.opened(), at.written()]).toEqual([before, '']);
  });

  it('is no terminal if Node.js says so', async () => {
    const at = await processWith({ descriptor: openPlace('/dev/zero', 'w') });
    expect([at.isTerminalOnStdout(), at.isTerminalOnStderr(), at.stdoutAtOnce.isTTY]).toEqual([
      ...[true, false, false],
    ]);
  });
});

describe('output into a pipe', () => {
  /** A pipe with a reader. @returns what the reader has found */
  function pipe() {
    const path = place('pipe');
    execFileSync('mkfifo', [path]);
    const reader = openPlace(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    // As a shell gives it: a write waits while the pipe is full.
    const writer = openPlace(path, fs.constants.O_WRONLY);
    const read = () => {
      const bytes = Buffer.alloc(200_000);
      return bytes.toString('utf8', 0, fs.readSync(reader, bytes));
    };
    return { writer, read };
  }

  it('is written at once while the pipe takes it', async () => {
    const { writer, read } = pipe();
    const { stdoutAtOnce, written, opened } = await processWith({ descriptor: writer });
    for (let index = 0; index < 20; index += 1) stdoutAtOnce.write('text\n');
    expect([read(), written(), opened()]).toEqual(['text\n'.repeat(20), '', 0]);
  });

  it('goes to the stream once the pipe is full, with what the pipe did not take, and so does all that follows', async () => {
    const { writer, read } = pipe();
    const { stdoutAtOnce, written } = await processWith({ descriptor: writer });
    const long = Array.from({ length: 30_000 }, (_, index) => `line ${index}\n`).join('');
    stdoutAtOnce.write(long);
    const taken = read();
    expect(taken.length).toBeGreaterThan(0);
    // The pipe has room again.
    stdoutAtOnce.write('more\n');
    expect(taken + written()).toBe(`${long}more\n`);
    expect(written().length).toBeGreaterThan(5);
  });

  it.each([
    ['of another system than Linux', 'darwin'],
    ['whose second descriptor cannot be opened', 'linux'],
  ] as const)('%s goes to the stream', async (_, platform) => {
    const { writer, read } = pipe();
    vi.spyOn(process, 'platform', 'get').mockReturnValue(platform);
    const stats = fs.fstatSync(writer);
    const descriptor = platform === 'linux' ? 4_000 : writer;
    const { stdoutAtOnce, written } = await processWith({ descriptor, kind: stats });
    stdoutAtOnce.write('text');
    expect(written()).toBe('text');
    expect(read).toThrow('EAGAIN');
  });
});

describe('output into a socket', () => {
  async function socket(): Promise<fs.Stats> {
    const path = place('socket');
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    await vi.waitFor(() => expect(fs.existsSync(path)).toBe(true), { timeout: 20_000, interval: 1 });
    return fs.statSync(path);
  }

  it('is written at once while an empty socket would take it for certain', async () => {
    const { stdoutAtOnce, written, kept } = await processWithFile(await socket());
    // A short text takes more of it than its length.
    for (let index = 0; index < 15; index += 1) stdoutAtOnce.write('x');
    stdoutAtOnce.write('y'.repeat(4_096));
    expect([kept(), written()]).toEqual([`${'x'.repeat(15)}${'y'.repeat(4_096)}`, '']);
    stdoutAtOnce.write('z');
    stdoutAtOnce.write('z');
    expect([kept().length, written()]).toEqual([15 + 4_096, 'zz']);
  });

  it('goes to the stream if it is longer, and on another system than Linux', async () => {
    const kind = await socket();
    const long = await processWithFile(kind);
    long.stdoutAtOnce.write('x'.repeat(65_537));
    expect([long.written().length, long.kept()]).toEqual([65_537, '']);
    vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    const elsewhere = await processWithFile(kind);
    elsewhere.stdoutAtOnce.write('x');
    expect([elsewhere.written(), elsewhere.kept()]).toEqual(['x', '']);
  });
});

it('what is neither of these goes to the stream', async () => {
  const { stdoutAtOnce, written, kept } = await processWithFile(fs.statSync(folder));
  stdoutAtOnce.write('x');
  expect([written(), kept()]).toEqual(['x', '']);
});

it('a stream whose output is lost ends the process, however often psd2 wrote to it', async () => {
  const at = await processWith({ descriptor: openPlace('/dev/full', 'w') });
  at.printAtOnce('one');
  at.printAtOnce('two');
  expect(at.stream.listenerCount('error')).toBe(1);
  at.stream.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }));
  await vi.waitFor(() => expect(exit).toHaveBeenCalled(), { timeout: 20_000, interval: 1 });
});
