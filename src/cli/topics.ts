import { EXIT_CODES } from '../exit-codes.ts';
import type { StoreFolder } from '../store/machine/folder.ts';
import { globalOptions } from './globals.ts';
import { writeRows } from './rows.ts';

/** The folders that `psd2 help files` names. */
export type Places = Pick<StoreFolder, 'root' | 'log'>;

/** A page of `psd2 help <topic>`. */
export interface Topic {
  /** One line, in the list of topics and as the page's heading. */
  title: string;
  text: (places: Places) => Promise<string>;
}

/** The variables for everything but global options and settings of a profile. */
const OTHER_VARIABLES: Record<string, string> = {
  PSD2_CONFIG_DIR: 'folder in which psd2 keeps everything: psd2 help files',
  PSD2_STORE: 'database for tokens and flows, postgres://...: psd2 store --help',
  PSD2_STORE_PLAIN_TOKENS: '1: tokens in clear text in that database: psd2 store init --help',
  PSD2_KEY_PASSPHRASE: 'passphrase of encrypted keys and PKCS#12 files',
  PSD2_APPROVALS: 'how many other people must approve a batch: 0, 1 or 2',
  PSD2_EMBEDDED: 'whether customers may enter PIN and TAN in psd2: never, ask or files (docs/embedded.md)',
  PSD2_PSU_PASSWORD_FILE: "file with a test customer's PIN, for PSD2_EMBEDDED=files: --psu-password-file",
  PSD2_OTP_FILE: "file with a test customer's TAN, the same: --otp-file",
  PSD2_ENVIRONMENT: 'production or sandbox; in production, psd2 marks every question',
  PSD2_CONFIG_PASSPHRASE: 'passphrase of protected profiles and of tokens in a database',
  PSD2_NEW_CONFIG_PASSPHRASE: 'the new one, for psd2 store rekey',
  PSD2_BROWSER: 'command that opens an address, or "none"; then BROWSER; default: the system\'s',
  PSD2_NOTIFY:
    'command that gets what ends (psd2 expiring), failed syncs and unknown payments as JSON on its standard input',
  PSD2_RUN: 'id of the run of your script, for the log of calls: psd2 log --run',
  PSD2_OPERATOR: 'who works, for journals and psd2 audit; default: the user of the system',
  PSD2_PAGER: 'command that shows output longer than the terminal, or "cat"; then PAGER',
  PSD2_NO_INPUT: '1: never ask, like --no-input',
  PSD2_DEBUG: '1: show each request, like --verbose',
  NO_COLOR: 'set: no colour, like --no-color',
  FORCE_COLOR: 'set: colour even without a terminal',
  HTTPS_PROXY: 'proxy to the bank; also HTTP_PROXY and ALL_PROXY',
  NO_PROXY: 'hosts that psd2 reaches without the proxy',
};

/** The topics of `psd2 help`, by name. */
export const TOPICS: Record<string, Topic> = {
  options: {
    title: 'the options of every command',
    text: async () =>
      writeRows(
        globalOptions().map(({ flags, description, argChoices, envVar }) => {
          const choices = argChoices ? `: ${argChoices.join(' or ')}` : '';
          return [flags, `${description}${choices}${envVar ? ` (${envVar})` : ''}`];
        }),
      ),
  },
  'exit-codes': {
    title: 'what each exit code means',
    text: async () =>
      writeRows(Object.entries(EXIT_CODES).map(([code, meaning]) => [code.padStart(3), meaning])),
  },
  environment: {
    title: 'every environment variable',
    text: async () => {
      const { isPemSetting, isTextSetting, SETTINGS, settingKeys } = await import(
        '../store/machine/setting-table.ts'
      );
      const options = globalOptions().flatMap(({ envVar, long, description }) =>
        envVar ? [[envVar, `${description} (${long})`] as const] : [],
      );
      const texts = settingKeys().filter(isTextSetting);
      const files = settingKeys().filter(isPemSetting);
      const settings = [
        ...texts.map((key) => [SETTINGS[key].variable, SETTINGS[key].label] as const),
        ...files.map((key) => {
          const { variable, label, sealed } = SETTINGS[key];
          return [
            variable,
            `${label}, ${sealed === 'with a key' ? 'a PEM or PKCS#12 file' : 'a PEM file'}`,
          ] as const;
        }),
      ];
      return [
        'psd2 uses the option first, then the environment, then the profile, then the default.',
        `Global options:\n${writeRows(options)}`,
        `Settings of a profile. With these, you need no stored profile:\n${writeRows(settings)}`,
        `Others:\n${writeRows(Object.entries(OTHER_VARIABLES))}`,
      ].join('\n\n');
    },
  },
  files: {
    title: 'what psd2 keeps on this machine, and where',
    text: async ({ root, log }) => `${writeRows([
      [root, 'the configuration folder (PSD2_CONFIG_DIR)'],
      ['  config.json', 'the profile chosen with psd2 profile use'],
      ['  profiles/', 'settings of each profile, with the contents or the paths of certificates and keys'],
      ['  banks/', 'what the bank file of each profile says, as it was checked. psd2 makes it again'],
      [
        '  tokens/',
        'tokens of each profile and customer, reads of the day, and consents where customers have names',
      ],
      ['  protection/', 'keys of protected profiles, themselves encrypted (psd2 profile protect)'],
      [
        '  flows/',
        'journals of consents, transfers and operations, and batches. Keep them: they are your record',
      ],
      ['  audit/', 'who did what: psd2 audit. Keep it too'],
      ['  audit-begun/', 'how each audit log begins, so that its first lines cannot go unnoticed'],
      ['  stores/', 'which store has the data of each profile: these files, or a database'],
      ['  store.json', 'whether the data was copied to another store or from one (psd2 store copy)'],
      ['  sync-folders/', 'the folders into which psd2 sync --out has written'],
      ['  notified/', 'what PSD2_NOTIFY has got'],
      ['  sandbox/', "the sandbox's certificates and registration"],
      ['  sandbox.log', 'what a sandbox in the background has printed'],
      [log, 'the log of calls, at most about 50 MiB (psd2 log)'],
      ['  calls.ndjson', 'the newest calls; calls-<time>.ndjson has older ones'],
      ['  stats.ndjson', 'figures of calls by day (psd2 log stats)'],
      ['  forgotten.ndjson', 'whom psd2 has just forgotten, so that no command that runs logs them again'],
      ['  smoke/', 'the runs of psd2 smoke'],
      ['  shapes/', "the forms of the bank's answers (psd2 smoke shapes)"],
      ['  learn/', 'what psd2 bank learn has begun at a bank and not ended'],
    ])}

Node.js 22.8 and newer keep psd2's compiled code in the user's cache folder (~/.cache/psd2 on Linux), or in the folder that
NODE_COMPILE_CACHE names. You can delete it at any time. NODE_DISABLE_COMPILE_CACHE=1 turns this off.

Folders have mode 0700, files 0600. psd2 refuses files with secrets that others can read. "psd2 transfer resume" relies on
the journal: back it up, and never restore an old journal over a newer one.`,
  },
  output: {
    title: 'how psd2 prints data, for people and for programs',
    text: async () => `stdout carries data and nothing else. Progress, questions, warnings and errors go to stderr.

On a terminal, data is a table or a short report. Elsewhere tables are plain: one line for each row, tabs between
the columns, and no heading. FORCE_COLOR adds the colours of amounts and states.

${writeRows([
  ['--json, -o json', 'one JSON document'],
  ['-o ndjson', 'one JSON object per line; transactions are printed page by page'],
  ['-o csv', 'a heading, then one row per line'],
  ['--query <JMESPath>', 'a part of the JSON output'],
  ['--raw', "the bank's own answer, byte for byte (only commands that read)"],
  ['-q, --quiet', 'only warnings and errors on stderr'],
  ['-v, --verbose', 'each request on stderr, without secrets'],
])}

Amounts are exact decimal strings, never numbers. Dates are YYYY-MM-DD and times ISO 8601; on a terminal, times are local.
If a list is longer than the terminal, the command in PSD2_PAGER shows it, or else the one in PAGER.

With --json, if stderr is not a terminal, every line of stderr is a JSON object. An error is the last line: {"event": "error", "error": {"code",
"message", "exitCode", "hint", "next", "flow", "httpStatus", "bankCode", "requestId", "tppRequestId", "transactionId"}}.
"next" has the commands to run next, as lists of arguments.`,
  },
  'bank-file': {
    title: 'the fields of a bank file',
    text: async () => (await import('./long-topics.ts')).bankFileHelp(),
  },
  sandbox: {
    title: 'the customers and the magic names of the sandbox',
    text: async () => (await import('./long-topics.ts')).sandboxHelp(),
  },
  reports: {
    title: 'the reports that psd2 writes, and their forms',
    text: async () => (await import('./long-topics.ts')).reportsHelp(),
  },
  privacy: {
    title: 'what psd2 sends, and to whom: no telemetry',
    text: async () => `psd2 talks only to the bank of the profile, through the proxy that the environment names, and to your database if you
set PSD2_STORE. It sends no telemetry, reports no crashes and looks for no updates. It starts only the system's browser, which
opens the bank's pages, and the programs that you name in PSD2_BROWSER, PSD2_PAGER, PSD2_SIGNER, PSD2_PAYEE_CHECK and
PSD2_NOTIFY.

psd2 keeps its data on this machine: psd2 help files. With PSD2_STORE=postgres://..., tokens, flows and synced rows are in that
database instead. psd2 encrypts the tokens before it sends them there, unless you chose clear text on both sides
(psd2 store init --plain-tokens, and PSD2_STORE_PLAIN_TOKENS=1 on the machine). It does not
encrypt flows and rows, so protect the database and its backups.

The log of calls has no bodies and no headers. It is always on this machine, and leaves it only if you send it:
psd2 log bundle makes a file for that, without customer ids.`,
  },
};
