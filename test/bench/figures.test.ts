import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'node-html-parser';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const readText = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');

const results = z.object({
  results: z.array(z.object({ what: z.string(), against: z.string(), ratio: z.number() })),
});

it('the charts and tables of the docs match bench/results.json and test/mutation/results.json', () => {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-figures-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = ['docs/performance.md', 'docs/performance.svg', 'test/mutation/README.md'];
  for (const file of files) cpSync(join(ROOT, file), join(folder, basename(file)));
  execFileSync(process.execPath, [join(ROOT, 'bench/figures.js'), folder]);
  for (const file of files)
    expect(readFileSync(join(folder, basename(file)), 'utf8'), `npm run figures writes ${file}`).toBe(
      readText(file),
    );
});

it('the chart shows the measured ratios of short commands and of sync', () => {
  const measured = results.parse(JSON.parse(readText('bench/results.json'))).results;
  const shown = parse(readText('docs/performance.svg'))
    .querySelectorAll('text')
    .map((text) => text.textContent.split(' ')[0]);
  for (const command of ['psd2 --help', 'psd2 profile list', 'psd2 accounts list,', 'psd2 sync of']) {
    // The chart compares with scripts, and not one bank or store with another.
    const figures = measured.filter(
      ({ what, against }) => what.startsWith(command) && !against.startsWith('the same'),
    );
    expect(figures).not.toEqual([]);
    expect(shown).toEqual(expect.arrayContaining(figures.map(({ ratio }) => ratio.toFixed(2))));
  }
});
