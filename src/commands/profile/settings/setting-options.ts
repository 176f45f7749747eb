import { type Command, Option } from '@commander-js/extra-typings';
import type { TppCertificateEncoding } from '../../../certificates/key-pair.ts';
import type { BankEnvironment, ProfileSettings } from '../../../store/machine/profiles.ts';

/** The options of `psd2 profile add` that set settings, as typed. */
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

/** Adds the options that set settings. A secret is never the value of an option. */
export function withSettingOptions<Args extends unknown[]>(command: Command<Args>) {
  return command
    .option('--base-url <url>', 'base URL of the interface, https://host[:port][/prefix] (PSD2_BASE_URL)')
    .option('--client-id <id>', 'client id of the authorization_code application (PSD2_CLIENT_ID)')
    .option('--client-secret-stdin', 'read the client secret from standard input')
    .option('--client-secret-file <file>', 'read the client secret from a file (or PSD2_CLIENT_SECRET)')
    .option('--app-name <name>', "application name: the signature's keyId (PSD2_APP_NAME)")
    .option('--cc-client-id <id>', 'client id of the client_credentials application (PSD2_CC_CLIENT_ID)')
    .option(
      '--cc-client-secret-file <file>',
      'read the secret of the client_credentials application from a file (or PSD2_CC_CLIENT_SECRET)',
    )
    .option('--cc-app-name <name>', 'name of the client_credentials application (PSD2_CC_APP_NAME)')
    .option(
      '--cc-daily-limit <n>',
      'calls a day with client credentials; psd2 warns before they run out (PSD2_CC_DAILY_LIMIT)',
    )
    .option('--qwac-cert <file>', 'QWAC for mutual TLS, PEM or PKCS#12 (PSD2_QWAC_CERT)')
    .option('--qwac-key <file>', 'key of the QWAC, PEM; not needed with PKCS#12 (PSD2_QWAC_KEY)')
    .option(
      '--qseal-cert <file>',
      'QSealC for signatures, PEM or PKCS#12; without it the QWAC signs (PSD2_QSEAL_CERT)',
    )
    .option('--qseal-key <file>', 'key of the QSealC, PEM; not needed with PKCS#12 (PSD2_QSEAL_KEY)')
    .option('--signer <command>', "command that signs instead of the QSealC's key (PSD2_SIGNER)")
    .option('--payee-check <command>', 'command that checks the payee of a transfer (PSD2_PAYEE_CHECK)')
    .option('--max-amount <decimal>', 'largest amount of a transfer (PSD2_MAX_AMOUNT)')
    .addOption(
      new Option(
        '--environment <name>',
        'whether real money moves; in production, psd2 marks every question (PSD2_ENVIRONMENT)',
      ).choices(['production', 'sandbox'] as const),
    )
    .option(
      '--ca <file>',
      "PEM file of the CAs to trust for the bank's certificate; default: the system's (PSD2_CA)",
    )
    .option(
      '--bank-signing-cert <file>',
      'PEM file of the certificate that signs the responses (PSD2_BANK_SIGNING_CERT)',
    )
    .option(
      '--redirect-uri <uri>',
      'redirect URI; default: http://127.0.0.1:8910/callback (PSD2_REDIRECT_URI)',
    )
    .addOption(
      new Option(
        '--tpp-certificate <encoding>',
        'how the TPP-Certificate header carries the certificate',
      ).choices(['der-base64', 'pem-urlencoded', 'none'] as const),
    );
}

/** The option of `psd2 profile add` for each setting. `profile set --unset` names a setting by it. */
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

/** A profile cannot work without these. */
const NEEDED = ['baseUrl', 'clientId', 'clientSecret', 'applicationName', 'qwacCertificate'] as const;

/** An optional setting of a profile. */
export type Removable = Exclude<keyof ProfileSettings, (typeof NEEDED)[number]>;

export function isRemovable(setting: string): setting is Removable {
  return setting in SETTING_OPTIONS && !NEEDED.some((key) => key === setting);
}

/** The settings that `--unset` can remove, by the names of their options. */
export const UNSETTABLE: readonly string[] = Object.entries(SETTING_OPTIONS)
  .filter(([setting]) => isRemovable(setting))
  .map(([, option]) => option);
