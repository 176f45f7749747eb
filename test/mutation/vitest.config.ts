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
    // Without the shared server, these tests would start one for each mutant.
    testNamePattern: process.env.MUTATION_ROOM === 'postgres' ? /(?:)/ : /^(?!.*a backend in PostgreSQL)/,
    testTimeout: 20_000,
    hookTimeout: 5_000,
  },
});
