import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asCommonJs } from '../../scripts/common-js.js';
import { filesOfChunks, joinChunks } from '../../scripts/join-chunks.js';
import { temporaryFolder } from '../store/temporary-folder.ts';

const temporary = temporaryFolder();

/** Writes some chunks into one file, `joined.js`, and others next to it. */
async function built(joined: Record<string, string>, others: Record<string, string> = {}) {
  const folder = mkdtempSync(join(temporary, 'dist-'));
  const chunks = new Map<string, string>();
  for (const [name, text] of Object.entries(joined)) chunks.set(name, await asCommonJs(text));
  writeFileSync(join(folder, 'joined.js'), await joinChunks(chunks));
  const files = new Map(Object.keys(joined).map((name) => [name, 'joined.js']));
  for (const [name, text] of Object.entries(others))
    writeFileSync(join(folder, name), await asCommonJs(text, files));
  const require = createRequire(join(folder, 'start.js'));
  return { load: (name: string) => require(`./${name}`) };
}

describe('chunks in one file', () => {
  it('each chunk in a joined file runs once, at its first use', async () => {
    const { load } = await built({
      'a.js': 'import { b } from "./b.js"; function main() { return b; } export { main };',
      'b.js': 'const b = {}; globalThis.psd2RanB = b; export { b };',
    });
    const joined = load('joined.js');
    const { main } = joined['a.js']();
    expect(joined['a.js']().main).toBe(main);
    expect(Reflect.has(globalThis, 'psd2RanB')).toBe(false);
    expect(main()).toBe(Reflect.get(globalThis, 'psd2RanB'));
    expect(joined['b.js']().b).toBe(main());
    Reflect.deleteProperty(globalThis, 'psd2RanB');
  });

  it('chunks in a joined file may import each other', async () => {
    const { load } = await built({
      'a.js': 'import { b } from "./b.js"; var a = 1; function main() { return b(); } export { a, main };',
      'b.js': 'import { a } from "./a.js"; function b() { return a + 1; } export { b };',
    });
    expect(load('joined.js')['a.js']().main()).toBe(2);
  });

  it('chunks in a joined file and chunks next to it find each other', async () => {
    const { load } = await built(
      { 'a.js': 'import { one } from "./alone.js"; const two = () => one + 1; export { two };' },
      {
        'alone.js': 'const one = 1; export { one };',
        'main.js':
          'import { two } from "./a.js"; async function main() { return [two(), (await import("./a.js")).two()]; } export { main };',
      },
    );
    expect(await load('main.js').main()).toEqual([2, 2]);
  });
});

describe('which chunks go into one file', () => {
  const output = (source: string, ...imports: string[]) => ({
    ...{ bytes: 100, exports: [], inputs: { [`src/${source}.ts`]: { bytesInOutput: 10 } } },
    imports: imports.map((path) => ({ path: `dist/${path}.js`, kind: 'import-statement' as const })),
  });
  const outputs = {
    'dist/main.js': output('main', 'print'),
    'dist/print.js': output('print'),
    'dist/tree.js': output('tree', 'print', 'errors'),
    'dist/entry.js': { ...output('tree'), inputs: {}, entryPoint: 'src/tree.ts' },
    'dist/run.js': output('run', 'tree', 'errors', 'print'),
    'dist/errors.js': output('errors', 'words'),
    'dist/words.js': output('words'),
    'dist/other.js': output('other', 'errors'),
  };
  const metafile = { inputs: {}, outputs };

  it('a joined file has the chunks of its sources or all imports of a chunk, and nothing that main imports', () => {
    const files = filesOfChunks(metafile, 'src/main.ts', {
      'A.js': { sources: ['src/tree.ts'] },
      'B.js': { importedBy: ['src/run.ts'] },
    });
    expect(Object.fromEntries(files)).toEqual({
      'dist/tree.js': 'dist/A.js',
      'dist/entry.js': 'dist/A.js',
      'dist/run.js': 'dist/B.js',
      'dist/errors.js': 'dist/B.js',
      'dist/words.js': 'dist/B.js',
    });
  });

  it('a source that is in no chunk is an error', () => {
    const files = () => filesOfChunks(metafile, 'src/main.ts', { 'A.js': { sources: ['src/gone.ts'] } });
    expect(files).toThrow('src/gone.ts is in no chunk');
  });
});
