import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { cleanEnvironment } from './test/support/clean-environment.ts';

cleanEnvironment();

// What a test file needs decides its project, and its name or folder says it.
const PROGRAMS = 'test/**/*.programs.test.ts';
const POSTGRES = ['test/store/postgres/**/*.test.ts', 'test/store/**/*.programs.test.ts'];
const CONTRACT = 'test/store/contract/**/*.test.ts';
const END_TO_END = ['test/e2e/**/*.test.ts', 'test/scenarios/program.test.ts'];
const LONG = ['test/{crash,hostile,fuzz}/**/*.test.ts', 'test/**/*.long.test.ts'];

// The first one makes the temporary folder of the run.
const REGISTRATION = ['test/support/run-folder.ts', 'test/sandbox/shared-registration.ts'];
const INSTALLED = [
  'test/support/run-folder.ts',
  'test/support/programs.ts',
  'test/sandbox/shared-registration.ts',
];
const MINUTE_MS = 60_000;
// A limit for what hangs. On a busy machine, the start of a bank with a login has taken more than two minutes.
const PROGRAMS_MS = 5 * MINUTE_MS;

// The kinds of tests that take long take a sample. The workers inherit the seed that chooses it.
process.env.TEST_SEED ??= String(randomInt(1_000_000_000));
// It reads the seed when it is loaded.
const { someFiles } = await import('./test/support/sample.ts');
// `npm test` takes some of the long files. `npx vitest run <file>` finds all of them.
const takesAll = process.env.TEST_SAMPLE === undefined || process.env.TEST_ALL !== undefined;
const LONG_OF_RUN = takesAll ? LONG : someFiles('test');

/** The rows of test/scenarios in memory take a minute, and their file is short: Vitest would begin with it last. */
class RowsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const isRows = ({ moduleId }: TestSpecification) => moduleId.endsWith('/scenarios/memory.test.ts');
    const sorted = await super.sort(files);
    return [...sorted.filter(isRows), ...sorted.filter((file) => !isRows(file))];
  }
}

export default defineConfig({
  test: {
    // Tests wait: for another process, a poll or a disk.
    maxWorkers: 4 * availableParallelism(),
    // One process runs many test files, and imports what they share once. A file must undo its changes to the process.
    isolate: false,
    // The projects, and later runs, read the same files as JavaScript. It finds them by their path and content.
    experimental: { fsModuleCache: true },
    // The end of a run waits for the processes of the tests.
    teardownTimeout: MINUTE_MS,
    sequence: { sequencer: RowsFirst },
    // A test that expects nothing proves nothing.
    expect: { requireAssertions: true },
    setupFiles: [
      'test/support/before-midnight.ts',
      'test/support/own-environment.ts',
      'test/support/scrypt-once.js',
    ],
    snapshotSerializers: ['test/support/compact-snapshots.ts', 'test/support/no-own-paths.ts'],
    projects: [
      {
        extends: true,
        test: {
          // What runs in the process of the test, or in other processes of Node.js. Nothing is built or installed for it.
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [PROGRAMS, ...POSTGRES, ...END_TO_END, ...LONG],
          provide: { backend: 'files' },
          globalSetup: REGISTRATION,
          // These tests use the processor more than they wait. They run after the others.
          maxWorkers: 2 * availableParallelism(),
          sequence: { groupOrder: 1 },
          // What one process keeps of hundreds of files makes the collection of young objects slow, so it comes more rarely.
          execArgv: ['--max-semi-space-size=32'],
          testTimeout: 2 * MINUTE_MS,
          hookTimeout: 2 * MINUTE_MS,
        },
      },
      {
        extends: true,
        test: {
          // What needs another program: Chromium, a shell, a validator.
          name: 'programs',
          include: [PROGRAMS],
          exclude: POSTGRES,
          globalSetup: INSTALLED,
          testTimeout: 2 * MINUTE_MS,
          hookTimeout: 2 * MINUTE_MS,
        },
      },
      {
        extends: true,
        test: {
          // What needs PostgreSQL alone. The contract of the store runs here for it.
          name: 'postgres',
          include: [...POSTGRES, CONTRACT],
          provide: { backend: 'PostgreSQL' },
          globalSetup: [
            ...REGISTRATION,
            'test/store/postgres/install.ts',
            'test/store/postgres/shared-server.ts',
          ],
          testTimeout: 2 * MINUTE_MS,
          hookTimeout: 2 * MINUTE_MS,
        },
      },
      {
        extends: true,
        test: {
          // The built psd2 with the sandbox, as its operator runs it.
          name: 'e2e',
          include: END_TO_END,
          exclude: LONG,
          globalSetup: INSTALLED,
          testTimeout: PROGRAMS_MS,
          hookTimeout: PROGRAMS_MS,
        },
      },
      {
        extends: true,
        test: {
          // The same, and more of it: something goes wrong at every moment, many customers, all pages. npm test takes a sample.
          name: 'long',
          include: LONG_OF_RUN,
          globalSetup: [...INSTALLED, 'test/support/announce-seed.ts'],
          testTimeout: PROGRAMS_MS,
          hookTimeout: PROGRAMS_MS,
        },
      },
    ],
  },
});
