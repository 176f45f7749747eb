import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HTMLElement, parse } from 'node-html-parser';
import { expect, it } from 'vitest';
import { useOperator } from '../support/psd2.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const operator = useOperator();

/** The texts of a picture, line by line. */
function linesOf(file: string): string[] {
  return parse(readFileSync(file, 'utf8'))
    .querySelectorAll('text')
    .filter((text) => text instanceof HTMLElement)
    .map((text) => text.textContent);
}

/** Replaces what differs at each run. */
const steady = (line: string) =>
  line
    .replace(
      /\b(tr-\w+|sm-\w+|slowest .*|[\d.]+ s\b|[0-9a-f]{8}-[0-9a-f-]{27}|\d{11}|[\d.]+ EUR|\d{4}-\d\d-\d\d\S*|\d\d:\d\d|127\.0\.0\.1:\d+)/g,
      '…',
    )
    // What took less than a millisecond shows no time, and the first page has as many rows as the week had.
    .replace(/ *\d+ ms/, '')
    .replace(/\d+ on the first page/, '… on the first page')
    .replace(/ {2,}/g, ' ');

/** The steps, and everything from the transfer on. The layout of the tables before it depends on the days they show. */
function story(lines: string[]): string[] {
  const transfer = lines.findIndex((line) => line.startsWith('$ psd2 transfer'));
  return lines.filter((line, index) => index >= transfer || line.startsWith('$ '));
}

it('npm run picture draws the pictures of the README from the current demo', async () => {
  const script = await operator.startProgram(process.execPath, [
    join(ROOT, 'scripts', 'picture.js'),
    operator.folder,
  ]);
  const { code, stderr } = await script.ended;
  expect(code, stderr).toBe(0);
  const steadyLines = (folder: string, name: string) => linesOf(join(folder, `${name}.svg`)).map(steady);
  const drawn = steadyLines(operator.folder, 'demo');
  expect(drawn).toContain('Paid … to Ada Lovelace, settled after …, CRO …, ….');
  expect(story(drawn)).toEqual(story(steadyLines(join(ROOT, 'docs'), 'demo')));
  expect(steadyLines(operator.folder, 'smoke')).toEqual(steadyLines(join(ROOT, 'docs'), 'smoke'));
});
