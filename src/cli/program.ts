import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  Help,
  type Option,
} from '@commander-js/extra-typings';
import type { Run } from '../commands/declare.ts';
import { didYouMean } from '../did-you-mean.ts';
import { Psd2Error } from '../errors.ts';
import { fitLines } from './fit-lines.ts';
import { GLOBAL_OPTIONS as G } from './globals.ts';
import { wantsJson } from './output-mode.ts';
import { columnsOfStdout, printAtOnce } from './print-at-once.ts';
import { reportError } from './report-error.ts';
import { formatRootHelp } from './root-help.ts';
import { TOPICS } from './topics.ts';

const SOURCES: Readonly<Record<string, 'option' | 'environment'>> = { cli: 'option', env: 'environment' };

type Declare = (command: Command, run: Run, version: string) => void;

/** The commands by their first word, in the order of the help. psd2 loads only the declaration of the given command. */
const COMMANDS: Record<string, { description: string; declare: () => Promise<Declare> }> = {
  auth: {
    description: 'log customers in and out',
    declare: async () => (await import('../commands/auth/declare.ts')).declareAuth,
  },
  profile: {
    description: 'manage the settings for each bank and application',
    declare: async () => (await import('../commands/profile/declare.ts')).declareProfile,
  },
  customer: {
    description: 'show the customer who is logged in',
    declare: async () => (await import('../commands/customer/declare.ts')).declareCustomer,
  },
  products: {
    description: "list the customer's products",
    declare: async () => (await import('../commands/products/declare.ts')).declareProducts,
  },
  accounts: {
    description: 'read accounts, balances and transactions',
    declare: async () => (await import('../commands/accounts/declare.ts')).declareAccounts,
  },
  sync: {
    description: 'bring the accounts of customers up to date',
    declare: async () => (await import('../commands/sync/declare.ts')).declareSync,
  },
  consent: {
    description: "get the customer's consent",
    declare: async () => (await import('../commands/consent/declare.ts')).declareConsent,
  },
  transfer: {
    description: 'make SEPA and instant transfers',
    declare: async () => (await import('../commands/transfer/declare.ts')).declareTransfer,
  },
  operation: {
    description: 'run any operation of the bank by its name',
    declare: async () => (await import('../commands/operation/declare.ts')).declareOperation,
  },
  api: {
    description: 'send any call, signed and with the access token',
    declare: async () => (await import('../commands/api/declare.ts')).declareApi,
  },
  log: {
    description: 'show the calls that psd2 sent to the bank',
    declare: async () => (await import('../commands/log/declare.ts')).declareLog,
  },
  cert: {
    description: 'inspect and check eIDAS certificates, make test ones',
    declare: async () => (await import('../commands/cert/declare.ts')).declareCert,
  },
  doctor: {
    description: 'check configuration, certificates and connectivity',
    declare: async () => (await import('../commands/doctor/declare.ts')).declareDoctor,
  },
  store: {
    description: 'keep tokens and flows where several machines share them',
    declare: async () => (await import('../commands/store/declare.ts')).declareStore,
  },
  sandbox: {
    description: 'run a bank on this machine, to try things and to test',
    declare: async () => (await import('../commands/sandbox/declare.ts')).declareSandbox,
  },
  expiring: {
    description: 'list certificates, logins and consents that end soon',
    declare: async () => (await import('../commands/expiring/declare.ts')).declareExpiring,
  },
  schema: {
    description: 'print the JSON Schema of what --json prints',
    declare: async () => (await import('../commands/schema/declare.ts')).declareSchema,
  },
  completion: {
    description: 'print a script for completion with the Tab key',
    declare: async () => (await import('./completion/declare.ts')).declareCompletion,
  },
  demo: {
    description: 'show login, consent and payments in its own sandbox',
    declare: async () => (await import('../commands/demo/declare.ts')).declareDemo,
  },
};

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
  const program = new Command('psd2')
    .description("Work with a bank's PSD2 interface: consent, accounts, payments.")
    .version(version, '-V, --version')
    .addOption(G.profile)
    .addOption(G.customer)
    .addOption(G.grant)
    .addOption(G.output)
    .addOption(G.json)
    .addOption(G.query)
    .addOption(G.rawOutput)
    .addOption(G.raw)
    .addOption(G.input)
    .addOption(G.yes)
    .addOption(G.quiet)
    .addOption(G.verbose)
    .addOption(G.timeout)
    .addOption(G.browser)
    .addOption(G.qr)
    .addOption(G.scaTimeout)
    .addOption(G.psuIp)
    .addOption(G.lang)
    .addOption(G.trace)
    .addOption(G.color);

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
  for (const [name, { description, declare }] of Object.entries(COMMANDS)) {
    const command = new Command(name).description(description);
    if (!words || words.includes(name)) (await declare())(command, run, version);
    program.addCommand(command);
  }
  declareHelp(program);
  configure(program);
  return program;
}

/** Declares `psd2 help`, and the last lines of `psd2 --help`. */
function declareHelp(program: CommandUnknownOpts): void {
  program
    .command('help')
    .argument('[command...]', 'a command, or a topic')
    .description('show the help of a command or a topic')
    .addHelpText(
      'after',
      `\n${TOPIC_LIST}\n\nExamples:\n  $ psd2 help transfer create\n  $ psd2 help exit-codes`,
    )
    .action((words) => showHelp(program, words));
  program.addHelpText(
    'after',
    `
Examples:
  $ psd2 sandbox start --detach            a bank on your machine
  $ psd2 --profile sandbox auth login

Help: psd2 help <command>, or psd2 help <topic> (${Object.keys(TOPICS).join(', ')})`,
  );
}

/** Reads this process's arguments, runs the command they name, and sets the exit code. */
export async function parse(version: string): Promise<void> {
  // A pipeline sets a variable to nothing where it has no value. Commander would read that as a wrong value.
  for (const { envVar = '' } of Object.values<Option>(G))
    if (process.env[envVar] === '') delete process.env[envVar];
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

function toUsageError(error: CommanderError): Psd2Error {
  if (error.code === 'commander.help') {
    return new Psd2Error('usage', 'A command is missing', { hint: 'Add --help to see all commands.' });
  }
  // The operator's own words may hold line breaks.
  const [what = '', ...suggestions] = error.message
    .replace(/^error: /, '')
    .trimEnd()
    .split(/\n(?=\(?Did you mean )/);
  const message = what.charAt(0).toUpperCase() + what.slice(1);
  const [, given, choices] = /'([^']*)' is invalid.* Allowed choices are (.*)\.$/.exec(what) ?? [];
  const hint = choices
    ? didYouMean(given ?? '', choices.split(', ')).trim()
    : suggestions.join(' ').replace(/[()]/g, '').trim();
  if (hint) return new Psd2Error('usage', message, { hint });
  return error.code === UNKNOWN_NAME
    ? new Psd2Error('usage', message, { hint: 'List the commands with:', next: [['--help']] })
    : new Psd2Error('usage', message, { hint: 'Add --help to see how the command is used.' });
}

/** The code of commander's error about an unknown command or help topic. */
const UNKNOWN_NAME = 'psd2.unknownName';

/** The last line of every command's help. */
export const GLOBAL_OPTIONS_NOTE =
  '\nFor the global options (--profile, --json, --yes, ...), see psd2 help options.';

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

/** Describes an option as commander does, but without the empty default of an option that may be repeated. */
function describeOption(option: Option): string {
  const empty = Array.isArray(option.defaultValue) && option.defaultValue.length === 0;
  return empty ? option.description : new Help().optionDescription(option);
}

const TOPIC_LIST = `Topics:\n${Object.entries(TOPICS)
  .map(([name, { title }]) => `  psd2 help ${name.padEnd(12)} ${title}`)
  .join('\n')}`;

async function showHelp(program: CommandUnknownOpts, words: string[]): Promise<void> {
  const [name = ''] = words;
  const topic = words.length === 1 && Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
  if (topic) {
    const { storeFolder } = await import('../store/machine/folder.ts');
    const text = await topic.text(storeFolder(process.env.PSD2_CONFIG_DIR));
    const title = topic.title.charAt(0).toUpperCase() + topic.title.slice(1);
    printAtOnce(fitLines(`${title}\n\n${text}\n`, columnsOfStdout()));
    return;
  }
  let command = program;
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word);
    if (!child) {
      const known = [
        ...command.commands.map((each) => each.name()),
        ...(command === program ? Object.keys(TOPICS) : []),
      ];
      program.error(`error: there is no help on '${words.join(' ')}'\n${didYouMean(word, known)}`, {
        code: UNKNOWN_NAME,
      });
    } else command = child;
  }
  command.outputHelp();
}
