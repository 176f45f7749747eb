import {
  type AddHelpTextContext,
  type Command,
  type CommandUnknownOpts,
  Option,
  type OptionValues,
} from '@commander-js/extra-typings';
import type { Capability } from '../bank/ports/bank.ts';
import type { Field } from '../terminal/output/fields.ts';
import type { Context } from './context.ts';

/**
 * An inquiry reads from the bank and changes nothing, so `--raw` can print the bank's own answers. A diagnosis checks the
 * configuration folder itself and reports it among its checks.
 */
export type CommandKind = 'inquiry' | 'diagnosis';

/** Runs a command once its arguments are read. The command imports what it needs only then. */
export type Run = (command: (context: Context) => Promise<void>, kind?: CommandKind) => Promise<void>;

/** What a command prints for programs. */
export interface Printed {
  /** In a few words, for the list of schemas. */
  what: string;
  shape: Field<unknown, never>;
}

/** A command that does something. Its file has all of it: what it takes, does and prints. */
export interface Verb {
  /** Declares its arguments, options and help, and the work that follows. */
  declare(command: Command, run: Run, program: Program): void;
  /** What it prints with `--json`. Absent: it prints no data. */
  prints?: Printed;
  /** What it prints with an option that changes it, by the name of the option: `--chart`. */
  printsWith?: Readonly<Record<string, Printed>>;
}

/** The program that a verb belongs to. */
export interface Program {
  version: string;
  commands: Commands;
}

/** A group of commands. */
export interface Noun {
  /** Declares what only the help of the group has. */
  declare?(command: Command): void;
  commands: Commands;
  /** The command that is meant if none is named. The help of the group shows its options. */
  standard?: string;
}

/** Commands by their names, in the order of the help. psd2 loads only those that the arguments name. */
export type Commands = Readonly<Record<string, Declared>>;

interface Declared {
  description: string;
  /** Help with a profile shows it only where the bank has this. Elsewhere a verb is refused. */
  needs?: Capability;
  load: () => Promise<Verb | Noun>;
}

/** The text of an option that only banks with a capability have. The help with a profile shows it only there, without these words. */
export function where(capability: Capability, text: string): string {
  return `${text} (where the bank has ${capability})`;
}

/** Help text with examples, one per line. */
export function examples(...lines: string[]): string {
  return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}

/** What a command prints, its help text, and its kind. */
interface Facts extends Pick<Verb, 'prints' | 'printsWith'> {
  help: string;
  kind?: CommandKind;
}

/**
 * Declares a command that works on its arguments and options.
 *
 * @param declare adds them
 */
export function verb<Args extends unknown[], Options extends OptionValues>(
  { help, kind, ...printed }: Facts,
  declare: (command: Command) => Command<Args, Options>,
  work: (context: Context, ...given: [...Args, Options, Command<Args, Options>]) => Promise<void>,
): Verb {
  return {
    ...printed,
    declare: (command, run) =>
      declare(command)
        .addHelpText('after', help)
        .action((...args) => run((context) => work(context, ...args), kind)),
  };
}

/** Declares a command without arguments and options of its own. */
export function bareVerb(
  prints: Printed,
  help: string,
  work: (context: Context) => Promise<void>,
  kind?: CommandKind,
): Verb {
  return verb(
    { prints, help, ...(kind && { kind }) },
    (command) => command,
    (context) => work(context),
  );
}

/** The options of a group's default command, for the help of the group: `psd2 transfer --help` shows those of `create`. */
export function optionsOf(child: CommandUnknownOpts, context: AddHelpTextContext): string {
  const help = child.createHelp();
  help.prepareContext({ error: context.error, helpWidth: child.configureOutput().getOutHelpWidth?.() ?? 80 });
  const width = help.longestOptionTermLength(child, help);
  const lines = help
    .visibleOptions(child)
    .filter(({ long }) => long !== '--help')
    .map((option) => help.formatItem(help.optionTerm(option), width, help.optionDescription(option), help));
  return `\nOptions of ${child.name()}:\n${lines.join('\n')}`;
}

/** The options that a function gives a command. */
export type OptionsOf<Declare extends (command: Command) => { opts(): unknown }> = ReturnType<
  ReturnType<Declare>['opts']
>;

/** Adds the earlier name of an option, which no help and no completion shows. Its value counts as that of `now`. */
export function alsoCalled<Declared extends CommandUnknownOpts>(
  command: Declared,
  flags: string,
  now: string,
  parse?: (value: string, before: string[]) => string[],
): Declared {
  const option = new Option(flags).hideHelp();
  option.attributeName = () => now;
  command.addOption(parse ? option.argParser(parse) : option);
  return command;
}

/** An option that may be repeated. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
