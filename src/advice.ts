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
const WITHOUT_PROFILE = new Set(['profile', 'sandbox', 'completion', 'demo', 'help', '--profile', '--help']);

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
export function commandOf(given: readonly string[], { profile, customer, login }: Repeated): string[] {
  const words = login ? inPlaceOfLogin(given, login) : given;
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

/** Advice, for example of an error, as text: its hint, then its commands as a shell reads them. */
export function adviceOf(
  { hint, next = [] }: { [Key in keyof Advice]: Advice[Key] | undefined },
  repeated: Repeated = {},
): string | undefined {
  if (next.length === 0) return hint;
  const commands = writeCommands(next, repeated);
  if (hint === undefined) return `Run: ${commands}`;
  return hint.endsWith(':') ? `${hint} ${commands}` : `${hint} Run: ${commands}`;
}

/** Commands of psd2, given by their arguments, as a shell reads them. */
export function writeCommands(next: readonly string[][], repeated: Repeated = {}): string {
  return next.map((words) => commandOf(words, repeated).map(quoteForShell).join(' ')).join('; ');
}
