import { Command, type CommandUnknownOpts, Help, type Option } from '@commander-js/extra-typings';
import { didYouMean } from '../did-you-mean.ts';
import { declareAccounts, declareCustomer, declareProducts } from './declare/accounts.ts';
import { declareApi } from './declare/api.ts';
import { declareAuth } from './declare/auth.ts';
import { declareCert } from './declare/cert.ts';
import { declareCompletion } from './declare/completion.ts';
import { declareConsent } from './declare/consent.ts';
import { examples, type Run } from './declare/declare.ts';
import { declareDoctor } from './declare/doctor.ts';
import { declareLog } from './declare/log.ts';
import { declareOperation } from './declare/operation.ts';
import { declareProfile } from './declare/profile.ts';
import { declareSandbox } from './declare/sandbox.ts';
import { declareSync } from './declare/sync.ts';
import { declareTransfer } from './declare/transfer.ts';
import { GLOBAL_OPTIONS as G } from './globals.ts';
import { TOPICS } from './topics.ts';

const SOURCES: Readonly<Record<string, 'option' | 'environment'>> = { cli: 'option', env: 'environment' };

/**
 * The command tree. Nothing is loaded but declarations until a command runs.
 *
 * @param runInstead takes the place of what runs commands
 */
export function buildProgram(version: string, runInstead?: Run): CommandUnknownOpts {
  const program = new Command('psd2')
    .description(
      "Work with a bank's PSD2 interface: log a customer in, get consent, read accounts, make transfers.",
    )
    .version(version, '-V, --version')
    .addOption(G.profile)
    .addOption(G.customer)
    .addOption(G.grant)
    .addOption(G.output)
    .addOption(G.json)
    .addOption(G.query)
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
        // Commander tells apart what was typed, what the environment gave, and the default.
        (option) => SOURCES[program.getOptionValueSource(option) ?? 'default'] ?? 'default',
      ));

  const commands: CommandUnknownOpts[] = [
    declareAuth(run),
    declareProfile(run),
    declareCustomer(run),
    declareProducts(run),
    declareAccounts(run),
    declareSync(run),
    declareConsent(run),
    declareTransfer(run),
    declareOperation(run),
    declareApi(run),
    declareLog(run, version),
    declareCert(run),
    declareDoctor(run),
    declareSandbox(run),
    declareCompletion(),
    new Command('demo')
      .description(
        'show the whole way against a sandbox bank of its own: login, consent, accounts, an instant transfer',
      )
      .addHelpText('after', examples('psd2 demo'))
      .action(() => run(async (context) => (await import('../commands/demo.ts')).demo(context))),
    new Command('help')
      .argument('[command...]', 'a command, or a topic')
      .description('show the help of a command or a topic')
      .addHelpText(
        'after',
        `\n${TOPIC_LIST}\n\nExamples:\n  $ psd2 help transfer create\n  $ psd2 help exit-codes`,
      )
      .action((words) => showHelp(program, words)),
  ];
  for (const command of commands) program.addCommand(command);
  program.addHelpText(
    'after',
    `
Examples:
  $ psd2 sandbox start --detach            a bank to try everything with
  $ psd2 --profile sandbox auth login
  $ psd2 --profile sandbox accounts list

${TOPIC_LIST}`,
  );
  configure(program);
  return program;
}

/** Ends the help of every command. */
export const GLOBAL_OPTIONS_NOTE =
  '\nThe global options (--profile, --json, --yes, ...) are shown by psd2 --help.';

/** Errors are thrown to the caller, who writes them; the help that stands for a missing command goes to stderr. */
function configure(command: CommandUnknownOpts): void {
  command
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ optionDescription: describeOption })
    .configureOutput({ outputError: () => {} })
    .hook('preSubcommand', refuseUnknownWord);
  if (command.parent) {
    command.addHelpText('after', GLOBAL_OPTIONS_NOTE);
  }
  for (const child of command.commands) configure(child);
}

/** A group with a command that it means by itself (`psd2 transfer`) would take a word that it does not know for that one's. */
function refuseUnknownWord(group: CommandUnknownOpts, chosen: CommandUnknownOpts): void {
  const [word = '-'] = group.args;
  if (word.startsWith('-') || word === chosen.name() || chosen.registeredArguments.length > 0) return;
  const names = group.commands.map((command) => command.name());
  group.error(`error: unknown command '${word}'\n${didYouMean(word, names)}`);
}

/** As commander does, but for what may be repeated, whose default is an empty list. */
function describeOption(option: Option): string {
  const empty = Array.isArray(option.defaultValue) && option.defaultValue.length === 0;
  return empty ? option.description : new Help().optionDescription(option);
}

const TOPIC_LIST = `Topics:\n${Object.entries(TOPICS)
  .map(([name, { title }]) => `  psd2 help ${name.padEnd(12)} ${title}`)
  .join('\n')}`;

async function showHelp(program: CommandUnknownOpts, words: string[]): Promise<void> {
  const topic = words.length === 1 ? TOPICS[words[0] ?? ''] : undefined;
  if (topic) {
    const { storeFolder } = await import('../store/folder.ts');
    process.stdout.write(
      `${topic.title.charAt(0).toUpperCase()}${topic.title.slice(1)}\n\n${await topic.text(storeFolder(process.env.PSD2_CONFIG_DIR))}\n`,
    );
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
      program.error(`error: there is no help on '${words.join(' ')}'\n${didYouMean(word, known)}`);
    } else command = child;
  }
  command.outputHelp();
}
