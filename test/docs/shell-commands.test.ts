import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { blocksOf, PAGES, readPage } from './pages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('npm itself runs the commands of the README that no test runs', () => {
  const marked = blocksOf('README.md').filter(({ notRun }) => notRun !== undefined);
  expect(marked.map(({ text }) => text.trim())).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readPage('package.json')));
  expect(scripts).toMatchObject({ demo: 'node bin/psd2.js demo', test: 'TEST_SAMPLE=1 vitest run' });
  const ci = readPage('.ci/run');
  for (const command of ['npm ci', 'npm test', 'npm run demo']) expect(ci).toContain(command);
});

it('the pages have no broken links', () => {
  const broken = PAGES.flatMap((page) =>
    [...readPage(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, path = '', anchor]) => !leadsSomewhere(page, path, anchor))
      .map(([link]) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

function leadsSomewhere(page: string, path: string, anchor: string | undefined): boolean {
  const target = path === '' ? page : join(page, '..', path);
  if (!existsSync(join(ROOT, target))) return false;
  if (anchor === undefined || !target.endsWith('.md')) return true;
  const headings = [...readPage(target).matchAll(/^#{1,6} (.*)$/gm)].map(([, text = '']) => text);
  return headings.some((text) => anchorOf(text) === anchor);
}

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
