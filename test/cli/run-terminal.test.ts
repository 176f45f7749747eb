import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Context } from '../../src/commands/context.ts';
import { object, text } from '../../src/terminal/output/fields.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { useCommands } from './in-process.ts';

// Other test files load these modules too, so they are reloaded.
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
/** The terminal of the tests, in which psd2 writes to stdout. */
const at = vi.hoisted(() => ({ isTTY: true, isOnStderr: true, printed: '' }));
vi.mock('../../src/cli/print-at-once.ts', () => ({
  stdoutAtOnce: {
    get isTTY() {
      return at.isTTY;
    },
    columns: 80,
    rows: 5,
    write: (text: string | Uint8Array) => {
      at.printed += Buffer.from(text).toString('latin1');
    },
  },
  isTerminalOnStderr: () => at.isOnStderr,
}));

const { run, said } = useCommands();
const folder = temporaryFolder();
let count = 0;
beforeEach(() => {
  count += 1;
  Object.assign(at, { isTTY: true, isOnStderr: true, printed: '' });
  for (const name of ['PSD2_PAGER', 'PAGER', 'FORCE_COLOR', 'NO_COLOR']) vi.stubEnv(name, undefined);
  vi.stubEnv('TERM', 'xterm');
});
const place = (name: string) => join(folder, `${name}-${count}`);

describe('who reads along', () => {
  it.each([
    ['a person at a terminal', {}, {}, true],
    ['a person whose messages go elsewhere', { isOnStderr: false }, {}, false],
    ['the reader of a pipe', { isTTY: false }, {}, false],
    ['a program at a terminal', {}, { json: true } as const, false],
    ['a program at a terminal', {}, { output: 'csv' }, false],
  ])('%s, with %j and %j', async (_, terminal, options, isForPerson) => {
    Object.assign(at, terminal);
    let seen: Partial<Context> = {};
    await run(async ({ isForPerson: isPerson, stdoutIsTerminal, stdoutColumns }) => {
      seen = { isForPerson: isPerson, stdoutIsTerminal, stdoutColumns };
    }, options);
    expect(seen).toEqual({ isForPerson, stdoutIsTerminal: at.isTTY, stdoutColumns: 80 });
  });

  it('a person at a terminal reads warnings as sentences, also beside data for a program', async () => {
    await run(async ({ terminal }) => terminal.warn('Look'), { json: true });
    expect(said()).toContain('Look');
    expect(said()).not.toContain('{');
  });
});

const bytes = Buffer.from('a\u001b[2Jb\nü\n');
it.each([
  ['at a terminal they have no control characters', true, 'a�[2Jb\nü\n'],
  ['in a pipe they are as they came', false, bytes.toString('utf8')],
])('bytes: %s', async (_, isTTY, printed) => {
  at.isTTY = isTTY;
  await run(async ({ printBytes }) => printBytes(bytes));
  expect(Buffer.from(at.printed, 'latin1').toString('utf8')).toBe(printed);
});

const show = (options: object = {}) =>
  run(
    async ({ output }) =>
      output.record({ state: 'settled' }, object({ state: text().as('State', { kind: 'state' }) })),
    options,
  );

it.each([
  ['have colours at a terminal', {}, {}, true],
  ['have none without', { isTTY: false }, {}, false],
  ['have none with --no-color', {}, { color: false }, false],
  ['have none for a program', {}, { output: 'csv' }, false],
])('the states in a table: %s', async (_, terminal, options, isPainted) => {
  Object.assign(at, terminal);
  const chalk = (await import('chalk')).default;
  const { level } = chalk;
  chalk.level = 1;
  onTestFinished(() => {
    chalk.level = level;
  });
  await show(options);
  expect(at.printed).toContain(isPainted ? '\u001b[32msettled\u001b[39m' : 'settled');
  expect(at.printed.includes('\u001b[')).toBe(isPainted);
});

describe('the pager', () => {
  const LINES = Array.from({ length: 9 }, (_, index) => ({ line: `line ${index}` }));
  const COLUMNS = object({ line: text().as('Line') });
  const list = (rows = LINES) => run(({ output }) => output.table(rows, COLUMNS, 'Nothing'));

  it.each(['PSD2_PAGER', 'PAGER'])('of %s shows a list that is longer than the terminal', async (name) => {
    const file = place('shown');
    vi.stubEnv(name, `sh -c 'cat > ${file}'`);
    await list();
    expect(readFileSync(file, 'utf8').split('\n').slice(1)).toEqual([...LINES.map(({ line }) => line), '']);
    expect([at.printed, said()]).toEqual(['', '']);
  });

  it.each([
    ['the pager is turned off', '', true],
    ['stdout is no terminal', undefined, false],
  ])('shows nothing if %s', async (_, own, isTTY) => {
    at.isTTY = isTTY;
    vi.stubEnv('PSD2_PAGER', own);
    vi.stubEnv('PAGER', '/nowhere/pager');
    await list();
    expect(at.printed).toContain('line 8');
    expect(said()).toBe('');
  });

  it('that cannot be started is named, and the list is printed', async () => {
    vi.stubEnv('PAGER', '/nowhere/pager -S');
    await list();
    expect(at.printed).toContain('line 8');
    expect(said()).toBe('The pager /nowhere/pager could not be started.\n');
  });

  it('that cannot be read is a configuration error', async () => {
    vi.stubEnv('PAGER', 'less "');
    await list();
    expect(process.exitCode).toBe(3);
    expect(said()).toContain('A quote is not closed in PSD2_PAGER or PAGER');
  });

  it('gets Ctrl-C for itself, until it has ended', async () => {
    const [file, go] = [place('shown'), place('go')];
    vi.stubEnv('PAGER', `sh -c 'cat > ${file}; while [ ! -e ${go} ]; do sleep 0.01; done'`);
    await run(async ({ output, world }) => {
      const paging = output.table(LINES, COLUMNS, 'Nothing');
      await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 5_000, interval: 2 });
      process.emit('SIGINT', 'SIGINT');
      expect(world.signal.aborted).toBe(false);
      writeFileSync(go, '');
      await paging;
      process.emit('SIGINT', 'SIGINT');
      expect(world.signal.aborted).toBe(true);
    });
  });
});

describe('stdin', () => {
  const described = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  function useStdin(stdin: Readable): void {
    Object.defineProperty(process, 'stdin', { configurable: true, value: stdin });
    onTestFinished(() => {
      Object.defineProperty(process, 'stdin', described);
    });
  }

  it('is read to its end', async () => {
    useStdin(Readable.from(['one\n', 'two\n']));
    let read = '';
    await run(async ({ readStdin }) => {
      read = await readStdin();
    });
    expect(read).toBe('one\ntwo\n');
  });

  it('is no longer waited for after Ctrl-C', async () => {
    useStdin(new Readable({ read: () => {} }));
    await run(async ({ readStdin }) => {
      const reading = readStdin();
      setImmediate(() => process.emit('SIGINT', 'SIGINT'));
      await reading;
    });
    expect([said(), process.exitCode]).toEqual(['psd2: Interrupted.\n', 130]);
  });

  it('that cannot be read says why', async () => {
    useStdin(
      new Readable({
        read() {
          this.destroy(new RangeError('broken'));
        },
      }),
    );
    await run(async ({ readStdin }) => void (await readStdin()));
    expect(said()).toContain('RangeError: broken');
    expect(process.exitCode).toBe(1);
  });
});

it.each([
  [undefined, 3],
  ['inquiry' as const, 3],
  // `psd2 doctor` reports it itself.
  ['diagnosis' as const, undefined],
])(
  'a configuration folder that others may change stops a command of the kind %s with %s',
  async (kind, code) => {
    const { root } = newConfigFolder(folder);
    mkdirSync(root, { recursive: true });
    chmodSync(root, 0o777);
    vi.stubEnv('PSD2_CONFIG_DIR', root);
    const command = vi.fn<() => Promise<void>>(async () => {});
    await run(command, {}, kind);
    expect(process.exitCode).toBe(code);
    expect(command).toHaveBeenCalledTimes(code === undefined ? 1 : 0);
  },
);
