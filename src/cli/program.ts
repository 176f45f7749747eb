import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { type Commands, type Noun, optionsOf, type Program, type Run } from '../commands/declare.ts';
import { didYouMean } from '../did-you-mean.ts';
import { type Advice, Psd2Error } from '../errors.ts';
import { withGlobals } from './globals.ts';
import {
  declareHelp,
  describeOption,
  fitLines,
  formatRootHelp,
  GLOBAL_OPTIONS_NOTE,
  UNKNOWN_NAME,
} from './help.ts';
import { wantsJson } from './output-mode.ts';
import { columnsOfStdout, printAtOnce } from './print-at-once.ts';
import { reportError } from './report-error.ts';

const SOURCES: Readonly<Record<string, 'option' | 'environment'>> = { cli: 'option', env: 'environment' };

/**
 * The command tree. It loads only declarations until a command runs.
 *
 * @param words the arguments: commands that they don't name get only a name and a description. Without them, the whole tree
 * @param runInstead runs the commands instead
 */
export async function buildProgram(
  version: string,
  { words, runInstead }: { words?: readonly string[]; runInstead?: Run } = {},
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
  await addCommands(program, COMMANDS, { words, isLoaded, run, program: { version, commands: COMMANDS } });
  declareHelp(program);
  configure(program);
  return program;
}

/** How commands are added: `isLoaded` says which of them get more than a name and a description. */
interface Growing {
  words: readonly string[] | undefined;
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
  const { words, isLoaded, run, program } = growing;
  for (const [name, { description, load }] of Object.entries(commands)) {
    const command = new Command(name).description(description);
    group.addCommand(command, { isDefault: name === standard });
    if (!isLoaded(name)) continue;
    const loaded = await load();
    if (!('commands' in loaded)) {
      loaded.declare(command, run, program);
      continue;
    }
    await addCommands(
      command,
      loaded.commands,
      { ...growing, isLoaded: whichOf(loaded, words) },
      loaded.standard,
    );
    showStandard(command, loaded);
    loaded.declare?.(command);
  }
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
  const wantsHelp = words.some((word) => ['-h', '--help', 'help'].includes(word));
  return (name) => standard === undefined || wantsHelp || name === standard;
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
    const program = await buildProgram(version, { words: process.argv.slice(2) });
    // `psd2` alone shows the help.
    if (process.argv.length === 2) program.outputHelp();
    else await program.parseAsync();
  } catch (error) {
    // Commander ends this way after help.
    if (error instanceof CommanderError && error.exitCode === 0) return;
    // A closed stderr must not hide the exit code.
    process.stderr.on('error', () => {});
    const failure = error instanceof CommanderError ? toUsageError(error) : error;
    process.exitCode = reportError(failure, process.stderr, { asJson: wantsJson() });
  }
}

/** What words of other programs, and verbs without their noun, are called here. */
const ELSEWHERE: Readonly<Record<string, Advice>> = {
  login: { hint: 'A customer logs in with:', next: [['auth', 'login']] },
  logout: { hint: 'A customer logs out with:', next: [['auth', 'logout']] },
  whoami: {
    hint: 'The first command shows whose login psd2 uses, the second one the profile and what needs a person:',
    next: [['auth', 'status'], ['status']],
  },
};

function toUsageError(error: CommanderError): Psd2Error {
  if (error.code === 'commander.help') {
    return new Psd2Error('usage', 'A command is missing', { hint: 'Add --help to see all commands.' });
  }
  // The operator's own words may contain line breaks.
  const [what = '', ...suggestions] = error.message
    .replace(/^error: /, '')
    .trimEnd()
    .split(/\n(?=\(?Did you mean )/);
  const message = what.charAt(0).toUpperCase() + what.slice(1);
  const [, word = ''] = /^unknown command '([^']*)'$/.exec(what) ?? [];
  const elsewhere = Object.hasOwn(ELSEWHERE, word) ? ELSEWHERE[word] : undefined;
  if (elsewhere) return new Psd2Error('usage', message, elsewhere);
  const [, given, choices] = /'([^']*)' is invalid.* Allowed choices are (.*)\.$/.exec(what) ?? [];
  const hint = choices
    ? didYouMean(given ?? '', choices.split(', ')).trim()
    : suggestions.join(' ').replace(/[()]/g, '').trim();
  if (hint) return new Psd2Error('usage', message, { hint });
  return error.code === UNKNOWN_NAME
    ? new Psd2Error('usage', message, { hint: 'List the commands with:', next: [['--help']] })
    : new Psd2Error('usage', message, { hint: 'Add --help to see how the command is used.' });
}

/** Makes commander throw its errors, so that the caller writes them. The help for a missing command goes to stderr. */
function configure(command: CommandUnknownOpts): void {
  command
    .helpCommand(false)
    .exitOverride()
    .configureHelp({
      optionDescription: describeOption,
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
      getOutHelpWidth: () => columnsOfStdout() || 80,
      getOutHasColors: () => true,
    })
    .hook('preSubcommand', refuseUnknownWord);
  if (command.parent) {
    command.addHelpText('after', GLOBAL_OPTIONS_NOTE);
  }
  if (command.commands.length > 0) {
    command.addHelpText('before', () => {
      refuseHelpOnNothing(command);
      return '';
    });
  }
  for (const child of command.commands) configure(child);
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
    description: 'show the customer who is logged in',
    load: async () => (await import('../commands/customer/noun.ts')).customer,
  },
  products: {
    description: "list the customer's products",
    load: async () => (await import('../commands/products/noun.ts')).products,
  },
  funds: {
    description: 'ask whether an account has an amount (NextGenPSD2)',
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
    description: 'check and show bank files (NextGenPSD2)',
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
    description: 'keep tokens and flows where several machines share them',
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
