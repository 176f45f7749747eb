import { defineConfig } from 'vitest/config';

// One thread that stays alive, in which warm-worker.js runs the tests for test/mutation/run.js. They need no build.
export default defineConfig({
  test: {
    // Vitest needs a file to start with. It is not loaded.
    include: ['test/mutation/warm-worker.js'],
    globalSetup: [
      'test/support/run-folder.ts',
      'test/sandbox/shared-registration.ts',
      'test/store/postgres/shared-server.ts',
    ],
    runner: './test/mutation/warm-worker.js',
    pool: 'threads',
    maxWorkers: 1,
    isolate: false,
    snapshotSerializers: ['test/support/compact-snapshots.ts'],
    // Without the shared server, the tests of the other backend would start one for each mutant.
    provide: { backend: process.env.MUTATION_ROOM?.startsWith('postgres') ? 'PostgreSQL' : 'files' },
    // On a busy machine, a copy takes half a minute. warm-worker.js has limits of its own for each test with a mutant.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
