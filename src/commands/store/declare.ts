import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareStore(store: Command, run: Run): void {
  store.addHelpText(
    'after',
    `
The store holds tokens, flows, references and synced data. By default it is the configuration folder. With
PSD2_STORE=postgres://user@host:5432/database it is a PostgreSQL database that workers on many machines share.
psd2 profile set <profile> --store sets it for a profile.
${examples('psd2 store init --roles', 'psd2 store status', 'psd2 store copy --from files --to postgres')}`,
  );

  store
    .command('init')
    .description('create the tables of psd2 in the database, or update older ones')
    .option('--dry-run', 'print the SQL and change nothing')
    .option('--roles', 'also create the roles psd2_worker (no DDL) and psd2_reader (no tokens)')
    .option(
      '--plain-tokens',
      'let machines with PSD2_STORE_PLAIN_TOKENS=1 store tokens in clear text: anyone who can read the database can use them',
    )
    .option('--keyring', 'store the passphrase of the tokens in the keyring of this machine')
    .option('--no-keyring', 'remove the passphrase from the keyring of this machine')
    .addHelpText(
      'after',
      `
psd2 does everything in one transaction, and one command at a time. This needs the rights of the database's owner, as
psd2 store copy does. All other commands work with the role psd2_worker.

psd2 encrypts tokens with a passphrase. It is in PSD2_CONFIG_PASSPHRASE or, with --keyring, in the keyring of this
machine. --keyring takes the passphrase from PSD2_CONFIG_PASSPHRASE, or asks you for it. If the database already has
tokens, the passphrase must open them. If the tables are up to date, the role psd2_worker is enough.
${examples('psd2 store init --roles', 'psd2 store init --dry-run', 'psd2 store init --keyring')}`,
    )
    .action(({ dryRun = false, roles = false, plainTokens = false, keyring }) =>
      run(async (context) =>
        (await import('./init.ts')).storeInit(context, { dryRun, roles, plainTokens, keyring }),
      ),
    );

  store
    .command('copy')
    .description('copy the store from files to PostgreSQL or back, and compare both sides')
    .requiredOption('--from <home>', 'home to copy: files, a folder, postgres, or an address')
    .requiredOption('--to <home>', 'destination: files, a folder, postgres, or an address')
    .addHelpText(
      'after',
      `
Name a home with one of these:
  files                                 the configuration folder
  /srv/psd2                             another configuration folder
  postgres                              the database of PSD2_STORE, or of the profile's setting
  postgres://user@host:5432/database    a database; set its password in PGPASSWORD or PGPASSFILE, not here

psd2 copies tokens, flows with their events, references, counts and notes. It encrypts the tokens for the new home.
Profiles, certificates and keys stay on their machine. The next psd2 sync fetches synced data again.

During the copy, no worker can use either home: psd2 waits for the workers that are busy, and refuses new ones. After
that, workers can use the new home. The old one stays unchanged and refuses workers. If the copy is interrupted, run
the same command again: it continues. To go back, copy in the other direction.
A database needs its tables (psd2 store init), and the copy needs the rights of its owner.
${examples('psd2 store copy --from files --to postgres', 'psd2 store copy --from postgres --to files')}`,
    )
    .action((options) => run(async (context) => (await import('./copy.ts')).storeCopy(context, options)));

  store
    .command('status')
    .description('show where the store is, how much it holds, and which workers use it')
    .addHelpText('after', examples('psd2 store status', "psd2 store status --json --query 'claims[].worker'"))
    .action(() => run(async (context) => (await import('./status.ts')).storeStatus(context)));
}
