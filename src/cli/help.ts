import { type CommandUnknownOpts, Help, type Option } from '@commander-js/extra-typings';
import { didYouMean } from '../did-you-mean.ts';
import { widthOf, wrapWords } from '../terminal/cells.ts';
import { columnsOfStdout, printAtOnce } from './print-at-once.ts';
import { TOPICS } from './topics.ts';

/** The code of commander's error about an unknown command or help topic. */
export const UNKNOWN_NAME = 'psd2.unknownName';

/** The last line of every command's help. */
export const GLOBAL_OPTIONS_NOTE =
  '\nFor the global options (--profile, --json, --yes, ...), see psd2 help options.';

/** Declares `psd2 help`, and the last lines of `psd2 --help`. */
export function declareHelp(program: CommandUnknownOpts): void {
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
  $ psd2 sandbox start --detach    a bank on your machine, and how to log in

Help: psd2 help <command>, or psd2 help <topic> (${Object.keys(TOPICS).join(', ')})`,
  );
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
    // A topic may have the name of a command.
    const command = program.commands.find((each) => each.name() === name);
    command?.outputHelp();
    const before = command ? '\n' : '';
    printAtOnce(fitLines(`${before}${title}\n\n${text}\n`, columnsOfStdout()));
    return;
  }
  let command = program;
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word);
    if (!child) {
      const names = [
        ...command.commands.map((each) => each.name()),
        ...(command === program ? Object.keys(TOPICS) : []),
      ];
      program.error(`error: there is no help on '${words.join(' ')}'\n${didYouMean(word, names)}`, {
        code: UNKNOWN_NAME,
      });
    } else command = child;
  }
  command.outputHelp();
}

/** Describes an option as commander does, but without the empty default of an option that may be repeated. */
export function describeOption(option: Option): string {
  const empty = Array.isArray(option.defaultValue) && option.defaultValue.length === 0;
  return empty ? option.description : new Help().optionDescription(option);
}

/** How the description of an option ends that only banks with a capability have (`where` of `commands/declare.ts`). */
const CAPABILITY = / \(where the bank has ([^()]+)\)$/;

/**
 * Shows the options that the profile's bank has.
 *
 * @param has the capabilities of that bank; undefined if no profile is chosen, which shows all
 */
export function helpOfInterface(has: ReadonlySet<string> | undefined) {
  const all = (command: CommandUnknownOpts) => new Help().visibleOptions(command);
  const isOther = ({ description }: Option) => {
    const capability = CAPABILITY.exec(description)?.[1];
    return has !== undefined && capability !== undefined && !has.has(capability);
  };
  return {
    visibleOptions: (command: CommandUnknownOpts) => all(command).filter((option) => !isOther(option)),
    optionDescription: (option: Option) =>
      has ? describeOption(option).replace(CAPABILITY, '') : describeOption(option),
    /** What the help says of what it leaves out. */
    leftOut(command: CommandUnknownOpts) {
      const commands = new Help().visibleCommands(command).length < command.commands.length;
      const what = [...(commands ? ['commands'] : []), ...(all(command).some(isOther) ? ['options'] : [])];
      return what.length > 0
        ? `\nThe bank of the profile has no use for more ${what.join(' and ')}. Without a profile, the help shows all.`
        : '';
    },
  };
}

/** The groups of commands in `psd2 --help`. A command that is not named here goes to the last group. */
const COMMAND_GROUPS: Readonly<Record<string, readonly string[]>> = {
  Customers: ['auth', 'customer', 'consent'],
  Accounts: ['accounts', 'products', 'sync'],
  Payments: ['transfer', 'batch', 'operation', 'funds'],
  Operations: ['status', 'doctor', 'smoke', 'expiring', 'log', 'audit', 'api'],
  Setup: ['profile', 'bank', 'cert', 'store', 'schema', 'completion', 'help'],
  Sandbox: ['sandbox', 'demo'],
};

/** The global options that `psd2 --help` shows; `psd2 help options` has all of them. */
const SHOWN_OPTIONS = ['--profile', '--output', '--json', '--yes', '--verbose', '--help', '--version'];

/** The help of psd2 itself, one page long: first the commands by groups, then the most used options. */
export function formatRootHelp(program: CommandUnknownOpts, helper: Help): string {
  const options = helper
    .visibleOptions(program)
    .filter(({ long }) => SHOWN_OPTIONS.some((shown) => shown === long));
  const commands = helper.visibleCommands(program);
  const width = Math.max(
    ...commands.map((command) => helper.subcommandTerm(command).length),
    ...options.map((option) => helper.optionTerm(option).length),
  );
  const item = (term: string, what: string) => helper.formatItem(term, width, what, helper);
  const grouped = new Set(Object.values(COMMAND_GROUPS).flat());
  const last = Object.keys(COMMAND_GROUPS).at(-1);
  const sections = Object.entries(COMMAND_GROUPS).map(([title, names]) => {
    const own = [
      ...names.flatMap((name) => commands.filter((command) => command.name() === name)),
      ...(title === last ? commands.filter((command) => !grouped.has(command.name())) : []),
    ];
    return [
      `${title}:`,
      ...own.map((command) => item(helper.subcommandTerm(command), helper.subcommandDescription(command))),
    ];
  });
  sections.push([
    'Options (all of them: psd2 help options):',
    ...options.map((option) => item(helper.optionTerm(option), helper.optionDescription(option))),
  ]);
  const usage = [`Usage: ${helper.commandUsage(program)}`];
  const head = [usage, [helper.commandDescription(program)]];
  return [...head, ...sections].map((lines) => `${lines.join('\n')}\n`).join('\n');
}

/** The part before the text of a line: an indentation, or the name in a list of names. */
const BEFORE = /^ *(?:\S.*? {2,})?/;
/** If a column of text would be narrower than this, it begins at the left instead. */
const MIN_WIDTH = 20;

/** No line of help is longer, however wide the terminal is. */
const MAX_WIDTH = 100;

/** The width of help for a terminal. @param columns its width; undefined or 0 for a pipe */
export function helpWidth(columns: number | undefined): number {
  return Math.min(columns || 80, MAX_WIDTH);
}

/**
 * Joins the lines of each paragraph, and breaks at spaces what is wider than the help may be. An indented line stays a line of its
 * own. A command (`$ psd2 ...`) stays as it is, with the lines that continue it, so that a reader can copy it.
 *
 * @param columns the terminal's width; undefined or 0 for a pipe
 */
export function fitLines(text: string, columns: number | undefined): string {
  const width = helpWidth(columns);
  const lines: string[] = [];
  let before: 'prose' | 'command' | 'other' = 'other';
  for (const line of text.split('\n')) {
    const isCommand: boolean = before === 'command' || /^ *\$ /.test(line);
    const isProse: boolean = !isCommand && /^\S/.test(line);
    if (isProse && before === 'prose') lines.push(`${lines.pop()} ${line}`);
    else lines.push(line);
    if (isCommand) before = line.endsWith('\\') ? 'command' : 'other';
    else before = isProse ? 'prose' : 'other';
  }
  return lines
    .map((line, at) => {
      const isCommand = /^ *\$ /.test(line) || lines[at - 1]?.endsWith('\\');
      return isCommand || widthOf(line) <= width ? line : fitLine(line, width);
    })
    .join('\n');
}

function fitLine(line: string, columns: number): string {
  const start = BEFORE.exec(line)?.[0].length ?? 0;
  const indent = start > columns - MIN_WIDTH ? 0 : start;
  const lines = wrapWords(line.slice(indent), columns - indent);
  return line.slice(0, indent) + lines.join(`\n${' '.repeat(indent)}`);
}
