import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareStore(store: Command, run: Run): void {
  store.addHelpText(
    'after',
    `
The store holds tokens, flows, references and what a sync has read. It is the configuration folder, or, with
PSD2_STORE=postgres://user@host:5432/database, a PostgreSQL that workers on many machines share.
${examples('psd2 store init --roles', 'psd2 store status', 'psd2 store copy --from files --to postgres')}`,
  );

  store
    .command('init')
    .description('make the tables of psd2 in the database, or bring older ones up to date')
    .option('--dry-run', 'print the SQL and change nothing')
    .option('--roles', 'also make the roles psd2_worker (no DDL) and psd2_reader (no tokens)')
    .option('--plain-tokens', 'keep tokens in clear text: whoever reads the database can use them')
    .option('--keyring', 'keep the passphrase of the tokens in the keyring of this machine')
    .option('--no-keyring', 'remove the passphrase from the keyring of this machine')
    .addHelpText(
      'after',
      `
All of it is one transaction, and only one command makes it at a time. It needs the rights of the owner; all other
commands work with the role psd2_worker.

psd2 encrypts tokens with a key that needs a passphrase. It is in PSD2_CONFIG_PASSPHRASE, or, with --keyring, in the
keyring of this machine. --keyring takes it from PSD2_CONFIG_PASSPHRASE or asks you for it. If the database has tokens
already, the passphrase must open them. Where the tables are up to date, --keyring and --no-keyring work with the role
psd2_worker too.
${examples('psd2 store init --roles', 'psd2 store init --dry-run', 'psd2 store init --keyring')}`,
    )
    .action(({ dryRun = false, roles = false, plainTokens = false, keyring }) =>
      run(async (context) =>
        (await import('./init.ts')).storeInit(context, { dryRun, roles, plainTokens, keyring }),
      ),
    );

  store
    .command('copy')
    .description('copy everything from files to PostgreSQL or back, and compare both sides')
    .requiredOption('--from <home>', 'what is copied: files, a folder, postgres, or an address')
    .requiredOption('--to <home>', 'where to: files, a folder, postgres, or an address')
    .addHelpText(
      'after',
      `
A home is named by one of these:
  files                                 the configuration folder
  /srv/psd2                             another configuration folder
  postgres                              the database of PSD2_STORE
  postgres://user@host:5432/database    a database; its password is in PGPASSWORD or PGPASSFILE, never here

Tokens, flows with their events, references, counts and notes are copied; profiles, certificates and keys stay on
their machine, and what psd2 sync has read is read again. Tokens are encrypted for the home that they go to.

From its begin on no worker can use either home: one that is at work is waited for, and each that comes is refused.
Then the other home can be used; the first one is as it was, and refuses workers from then on. The copy can be
stopped at any moment: the same command goes on. To go back, copy in the other direction.
A database needs the rights of the owner, and its tables: psd2 store init.
${examples('psd2 store copy --from files --to postgres', 'psd2 store copy --from postgres --to files')}`,
    )
    .action((options) => run(async (context) => (await import('./copy.ts')).storeCopy(context, options)));

  store
    .command('status')
    .description('show where the store is, how much it holds, and which workers are at work')
    .addHelpText('after', examples('psd2 store status', "psd2 store status --json --query 'claims[].worker'"))
    .action(() => run(async (context) => (await import('./status.ts')).storeStatus(context)));
}
