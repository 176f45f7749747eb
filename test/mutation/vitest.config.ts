import { defineConfig } from 'vitest/config';

// The tests of one room, chosen by test/mutation/run.js. They run in one process and need nothing that is built.
export default defineConfig({
  test: {
    include: (process.env.MUTATION_TESTS ?? '').split(',').filter(Boolean),
    testTimeout: 20_000,
    isolate: false,
  },
});
