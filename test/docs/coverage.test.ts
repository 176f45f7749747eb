import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { readPage } from './pages.ts';

// The pages that say row by row what psd2 does. Which tests show it is beside them, in coverage.json: `file`, or `file: part of a title`.

const pages = z
  .record(z.string(), z.record(z.string(), z.union([z.string(), z.array(z.string()).min(2)])))
  .parse(JSON.parse(readFileSync(new URL('coverage.json', import.meta.url), 'utf8')));

/** The rows of the tables with a column `sandbox rule`, and of the fields of a bank file: `heading: first cell`. */
function rowsOf(page: string): string[] {
  let [heading, isCovered] = ['', false];
  return readPage(page)
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('#')) heading = line.replace(/^#+ /, '');
      if (!line.startsWith('|')) isCovered = false;
      const isHead = line.endsWith(' sandbox rule |') || line.startsWith('| field | values |');
      const isRow = isCovered && !/^\|[- |]*$/.test(line);
      if (isHead) isCovered = true;
      return isRow ? [`${heading}: ${line.slice(2).split(' | ')[0]}`] : [];
    });
}

it.each(Object.entries(pages))('each row of %s has a test, and no other', (page, rows) => {
  expect(rowsOf(page).toSorted()).toEqual(Object.keys(rows).toSorted());
});

const named = Object.values(pages).flatMap((rows) => Object.entries(rows));
it.each(named)('the tests of %s exist', (_, tests) => {
  for (const test of [tests].flat()) {
    const [, file = '', title] = /^(\S+?)(?:: (.+))?$/.exec(test) ?? [];
    expect(existsSync(file), test).toBe(true);
    if (title !== undefined)
      expect(readFileSync(file, 'utf8').replace(/\\(.)/g, '$1'), file).toContain(title);
  }
});
