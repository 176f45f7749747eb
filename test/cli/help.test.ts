import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { fitLines } from '../../src/cli/help.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { TOPICS } from '../../src/cli/topics.ts';
import type { Run } from '../../src/commands/declare.ts';
import { shellWords } from '../../src/terminal/shell-words.ts';

const PLACES = { root: '~/.config/psd2', log: '~/.local/state/psd2' };
const notRun: Run = async () => {};

// Silences help when its examples run. Other test files load this module too, so it is reloaded.
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
vi.mock(import('../../src/cli/print-at-once.ts'), () => ({
  printAtOnce: () => {},
  columnsOfStdout: () => undefined,
}));

function everyCommand(command: CommandUnknownOpts, path: string[] = []): [string, CommandUnknownOpts][] {
  return [
    [['psd2', ...path].join(' '), command],
    ...command.commands.flatMap((child) => everyCommand(child, [...path, child.name()])),
  ];
}

/** Returns the text that `--help` of a command shows. */
function helpOf(command: CommandUnknownOpts): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

/** Returns the words of each psd2 call in the examples of a help text, without the shell around it. */
function examplesIn(help: string): string[][] {
  const [, examples = ''] = help.split(/^Examples?:$/m);
  return examples
    .replaceAll(/\\\n */g, '')
    .split('\n')
    .flatMap((line) => /^ {2}\$ (.*?)(?: {3,}.*)?$/.exec(line)?.[1] ?? [])
    .flatMap((line) => [...line.matchAll(/(?<=^|[\s(])psd2 /g)].map((found) => callAt(line, found.index)));
}

/** Returns the words of a call, from a position in the line to its end, a pipe or a bracket. */
function callAt(line: string, from: number): string[] {
  let quote = '';
  for (let at = from; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote === '' && /[|>);]/.test(character)) {
      return shellWords(line.slice(from, at), 'an example').slice(1);
    }
    if (character === quote) quote = '';
    else if (quote === '' && /["']/.test(character)) quote = character;
  }
  return shellWords(line.slice(from), 'an example').slice(1);
}

describe.each(everyCommand(await buildProgram('0.0.0')))('the help of %s', (name, command) => {
  const examples = examplesIn(helpOf(command));

  it('the help has an example of the command itself', () => {
    // `psd2 transfer` stands for `psd2 transfer create`.
    const meant = /^\[(\w+)\]/.exec(command.parent?.usage() ?? '')?.[1];
    const own = name
      .split(' ')
      .slice(1)
      .filter((word) => word !== meant);
    const named = examples.filter((words) => own.every((word) => words.includes(word)));
    expect(named, helpOf(command)).not.toEqual([]);
  });

  it.each(examples.map((words) => [words.join(' '), words] as const))(
    'the help shows %s, which parses',
    async (_, words) => {
      const program = await buildProgram('0.0.0', { words, runInstead: notRun });
      await expect(program.parseAsync(words, { from: 'user' })).resolves.toBe(program);
    },
  );

  it('the help describes the command and each of its options and arguments', () => {
    expect(command.description()).toMatch(/^[\w"']/);
    for (const { description } of command.options) expect(description).not.toBe('');
  });
});

it.each([
  ['transfer', ['--from <productId>', '--instant', '--reference <text>']],
  ['log', ['--transaction <id>', '--failed']],
])('psd2 %s --help shows the options of its default command', async (name, options) => {
  const program = await buildProgram('0.0.0');
  const group = program.commands.find((command) => command.name() === name);
  const help = group ? helpOf(group) : '';
  for (const option of options) expect(help).toContain(`\n  ${option}`);
});

describe('psd2 help', () => {
  it.each(Object.entries(TOPICS))('the topic %s has a text', async (_, topic) => {
    const text = await topic.text(PLACES);
    expect(text.length).toBeGreaterThan(200);
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThan(140);
  });

  it('psd2 help exit-codes lists every exit code', async () => {
    const lines = (await TOPICS['exit-codes']?.text(PLACES))?.split('\n') ?? [];
    expect(lines.map((line) => line.trim().split(/ {2}/))).toEqual(
      Object.entries(EXIT_CODES).map(([code, meaning]) => [code, meaning]),
    );
  });

  it('psd2 help environment lists every variable that psd2 reads', async () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const names = sources
      .filter((file) => !file.startsWith('sandbox/'))
      .flatMap((file) => [...readFileSync(join('src', file), 'utf8').matchAll(/\benv\.(PSD2_\w+)/g)])
      .map(([, name = '']) => name);
    expect(names).toContain('PSD2_CONFIG_DIR');
    const text = await TOPICS.environment?.text(PLACES);
    for (const name of names) expect(text).toMatch(new RegExp(`^  ${name} `, 'm'));
  });
});

describe('the help of psd2 itself', () => {
  it('the help of psd2 fits a page, and lists each command once, in groups before the options', async () => {
    const program = await buildProgram('0.0.0', { runInstead: notRun });
    const lines = helpOf(program).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(54);
    for (const line of lines.filter((each) => each.startsWith('  ')))
      expect(line.length).toBeLessThanOrEqual(80);
    const options = lines.findIndex((line) => line.startsWith('Options'));
    const shown = lines.slice(0, options).flatMap((line) => /^ {2}([a-z]+) /.exec(line)?.[1] ?? []);
    expect(shown.toSorted()).toEqual(program.commands.map((command) => command.name()).toSorted());
    expect(lines.filter((line) => /^[A-Z][a-z]+:$/.test(line))).toEqual([
      ...['Customers:', 'Accounts:', 'Payments:', 'Operations:', 'Setup:', 'Sandbox:'],
      'Examples:',
    ]);
  });

  it('what moves or asks about money is among the payments', async () => {
    const lines = helpOf(await buildProgram('0.0.0', { runInstead: notRun })).split('\n');
    const payments = lines.slice(lines.indexOf('Payments:') + 1, lines.indexOf('Operations:'));
    expect(payments.flatMap((line) => /^ {2}([a-z]+) /.exec(line)?.[1] ?? [])).toEqual([
      ...['transfer', 'batch', 'operation', 'funds'],
    ]);
  });

  it('psd2 help options lists every global option', async () => {
    const program = await buildProgram('0.0.0', { runInstead: notRun });
    const text = (await TOPICS.options?.text(PLACES)) ?? '';
    for (const { flags, long } of program.options) if (long !== '--version') expect(text).toContain(flags);
  });
});

describe('a text that is wider than the terminal', () => {
  it.each<[string, number | undefined, string]>([
    ['A line that is long', undefined, 'A line that is long'],
    ['A line that is long', 0, 'A line that is long'],
    ['A line that is long enough', 26, 'A line that is long enough'],
    ['A line that is long enough', 25, 'A line that is long\nenough'],
    ['one\n  two three four five six\nseven', 22, 'one\n  two three four five\n  six\nseven'],
    ['  --name    what it is for here now', 34, '  --name    what it is for here\n            now'],
    // The column of text would be narrower than twenty characters, so it begins at the left.
    ['  --name    what it is for', 25, '  --name    what it is\nfor'],
    // A command stays whole, so that a reader can copy it.
    ['  $ psd2 transfer create --amount 5', 25, '  $ psd2 transfer create --amount 5'],
    ['the price in $ is a number of it', 25, 'the price in $ is a\nnumber of it'],
  ])('%j within %s columns is %j', (text, columns, fitted) => {
    expect(fitLines(text, columns)).toBe(fitted);
  });
});
