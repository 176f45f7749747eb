import type { Noun } from '../declare.ts';

/** `psd2 batch`: many payments from a file. */
export const batch: Noun = {
  commands: {
    check: {
      description: 'check a file of payments, without a call; exit code 2 if something is wrong',
      load: async () => (await import('./check.ts')).check,
    },
  },
};
