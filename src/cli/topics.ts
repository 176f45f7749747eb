import type { StoreFolder } from '../store/machine/folder.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { GLOBAL_OPTIONS } from './globals.ts';

/** The folders that `psd2 help files` names. */
export type Places = Pick<StoreFolder, 'root' | 'log'>;

/** What `psd2 help <topic>` tells, beside the help of commands. */
export interface Topic {
  /** Goes on after "what" or "how" in the list of topics. */
  title: string;
  text: (places: Places) => Promise<string>;
}

/** The variables that stand for no global option and no setting of a profile. */
const OTHER_VARIABLES: Record<string, string> = {
  PSD2_CONFIG_DIR: 'folder for everything that psd2 keeps: psd2 help files',
  PSD2_STORE: 'database of tokens and flows, postgres://...: psd2 store --help',
  PSD2_KEY_PASSPHRASE: 'passphrase of encrypted keys and PKCS#12 files',
  PSD2_ENVIRONMENT: 'production or sandbox; production is marked in every question',
  PSD2_CONFIG_PASSPHRASE: 'passphrase of protected profiles: psd2 profile protect',
  PSD2_BROWSER:
    'command that is run with the address to open, or "none"; then BROWSER; default: the system\'s',
  PSD2_NOTIFY: 'command that psd2 expiring gives each thing that ends soon, as JSON on its standard input',
  PSD2_PAGER: 'command that shows what is longer than the terminal, or "cat"; then PAGER',
  PSD2_NO_INPUT: '1: never ask, as --no-input',
  PSD2_DEBUG: '1: show each request, as --verbose',
  NO_COLOR: 'set: no colour, as --no-color',
  FORCE_COLOR: 'set: colour also where there is no terminal',
  HTTPS_PROXY: 'proxy to the bank; also HTTP_PROXY and ALL_PROXY',
  NO_PROXY: 'hosts that are reached without the proxy',
};

/** The settings whose file may be PKCS#12, certificate and key in one. */
const PKCS12 = new Set(['qwacCertificate', 'qsealCertificate']);

/** The topics of `psd2 help`, by name. */
export const TOPICS: Record<string, Topic> = {
  options: {
    title: 'the options of every command',
    text: async () =>
      table(
        Object.values(GLOBAL_OPTIONS).map(({ flags, description, argChoices, envVar }) => {
          const choices = argChoices ? `: ${argChoices.join(' or ')}` : '';
          return [flags, `${description}${choices}${envVar ? ` (${envVar})` : ''}`];
        }),
      ),
  },
  'exit-codes': {
    title: 'what each exit code means',
    text: async () => table(Object.entries(EXIT_CODES).map(([code, meaning]) => [code.padStart(3), meaning])),
  },
  environment: {
    title: 'every environment variable',
    text: async () => {
      const { PEM_VARIABLES, SETTING_NAMES, TEXT_VARIABLES } = await import('../store/machine/settings.ts');
      const options = Object.values(GLOBAL_OPTIONS).flatMap(({ envVar, long, description }) =>
        envVar ? [[envVar, `${description} (${long})`] as const] : [],
      );
      const settings = [
        ...Object.entries(TEXT_VARIABLES).map(([key, name]) => [name, nameOf(SETTING_NAMES, key)] as const),
        ...Object.entries(PEM_VARIABLES).map(
          ([key, name]) =>
            [
              name,
              `${nameOf(SETTING_NAMES, key)}, ${PKCS12.has(key) ? 'a PEM or PKCS#12 file' : 'a PEM file'}`,
            ] as const,
        ),
      ];
      return [
        'An option goes before the environment, that before the profile, that before the default.',
        `Global options:\n${table(options)}`,
        `Settings of a profile; with these alone no stored profile is needed:\n${table(settings)}`,
        `Others:\n${table(Object.entries(OTHER_VARIABLES))}`,
      ].join('\n\n');
    },
  },
  files: {
    title: 'what is kept on this machine, and where',
    text: async ({ root, log }) => `${table([
      [root, 'the configuration folder (PSD2_CONFIG_DIR)'],
      ['  config.json', 'the profile chosen with psd2 profile use'],
      ['  profiles/', 'settings of each profile, with the contents or the paths of certificates and keys'],
      ['  tokens/', 'tokens of each profile and customer'],
      ['  protection/', 'keys of protected profiles, themselves encrypted (psd2 profile protect)'],
      [
        '  flows/',
        'the journal: what happened to each consent, transfer and operation. Keep it: it is the record',
      ],
      ['  sandbox/', "the sandbox's certificates and registration"],
      [log, 'the log of calls, about 50 MiB at most (psd2 log)'],
    ])}

Node.js 22 and newer keeps psd2's compiled code, and nothing else, in the user's cache folder (~/.cache/psd2 on Linux), or
where NODE_COMPILE_CACHE says; NODE_DISABLE_COMPILE_CACHE=1 keeps it from that.

Folders have mode 0700, files 0600; files with secrets that others can read are refused. The journal is what
"psd2 transfer resume" goes by: back it up, and never restore an old one over a newer.`,
  },
  output: {
    title: 'how data is printed, for people and for programs',
    text: async () => `stdout carries data and nothing else; progress, questions, warnings and errors go to stderr.

On a terminal data is a table or a short report. Elsewhere tables are plain: a line for each row, tabs between
the columns, no heading, and no colour unless FORCE_COLOR is set: then that of amounts and states.

${table([
  ['--json, -o json', 'one JSON document'],
  ['-o ndjson', 'one JSON object a line; transactions as soon as their page has arrived'],
  ['-o csv', 'a heading and a row a line'],
  ['--query <JMESPath>', 'a part of what --json would print'],
  ['--raw', "the bank's own answer, byte for byte (commands that read)"],
  ['-q, --quiet', 'nothing on stderr but warnings and errors'],
  ['-v, --verbose', 'each request on stderr, without secrets'],
])}

Amounts are exact decimal texts, never numbers. Dates are YYYY-MM-DD, times ISO 8601; on a terminal they are the local
time. A list that is longer than the terminal is shown by the command in PSD2_PAGER, or else PAGER. With --json every
line of stderr that is no terminal is an object, and the error is the last: {"error": {"code", "message", "exitCode",
"hint", "next", "flow", "httpStatus", "bankCode", "requestId", "tppRequestId", "transactionId"}}. "next" has the commands
that go on, as lists of arguments.`,
  },
  privacy: {
    title: 'who learns what: no telemetry',
    text: async () => `psd2 talks to the bank of the profile, through the proxy that the environment names, and to nobody else. It
sends no telemetry, reports no crashes and looks for no updates. The only programs it starts are the
system's browser, which opens the bank's pages, and those that you name: PSD2_BROWSER, PSD2_PAGER, PSD2_SIGNER,
PSD2_PAYEE_CHECK,
PSD2_NOTIFY.

What it keeps stays on this machine: psd2 help files. The log of calls has neither bodies nor headers. Nothing
of it leaves the machine unless you send it; psd2 log bundle makes a file for that, without customer ids.`,
  },
};

function nameOf(names: Record<string, string>, key: string): string {
  return names[key] ?? key;
}

function table(rows: (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`).join('\n');
}
