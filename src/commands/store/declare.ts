import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareStore(store: Command, run: Run): void {
  store.addHelpText(
    'after',
    `
The store holds tokens, flows, references and what a sync has read. It is the configuration folder, or, with
PSD2_STORE=postgres://user@host:5432/database, a PostgreSQL that workers on many machines share.
${examples('psd2 store init --roles', 'psd2 store status')}`,
  );

  store
    .command('init')
    .description('make the tables of psd2 in the database, or bring older ones up to date')
    .option('--dry-run', 'print the SQL and change nothing')
    .option('--roles', 'also make the roles psd2_worker (no DDL) and psd2_reader (no tokens)')
    .option('--plain-tokens', 'keep tokens in clear text: whoever reads the database can use them')
    .addHelpText(
      'after',
      `
All of it is one transaction, and only one command makes it at a time. It needs the rights of the owner; all other
commands work with the role psd2_worker.
${examples('psd2 store init --roles', 'psd2 store init --dry-run')}`,
    )
    .action(({ dryRun = false, roles = false, plainTokens = false }) =>
      run(async (context) => (await import('./init.ts')).storeInit(context, { dryRun, roles, plainTokens })),
    );

  store
    .command('status')
    .description('show where the store is, how much it holds, and which workers are at work')
    .addHelpText('after', examples('psd2 store status', "psd2 store status --json --query 'claims[].worker'"))
    .action(() => run(async (context) => (await import('./status.ts')).storeStatus(context)));
}
