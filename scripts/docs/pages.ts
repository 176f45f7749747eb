import { readFileSync } from 'node:fs';
import { buildProgram } from '../../src/cli/program.ts';
import { TOPICS } from '../../src/cli/topics.ts';
import { writeBanksPage, writePlatformSchema } from './banks-page.ts';
import { readPage } from './command-page.ts';
import { drawRooms } from './drawing.ts';
import { readImports } from './imports.ts';
import { manName, writeCommandPage, writeMainPage } from './man-page.ts';
import { writeOutputPage } from './output-page.ts';
import { writeReference } from './reference.ts';
import { writeSandboxPage } from './sandbox-page.ts';
import { writeStorePage } from './store-page.ts';
import { walksIn } from './walks.ts';

/** The walk in the drawing. */
const DRAWN = 'transfer create';

/** The defaults on Linux. */
const PLACES = { root: '~/.config/psd2', log: '~/.local/state/psd2' };

/**
 * The pages that are generated from the command tree, from the shapes of what commands print, and from the imports.
 *
 * @param version of the package
 * @returns content by path from the root of the repository
 */
export async function writePages(version: string): Promise<Record<string, string>> {
  const program = readPage(await buildProgram(version));
  const topics = await Promise.all(
    Object.entries(TOPICS).map(async ([name, { title, text }]) => ({
      name,
      title,
      text: await text(PLACES),
    })),
  );
  const walk = walksIn(readFileSync('docs/architecture.md', 'utf8')).find(({ command }) => command === DRAWN);
  if (!walk) throw new Error(`docs/architecture.md has no walk of ${DRAWN}`);
  return {
    'banks/platform.schema.json': writePlatformSchema(),
    'docs/architecture.svg': drawRooms(readImports(), walk),
    'docs/banks.md': await writeBanksPage(readFileSync('docs/banks.md', 'utf8')),
    'docs/reference.md': writeReference(program, topics),
    'docs/sandbox.md': writeSandboxPage(readFileSync('docs/sandbox.md', 'utf8')),
    'docs/output.md': await writeOutputPage(readFileSync('docs/output.md', 'utf8')),
    'docs/store.md': writeStorePage(readFileSync('docs/store.md', 'utf8')),
    'man/psd2.1': writeMainPage(program, topics, version),
    ...Object.fromEntries(
      program.children.map((page) => [`man/${manName(page.name)}.1`, writeCommandPage(page, version)]),
    ),
  };
}
