import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { type Commands, type Noun, optionsOf, type Program, type Run } from '../commands/declare.ts';
import { didYouMean } from '../did-you-mean.ts';
import { Psd2Error } from '../errors.ts';
import { withGlobals } from './globals.ts';
import {
  declareHelp,
  fitLines,
  formatRootHelp,
  GLOBAL_OPTIONS_NOTE,
  helpOfInterface,
  helpWidth,
  UNKNOWN_NAME,
} from './help.ts';
import { wantsJson } from './output-mode.ts';
import { columnsOfStdout, printAtOnce } from './print-at-once.ts';
import { reportError } from './report-error.ts';

const SOURCES: Readonly<Record<string, 'option' | 'environment'>> = { cli: 'option', env: 'environment' };

/**
 * The command tree. It loads only declarations until a command runs.
 *
 * @param words the arguments: commands that they don't name get only a name and a description, and those that cannot be meant are
 *   left out. Without them, the whole tree
 * @param runInstead runs the commands instead
 * @param has the capabilities for which the help shows options and commands; undefined: for all
 */
export async function buildProgram(
  version: string,
  {
    words,
    runInstead,
    has,
  }: { words?: readonly string[]; runInstead?: Run; has?: ReadonlySet<string> | undefined } = {},
): Promise<CommandUnknownOpts> {
  const program = withGlobals(
    new Command('psd2')
      .description("Work with a bank's PSD2 interface: consent, accounts, payments.")
      .version(version),
  );

  const run: Run =
    runInstead ??
    (async (command, kind) =>
      (await import('./run.ts')).runCommand(
        program.opts(),
        command,
        kind,
        // Commander knows whether a value was typed, came from the environment, or is the default.
        (option) => SOURCES[program.getOptionValueSource(option) ?? 'default'] ?? 'default',
      ));
  const isLoaded = (name: string) => !words || words.includes(name);
  await addCommands(program, COMMANDS, {
    words,
    next: words,
    has,
    isLoaded,
    run,
    program: { version, commands: COMMANDS },
  });
  declareHelp(program);
  configure(program, helpOfInterface(has));
  return program;
}

/** How commands are added: `isLoaded` says which of them get more than a name and a description. */
interface Growing {
  words: readonly string[] | undefined;
  /** The words after the names of the groups above. If the first names a command here, no other one can be meant. */
  next: readonly string[] | undefined;
  /** What the bank has. Undefined: help shows all. */
  has: ReadonlySet<string> | undefined;
  isLoaded: (name: string) => boolean;
  run: Run;
  program: Program;
}

async function addCommands(
  group: Command,
  commands: Commands,
  growing: Growing,
  standard?: string,
): Promise<void> {
  const { words, next: [first = '', ...rest] = [], has, isLoaded, run, program } = growing;
  const meant = Object.hasOwn(commands, first) ? first : undefined;
  for (const [name, { description, needs, load }] of Object.entries(commands)) {
    if (meant !== undefined && name !== meant) continue;
    const command = new Command(name).description(description);
    const hidden = needs !== undefined && has !== undefined && !has.has(needs);
    group.addCommand(command, { isDefault: name === standard, hidden });
    if (!isLoaded(name)) continue;
    const loaded = await load();
    if (!('commands' in loaded)) {
      loaded.declare(command, needs === undefined ? run : runWith(needs, run), program);
      continue;
    }
    await addCommands(
      command,
      loaded.commands,
      { ...growing, next: meant === undefined ? undefined : rest, isLoaded: whichOf(loaded, words) },
      loaded.standard,
    );
    showStandard(command, loaded);
    loaded.declare?.(command);
  }
}

/** Refuses a command at a bank that lacks what it needs. */
function runWith(needs: NonNullable<Commands[string]['needs']>, run: Run): Run {
  return (work, kind) =>
    run(async (context) => {
      await context.needs(needs);
      await work(context);
    }, kind);
}

/** The help of a group shows the arguments of each of its commands, so all are loaded unless one is named. */
function whichOf(
  { commands, standard }: Noun,
  words: readonly string[] | undefined,
): (name: string) => boolean {
  if (!words) return () => true;
  const named = Object.keys(commands).filter((name) => words.includes(name));
  // A named one may be the value of an option of the standard command: `psd2 transfer --name list`.
  if (named.length > 0) return (name) => named.includes(name) || name === standard;
  return (name) => standard === undefined || wantsHelp(words) || name === standard;
}

function wantsHelp(words: readonly string[]): boolean {
  return words.some((word) => ['-h', '--help', 'help'].includes(word));
}

/** What the bank of the profile in use has; undefined if no profile is chosen, or something is wrong with its bank file. */
async function capabilitiesInUse(words: readonly string[]): Promise<ReadonlySet<string> | undefined> {
  const { PSD2_BANK: ofEnvironment, PSD2_PROFILE: fromEnvironment, PSD2_CONFIG_DIR: folder } = process.env;
  const { glanceAtProfiles, storeFolder } = await import('../store/machine/folder.ts');
  const profiles = glanceAtProfiles(storeFolder(folder));
  const at = words.indexOf('--profile');
  const named = at === -1 ? words.find((word) => word.startsWith('--profile='))?.slice(10) : words[at + 1];
  const name = named || fromEnvironment || profiles.current();
  const bank = ofEnvironment || (name === undefined ? undefined : profiles.bankOf(name));
  if (bank === undefined) return undefined;
  if (bank === null) return (await import('../commands/open/default-capabilities.ts')).DEFAULT_CAPABILITIES;
  const { interfaceOf } = await import('../commands/open/bank-file.ts');
  return (await interfaceOf(bank))?.has;
}

/** The help of a group shows the options of the command that is meant if none is named. */
function showStandard(group: Command, { standard }: Noun): void {
  const child = group.commands.find((command) => command.name() === standard);
  if (child)
    group.usage(`[${child.name()}] [options]`).addHelpText('after', (help) => optionsOf(child, help));
}

/** Reads this process's arguments, runs the command they name, and sets the exit code. */
export async function parse(version: string): Promise<void> {
  try {
    const words = process.argv.slice(2);
    const has = wantsHelp(words) ? await capabilitiesInUse(words) : undefined;
    const program = await buildProgram(version, { words, has });
    // `psd2` alone shows the help.
    if (process.argv.length === 2) program.outputHelp();
    else await program.parseAsync();
  } catch (error) {
    // Commander ends this way after help.
    if (error instanceof CommanderError && error.exitCode === 0) return;
    // A closed stderr must not hide the exit code.
    process.stderr.on('error', () => {});
    const failure = error instanceof CommanderError ? toUsageError(error, process.argv.slice(2)) : error;
    process.exitCode = reportError(failure, process.stderr, { asJson: wantsJson() });
  }
}

/** What words of other programs, and verbs without their noun, are called here: what the command does, and its words. */
const ELSEWHERE: Readonly<Record<string, [what: string, ...commands: string[]]>> = {
  account: ['The accounts of the customer:', 'accounts list'],
  approve: ['Approve a batch with:', 'batch approve --help'],
  balance: ['The balances of an account:', 'accounts balance --help'],
  balances: ['The balances of an account:', 'accounts balance --help'],
  banks: ['The banks and platforms that psd2 knows:', 'bank list'],
  batches: ['The batches:', 'batch list'],
  check: ['Check configuration, certificates and connection with:', 'doctor'],
  config: ['The settings of a bank are a profile:', 'profile show', 'profile edit', 'profile add'],
  configure: ['Store the settings of a bank with:', 'profile add'],
  consents: ['The consents:', 'consent list'],
  export: ['Write booked transactions to a file with:', 'accounts export --help'],
  flow: ['See a flow by its id with:', 'transfer list', 'consent list', 'operation list'],
  flows: ['See a flow by its id with:', 'transfer list', 'consent list', 'operation list'],
  iban: ['The accounts of the customer, with their IBANs:', 'accounts list'],
  init: ['Store the settings of a bank with:', 'profile add'],
  login: ['A customer logs in with:', 'auth login'],
  logout: ['A customer logs out with:', 'auth logout'],
  logs: ['The calls to the bank:', 'log'],
  pay: ['Make a payment with:', 'transfer create --help'],
  payment: ['Make a payment with:', 'transfer create --help'],
  payments: ['The payments:', 'transfer list'],
  ping: ['Check configuration, certificates and connection with:', 'doctor'],
  profiles: ['The profiles:', 'profile list'],
  resume: ['Continue what was begun with:', 'transfer list --attention', 'consent list --attention'],
  send: ['Make a payment with:', 'transfer create --help'],
  setup: ['Store the settings of a bank with:', 'profile add'],
  start: ['Start a bank on this machine with:', 'sandbox start --detach'],
  statement: ['The transactions of an account:', 'accounts transactions --help'],
  test: ['Try a bank from login to payment with:', 'smoke --help'],
  token: ['Print an access token with:', 'auth token'],
  transactions: ['The transactions of an account:', 'accounts transactions --help'],
  transfers: ['The transfers:', 'transfer list'],
  version: ['Print the version with:', '--version'],
  whoami: ['See who works here:', 'auth status', 'status'],
};

function toUsageError(error: CommanderError, words: readonly string[]): Psd2Error {
  if (error.code === 'commander.help')
    return new Psd2Error('usage', 'A command is missing', { hint: 'Add --help to see all commands.' });
  // The operator's own words may contain line breaks.
  const [what = '', ...suggestions] = error.message
    .replace(/^error: /, '')
    .replace(/^required option '(.*)' not specified$/, 'the option $1 is missing')
    .trimEnd()
    .split(/\n(?=\(?Did you mean )/);
  const message = what.charAt(0).toUpperCase() + what.slice(1);
  const [, word = ''] = /^unknown command '([^']*)'$/.exec(what) ?? [];
  const isFirst = !words.slice(0, words.indexOf(word)).some((each) => Object.hasOwn(COMMANDS, each));
  const [meant, ...commands] = (isFirst && Object.hasOwn(ELSEWHERE, word) && ELSEWHERE[word]) || [];
  if (meant)
    return new Psd2Error('usage', message, { hint: meant, next: commands.map((each) => each.split(' ')) });
  const [, choice, choices] = /'([^']*)' is invalid.* Allowed choices are (.*)\.$/.exec(what) ?? [];
  const hint = choices
    ? didYouMean(choice ?? '', choices.split(', ')).trim()
    : suggestions.join(' ').replace(/[()]/g, '').trim();
  if (hint) return new Psd2Error('usage', message, { hint });
  return error.code === UNKNOWN_NAME
    ? new Psd2Error('usage', message, { hint: 'List the commands with:', next: [['--help']] })
    : new Psd2Error('usage', message, { hint: 'Add --help to see how the command is used.' });
}

/** Makes commander throw its errors, so that the caller writes them. The help for a missing command goes to stderr. */
function configure(
  command: CommandUnknownOpts,
  { leftOut, ...shown }: ReturnType<typeof helpOfInterface>,
): void {
  command
    .helpCommand(false)
    .exitOverride()
    .configureHelp({
      ...shown,
      minWidthToWrap: 20,
      ...(!command.parent && { subcommandTerm: (child) => child.name(), formatHelp: formatRootHelp }),
    })
    .configureOutput({
      outputError: () => {},
      writeOut: (text) => printAtOnce(fitLines(text, columnsOfStdout())),
      // For programs, an error is one line of JSON and nothing else.
      writeErr: (text) => {
        if (!wantsJson()) process.stderr.write(fitLines(text, process.stderr.columns));
      },
      getOutHelpWidth: () => helpWidth(columnsOfStdout()),
      getOutHasColors: () => true,
    })
    .hook('preSubcommand', refuseUnknownWord);
  command.addHelpText('after', () => leftOut(command));
  if (command.parent) command.addHelpText('after', GLOBAL_OPTIONS_NOTE);
  if (command.commands.length > 0)
    command.addHelpText('before', () => {
      refuseHelpOnNothing(command);
      return '';
    });
  for (const child of command.commands) configure(child, { leftOut, ...shown });
}

/** Refuses an unknown word after a group with a default command (`psd2 transfer`), which would take it as an argument. */
function refuseUnknownWord(group: CommandUnknownOpts, chosen: CommandUnknownOpts): void {
  const [word = '-'] = group.args;
  if (word.startsWith('-') || word === chosen.name() || chosen.registeredArguments.length > 0) return;
  refuseWord(group, word);
}

/** Refuses help on an unknown command, for which commander would show the group's own help. */
function refuseHelpOnNothing(group: CommandUnknownOpts): void {
  const [word = '-'] = group.args;
  if (word.startsWith('-') || group.commands.some((command) => command.name() === word)) return;
  refuseWord(group, word);
}

function refuseWord(group: CommandUnknownOpts, word: string): void {
  const names = group.commands.map((command) => command.name());
  group.error(`error: unknown command '${word}'\n${didYouMean(word, names)}`, { code: UNKNOWN_NAME });
}

/** The commands by their first word, in the order of the help. */
export const COMMANDS: Commands = {
  auth: {
    description: 'log customers in and out',
    load: async () => (await import('../commands/auth/noun.ts')).auth,
  },
  profile: {
    description: 'manage the settings for each bank and application',
    load: async () => (await import('../commands/profile/noun.ts')).profile,
  },
  customer: {
    description: 'show, export or forget a customer',
    load: async () => (await import('../commands/customer/noun.ts')).customer,
  },
  products: {
    description: "list the customer's products",
    needs: 'products',
    load: async () => (await import('../commands/products/noun.ts')).products,
  },
  funds: {
    description: 'check that an account can cover an amount',
    needs: 'confirmation of funds',
    load: async () => (await import('../commands/funds/noun.ts')).funds,
  },
  accounts: {
    description: 'read accounts, balances and transactions',
    load: async () => (await import('../commands/accounts/noun.ts')).accounts,
  },
  sync: {
    description: 'bring the accounts of customers up to date',
    load: async () => (await import('../commands/sync/noun.ts')).sync,
  },
  consent: {
    description: "get the customer's consent",
    load: async () => (await import('../commands/consent/noun.ts')).consent,
  },
  transfer: {
    description: 'make SEPA and instant transfers',
    load: async () => (await import('../commands/transfer/noun.ts')).transfer,
  },
  batch: {
    description: 'make many payments from a file',
    load: async () => (await import('../commands/batch/noun.ts')).batch,
  },
  operation: {
    description: 'run any operation of the bank by its name',
    needs: 'operations',
    load: async () => (await import('../commands/operation/noun.ts')).operation,
  },
  api: {
    description: 'send any call, signed and with the access token',
    load: async () => (await import('../commands/api/api.ts')).api,
  },
  log: {
    description: 'show the calls that psd2 sent to the bank',
    load: async () => (await import('../commands/log/noun.ts')).log,
  },
  cert: {
    description: 'inspect and check eIDAS certificates, make test ones',
    load: async () => (await import('../commands/cert/noun.ts')).cert,
  },
  bank: {
    description: 'check and show bank files',
    load: async () => (await import('../commands/bank/noun.ts')).bank,
  },
  doctor: {
    description: 'check configuration, certificates and connectivity',
    load: async () => (await import('../commands/doctor/doctor.ts')).doctor,
  },
  smoke: {
    description: 'test in one command whether a bank works, and report it',
    load: async () => (await import('../commands/smoke/noun.ts')).smoke,
  },
  store: {
    description: 'share logins and payments between machines (PostgreSQL)',
    load: async () => (await import('../commands/store/noun.ts')).store,
  },
  sandbox: {
    description: 'run a bank on this machine, to try things and to test',
    load: async () => (await import('../commands/sandbox/noun.ts')).sandbox,
  },
  status: {
    description: 'show the profile, and what needs a person',
    load: async () => (await import('../commands/status/status.ts')).status,
  },
  audit: {
    description: 'show who did what',
    load: async () => (await import('../commands/audit/audit.ts')).audit,
  },
  expiring: {
    description: 'list certificates, logins and consents that end soon',
    load: async () => (await import('../commands/expiring/expiring.ts')).expiring,
  },
  schema: {
    description: 'print the JSON Schema of what --json prints',
    load: async () => (await import('../commands/schema/schema.ts')).schema,
  },
  demo: {
    description: 'show login, consent and payments in its own sandbox',
    load: async () => (await import('../commands/demo/demo.ts')).demo,
  },
  completion: {
    description: 'print a script for completion with the Tab key',
    load: async () => (await import('../commands/completion/completion.ts')).completion,
  },
};
