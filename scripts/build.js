// Bundles src/main.ts into dist/ with splitting, so that a command loads only what it uses.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transform } from 'esbuild';
import { bundle } from './bundle.js';
import { billOfMaterials, bundledPackages, notices } from './third-party.js';

// Built beside it and then put in its place: a build that fails leaves the old one.
const unfinished = `dist.${process.pid}`;

const { outputFiles, metafile } = await bundle(unfinished);
// esbuild splits only ES modules; Node starts with CommonJS sooner (docs/performance.md), so each chunk is turned into it.
for (const { path, text } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, path.endsWith('.js') ? await asCommonJs(text) : text);
}
writeFileSync(join(unfinished, 'package.json'), '{ "type": "commonjs" }\n');
// The console's page, where the bundle of src/sandbox/console looks for it.
cpSync('src/sandbox/console/public', `${unfinished}/chunks/public`, { recursive: true });
// Which sources are in which chunk, for the test of what a command loads; it is no part of the package.
mkdirSync('node_modules/.cache', { recursive: true });
writeFileSync('node_modules/.cache/psd2-chunks.json', JSON.stringify(sourcesOfChunks(metafile)));
rmSync('dist', { recursive: true, force: true });
renameSync(unfinished, 'dist');
// What psd2 --help prints where there is no terminal: read from a file, it needs no command tree.
writeFileSync('dist/help.txt', execFileSync(process.execPath, ['bin/psd2.js', '--help'], { env: {} }));
// What end-to-end tests check every document of the built program against.
writeFileSync(
  'node_modules/.cache/psd2-schemas.json',
  execFileSync(process.execPath, ['bin/psd2.js', 'schema', '--json'], { env: {} }),
);
const packages = bundledPackages(metafile);
writeFileSync('THIRD-PARTY-NOTICES.txt', notices(packages));
writeFileSync('sbom.cdx.json', billOfMaterials(packages));

/** chunk -> the sources, packages by their name */
function sourcesOfChunks({ outputs }) {
  return Object.fromEntries(
    Object.entries(outputs).map(([path, { inputs }]) => [
      path.replace(`${unfinished}/`, ''),
      [
        ...new Set(
          Object.entries(inputs).flatMap(([source, { bytesInOutput }]) =>
            bytesInOutput > 0 ? [/^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? source] : [],
          ),
        ),
      ],
    ]),
  );
}

async function asCommonJs(text) {
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    minifyWhitespace: true,
    supported: { 'dynamic-import': false },
    ...(text.includes('import.meta.url') && {
      define: { 'import.meta.url': 'fileOfChunk' },
      banner: "const fileOfChunk = require('node:url').pathToFileURL(__filename).href;",
    }),
    logLevel: 'warning',
  });
  return loadWhenUsed(code);
}

/** What a chunk imports by name, of Node and of other chunks, is loaded when something of it is first used. */
function loadWhenUsed(code) {
  const imported = /var (import_\w+)=((?:__toESM\()?require\("[^"]+"\)(?:,1)?\)?);/g;
  const names = new Set([...code.matchAll(imported)].map(([, name]) => name));
  const lazy = code
    .replace(imported, 'var $1=()=>$1_all??=$2,$1_all;')
    .replace(/\bimport_\w+(?=\.)/g, (name) => (names.has(name) ? `(${name}())` : name));
  for (const name of names) {
    if (new RegExp(`\\b${name}\\b(?!\\(\\)|=\\(\\)=>)`).test(lazy))
      throw new Error(`${name} is used as a whole`);
  }
  return lazy;
}
