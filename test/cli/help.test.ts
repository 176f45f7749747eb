import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { describeOption, fitLines } from '../../src/cli/help.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { TOPICS } from '../../src/cli/topics.ts';
import type { Run } from '../../src/commands/declare.ts';
import { EXIT_CODES } from '../../src/exit-codes.ts';
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

const childOf = (group: CommandUnknownOpts | undefined, name: string) =>
  group?.commands.find((command) => command.name() === name);

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

/** The ids of anna and of her current account, and its IBAN (docs/sandbox.md). */
const OF_ANNA = ['1048262', '0010482620', 'IT89F0999001600000010482620'];

/** The customers and accounts that a call acts for. */
function numbersIn(words: readonly string[]): string[] {
  return words.filter(
    (word, at) =>
      /^(\d{7}|\d{10})$/.test(word) ||
      (/^--(account|from)$/.test(words[at - 1] ?? '') && /^[A-Z]{2}\d{2}\w+$/.test(word)),
  );
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

  it('its examples work at the sandbox: its own accounts and customers are those of anna', () => {
    const own = examples.filter(([noun]) => noun !== '--profile').flatMap(numbersIn);
    expect(own.filter((number) => !OF_ANNA.includes(number))).toEqual([]);
  });

  it.each([170, 80, undefined])(
    'at %s columns, no prose is wider than the help, and examples stay',
    (columns) => {
      const help = helpOf(command);
      const width = Math.min(columns ?? 80, 100);
      const lines = fitLines(help, columns).split('\n');
      const isCommand = (line: string, at: number) =>
        /^ *\$ |^ {6}--/.test(line) || lines[at - 1]?.endsWith('\\');
      const wide = lines.filter((line, at) => line.length > width && !isCommand(line, at));
      expect(wide.filter((line) => line.trim().includes(' '))).toEqual([]);
      for (const line of help.split('\n').filter((each) => /^ *\$ /.test(each)))
        expect(lines).toContain(line);
    },
  );

  it('the help describes the command and each of its options and arguments', () => {
    expect(command.description()).toMatch(/^[\w"']/);
    for (const { description } of command.options.filter(({ hidden }) => !hidden))
      expect(description).not.toBe('');
  });
});

it.each([
  ['transfer', 'create', ['--from <account>', '--instant', '--reference <text>', 'show <flow>  ']],
  ['log', 'list', ['--transaction <id>', '--failed', 'bundle ']],
])(
  'psd2 %s --help shows the options of its default command %s, and the other commands',
  async (name, usual, lines) => {
    const program = await buildProgram('0.0.0');
    const group = childOf(program, name);
    const help = group ? helpOf(group) : '';
    expect(help).toContain(`Usage: psd2 ${name} [${usual}] [options]`);
    for (const line of lines) expect(help).toContain(`\n  ${line}`);
  },
);

describe('psd2 help', () => {
  it.each(Object.entries(TOPICS))('the topic %s has a text', async (_, topic) => {
    const text = await topic.text(PLACES);
    expect(text.length).toBeGreaterThan(200);
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
    const help = helpOf(program);
    expect(help.trimEnd().split('\n').length).toBeLessThanOrEqual(55);
    for (const line of help.split('\n').filter((each) => each.startsWith('  ')))
      expect(line.length).toBeLessThanOrEqual(80);
    const options = help.indexOf('Options');
    const groups = [...help.slice(0, options).matchAll(/^(\w+):\n((?: {2}.+\n)+)/gm)];
    const commands = groups.map(([, group = '', lines = '']): [string, string[]] => [
      group,
      [...lines.matchAll(/^ {2}(\w+) /gm)].map(([, name = '']) => name),
    ]);
    expect(commands.flatMap(([, names]) => names).toSorted()).toEqual(
      program.commands.map((command) => command.name()).toSorted(),
    );
    expect(Object.fromEntries(commands)).toEqual({
      Customers: ['auth', 'customer', 'consent'],
      Accounts: ['accounts', 'products', 'sync'],
      Payments: ['transfer', 'batch', 'operation', 'funds'],
      Operations: ['status', 'doctor', 'smoke', 'expiring', 'log', 'audit', 'api'],
      Setup: ['profile', 'bank', 'cert', 'store', 'schema', 'completion', 'help'],
      Sandbox: ['sandbox', 'demo'],
    });
    expect(help.slice(0, help.indexOf('Accounts:'))).toMatchInlineSnapshot(`
      "Usage: psd2 [options] [command]

      Work with a bank's PSD2 interface: consent, accounts, payments.

      Customers:
        auth                   log customers in and out
        customer               show, export or forget a customer
        consent                get the customer's consent

      "
    `);
    expect(help.slice(options)).toMatchInlineSnapshot(`
      "Options (all of them: psd2 help options):
        -V, --version          output the version number
        --profile <name>       profile to use (env: PSD2_PROFILE)
        -o, --output <format>  format: table, json, ndjson or csv (env: PSD2_OUTPUT)
        --json                 short for -o json
        -y, --yes              confirm in advance what the command would ask
        -v, --verbose          show each request, without secrets (PSD2_DEBUG=1)
        -h, --help             display help for command

      Examples:
        $ psd2 sandbox start --detach    a bank on your machine, and how to log in

      Help: psd2 help <command>, or psd2 help <topic> (options, exit-codes, environment, files, output, bank-file, sandbox, reports, privacy)
      "
    `);
  });

  it('a command that no group names is in the last one', async () => {
    const program = await buildProgram('0.0.0', { runInstead: notRun });
    program.command('newest').description('do what no other one does');
    const lines = helpOf(program).split('\n');
    const [last, options] = [
      lines.indexOf('Sandbox:'),
      lines.findIndex((line) => line.startsWith('Options')),
    ];
    expect(lines.slice(last + 1, options - 1).map((line) => line.trim().split(' ')[0])).toEqual([
      ...['sandbox', 'demo', 'newest'],
    ]);
  });

  it('the help about help has the topics, a line each', async () => {
    const program = await buildProgram('0.0.0', { runInstead: notRun });
    const help = childOf(program, 'help');
    const topics = Object.entries(TOPICS).map(
      ([name, { title }]) => `  psd2 help ${name.padEnd(12)} ${title}\n`,
    );
    expect(help && helpOf(help)).toContain(`\n\nTopics:\n${topics.join('')}\nExamples:\n`);
  });

  it('an option that may be repeated shows no empty default, and others show theirs', () => {
    const option = (value: unknown) => new Option('--state <state>', 'only these').default(value);
    expect([[], ['open'], '', 'x'].map((value) => describeOption(option(value)))).toEqual([
      'only these',
      'only these (default: ["open"])',
      'only these (default: "")',
      'only these (default: "x")',
    ]);
  });

  it('psd2 help options lists every global option', async () => {
    const program = await buildProgram('0.0.0', { runInstead: notRun });
    const text = (await TOPICS.options?.text(PLACES)) ?? '';
    for (const { flags, long } of program.options) if (long !== '--version') expect(text).toContain(flags);
  });
});

it.each<[string, number | undefined, string]>([
  ['a '.repeat(50).trim(), undefined, `${'a '.repeat(40).trim()}\n${'a '.repeat(10).trim()}`],
  ['a '.repeat(50).trim(), 0, `${'a '.repeat(40).trim()}\n${'a '.repeat(10).trim()}`],
  ['a '.repeat(60).trim(), 170, `${'a '.repeat(50).trim()}\n${'a '.repeat(10).trim()}`],
  // Lines of a paragraph are joined, and nothing else is.
  ['one\ntwo\n\nthree\n  four\nfive', 80, 'one two\n\nthree\n  four\nfive'],
  [
    '  $ psd2 transfer \\\n      --amount 5 --reference INV-1\nend',
    25,
    '  $ psd2 transfer \\\n      --amount 5 --reference INV-1\nend',
  ],
  ['A line that is long enough', 26, 'A line that is long enough'],
  ['A line that is long enough', 25, 'A line that is long\nenough'],
  ['one\n  two three four five six\nseven', 22, 'one\n  two three four five\n  six\nseven'],
  ['  --name    what it is for here now', 34, '  --name    what it is for here\n            now'],
  // The column of text would be narrower than twenty characters, so it begins at the left.
  ['  --name    what it is for', 25, '  --name    what it is\nfor'],
  // A command stays whole, so that a reader can copy it.
  ['  $ psd2 transfer create --amount 5', 25, '  $ psd2 transfer create --amount 5'],
  ['A $ sign: one two three four', 25, 'A $ sign: one two three\nfour'],
  ['1234567890123456789012345', 25, '1234567890123456789012345'],
  ['the price in $ is a number of it', 25, 'the price in $ is a\nnumber of it'],
])('%j within %s columns is %j', (text, columns, fitted) => {
  expect(fitLines(text, columns)).toBe(fitted);
});

it.each([
  [
    'no profile',
    undefined,
    ['--payee-town', '--paste'],
    / \(where\s+the\s+bank\s+has\s+addresses\s+of\s+payees\)/,
  ],
  ['a bank without them', new Set(['payments']), [], /The bank of the profile has no use for more options/],
  ['a bank with some', new Set(['addresses of payees']), ['--payee-town'], /which every address needs\n/],
])('with %s, an option is there if its bank has what it is for', async (_, has, shown, says) => {
  const words = ['transfer', 'create', '--help'];
  const program = await buildProgram('0.0.0', { words, runInstead: notRun, ...(has && { has }) });
  const create = childOf(childOf(program, 'transfer'), 'create');
  const help = create ? helpOf(create) : '';
  expect(['--payee-town', '--paste'].filter((option) => help.includes(`${option} `))).toEqual(shown);
  expect(help).toMatch(says);
});

it.each([
  ['no profile', undefined, ['funds', 'operation', 'standing', 'receipt'], /^(?!.*no use for)/s],
  ['a bank with receipts', new Set(['receipts']), ['receipt'], /no use for more commands\. Without/],
  ['a bank without', new Set<string>(), [], /no use for more commands\. Without/],
])('with %s, a command is there if its bank has what it is for', async (_, has, shown, says) => {
  const program = await buildProgram('0.0.0', { runInstead: notRun, ...(has && { has }) });
  const transfer = childOf(program, 'transfer');
  const help = [program, ...(transfer ? [transfer] : [])].map(helpOf).join('\n');
  const commands = ['funds', 'operation', 'standing', 'receipt'];
  expect(commands.filter((name) => new RegExp(`^  ${name} `, 'm').test(help))).toEqual(shown);
  expect(help.replaceAll('\n', ' ')).toMatch(says);
});
