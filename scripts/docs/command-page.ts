import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { GLOBAL_OPTIONS_NOTE } from '../../src/cli/help.ts';

/** A topic of `psd2 help`. */
export interface TopicPage {
  name: string;
  title: string;
  text: string;
}

/** The parts of a command's help. */
export interface CommandPage {
  /** `psd2 transfer create` */
  name: string;
  usage: string;
  description: string;
  arguments: Row[];
  options: Row[];
  /** The text after the options: paragraphs to fill, and text whose line breaks stay. */
  notes: { text: string; filled: boolean }[];
  /** Command lines without the prompt, and the lines below them. */
  examples: string[];
  children: CommandPage[];
}

/** An option or an argument as the help writes it, and its description. */
export interface Row {
  term: string;
  what: string;
}

/** Reads the pages of a command and of all commands below it from the command tree. */
export function readPage(command: CommandUnknownOpts, parents: string[] = []): CommandPage {
  const path = [...parents, command.name()];
  const help = command.createHelp();
  const [notes = '', ...examples] = helpTextOf(command).split(/^Examples?:\n/m);
  return {
    name: path.join(' '),
    usage: `${path.join(' ')} ${command.usage()}`,
    description: command.description(),
    arguments: help.visibleArguments(command).map((argument: Argument) => ({
      term: help.argumentTerm(argument),
      what: help.argumentDescription(argument),
    })),
    options: help.visibleOptions(command).map((option: Option) => ({
      term: help.optionTerm(option),
      what: help.optionDescription(option),
    })),
    notes: notes
      .split(/\n{2,}/)
      .filter((text) => text.trim() !== '')
      .map((text) => ({ text: text.replace(/^\n|\n$/g, ''), filled: !/^\s/m.test(text.trim()) })),
    examples: examples
      .join('')
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(/^ {2}/, '')),
    children: command.commands.map((child) => readPage(child, path)),
  };
}

/** The text that a command adds after its options, without the text that every help has. */
function helpTextOf(command: CommandUnknownOpts): string {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut: write }).outputHelp();
  return text
    .slice(command.helpInformation().length)
    .replace(GLOBAL_OPTIONS_NOTE, '')
    .replace(/^Topics:\n(?: {2}.*\n)+/m, '');
}

/** A page and all pages below it. */
export function everyPage(page: CommandPage): CommandPage[] {
  return [page, ...page.children.flatMap(everyPage)];
}
