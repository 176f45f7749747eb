import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { contentOf, isMeasured } from './measured.js';

const folder = mkdtempSync(join(tmpdir(), 'psd2-measured-'));
const file = join(folder, 'source.ts');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a source counts as measured until its content changes', () => {
  writeFileSync(file, 'const a = 1;\n');
  const results = { [file]: { content: contentOf(file) } };
  expect(isMeasured(file, {}), 'without a result').toBe(false);
  expect(isMeasured(file, results), 'as it was measured').toBe(true);
  writeFileSync(file, 'const a = 2;\n');
  expect(isMeasured(file, results), 'changed').toBe(false);
  writeFileSync(file, 'const a = 1;\n');
  expect(isMeasured(file, results), 'changed back').toBe(true);
});
