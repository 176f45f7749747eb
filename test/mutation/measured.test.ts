import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { contentOf } from './measured.js';
import { standingOf } from './plan.js';

const folder = mkdtempSync(join(tmpdir(), 'psd2-measured-'));
const file = join(folder, 'source.ts');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a source counts as measured until its content changes', () => {
  writeFileSync(file, 'const a = 1;\n');
  const results = { [file]: { content: contentOf(file) } };
  expect(standingOf(file, {}, contentOf)).toBe('never');
  expect(standingOf(file, results, contentOf)).toBe('as it is');
  writeFileSync(file, 'const a = 2;\n');
  expect(standingOf(file, results, contentOf)).toBe('stale');
  writeFileSync(file, 'const a = 1;\n');
  expect(standingOf(file, results, contentOf)).toBe('as it is');
});
