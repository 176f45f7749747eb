import type { Advice } from './errors.ts';
import { quoteForShell } from './quote-for-shell.ts';

/** Options of the current command that the next one must repeat. */
export interface Repeated {
  /** The `--profile` that was given. */
  profile?: string | undefined;
  /** The customer for whom this command acts, if the next command would not act for the same one without `--customer`. */
  customer?: string | undefined;
  /** What a customer does at this bank in place of `auth login`. A command learns it once it knows its bank. */
  login?: readonly string[] | undefined;
}

/** How a customer gets access at a bank, by who logs in there. */
export const ACCESS: Readonly<
  Record<'customers' | 'application' | 'with a consent' | 'nobody', readonly string[]>
> = {
  customers: ['auth', 'login'],
  application: ['auth', 'login', '--client-credentials'],
  'with a consent': ['consent', 'request'],
  nobody: ['consent', 'request'],
};

/** Commands that use no profile, or name it themselves. */
const WITHOUT_PROFILE = new Set([
  'profile',
  'sandbox',
  'completion',
  'demo',
  'help',
  '--profile',
  '--help',
  '--version',
]);

/**
 * The commands that act for a customer, or show what belongs to one. An empty verb stands for the default command of a group.
 * A command about a flow that the operator names (`transfer resume <flow>`, `operation sca --resource <flow>`) acts for the customer of that flow, so it is not
 * here.
 */
const FOR_A_CUSTOMER: Readonly<Record<string, 'all' | readonly string[]>> = {
  accounts: 'all',
  api: 'all',
  customer: 'all',
  doctor: 'all',
  products: 'all',
  auth: ['login', 'logout', 'refresh', 'status', 'token'],
  batch: ['list'],
  consent: ['list', 'request'],
  operation: ['list', 'prepare', 'run', 'status', 'verify'],
  sync: ['', 'run'],
  transfer: ['', 'create', 'list', 'prepare'],
};

/** Options with which such a command acts for no customer, or for all of them. */
const NOT_FOR_ONE = ['--help', '--all-customers', '--client-credentials'];

/** Whether a command of psd2 acts for a customer, so that `--customer` matters to it. @param words its arguments */
export function isForCustomer(words: readonly string[]): boolean {
  const [noun = '', verb = ''] = words;
  if (noun.startsWith('--')) return isForCustomer(words.slice(2));
  const isForNone = NOT_FOR_ONE.some((option) => words.includes(option));
  if (isForNone || !Object.hasOwn(FOR_A_CUSTOMER, noun)) return false;
  const verbs = FOR_A_CUSTOMER[noun];
  return verbs === 'all' || verbs?.includes(verb.startsWith('-') ? '' : verb) === true;
}

/**
 * The full command line of a psd2 command.
 *
 * @param words its arguments
 */
export function commandOf(args: readonly string[], { profile, customer, login }: Repeated): string[] {
  const words = login ? inPlaceOfLogin(args, login) : args;
  const repeatsProfile = profile !== undefined && !WITHOUT_PROFILE.has(words[0] ?? '');
  const repeatsCustomer = customer !== undefined && !words.includes('--customer') && isForCustomer(words);
  return [
    'psd2',
    ...(repeatsProfile ? ['--profile', profile] : []),
    ...(repeatsCustomer ? ['--customer', customer] : []),
    ...words,
  ];
}

/** A command, with another one if it is a login of a customer. */
function inPlaceOfLogin(words: readonly string[], login: readonly string[]): readonly string[] {
  const at = words.findIndex((word, index) => word === 'auth' && words[index + 1] === 'login');
  if (at === -1 || words.includes('--client-credentials')) return words;
  return [...words.slice(0, at), ...login, ...words.slice(at + 2)];
}

/** What a command is for, by its first words: a hint that offers several says it of each. The longest that fits counts. */
const PURPOSES: Readonly<Record<string, string>> = {
  'accounts balance': 'The balances',
  'accounts list': 'The accounts',
  'accounts transactions': 'The transactions',
  'auth login': 'Log a customer in',
  'auth status': 'Whose login psd2 uses',
  'batch cancel': 'Cancel what is not paid',
  'batch cancel --psu-id': 'Have the next person cancel it',
  'batch run': 'Continue the batch',
  'batch run --psu-id': 'Take the next person to the bank',
  'batch run --as': 'Have each payment authorised alone',
  'batch resolve --not-executed': 'Record that they were not executed',
  'batch status': 'Ask the bank about it',
  'cert inspect': 'What a certificate says',
  'consent delete': 'End the consent',
  'consent request': 'Ask for a consent',
  'profile add': 'Add a profile',
  'profile protect': 'Protect it',
  'profile edit': 'Answer a question for each',
  'profile remove': 'Remove the profile',
  'profile set': 'Change the profile',
  'profile show': 'The settings of the profile',
  'profile use': 'Use this profile',
  'sandbox start': 'Start a bank on this machine',
  'sandbox stop': 'Stop the bank on this machine',
  'smoke shapes': 'Accept the change',
  'smoke show': 'See the whole run',
  'consent list': 'The consents',
  'help bank-file': 'What each field means',
  'operation list': 'The other operations',
  'schema bank': 'The form, for an editor',
  status: 'What needs a person',
  'transfer list': 'The transfers',
  'transfer resume': 'Ask the bank again (never pays twice)',
  'transfer resume --paste': 'Paste the address that the browser ended at',
  'transfer resume --psu-id': 'Take that person to the bank',
  'store copy': 'Copy the data there',
};

/** The same of a consent, a transfer or an operation. */
const PURPOSES_OF_FLOWS: Readonly<Record<string, string>> = {
  '': 'Pay',
  cancel: 'Cancel it',
  'cancel --paste': 'Paste the address that the browser ended at',
  'cancel --psu-id': 'Have that person cancel it',
  create: 'Pay',
  'resolve --executed': 'It was executed, says the statement',
  'resolve --not-executed': 'It was not executed, says the bank',
  resume: 'Ask the bank again',
  'resume --paste': 'Paste the address that the browser ended at',
  'resume --psu-id': 'Take that person to the bank',
  show: 'See it',
  status: 'Ask the bank',
};

/** What a command is for; undefined if nothing is written of it. @param words its arguments */
export function purposeOf(words: readonly string[]): string | undefined {
  const [noun = '', verb = '', ...rest] = words[0] === '--profile' ? words.slice(2) : words;
  const option = rest.find((word) => word.startsWith('--'));
  const inTable = (table: typeof PURPOSES, ...names: string[]) =>
    names.flatMap((name) => (Object.hasOwn(table, name) ? (table[name] ?? []) : []))[0];
  return (
    inTable(PURPOSES, `${noun} ${verb} ${option}`, `${noun} ${verb}`, noun) ??
    (['consent', 'operation', 'transfer'].includes(noun)
      ? inTable(PURPOSES_OF_FLOWS, `${verb} ${option}`, verb)
      : undefined)
  );
}

/**
 * Advice, for example of an error, as text: its hint, then its commands as a shell reads them. If there are several, each has a line
 * of its own with what it is for: nobody should run all of them.
 */
export function adviceOf(
  { hint, next = [] }: { [Key in keyof Advice]: Advice[Key] | undefined },
  repeated: Repeated = {},
): string | undefined {
  const [first, ...others] = next.map((words) => writeCommand(words, repeated));
  if (first === undefined) return hint;
  const text = hint === undefined ? 'Run:' : hint.endsWith(':') ? hint : `${hint} Run:`;
  if (others.length === 0) return `${text} ${first}`;
  const allPurposes = next.map((words) => `${purposeOf(words) ?? 'Or'}:`);
  // What is true of all does not tell them apart.
  const purposes = new Set(allPurposes).size === 1 ? [] : allPurposes;
  const width = Math.max(...purposes.map(({ length }) => length));
  return [
    text,
    ...[first, ...others].map(
      (command, at) => `  ${purposes.length > 0 ? `${purposes[at]?.padEnd(width)}  ` : ''}${command}`,
    ),
  ].join('\n');
}

/** A command of psd2, given by its arguments, as a shell reads it. */
export function writeCommand(words: readonly string[], repeated: Repeated = {}): string {
  return commandOf(words, repeated).map(quoteForShell).join(' ');
}
