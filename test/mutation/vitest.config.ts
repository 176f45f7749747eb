import { defineConfig } from 'vitest/config';

// One thread that stays, in which warm-worker.js runs the tests of test/mutation/run.js. They need nothing that is built.
export default defineConfig({
  test: {
    // Vitest wants a file to start with. It is not loaded.
    include: ['test/mutation/warm-worker.js'],
    runner: './test/mutation/warm-worker.js',
    pool: 'threads',
    maxWorkers: 1,
    isolate: false,
    // A server of its own would have to run for each mutant.
    testNamePattern: /^(?!.*a home in PostgreSQL)/,
    testTimeout: 20_000,
    hookTimeout: 5_000,
  },
});
