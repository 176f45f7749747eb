import { expect, it } from 'vitest';
import { type CommandPage, everyPage, readPage as readCommand } from '../../scripts/docs/command-page.ts';
import { writeOutputPage } from '../../scripts/docs/output-page.ts';
import { writeReference } from '../../scripts/docs/reference.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { TOPICS } from '../../src/cli/topics.ts';
import { readPage } from './pages.ts';

const PLACES = { root: '~/.config/psd2', log: '~/.local/state/psd2' };

const program = readCommand(await buildProgram('0.0.0'));
const topics = await Promise.all(
  Object.entries(TOPICS).map(async ([name, { title, text }]) => ({ name, title, text: await text(PLACES) })),
);
const reference = sectionsOf(readPage('docs/reference.md'));
const help = sectionsOf(writeReference(program, topics));

/** The parts of a page by their headings of the second level. The part before the first heading has the name ''. */
function sectionsOf(page: string): Map<string, string> {
  const [first = '', ...others] = page.split(/^## /m);
  return new Map([['', first], ...others.map((part): [string, string] => [part.split('\n')[0] ?? '', part])]);
}

function namesIn(page: CommandPage): string[] {
  return everyPage(page).map(({ name }) => name);
}

it.each(program.children.map((page) => [page.name, namesIn(page)] as const))(
  'docs/reference.md says of %s what its help says',
  (_, names) => {
    for (const name of names) expect(help.get(name), 'Run npm run docs.').toBe(reference.get(name));
  },
);

it('docs/reference.md has the same commands, global options and topics as the help', () => {
  const other = (name: string) => !name.startsWith('psd2');
  expect([...help.keys()]).toEqual([...reference.keys()]);
  for (const name of [...help.keys()].filter(other)) expect(help.get(name)).toBe(reference.get(name));
});

it('docs/output.md has the fields that each command prints', async () => {
  const page = readPage('docs/output.md');
  expect(await writeOutputPage(page), 'Run npm run docs.').toBe(page);
});
