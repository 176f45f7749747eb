// Everything that psd2 knows of each setting. This module imports nothing, because the help of a command needs it too.

export const DEFAULT_REDIRECT_URI = 'http://127.0.0.1:8910/callback';
/** The age from which the data of a customer is stale. */
export const DEFAULT_STALE_AFTER = '2d';
/** How the `TPP-Certificate` header carries the certificate by default. */
export const DEFAULT_TPP_CERTIFICATE = 'der-base64';

/** A setting of a profile. */
export interface SettingRow {
  /**
   * `program`: a command, whose arguments may be secret. `file`: certificates or a key, by their path or their content. `bank`:
   * a bank file, by its path, the name of a platform, or its content in JSON.
   */
  kind: 'text' | 'secret' | 'program' | 'file' | 'choice' | 'bank';
  /** The values of a `choice`. */
  choices?: readonly string[];
  /** The settings that stand beside it in a list. */
  group: string;
  /** `in the file`: psd2 stores no profile without it. `for calls`: a call needs it, but the environment may give it. */
  required?: 'in the file' | 'for calls';
  /** A bank with a bank file does not need it. */
  withoutBankFile?: true;
  /** Its option, without the dashes. A secret is never the value of an option, so it has `-file` and other options. */
  option: string;
  /** The value of the option in the help. */
  value: string;
  /** What the help says of the option, without the variable. */
  help: string;
  /** What the help says of `-stdin`, for the one secret that psd2 can read from standard input. */
  stdin?: string;
  variable: string | null;
  /** The name in messages. */
  label: string;
  /** The question of the wizard. Absent: it does not ask. */
  prompt?: string;
  /** What an empty answer means. Absent: the wizard needs an answer. */
  ifEmpty?: string;
  /** What applies if it is not set, for display. */
  default?: string;
  /** Whether a protected profile encrypts it, as it does each `secret`. `with a key`: only if the file also holds the key. */
  sealed?: true | 'with a key';
}

// biome-ignore format: one row for each setting
const TABLE = {
  bank: { kind: 'bank', group: 'bank', option: 'bank', value: 'file',
    variable: 'PSD2_BANK', label: 'bank file',
    prompt: 'Bank: a bank file, or a platform of psd2 bank list', ifEmpty: 'none, the bank has the step interface: paths begin with /private/customers/',
    help: 'bank file that describes the bank, or a platform of psd2 bank list' },
  baseUrl: { kind: 'text', group: 'application', required: 'in the file', option: 'base-url', value: 'url',
    variable: 'PSD2_BASE_URL', label: 'base URL', prompt: 'Base URL of the bank',
    help: 'base URL of the interface, https://host[:port][/prefix]' },
  clientId: { kind: 'text', group: 'application', required: 'for calls', withoutBankFile: true, option: 'client-id', value: 'id',
    variable: 'PSD2_CLIENT_ID', label: 'client id', prompt: 'Client id',
    help: 'client id of the authorization_code application' },
  clientSecret: { kind: 'secret', group: 'application', required: 'for calls', withoutBankFile: true, option: 'client-secret', value: 'file',
    variable: 'PSD2_CLIENT_SECRET', label: 'client secret', prompt: 'Client secret',
    stdin: 'read the client secret from standard input', help: 'read the client secret from a file' },
  applicationName: { kind: 'text', group: 'application', required: 'for calls', withoutBankFile: true, option: 'app-name', value: 'name',
    variable: 'PSD2_APP_NAME', label: 'application name', prompt: 'Application name (the keyId of signatures)',
    help: "application name: the signature's keyId" },
  ccClientId: { kind: 'text', group: 'client credentials', option: 'cc-client-id', value: 'id',
    variable: 'PSD2_CC_CLIENT_ID', label: 'client id for client credentials', prompt: 'Its client id',
    help: 'client id of the client_credentials application' },
  ccClientSecret: { kind: 'secret', group: 'client credentials', option: 'cc-client-secret', value: 'file',
    variable: 'PSD2_CC_CLIENT_SECRET', label: 'client secret for client credentials', prompt: 'Its client secret',
    help: 'read the secret of the client_credentials application from a file' },
  ccApplicationName: { kind: 'text', group: 'client credentials', option: 'cc-app-name', value: 'name',
    variable: 'PSD2_CC_APP_NAME', label: 'application name for client credentials', prompt: 'Its application name',
    help: 'name of the client_credentials application' },
  qwacCertificate: { kind: 'file', group: 'pairs', required: 'for calls', option: 'qwac-cert', value: 'file',
    variable: 'PSD2_QWAC_CERT', label: 'QWAC certificate', prompt: 'QWAC certificate: a PEM or PKCS#12 file',
    help: 'QWAC for mutual TLS, PEM or PKCS#12', sealed: 'with a key' },
  qwacKey: { kind: 'file', group: 'pairs', option: 'qwac-key', value: 'file',
    variable: 'PSD2_QWAC_KEY', label: 'QWAC key', prompt: 'QWAC key: a PEM file',
    help: 'key of the QWAC, PEM; not needed with PKCS#12', sealed: true },
  qsealCertificate: { kind: 'file', group: 'pairs', option: 'qseal-cert', value: 'file',
    variable: 'PSD2_QSEAL_CERT', label: 'QSealC certificate', prompt: 'QSealC certificate: a PEM or PKCS#12 file',
    help: 'QSealC for signatures, PEM or PKCS#12; without it the QWAC signs', default: 'none: the QWAC signs', sealed: 'with a key' },
  qsealKey: { kind: 'file', group: 'pairs', option: 'qseal-key', value: 'file',
    variable: 'PSD2_QSEAL_KEY', label: 'QSealC key', prompt: 'QSealC key: a PEM file',
    help: 'key of the QSealC, PEM; not needed with PKCS#12', sealed: true },
  ca: { kind: 'file', group: 'trust', option: 'ca', value: 'file',
    variable: 'PSD2_CA', label: 'CA bundle', prompt: "CA bundle of the bank's server", ifEmpty: "the system's",
    help: "PEM file of the CAs to trust for the bank's certificate; default: the system's", default: "the system's" },
  bankSigningCertificate: { kind: 'file', group: 'trust', option: 'bank-signing-cert', value: 'file',
    variable: 'PSD2_BANK_SIGNING_CERT', label: 'bank signing certificate',
    prompt: 'Signing certificate of the bank', ifEmpty: 'psd2 does not check its signatures',
    help: 'PEM file of the certificate that signs the responses' },
  ccDailyLimit: { kind: 'text', group: 'client credentials', option: 'cc-daily-limit', value: 'n',
    variable: 'PSD2_CC_DAILY_LIMIT', label: 'daily limit of calls with client credentials',
    help: 'calls a day with client credentials; psd2 warns before they run out' },
  redirectUri: { kind: 'text', group: 'redirect', option: 'redirect-uri', value: 'uri',
    variable: 'PSD2_REDIRECT_URI', label: 'redirect URI', prompt: 'Redirect URI, as registered at the bank',
    help: `redirect URI; default: ${DEFAULT_REDIRECT_URI}`, default: DEFAULT_REDIRECT_URI },
  // The command may contain the PIN of an HSM.
  signer: { kind: 'program', group: 'signer', option: 'signer', value: 'command', sealed: true,
    variable: 'PSD2_SIGNER', label: 'signer', prompt: 'Command that gets the signing string and prints the signature',
    help: "command that signs instead of the QSealC's key" },
  // Not encrypted: psd2 needs it before it has the key, to decide whether to check the payee.
  payeeCheck: { kind: 'program', group: 'payee', option: 'payee-check', value: 'command',
    variable: 'PSD2_PAYEE_CHECK', label: 'payee check',
    help: 'command that checks the payee of a transfer' },
  // Whether the bank moves real money. `sandbox` is a bank's test interface.
  environment: { kind: 'choice', choices: ['production', 'sandbox'], group: 'environment', option: 'environment', value: 'name',
    variable: 'PSD2_ENVIRONMENT', label: 'environment', prompt: 'Which bank is it?',
    help: 'whether real money moves; in production, psd2 marks every question' },
  // A decimal, as the operator wrote it.
  maxAmount: { kind: 'text', group: 'limit', option: 'max-amount', value: 'decimal',
    variable: 'PSD2_MAX_AMOUNT', label: 'largest amount of a transfer',
    prompt: 'Largest amount of one transfer', ifEmpty: 'no limit',
    help: 'largest amount of a transfer' },
  // People other than the one who added the batch.
  approvals: { kind: 'choice', choices: ['0', '1', '2'], group: 'limit', option: 'approvals', value: 'n',
    variable: 'PSD2_APPROVALS', label: 'approvals of a batch',
    help: 'how many other people must approve a batch; default: 1 in production, else 0', default: '1 in production, else 0' },
  // Whether psd2 takes a customer's credentials where a bank has no other way (docs/embedded.md).
  embedded: { kind: 'choice', choices: ['never', 'ask', 'files'], group: 'limit', option: 'embedded', value: 'how',
    variable: 'PSD2_EMBEDDED', label: 'embedded SCA',
    help: 'whether customers may enter PIN and TAN in psd2, where the bank has no other way: at the terminal (ask), also from files (files, not in production); default: never', default: 'never' },
  staleAfter: { kind: 'text', group: 'limit', option: 'stale-after', value: 'duration',
    variable: 'PSD2_STALE_AFTER', label: 'age from which data is stale',
    help: `age from which psd2 status shows the data of a customer as stale; default: ${DEFAULT_STALE_AFTER}`, default: DEFAULT_STALE_AFTER },
  // Not encrypted, as the payee check.
  notifyLink: { kind: 'program', group: 'payee', option: 'notify-link', value: 'command',
    variable: 'PSD2_NOTIFY_LINK', label: 'link notification',
    help: "command that gets each customer's link of a batch as JSON on its standard input" },
  tppCertificate: { kind: 'choice', choices: ['der-base64', 'pem-urlencoded', 'none'], group: 'header', option: 'tpp-certificate', value: 'encoding',
    variable: null, label: 'encoding of the TPP-Certificate header',
    help: 'how the TPP-Certificate header carries the certificate', default: DEFAULT_TPP_CERTIFICATE },
} as const satisfies Record<string, SettingRow>;

/** The order of the options in the help. */
const OPTION_ORDER: readonly Group[] = [
  'bank',
  'application',
  'client credentials',
  'pairs',
  'signer',
  'payee',
  'limit',
  'environment',
  'trust',
  'redirect',
  'header',
];
/** The order in which psd2 shows the settings of a profile. */
const DISPLAY_ORDER: readonly Group[] = [
  'bank',
  'application',
  'client credentials',
  'environment',
  'redirect',
  'limit',
  'payee',
  'signer',
  'header',
  'pairs',
  'trust',
];

type Table = typeof TABLE;
export type SettingKey = keyof Table;
type Group = Table[SettingKey]['group'];
/** The settings whose rows say this. */
type KeysWith<Facts> = { [Key in SettingKey]: Table[Key] extends Facts ? Key : never }[SettingKey];
export type SecretSetting = KeysWith<{ kind: 'secret' }>;
export type TextSetting = KeysWith<{ kind: 'text' | 'secret' | 'program' | 'bank' }>;
export type PemSetting = KeysWith<{ kind: 'file' }>;
/** A setting that a profile can do without. */
export type OptionalSetting = Exclude<SettingKey, KeysWith<{ required: string }>>;
/** What a choice may be, and `Other` for all other settings. */
export type ChoiceOf<Key extends SettingKey, Other> = Table[Key] extends {
  choices: readonly (infer Choice)[];
}
  ? Choice
  : Other;
/** The only setting that every stored profile has. */
export type StoredSetting = KeysWith<{ required: 'in the file' }>;

/** The settings of a profile: one row for each, from which psd2 derives everything else that it says or asks of them. */
export const SETTINGS: { readonly [Key in SettingKey]: SettingRow & Table[Key] } = TABLE;

/** All settings, in the order of the table. */
export function settingKeys(): SettingKey[] {
  return Object.keys(SETTINGS).filter((name) => isSetting(name));
}

/** Whether a name is that of a setting. */
export function isSetting(name: string): name is SettingKey {
  return Object.hasOwn(SETTINGS, name);
}

export function isTextSetting(key: SettingKey): key is TextSetting {
  return ['text', 'secret', 'program', 'bank'].includes(SETTINGS[key].kind);
}

export function isSecretSetting(key: SettingKey): key is SecretSetting {
  return SETTINGS[key].kind === 'secret';
}

export function isPemSetting(key: SettingKey): key is PemSetting {
  return SETTINGS[key].kind === 'file';
}

export function isOptional(key: SettingKey): key is OptionalSetting {
  return SETTINGS[key].required === undefined;
}

/** Whether a profile needs a setting for calls to its bank. */
export function isNeeded(key: SettingKey, { bank }: { bank?: string | undefined }): boolean {
  const { required, withoutBankFile }: SettingRow = SETTINGS[key];
  return required !== undefined && !(withoutBankFile && bank !== undefined);
}

/** The settings of some groups, in the order of the groups. */
export function settingsOf(...groups: readonly Group[]): SettingKey[] {
  return groups.flatMap((group) => settingKeys().filter((key) => SETTINGS[key].group === group));
}

/** All settings, in the order of display. */
export function shownSettings(): SettingKey[] {
  return settingsOf(...DISPLAY_ORDER);
}

/** The settings that a profile can do without, by the names of their options. */
export function removableOptions(): string[] {
  return settingsOf(...OPTION_ORDER)
    .filter(isOptional)
    .map((key) => SETTINGS[key].option);
}

type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
type OptionName<Key extends SettingKey, End extends string = ''> = Camel<`${Table[Key]['option']}${End}`>;

/** The options that set settings, as typed. */
export type SettingOptions = {
  [Key in Exclude<SettingKey, SecretSetting> as OptionName<Key>]?: ChoiceOf<Key, string> | undefined;
} & { [Key in SecretSetting as OptionName<Key, '-file'>]?: string | undefined } & {
  [Key in SecretSetting as OptionName<Key, '-env'>]?: true | undefined;
} & { [Key in KeysWith<{ stdin: string }> as OptionName<Key, '-stdin'>]?: true | undefined };

/** The name under which the options of a command have an option: `appName` for `app-name`. */
export function attributeOf(option: string): string {
  return option.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** An option as the help shows it. */
export interface SettingOption {
  flags: string;
  help: string;
  choices: readonly string[] | undefined;
}

/** The options that give a setting. */
export function optionsFor(key: SettingKey): SettingOption[] {
  const { kind, choices, option, value, help, stdin, variable } = SETTINGS[key];
  if (kind !== 'secret')
    return [{ flags: `--${option} <${value}>`, help: variable ? `${help} (${variable})` : help, choices }];
  return [
    ...(stdin === undefined ? [] : [{ flags: `--${option}-stdin`, help: stdin, choices }]),
    { flags: `--${option}-file <${value}>`, help: `${help} (or ${variable})`, choices },
  ];
}

/** The options that give settings, in the order of the help. */
export function settingOptions(): SettingOption[] {
  return settingsOf(...OPTION_ORDER).flatMap(optionsFor);
}

/** The options that take a secret from its environment variable. */
export function secretVariableOptions(): SettingOption[] {
  return settingKeys()
    .filter(isSecretSetting)
    .map((key) => ({
      flags: `--${SETTINGS[key].option}-env`,
      help: `read the client secret from ${SETTINGS[key].variable}`,
      choices: undefined,
    }));
}
