import type { Noun } from '../declare.ts';

/** `psd2 sync`: keeps a local copy of what the bank has. */
export const sync: Noun = {
  standard: 'run',
  declare: (command) =>
    command.addHelpText(
      'after',
      `
\`psd2 sync --out ...\` is \`psd2 sync run --out ...\`.

Examples:
  $ psd2 sync --out ~/banking
  $ psd2 sync --all-customers --every 6h      with a store in PostgreSQL
  $ psd2 sync status`,
    ),
  commands: {
    run: {
      description: 'bring a local copy of accounts, balances and transactions up to date',
      load: async () => (await import('./run.ts')).run,
    },
    status: {
      description: 'show the progress of a sync of all customers',
      load: async () => (await import('./status.ts')).status,
    },
  },
};
