// Bundles src/main.ts into dist/ with splitting, so that a command loads only what it uses.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build, transform } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
// Built beside it and then put in its place: a build that fails leaves the old one.
const unfinished = `dist.${process.pid}`;

// tsyringe (under @peculiar/x509) wants reflect-metadata to be there when it is loaded. With splitting, the
// import order of the source says nothing about the order of the chunks, so tsyringe imports it itself.
const reflectMetadataFirst = {
  name: 'reflect-metadata-first',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules[\\/]tsyringe[\\/]dist[\\/]esm5[\\/]index\.js$/ }, async ({ path }) => ({
      contents: `import 'reflect-metadata';\n${await readFile(path, 'utf8')}`,
      loader: 'js',
    }));
  },
};

// conf brings when-exit, which ends the process on Ctrl-C by sending the signal again. psd2 ends by itself, after it
// has said how to go on; and conf writes in one go, so there is never anything to clear away at the exit.
const endsByItself = {
  name: 'ends-by-itself',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules[\\/]when-exit[\\/]dist[\\/]/ }, () => ({
      contents: 'export default () => () => {};',
      loader: 'js',
    }));
  },
};

// commander starts other programs for commands that are files of their own, which psd2 has none of; loading
// node:child_process brings all of node:net and node:dgram.
const startsNothing = {
  name: 'starts-nothing',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer, path }) =>
      /node_modules[\\/]commander[\\/]/.test(importer) ? { path, namespace: 'starts-nothing' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'starts-nothing' }, () => ({ contents: 'module.exports = {};' }));
  },
};

const { outputFiles, metafile } = await build({
  entryPoints: ['src/main.ts', 'src/sync-thread.ts'],
  outdir: unfinished,
  write: false,
  metafile: true,
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  chunkNames: 'chunks/[name]-[hash]',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'linked',
  mainFields: ['module', 'main'],
  // A native addon.
  external: ['@napi-rs/keyring'],
  plugins: [reflectMetadataFirst, endsByItself, startsNothing],
  define: { PSD2_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
});
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
