import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { asCommonJs, chunksForEffect, chunksPassedOn } from '../../scripts/common-js.js';
import { temporaryFolder } from '../store/temporary-folder.ts';

const temporary = temporaryFolder();

/** Writes chunks as the build does. @returns what loads them */
async function built(chunks: Record<string, string>, passedOn?: Map<string, string>) {
  const folder = mkdtempSync(join(temporary, 'dist-'));
  mkdirSync(join(folder, 'chunks'));
  for (const [name, text] of Object.entries(chunks))
    writeFileSync(join(folder, name), await asCommonJs(text, passedOn));
  const require = createRequire(join(folder, 'start.js'));
  return {
    folder,
    load: (name: string) => require(`./${name}`),
    /** The chunks that were loaded so far. */
    loaded: () => Object.keys(chunks).filter((name) => join(folder, name) in require.cache),
  };
}

describe('a chunk that imports another one', () => {
  const other = 'let count = 0; function add() { count += 1; return this; } export { add, count as total };';

  it('a chunk loads another one when it first uses something from it', async () => {
    const { load, loaded } = await built({
      'main.js':
        'import { add as a } from "./chunks/other.js"; function main() { return a(); } export { main };',
      'chunks/other.js': other,
    });
    const { main } = load('main.js');
    expect(loaded()).toEqual(['main.js']);
    main();
    expect(loaded()).toEqual(['main.js', 'chunks/other.js']);
  });

  it('a chunk sees the changes in another chunk, and calls its functions without a `this`', async () => {
    const { load } = await built({
      'main.js':
        'import { add, total } from "./chunks/other.js"; function main() { return [add(), total, add(), total]; } export { main };',
      'chunks/other.js': other,
    });
    expect(load('main.js').main()).toEqual([undefined, 1, undefined, 2]);
  });

  it('a chunk that re-exports an import loads it only when someone reads it', async () => {
    const { load, loaded } = await built({
      'main.js': 'import { total } from "./chunks/other.js"; export { total as sum };',
      'chunks/other.js': other,
    });
    const main = load('main.js');
    expect(loaded()).toEqual(['main.js']);
    expect(main.sum).toBe(0);
    expect(loaded()).toEqual(['main.js', 'chunks/other.js']);
  });

  it('a chunk does not load another one for a bare import', async () => {
    const { load, loaded } = await built({
      'main.js': 'import "./chunks/other.js"; function main() {} export { main };',
      'chunks/other.js': other,
    });
    load('main.js').main();
    expect(loaded()).toEqual(['main.js']);
  });

  it('two chunks may import each other', async () => {
    const { load } = await built({
      'main.js':
        'import { b } from "./chunks/b.js"; var a = 1; function main() { return b(); } export { a, main };',
      'chunks/b.js': 'import { a } from "../main.js"; function b() { return a + 1; } export { b };',
    });
    expect(load('main.js').main()).toBe(2);
  });

  it('import() of a chunk gives all of its exports', async () => {
    const { load, loaded } = await built({
      'main.js': 'async function main() { return await import("./chunks/other.js"); } export { main };',
      'chunks/other.js': other,
    });
    const given = load('main.js').main();
    expect(loaded()).toEqual(['main.js']);
    expect(await given).toMatchObject({ total: 0, add: expect.any(Function) });
  });
});

it('import() of a chunk that only passes on another one loads that one at once', async () => {
  const chunks = {
    'main.js': 'async function main() { return await import("./chunks/list.js"); } export { main };',
    'chunks/chunk-A.js': 'let list = 1, other = 2; export { list, other };',
    'chunks/list.js': 'import{list}from"./chunk-A.js";import"./chunk-B.js";export{list};',
  };
  const outputs = Object.entries(chunks).map(([path, text]) => ({ path: `dist/${path}`, text }));
  const { load, loaded } = await built(chunks, chunksPassedOn(outputs));
  expect(await load('main.js').main()).toMatchObject({ list: 1 });
  expect(loaded()).toEqual(['main.js', 'chunks/chunk-A.js']);
});

it.each([
  [
    'passes on all',
    'import"./b.js";import{c,a}from"../chunk-A.js";import"./d.js";export{a,c};\n',
    'chunk-A.js',
  ],
  ['passes on one of two', 'import{a,c}from"./chunk-A.js";export{a};', undefined],
  ['gives another name', 'import{a as c}from"./chunk-A.js";export{c};', undefined],
  ['exports under another name', 'import{a}from"./chunk-A.js";export{a as default};', undefined],
  ['has code of its own', 'import{a}from"./chunk-A.js";a();export{a};', undefined],
  ['takes from two', 'import{a}from"./chunk-A.js";import{b}from"./chunk-B.js";export{a,b};', undefined],
])('of a chunk that %s the build says what it passes on', (_what, text, chunk) => {
  expect(chunksPassedOn([{ path: 'dist/chunks/list.js', text }]).get('list.js')).toBe(chunk);
});

it("a chunk imports Node's own modules by name, by default and as a namespace", async () => {
  const { load } = await built({
    'main.js': `
      import path, { sep } from 'node:path';
      import * as os from 'node:os';
      function main() { return [path.sep, sep, os.EOL]; }
      export { main };`,
  });
  expect(load('main.js').main()).toEqual(['/', '/', '\n']);
});

it("import.meta.url is the address of the chunk's own file", async () => {
  const { load, folder } = await built({
    'chunks/page.js': 'const page = new URL("./public/", import.meta.url).href; export { page };',
  });
  expect(load('chunks/page.js').page).toBe(`${pathToFileURL(join(folder, 'chunks/public'))}/`);
});

it('a chunk is ASCII alone, and means the same', async () => {
  const { load, folder } = await built({
    'main.js': 'const names = { ä: "€", "😀": `ß` }; export const main = [names, /ü|😀/u.exec("a😀")?.[0]];',
  });
  expect(load('main.js').main).toEqual([{ ä: '€', '😀': 'ß' }, '😀']);
  expect(readFileSync(join(folder, 'main.js'), 'utf8')).toMatch(/^[\0-\x7f]*$/);
});

it('the build names the chunks that are imported only for an effect', () => {
  const output = (bytesInOutput: number, exports: string[], entryPoint?: string) => ({
    ...{ bytes: 100, imports: [], exports, inputs: { 'src/a.ts': { bytesInOutput } } },
    ...(entryPoint && { entryPoint }),
  });
  const outputs = {
    'dist/main.js': output(10, [], 'src/main.ts'),
    'dist/chunks/used.js': output(10, ['a']),
    'dist/chunks/empty.js': output(0, []),
    'dist/chunks/patches.js': output(10, []),
    'dist/chunks/patches.js.LEGAL.txt': output(10, []),
  };
  expect(chunksForEffect({ inputs: {}, outputs })).toEqual(['dist/chunks/patches.js']);
});
