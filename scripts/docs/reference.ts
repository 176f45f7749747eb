import { type CommandPage, everyPage, type Row, type TopicPage } from './command-page.ts';

/** Writes `docs/reference.md`: every command with its options and examples, and the topics of `psd2 help`. */
export function writeReference(program: CommandPage, topics: TopicPage[]): string {
  const commands = everyPage(program).slice(1);
  return `${[
    '# Reference',
    'Every command, as its `--help` shows it. `npm run docs` writes this page: do not edit it.',
    commands.map(({ name }) => `- [\`${name}\`](#${name.replaceAll(' ', '-')})`).join('\n'),
    '## Global options',
    'You can put them before or after a command.',
    table('option', program.options),
    ...commands.flatMap(writeCommand),
    ...topics.flatMap(({ name, title, text }) => [
      `## Topic: ${name}`,
      `\`psd2 help ${name}\`: ${title}.`,
      block('text', text),
    ]),
  ].join('\n\n')}\n`;
}

function writeCommand(page: CommandPage): string[] {
  return [
    `## ${page.name}`,
    `${page.description.charAt(0).toUpperCase()}${page.description.slice(1)}.`,
    block('text', page.usage),
    ...(page.arguments.length > 0 ? [table('argument', page.arguments)] : []),
    // Every command has --help.
    ...(page.options.length > 1 ? [table('option', page.options.slice(0, -1))] : []),
    ...page.notes.map(({ text, filled }) => (filled ? text.replaceAll('<', '&lt;') : block('text', text))),
    block('console', page.examples.join('\n')),
  ];
}

function table(what: string, rows: Row[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const lines = rows.map((row) => `| \`${row.term.replaceAll('|', '\\|')}\` | ${cell(row.what)} |`);
  return [`| ${what} | meaning |`, '|---|---|', ...lines].join('\n');
}

function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}
