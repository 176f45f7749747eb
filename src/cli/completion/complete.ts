import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { OPERATION_STATES } from '../../domain/operation.ts';
import { shellWords } from '../../terminal/shell-words.ts';
import { printAtOnce } from '../print-at-once.ts';
import { buildProgram } from '../program.ts';
import { TOPICS } from '../topics.ts';
import { LocalValues, type Value, type ValueKind } from './local-values.ts';

/**
 * `psd2 __complete line <line>` and `psd2 __complete words <word>...`, for the scripts of `psd2 completion`:
 * prints a first line `values`, `files` or `folders`, then each value on its own line, with a tab and its description.
 */
export async function answerShell(args: string[]): Promise<void> {
  const [how, ...rest] = args;
  const words = how === 'line' ? wordsOfLine(rest[0] ?? '') : rest;
  // The last word is being typed.
  const program = await buildProgram('', { words: words.slice(0, -1) });
  const completion = await complete(program, words, process.env);
  const lines =
    'files' in completion
      ? [completion.files]
      : ['values', ...completion.values.map(([value, what]) => `${value}\t${what.replaceAll('\n', ' ')}`)];
  printAtOnce(`${lines.join('\n')}\n`);
}

/** What may stand at the cursor. The shell itself completes files and folders. */
type Completion = { files: 'files' | 'folders' } | { values: Value[] };

/**
 * Answers the shell scripts of `psd2 completion`, from the command tree and from local data only.
 *
 * @param words after `psd2`, up to the cursor; the last one is being typed and may be empty
 */
export async function complete(
  program: CommandUnknownOpts,
  words: string[],
  env: NodeJS.ProcessEnv,
): Promise<Completion> {
  const current = words.at(-1) ?? '';
  const place = placeAt(program, words.slice(0, -1));
  const local = new LocalValues(env, place.given.get('--profile')?.at(-1));
  const valuesOf = async (kind: ValueKind | null, begun: string): Promise<Completion> => {
    if (kind === 'files' || kind === 'folders') return { files: kind };
    const values = kind === null ? [] : await local.valuesOf(kind, place.command, begun);
    return { values: values.filter(([value]) => value.startsWith(begun)) };
  };

  if (place.pending) return valuesOf(kindOfOption(place.pending), current);
  const [, named, begun = ''] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (named !== undefined && !place.onlyOperands) {
    const option = optionsAt(place.command).find(({ long }) => long === named);
    return valuesOf(option ? kindOfOption(option) : null, begun);
  }
  if (current.startsWith('-') && !place.onlyOperands) return { values: optionValues(place, current) };
  const { command, operands } = place;
  const commands = command.name() === 'help' ? helpValues(program, operands) : childValues(command, operands);
  const argument = argumentAt(command, operands.length);
  const completion = await valuesOf(argument ? kindOfArgument(argument) : null, current);
  if ('files' in completion) return completion;
  return { values: [...commands.filter(([name]) => name.startsWith(current)), ...completion.values] };
}

function childValues(command: CommandUnknownOpts, operands: string[]): Value[] {
  if (operands.length > 0) return [];
  return command.commands.map((child): Value => [child.name(), child.description()]);
}

/** The commands and topics of `psd2 help`. */
function helpValues(program: CommandUnknownOpts, operands: string[]): Value[] {
  const topics = Object.entries(TOPICS).map(([name, { title }]): Value => [name, title]);
  const { command, operands: rest } = placeAt(program, operands);
  return [...childValues(command, rest), ...(operands.length === 0 ? topics : [])];
}

/** Splits bash's line, up to the cursor, into the words after the first. */
function wordsOfLine(line: string): string[] {
  // The mark keeps an empty last word and is removed again. The second and third try close an open quote.
  const mark = '\u0001';
  for (const end of ['', '"', "'"]) {
    try {
      const words = shellWords(`${line}${mark}${end}`, 'the line');
      return words.slice(1).map((word) => word.replace(mark, ''));
    } catch {}
  }
  return [''];
}

interface Place {
  command: CommandUnknownOpts;
  /** The arguments that are not options. */
  operands: string[];
  /** The option whose value comes next. */
  pending: Option | undefined;
  /** `--` was written. */
  onlyOperands: boolean;
  /** The values of the given options, by their long names. */
  given: Map<string, string[]>;
}

function placeAt(program: CommandUnknownOpts, words: string[]): Place {
  const place: Place = {
    command: program,
    operands: [],
    pending: undefined,
    onlyOperands: false,
    given: new Map(),
  };
  const give = (option: Option, value: string) => {
    const name = option.long ?? '';
    place.given.set(name, [...(place.given.get(name) ?? []), value]);
  };
  for (const word of words) {
    if (place.pending) {
      give(place.pending, word);
      place.pending = undefined;
    } else if (word === '--' && !place.onlyOperands) place.onlyOperands = true;
    else if (word.startsWith('-') && word !== '-' && !place.onlyOperands) {
      const [name = '', value] = word.startsWith('--') ? word.split(/=(.*)/s) : [word];
      const option = optionsAt(place.command).find(({ long, short }) => long === name || short === name);
      if (option && takesValue(option) && value === undefined) place.pending = option;
      else if (option) give(option, value ?? '');
    } else {
      const child =
        place.operands.length === 0 ? place.command.commands.find((each) => each.name() === word) : undefined;
      if (child) place.command = child;
      else place.operands.push(word);
    }
  }
  return place;
}

/** The options allowed here: those of the command, of its default command, and of its parents. */
function optionsAt(command: CommandUnknownOpts): Option[] {
  const options = [...command.options, ...(defaultOf(command)?.options ?? [])];
  for (let above = command.parent; above; above = above.parent)
    options.push(...above.options.filter(({ long }) => long !== '--version'));
  return options;
}

/** The default command of a group: `psd2 transfer` is `psd2 transfer create`. Commander shows it only in the usage. */
function defaultOf(command: CommandUnknownOpts): CommandUnknownOpts | undefined {
  const name = /^\[(\w+)\]/.exec(command.usage())?.[1];
  return command.commands.find((child) => child.name() === name);
}

function optionValues({ command, given: written }: Place, current: string): Value[] {
  const help: Value = ['--help', 'show how the command is used'];
  const values = optionsAt(command)
    .filter(
      (option) => !option.hidden && (!written.has(option.long ?? '') || Array.isArray(option.defaultValue)),
    )
    .flatMap(({ long, description }): Value[] => (long ? [[long, description]] : []));
  return [...values, help].filter(([name]) => name.startsWith(current));
}

const takesValue = ({ required, optional }: Option) => required || optional;

function argumentAt(command: CommandUnknownOpts, index: number): Argument | undefined {
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  return registeredArguments[index] ?? (last?.variadic ? last : undefined);
}

/** By an option's whole flags, where the name of its value is not enough. One that takes several values counts as one that takes one. */
const OPTIONS: Record<string, ValueKind> = {
  '--profile <name>': 'profile',
  '--customer <id>': 'customer',
  '--category <name>': 'category',
  '--resource <id>': 'flow',
  '--transaction <id>': 'anyFlow',
  '--consent <flow>': 'consent',
  '--from <account>': 'account',
  '--account <account>': 'account',
  '--bank <name|file>': 'bank',
  '--state <state>': { choices: OPERATION_STATES },
  '-o, --output <format>': 'output',
};

/** By the name of an option's value. */
const OPTION_VALUES: Record<string, ValueKind> = {
  flow: 'flow',
  file: 'files',
  path: 'files',
  folder: 'folders',
  json: 'json',
};

/** By the name of a command's argument. */
const ARGUMENTS: Record<string, ValueKind> = {
  bank: 'bank',
  batch: 'batch',
  customer: 'customer',
  account: 'account',
  flow: 'flow',
  operationName: 'operation',
  profile: 'profile',
  file: 'files',
};

/** By the name of the value, if the whole flags (`-o, --output <format>`) don't say it. */
function kindOfOption({ flags, argChoices }: Option): ValueKind | null {
  if (argChoices) return { choices: argChoices };
  return (
    OPTIONS[flags.replace('...>', '>')] ?? OPTION_VALUES[/[<[](\w+)[\]>.]/.exec(flags)?.[1] ?? ''] ?? null
  );
}

function kindOfArgument(argument: Argument): ValueKind | null {
  const { argChoices } = argument;
  return argChoices ? { choices: argChoices } : (ARGUMENTS[argument.name()] ?? null);
}
