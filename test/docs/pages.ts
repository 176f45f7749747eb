import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  /** Path of the page from the root of the repository, and the line of the block's fence: `docs/first-day.md:12`. */
  at: string;
  /** The heading above the block. */
  heading: string;
  /** The word after the fence: `sh`, `console`, `yaml`. Empty if there is none. */
  language: string;
  text: string;
  /** Why the tests do not run the block: the text of `<!-- not run: … -->` on the line before. */
  notRun: string | undefined;
}

/** The pages that people write. `npm run docs` writes `docs/reference.md` from the help, whose examples have their own test. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md') && name !== 'reference.md')
    .map((name) => `docs/${name}`),
];

/** @param page path from the root of the repository */
export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

const PART =
  /^#{1,6} (?<heading>.*)$|(?:^ *<!-- not run: (?<notRun>.+) -->\n)?^(?<indent> *)```(?<language>[\w-]*)\n(?<text>[\s\S]*?)^\k<indent>```$/gm;

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  const content = readPage(page);
  const found: Block[] = [];
  let heading = '';
  for (const { groups, index } of content.matchAll(PART)) {
    const { heading: title, notRun, indent = '', language = '', text } = groups ?? {};
    if (title !== undefined) heading = title;
    if (text === undefined) continue;
    const line = content.slice(0, index).split('\n').length;
    const lines = text.split('\n').map((each) => each.slice(indent.length));
    found.push({ at: `${page}:${line}`, heading, language, text: lines.join('\n'), notRun });
  }
  return found;
}

/** The blocks that a test runs in a shell: `sh` blocks without a `not run` comment. */
export function shellOf(page: string): Block[] {
  return blocksOf(page).filter(({ language, notRun }) => language === 'sh' && notRun === undefined);
}
