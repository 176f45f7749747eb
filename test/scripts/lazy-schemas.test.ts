import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asCommonJs } from '../../scripts/common-js.js';
import { temporaryFolder } from '../store/temporary-folder.ts';

const temporary = temporaryFolder();

/** Writes a chunk and one with a zod that says what it has built. @returns its exports, and what was built so far */
async function built(text: string) {
  const folder = mkdtempSync(join(temporary, 'dist-'));
  const zod = `
    let built = [];
    function string(what) { built.push(what); return { what, check: (more) => string(what + ' ' + more) }; }
    export { built, string };`;
  for (const [name, chunk] of Object.entries({ 'zod.js': zod, 'main.js': text }))
    writeFileSync(join(folder, name), await asCommonJs(chunk, undefined, new Set(['zod.js'])));
  const require = createRequire(join(folder, 'start.js'));
  return {
    main: require(join(folder, 'main.js')),
    built: (): string[] => require(join(folder, 'zod.js')).built,
  };
}

describe('a constant that is built with zod', () => {
  it('is built when it is first used, and once', async () => {
    const { main, built: all } = await built(`
      import { string } from './zod.js';
      var used = string('used'), other = string('other');
      function read() { return used; }
      export { read, used, other as renamed };`);
    expect(all()).toEqual([]);
    expect(main.read()).toBe(main.used);
    expect(main.read().what).toBe('used');
    expect(all()).toEqual(['used']);
    expect(main.renamed.what).toBe('other');
    expect(Object.keys(main).sort()).toEqual(['read', 'renamed', 'used']);
  });

  it('brings what it is built from, in objects, arrays and calls, and in functions alone nothing', async () => {
    const { main, built: all } = await built(`
      import { string } from './zod.js';
      var word = string('word');
      var fields = { word, more: [string('more')] };
      var checked = fields.word.check('checked');
      var make = () => string('made');
      var plain = 'plain';
      export { checked, make, plain };`);
    expect(main.plain).toBe('plain');
    expect(typeof main.make).toBe('function');
    expect(all()).toEqual([]);
    expect(main.checked.what).toBe('word checked');
    expect(all()).toEqual(['word', 'more', 'word checked']);
  });

  it('is not confused with a local name, and what changes is left as it is', async () => {
    const { main } = await built(`
      import { string } from './zod.js';
      var word = string('word');
      var changing = string('first');
      changing = string('second');
      function local(word) { return { word }; }
      function outer() { return { word }; }
      export { local, outer, changing };`);
    expect(main.local('mine')).toEqual({ word: 'mine' });
    expect(main.outer().word.what).toBe('word');
    expect(main.changing.what).toBe('second');
  });
});
