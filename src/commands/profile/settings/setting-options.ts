import { type Command, Option } from '@commander-js/extra-typings';
import type { TppCertificateEncoding } from '../../../certificates/key-pair.ts';
import type { BankEnvironment, ProfileSettings } from '../../../store/machine/profiles.ts';

/** The options of `psd2 profile add` that say settings, as they were given. */
export interface SettingOptions {
  baseUrl?: string | undefined;
  clientId?: string | undefined;
  clientSecretFile?: string | undefined;
  clientSecretStdin?: true | undefined;
  appName?: string | undefined;
  ccClientId?: string | undefined;
  ccClientSecretFile?: string | undefined;
  ccAppName?: string | undefined;
  qwacCert?: string | undefined;
  qwacKey?: string | undefined;
  qsealCert?: string | undefined;
  qsealKey?: string | undefined;
  ca?: string | undefined;
  bankSigningCert?: string | undefined;
  ccDailyLimit?: string | undefined;
  redirectUri?: string | undefined;
  tppCertificate?: TppCertificateEncoding | undefined;
  signer?: string | undefined;
  payeeCheck?: string | undefined;
  environment?: BankEnvironment | undefined;
  maxAmount?: string | undefined;
}

/** Adds the options that say settings; a secret is never one's value. */
export function withSettingOptions<Args extends unknown[]>(command: Command<Args>) {
  return command
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
    );
}

/** The option of `psd2 profile add` that says each setting, as `profile set --unset` names it. */
export const SETTING_OPTIONS: Readonly<Record<keyof ProfileSettings, string>> = {
  baseUrl: 'base-url',
  clientId: 'client-id',
  clientSecret: 'client-secret',
  applicationName: 'app-name',
  ccClientId: 'cc-client-id',
  ccClientSecret: 'cc-client-secret',
  ccApplicationName: 'cc-app-name',
  ccDailyLimit: 'cc-daily-limit',
  qwacCertificate: 'qwac-cert',
  qwacKey: 'qwac-key',
  qsealCertificate: 'qseal-cert',
  qsealKey: 'qseal-key',
  signer: 'signer',
  payeeCheck: 'payee-check',
  maxAmount: 'max-amount',
  environment: 'environment',
  ca: 'ca',
  bankSigningCertificate: 'bank-signing-cert',
  redirectUri: 'redirect-uri',
  tppCertificate: 'tpp-certificate',
};

/** Without these a profile is of no use. */
const NEEDED = ['baseUrl', 'clientId', 'clientSecret', 'applicationName', 'qwacCertificate'] as const;

/** A setting that a profile need not have. */
export type Removable = Exclude<keyof ProfileSettings, (typeof NEEDED)[number]>;

export function isRemovable(setting: string): setting is Removable {
  return setting in SETTING_OPTIONS && !NEEDED.some((key) => key === setting);
}

/** How `--unset` names what can be removed. */
export const UNSETTABLE: readonly string[] = Object.entries(SETTING_OPTIONS)
  .filter(([setting]) => isRemovable(setting))
  .map(([, option]) => option);
