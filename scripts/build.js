// Bundles src/main.ts into dist/ with splitting, so that a command loads only what it uses.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { bundle } from './bundle.js';
import { asCommonJs, chunksForEffect } from './common-js.js';
import { filesOfChunks, joinChunks } from './join-chunks.js';
import { billOfMaterials, bundledPackages, notices } from './third-party.js';

// Built beside it and then put in its place: a build that fails leaves the old one.
const unfinished = `dist.${process.pid}`;

const { outputFiles, metafile } = await bundle(unfinished);
const lost = chunksForEffect(metafile);
if (lost.length > 0) throw new Error(`${lost.join(', ')} would never be loaded: nothing of them is used`);
// What the help of a command needs is one file. What a running command also needs is another.
const files = filesOfChunks(metafile, 'src/main.ts', {
  'tree.js': {
    sources: [
      'src/cli/program.ts',
      'src/cli/globals.ts',
      'src/commands/declare.ts',
      'node_modules/commander/index.js',
    ],
  },
  'run.js': { importedBy: 'src/cli/run.ts' },
});
const names = new Map([...files].map(([chunk, file]) => [basename(chunk), basename(file)]));
const joined = new Map();
// esbuild splits only ES modules; Node starts with CommonJS sooner (docs/performance.md), so each chunk is turned into it.
for (const { path, text } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  const file = files.get(relative('.', path));
  if (!path.endsWith('.js')) writeFileSync(path, text);
  else if (file === undefined) writeFileSync(path, await asCommonJs(text, names));
  else {
    const others = new Map([...names].filter(([, other]) => other !== basename(file)));
    const chunks = joined.get(file) ?? new Map();
    joined.set(file, chunks.set(basename(path), await asCommonJs(text, others)));
  }
}
for (const [file, chunks] of joined) writeFileSync(file, await joinChunks(chunks));
writeFileSync(join(unfinished, 'package.json'), '{ "type": "commonjs" }\n');
// The console's page, where the bundle of src/sandbox/console looks for it.
cpSync('src/sandbox/console/public', `${unfinished}/chunks/public`, { recursive: true });
// Which sources are in which file, for the test of what a command loads; it is not part of the package.
mkdirSync('node_modules/.cache', { recursive: true });
writeFileSync('node_modules/.cache/psd2-chunks.json', JSON.stringify(sourcesOfFiles(metafile)));
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

/** file -> the sources, packages by their name */
function sourcesOfFiles({ outputs }) {
  const sources = {};
  for (const [path, { inputs }] of Object.entries(outputs)) {
    const file = (files.get(path) ?? path).replace(`${unfinished}/`, '');
    const all = sources[file] ?? new Set();
    sources[file] = all;
    for (const [source, { bytesInOutput }] of Object.entries(inputs))
      if (bytesInOutput > 0) all.add(/^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? source);
  }
  return Object.fromEntries(Object.entries(sources).map(([file, all]) => [file, [...all]]));
}
