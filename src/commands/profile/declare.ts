import { type Command, Option } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareProfile(profile: Command, run: Run): void {
  profile.addHelpText('after', examples('psd2 profile list', 'psd2 profile use mybank'));

  profile
    .command('add')
    .argument('[name]')
    .description(
      'store the settings of a bank; what is not given is taken from the environment or asked for, all of it without options',
    )
    .option('--base-url <url>', 'https://host[:port][/prefix] (PSD2_BASE_URL)')
    .option('--client-id <id>', 'of the authorization_code application (PSD2_CLIENT_ID)')
    .option('--client-secret-stdin', 'read its secret from standard input')
    .option('--client-secret-file <file>', 'read its secret from a file (or PSD2_CLIENT_SECRET)')
    .option('--app-name <name>', "its application name: the signature's keyId (PSD2_APP_NAME)")
    .option('--cc-client-id <id>', 'of the client_credentials application (PSD2_CC_CLIENT_ID)')
    .option('--cc-client-secret-file <file>', 'read its secret from a file (or PSD2_CC_CLIENT_SECRET)')
    .option('--cc-app-name <name>', 'its application name (PSD2_CC_APP_NAME)')
    .option(
      '--cc-daily-limit <n>',
      'warn when this many calls with client credentials draw near (PSD2_CC_DAILY_LIMIT)',
    )
    .option('--qwac-cert <file>', 'PEM or PKCS#12, for mutual TLS (PSD2_QWAC_CERT)')
    .option('--qwac-key <file>', 'PEM; not needed with PKCS#12 (PSD2_QWAC_KEY)')
    .option('--qseal-cert <file>', 'PEM or PKCS#12, for signatures; else the QWAC signs (PSD2_QSEAL_CERT)')
    .option('--qseal-key <file>', 'PEM; not needed with PKCS#12 (PSD2_QSEAL_KEY)')
    .option('--signer <command>', "a command that signs in place of the QSealC's key (PSD2_SIGNER)")
    .option('--payee-check <command>', 'a command that checks the payee of a transfer (PSD2_PAYEE_CHECK)')
    .option('--max-amount <decimal>', 'refuse transfers of more than this (PSD2_MAX_AMOUNT)')
    .addOption(
      new Option(
        '--environment <name>',
        'whether real money moves; production is marked in every question (PSD2_ENVIRONMENT)',
      ).choices(['production', 'sandbox'] as const),
    )
    .option('--ca <file>', "PEM, what the bank's certificate must chain to; default: the system's (PSD2_CA)")
    .option('--bank-signing-cert <file>', 'PEM, of signed responses (PSD2_BANK_SIGNING_CERT)')
    .option('--redirect-uri <uri>', 'default: http://127.0.0.1:8910/callback (PSD2_REDIRECT_URI)')
    .addOption(
      new Option(
        '--tpp-certificate <encoding>',
        'how the TPP-Certificate header carries the certificate',
      ).choices(['der-base64', 'pem-urlencoded', 'none'] as const),
    )
    .option('--reference', 'store the paths of certificates and keys instead of their contents')
    .option('--protect', 'encrypt what is stored from the start: see psd2 profile protect')
    .addHelpText(
      'after',
      `
A secret is never an option's value: it would be seen in the list of processes.

Example:
  $ psd2 profile add mybank --base-url https://psd2.bank.example/api \\
      --client-id 3f6c... --client-secret-file secret.txt --app-name my-app \\
      --qwac-cert qwac.pem --qwac-key qwac.key --qseal-cert qseal.pem --qseal-key qseal.key`,
    )
    .action((name, options) =>
      run(async (context) =>
        (await import('./add.ts')).profileAdd(context, name, {
          ...options,
          clientSecretStdin: options.clientSecretStdin === true,
          reference: options.reference === true,
          protect: options.protect === true,
        }),
      ),
    );

  profile
    .command('list')
    .description('list the stored profiles')
    .addHelpText('after', examples('psd2 profile list'))
    .action(() => run(async (context) => (await import('./profile.ts')).profileList(context)));

  profile
    .command('show')
    .argument('[profile]')
    .description('show the settings of a profile and where each comes from; never a secret')
    .addHelpText('after', examples('psd2 profile show', 'psd2 profile show mybank'))
    .action((name) => run(async (context) => (await import('./profile.ts')).profileShow(context, name)));

  profile
    .command('use')
    .argument('<profile>')
    .description('choose the profile that is used without --profile')
    .addHelpText('after', examples('psd2 profile use mybank'))
    .action((name) => run(async (context) => (await import('./profile.ts')).profileUse(context, name)));

  profile
    .command('protect')
    .argument('[profile]')
    .description('encrypt the tokens, secrets and keys that are stored of a profile, now and from now on')
    .option('--keyring', "keep the key in the system's keyring; the default where no passphrase is set")
    .option('--passphrase', 'take the key from a passphrase: PSD2_CONFIG_PASSPHRASE, or asked for')
    .option('--passphrase-stdin', 'read the passphrase, or a new one, from standard input')
    .addHelpText(
      'after',
      `
Commands that use the profile get the key from the keyring, from PSD2_CONFIG_PASSPHRASE, or ask for the passphrase.
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
    .description('write what is stored of a profile in clear again')
    .addHelpText('after', examples('psd2 profile unprotect mybank'))
    .action((name) => run(async (context) => (await import('./protect.ts')).profileUnprotect(context, name)));

  profile
    .command('remove')
    .argument('<profile>')
    .description('remove a profile with its certificates and tokens; the record of its payments stays')
    .addHelpText(
      'after',
      `
It is refused while another psd2 works on one of the profile's flows, and while a payment is authorised and
not executed, or its outcome is not known: psd2 transfer resume <flow> ends that. It is refused too when a
journal is damaged, since that may be of such a payment. Flows that were begun and left are named, and their
journals stay.`,
    )
    .addHelpText('after', examples('psd2 profile remove mybank'))
    .action((name) => run(async (context) => (await import('./profile.ts')).profileRemove(context, name)));
}
