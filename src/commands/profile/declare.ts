import { type Command, Option } from '@commander-js/extra-typings';
import { collect, examples, type Run } from '../declare.ts';
import { UNSETTABLE, withSettingOptions } from './settings/setting-options.ts';

export function declareProfile(profile: Command, run: Run): void {
  profile.addHelpText('after', examples('psd2 profile list', 'psd2 profile use mybank'));
  declareAdd(profile, run);
  declareChanges(profile, run);
  declareListAndShow(profile, run);
  declareUse(profile, run);
  declareProtection(profile, run);
  declareRemove(profile, run);
}

function declareAdd(profile: Command, run: Run): void {
  withSettingOptions(
    profile
      .command('add')
      .argument('[name]')
      .description('store the settings of a bank; psd2 takes missing ones from the environment or asks you'),
  )
    .option('--reference', 'store the paths of certificates and keys instead of their contents')
    .option('--protect', 'encrypt the stored profile from the start: see psd2 profile protect')
    .addHelpText(
      'after',
      `
Without options, psd2 asks you for every setting. A secret is never the value of an option, because the list of
processes would show it.

Example:
  $ psd2 profile add mybank --base-url https://psd2.bank.example/api \\
      --client-id 3f6c... --client-secret-file secret.txt --app-name my-app \\
      --qwac-cert qwac.pem --qwac-key qwac.key --qseal-cert qseal.pem --qseal-key qseal.key`,
    )
    .action((name, options) =>
      run(async (context) =>
        (await import('./add.ts')).profileAdd(context, name, {
          ...options,
          reference: options.reference === true,
          protect: options.protect === true,
        }),
      ),
    );
}

function declareChanges(profile: Command, run: Run): void {
  withSettingOptions(
    profile.command('set').argument('<profile>').description('change some settings of a stored profile'),
  )
    .option('--client-secret-env', 'read the client secret from PSD2_CLIENT_SECRET')
    .option('--cc-client-secret-env', 'read the client secret from PSD2_CC_CLIENT_SECRET')
    .addOption(
      new Option('--unset <setting>', 'remove a setting, named like its option; may be repeated')
        .choices(UNSETTABLE)
        .argParser(collect)
        .default<string[]>([]),
    )
    .option('--reference', 'store the paths of certificates and keys instead of their contents')
    .option(
      '--store <store>',
      'store that the profile uses on this machine: files, or postgres://user@host:5432/database',
    )
    .addHelpText(
      'after',
      `
psd2 checks the settings as psd2 profile add does. It stores all of them or none.

Set --store in a command of its own. It also takes the profile env, whose settings come from the environment. psd2 asks
first if payments stay behind in the present store. Set the password of a database in PGPASSWORD or PGPASSFILE, not here.
${examples(
  'psd2 profile set mybank --max-amount 500.00',
  'psd2 profile set mybank --qwac-cert qwac-2027.pem --qwac-key qwac-2027.key',
  'psd2 profile set mybank --client-secret-file secret.txt --unset payee-check',
  'psd2 profile set mybank --store postgres://worker@db.example:5432/bank',
)}`,
    )
    .action((name, options) =>
      run(async (context) =>
        (await import('./set.ts')).profileSet(context, name, {
          ...options,
          clientSecretEnv: options.clientSecretEnv === true,
          ccClientSecretEnv: options.ccClientSecretEnv === true,
          reference: options.reference === true,
        }),
      ),
    );

  profile
    .command('edit')
    .argument('[profile]')
    .description('ask you for every setting of a profile, with the present values as defaults; secrets stay')
    .option('--reference', 'store the paths of new certificates and keys instead of their contents')
    .addHelpText('after', examples('psd2 profile edit', 'psd2 profile edit mybank'))
    .action((name, { reference }) =>
      run(async (context) =>
        (await import('./edit.ts')).profileEdit(context, name, { reference: reference === true }),
      ),
    );
}

function declareListAndShow(profile: Command, run: Run): void {
  profile
    .command('list')
    .description('list the stored profiles')
    .addHelpText('after', examples('psd2 profile list'))
    .action(() => run(async (context) => (await import('./list.ts')).profileList(context)));

  profile
    .command('show')
    .argument('[profile]')
    .description('show the settings of a profile and where each comes from, without secrets')
    .addHelpText('after', examples('psd2 profile show', 'psd2 profile show mybank'))
    .action((name) => run(async (context) => (await import('./show.ts')).profileShow(context, name)));
}

function declareUse(profile: Command, run: Run): void {
  profile
    .command('use')
    .argument('<profile>')
    .description('choose the profile that psd2 uses without --profile')
    .addHelpText('after', examples('psd2 profile use mybank'))
    .action((name) => run(async (context) => (await import('./use.ts')).profileUse(context, name)));
}

function declareProtection(profile: Command, run: Run): void {
  profile
    .command('protect')
    .argument('[profile]')
    .description('encrypt the stored tokens, secrets and keys of a profile, now and from now on')
    .option('--keyring', "keep the key in the system's keyring; the default if no passphrase is set")
    .option('--passphrase', 'derive the key from a passphrase: from PSD2_CONFIG_PASSPHRASE, or psd2 asks you')
    .option('--passphrase-stdin', 'read the passphrase, or a new one, from standard input')
    .addHelpText(
      'after',
      `
Commands that use the profile get the key from the keyring or from PSD2_CONFIG_PASSPHRASE, or ask you for the passphrase.
${examples('psd2 profile protect mybank', 'psd2 profile protect mybank --passphrase')}`,
    )
    .action((name, { keyring, passphrase, passphraseStdin }) =>
      run(async (context) =>
        (await import('./protect.ts')).profileProtect(context, name, {
          keyring: keyring === true,
          passphrase: passphrase === true,
          passphraseStdin: passphraseStdin === true,
        }),
      ),
    );

  profile
    .command('unprotect')
    .argument('[profile]')
    .description('store a protected profile without encryption again')
    .addHelpText('after', examples('psd2 profile unprotect mybank'))
    .action((name) =>
      run(async (context) => (await import('./unprotect.ts')).profileUnprotect(context, name)),
    );
}

function declareRemove(profile: Command, run: Run): void {
  profile
    .command('remove')
    .argument('<profile>')
    .description('remove a profile with its certificates and tokens; the journals of its payments stay')
    .addHelpText(
      'after',
      `
psd2 refuses while another psd2 works on one of the profile's flows, and while a payment is authorised but not executed,
or has an unknown outcome: psd2 transfer resume <flow> ends such a payment. It also refuses if a journal is damaged,
because the journal may belong to such a payment. It names other unfinished flows; their journals stay.`,
    )
    .addHelpText('after', examples('psd2 profile remove mybank'))
    .action((name) => run(async (context) => (await import('./remove.ts')).profileRemove(context, name)));
}
