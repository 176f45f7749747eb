import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { buildProgram } from '../../src/cli/program.ts';
import { blocksOf, PAGES, readPage } from './pages.ts';

const manifest = z.object({ name: z.string(), version: z.string() });
const program = await buildProgram('0.0.0');
/** A line that is typed into a shell. */
const TYPED = /^(?:\$ )?(?:psd2|npm|export|sudo|docker|kubectl|createdb) /m;

/**
 * psd2 in command position, and its words up to a pipe, a bracket or a quote. It may also stand in a systemd unit
 * (`ExecStart=/usr/local/bin/psd2 …`) and in a crontab.
 */
const COMMAND = /(?<=^ *|[|;(&"'] *|[$:-] |=\S+ |=\S+\/bin\/|[\d*] +)psd2(?: +[^\s`"'|;&#>)\]]+)+/g;

describe.each(PAGES)('%s', (page) => {
  it('each shell command on a page is run by a test, or the page says why not', () => {
    const unmarked = blocksOf(page).filter(
      ({ language, text, notRun }) =>
        notRun === undefined &&
        (['console', 'bash', 'shell'].includes(language) || (language === '' && TYPED.test(text))),
    );
    // test/e2e/docs/pages.long.test.ts runs the `sh` blocks.
    expect(
      unmarked.map(({ at }) => at),
      'Make it an sh block, or write <!-- not run: why --> on the line before.',
    ).toEqual([]);
  });

  it('a page names only commands and options that psd2 has', () => {
    expect(commandsOf(page).flatMap(mistakesIn)).toEqual([]);
  });
});

it('the pages install the package of this version', () => {
  const { name, version } = manifest.parse(JSON.parse(readPage('package.json')));
  const named = PAGES.flatMap((page) => readPage(page).match(/psd2-cli-[\w.-]+\.tgz/g) ?? []);
  expect(new Set(named)).toEqual(new Set([`${name}-${version}.tgz`]));
});

it('the check finds a command that psd2 does not have, and an option too', () => {
  expect(['psd2 accounts lst', 'psd2 accounts list --colour', 'psd2 -v account'].flatMap(mistakesIn)).toEqual(
    ['psd2 accounts lst: lst', 'psd2 accounts list --colour: --colour', 'psd2 -v account: account'],
  );
  expect(commandsOf('README.md').length).toBeGreaterThan(10);
  expect(commandsOf('docs/pipelines.md')).toEqual(
    expect.arrayContaining([
      'psd2 sandbox start --detach',
      'psd2 sync --out /var/lib/psd2/accounts --all-customers',
      'psd2 --quiet cert check --days 45',
    ]),
  );
});

/** The psd2 commands on a page, in its blocks and between backticks. */
function commandsOf(page: string): string[] {
  const spans = [...readPage(page).matchAll(/`(psd2 [^`]+)`/g)].map(([, span = '']) =>
    span.replaceAll('\n', ' '),
  );
  const lines = blocksOf(page)
    .filter(({ language }) => language !== '')
    .flatMap(({ text }) => text.replaceAll(/\\\n */g, '').split('\n'));
  return [...spans, ...lines].flatMap((line) => line.replace(/ #.*/, '').match(COMMAND) ?? []);
}

/** The words of a command that psd2 does not know: a subcommand or an option. */
function mistakesIn(command: string): string[] {
  const words = command.split(/ +/).slice(1);
  // The arguments of `schema` are commands with options of their own.
  if (words.includes('schema')) return [];
  const path: CommandUnknownOpts[] = [program];
  const mistakes: string[] = [];
  for (const [index, word] of words.entries()) {
    const at = path.at(-1);
    const option = /^(?:--[a-z][a-z-]*|-[a-z])(?==|$)/i.exec(word)?.[0];
    if (option !== undefined && !hasOption(path, option)) mistakes.push(`${command}: ${option}`);
    if (option !== undefined || at === undefined || takesValue(path, words[index - 1])) continue;
    const child = at.commands.find((each) => each.name() === word);
    if (child) path.push(child);
    else if (at.commands.length > 0 && /^[a-z][a-z-]*$/.test(word)) mistakes.push(`${command}: ${word}`);
  }
  return mistakes;
}

function hasOption(path: CommandUnknownOpts[], option: string): boolean {
  return ['--help', '-h'].includes(option) || path.some((at) => optionOf(at, option) !== undefined);
}

/** The option of a command or of its default subcommand: `psd2 transfer` means `psd2 transfer create`. */
function optionOf(at: CommandUnknownOpts, option: string) {
  return [at, ...at.commands]
    .flatMap(({ options }) => options)
    .find(({ short, long }) => short === option || long === option);
}

function takesValue(path: CommandUnknownOpts[], word = ''): boolean {
  return path.some((at) => {
    const option = optionOf(at, word);
    return option !== undefined && (option.required || option.optional);
  });
}
