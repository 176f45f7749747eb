import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Much of it waits: for another process, a poll, a flush to the disk.
    maxWorkers: 2 * availableParallelism(),
    // A process tests file after file, and imports what they share once. What a file changes of its process, it takes back.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/crash/**', 'test/hostile/**', 'test/fuzz/**'],
          // The customer's pages are tested in a browser here too.
          globalSetup: ['test/e2e/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/{e2e,crash,hostile,fuzz}/**/*.test.ts'],
          globalSetup: ['test/e2e/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
