import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { compileWithFile } from '../../scripts/modules-in-file.js';
import { temporaryFolder } from '../store/temporary-folder.ts';

const temporary = temporaryFolder();

/** Two CommonJS modules that require each other, in one file that esbuild wrote. */
async function bundled(minify: boolean): Promise<string> {
  const folder = mkdtempSync(join(temporary, 'modules-'));
  writeFileSync(join(folder, 'a.cjs'), "exports.one = 1; exports.two = () => require('./b.cjs').two;");
  writeFileSync(
    join(folder, 'b.cjs'),
    "module.exports = { two: require('./a.cjs').one + 1, self: typeof this };",
  );
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'a.cjs')],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    minifyWhitespace: minify,
    minifySyntax: minify,
  });
  return outputFiles[0]?.text ?? '';
}

describe('the modules in a file', () => {
  it.each([true, false])('V8 compiles each module with the file, minified: %s', async (minify) => {
    const before = await bundled(minify);
    const after = await compileWithFile(before);
    expect(before.match(/\.cjs"\(/g)).toHaveLength(2);
    expect(after.match(/\.cjs":\(function\(/g)).toHaveLength(2);
    expect(after).not.toMatch(/\.cjs"\(/);
  });

  it('the modules run as before, each when something first requires it', async () => {
    const file = join(mkdtempSync(join(temporary, 'modules-')), 'file.cjs');
    writeFileSync(file, await compileWithFile(await bundled(true)));
    const { one, two } = createRequire(file)(file);
    expect([one, two()]).toEqual([1, 2]);
  });

  it('a method of another object stays a method', async () => {
    const text = 'var __commonJS = 0; var a = { "b"() { return super.toString; } };';
    expect(await compileWithFile(text)).toContain('"b"(){');
  });
});
