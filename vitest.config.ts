import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const SET_UP = ['test/e2e/global-setup.ts', 'test/sandbox/shared-registration.ts'];

export default defineConfig({
  test: {
    // Most tests wait: for another process, a poll or a disk.
    maxWorkers: 3 * availableParallelism(),
    // One process runs many test files, and imports what they share once. A file must undo its changes to the process.
    isolate: false,
    setupFiles: 'test/before-midnight.ts',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/crash/**', 'test/hostile/**', 'test/fuzz/**'],
          // Some of these tests open the customer's pages in a browser.
          globalSetup: SET_UP,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/{e2e,crash,hostile,fuzz}/**/*.test.ts'],
          globalSetup: SET_UP,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
