import { type CommandPage, everyPage, type Row, type TopicPage } from './command-page.ts';

/** The page of `psd2` itself: `man psd2`. */
export function writeMainPage(program: CommandPage, topics: TopicPage[], version: string): string {
  return join(
    ...head(program, version),
    ...section('COMMANDS'),
    ...program.children.flatMap(({ name, description }) => [
      '.TP',
      `\\fB${toRoff(name)}\\fR`,
      `${toRoff(description)}; see \\fB${toRoff(manName(name))}\\fR(1)`,
    ]),
    ...section('GLOBAL OPTIONS'),
    ...rows(program.options),
    ...section('EXAMPLES'),
    ...literal(program.examples.join('\n')),
    ...topics.flatMap(({ name, text }) => [
      ...section(name.replaceAll('-', ' ').toUpperCase()),
      ...literal(text),
    ]),
    ...section('SEE ALSO'),
    program.children.map(({ name }) => `\\fB${toRoff(manName(name))}\\fR(1)`).join(',\n'),
  );
}

/** The page of a command and all commands below it: `man psd2-transfer`. */
export function writeCommandPage(page: CommandPage, version: string): string {
  const [own, ...below] = everyPage(page);
  return join(
    ...head(page, version),
    ...(own ? body(own, 'OPTIONS', 'EXAMPLES') : []),
    ...below.flatMap((child) => [
      ...section(child.name.toUpperCase()),
      ...paragraph(child.usage, true),
      ...paragraph(`${child.description}.`),
      ...body(child),
    ]),
    ...section('SEE ALSO'),
    '\\fBpsd2\\fR(1), for the global options, the exit codes and the environment',
  );
}

/** `psd2-transfer` */
export function manName(name: string): string {
  return name.replaceAll(' ', '-');
}

function head({ name, usage, description }: CommandPage, version: string): string[] {
  return [
    '.\\" Written by npm run docs from the command tree: do not edit it.',
    `.TH ${manName(name).toUpperCase()} 1 "" "psd2 ${version}" "psd2"`,
    ...section('NAME'),
    `${toRoff(manName(name))} \\- ${toRoff(description.replace(/\.$/, ''))}`,
    ...section('SYNOPSIS'),
    ...paragraph(usage, true).slice(1),
  ];
}

function body(page: CommandPage, optionsTitle?: string, examplesTitle?: string): string[] {
  const given = [...page.arguments, ...page.options.filter(({ term }) => term !== '-h, --help')];
  return [
    ...(page.notes.length > 0 && optionsTitle ? section('DESCRIPTION') : []),
    ...page.notes.flatMap(({ text, filled }) =>
      filled ? paragraph(text.replaceAll('\n', ' ')) : literal(text),
    ),
    ...(given.length === 0 ? [] : [...(optionsTitle ? section(optionsTitle) : []), ...rows(given)]),
    ...(examplesTitle ? section(examplesTitle) : ['.PP', 'Examples:']),
    ...literal(page.examples.join('\n')),
  ];
}

const section = (title: string): string[] => [`.SH ${toRoff(title)}`];

function paragraph(text: string, bold = false): string[] {
  return ['.PP', bold ? `\\fB${toRoff(text)}\\fR` : toRoff(text)];
}

function rows(all: Row[]): string[] {
  return all.flatMap(({ term, what }) => ['.TP', `\\fB${toRoff(term)}\\fR`, toRoff(what)]);
}

/** Lines that roff neither fills nor indents. */
function literal(text: string): string[] {
  return ['.PP', '.nf', ...text.split('\n').map(toRoff), '.fi'];
}

/** Escapes a line for roff: backslashes, dashes, and a dot or an apostrophe at the beginning. */
function toRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&');
}

function join(...lines: string[]): string {
  return `${lines.join('\n')}\n`;
}
