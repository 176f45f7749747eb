// Bundles src/main.ts into dist/ with splitting, so that a command loads only what it uses.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { bundle } from './bundle.js';
import { asCommonJs, chunksForEffect, chunksWithZod } from './common-js.js';
import { filesOfChunks, joinChunks } from './join-chunks.js';
import { noteBuild } from './last-build.js';
import { billOfMaterials, bundledPackages, notices } from './third-party.js';

// The build writes beside dist/ and replaces it at the end, so a build that fails leaves the old one.
const unfinished = `dist.${process.pid}`;

const { outputFiles, metafile } = await bundle(unfinished);
const lost = chunksForEffect(metafile);
if (lost.length > 0)
  throw new Error(`${lost.join(', ')} would never be loaded: nothing uses an export of them`);
// One file has what the help of a command needs. On top of it, one has what the Tab key needs, and two more what a running command
// needs: any command, and one that calls the bank with the store in files. The table of settings stays separate, since the help of
// psd2 profile needs it without the rest.
const files = filesOfChunks(metafile, 'src/main.ts', {
  'tree.js': {
    sources: [
      'src/cli/program.ts',
      'src/cli/globals.ts',
      'src/commands/declare.ts',
      'node_modules/commander/index.js',
    ],
  },
  'settings.js': { sources: ['src/store/machine/setting-table.ts'] },
  'complete.js': {
    sources: [
      'src/cli/completion/complete.ts',
      'src/domain/json.ts',
      'src/domain/operation.ts',
      'src/errors.ts',
      'src/quote-for-shell.ts',
      'src/store/disk/files.ts',
      'src/store/disk/permissions.ts',
      'src/store/files/file-names.ts',
      'src/store/files/glance.ts',
      'src/store/flow/ids.ts',
      'src/store/machine/folder.ts',
      'src/store/machine/store-choice.ts',
      'src/store/open.ts',
    ],
  },
  // The widths of characters, for a terminal alone.
  'widths.js': {
    sources: ['node_modules/string-width/index.js', 'node_modules/get-east-asian-width/lookup-data.js'],
  },
  'run.js': { importedBy: ['src/cli/run.ts'] },
  'call.js': {
    importedBy: [
      'src/commands/open/bank.ts',
      'src/commands/open/keys.ts',
      'src/commands/open/call-records.ts',
      'src/commands/flow/interrupted.ts',
      'src/bank/open.ts',
      'src/store/open.ts',
      'src/store/files/backend.ts',
    ],
  },
  // What each call at such a bank needs.
  'nextgenpsd2.js': {
    sources: [
      'src/store/machine/checked-bank.ts',
      'src/commands/open/bank-file.ts',
      'src/bank-file/bank-file.ts',
      'src/bank/interfaces/nextgenpsd2/description/operations.ts',
      'src/bank/interfaces/nextgenpsd2/interface.ts',
      'src/commands/open/kept-customer.ts',
    ],
  },
});
const names = new Map([...files].map(([chunk, file]) => [basename(chunk), basename(file)]));
const joined = new Map();
const zod = chunksWithZod(metafile);
// esbuild splits only ES modules. Node starts faster with CommonJS (docs/performance.md), so each chunk is converted.
for (const { path, text } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  const file = files.get(relative('.', path));
  if (!path.endsWith('.js')) writeFileSync(path, text);
  else if (file === undefined) write(path, await convert(path, text, names));
  else {
    const others = new Map([...names].filter(([, other]) => other !== basename(file)));
    const chunks = joined.get(file) ?? new Map();
    joined.set(file, chunks.set(basename(path), await convert(path, text, others)));
  }
}
for (const [file, chunks] of joined) write(file, await joinChunks(chunks));
writeFileSync(join(unfinished, 'package.json'), '{ "type": "commonjs" }\n');
// The bundle of src/sandbox/console looks for the console's page here.
cpSync('src/sandbox/console/public', `${unfinished}/chunks/public`, { recursive: true });
// For the test of what a command loads: the sources in each file. Not part of the package.
mkdirSync('node_modules/.cache', { recursive: true });
writeFileSync('node_modules/.cache/psd2-chunks.json', JSON.stringify(sourcesOfFiles(metafile)));
// The loader keeps compiled code under this name (bin/loader.js).
const hash = createHash('sha256');
for (const name of readdirSync(unfinished, { recursive: true }).sort())
  if (name.endsWith('.js')) hash.update(name).update(readFileSync(join(unfinished, name)));
writeFileSync(join(unfinished, 'build'), hash.digest('hex').slice(0, 16));
rmSync('dist', { recursive: true, force: true });
renameSync(unfinished, 'dist');
// What psd2 --help prints without a terminal. Read from a file, it needs no command tree.
writeFileSync('dist/help.txt', execFileSync(process.execPath, ['bin/psd2.js', '--help'], { env: {} }));
// End-to-end tests check every document that the built program prints against these schemas.
writeFileSync(
  'node_modules/.cache/psd2-schemas.json',
  execFileSync(process.execPath, ['bin/psd2.js', 'schema', '--json'], { env: {} }),
);
const packages = bundledPackages(metafile);
writeFileSync('THIRD-PARTY-NOTICES.txt', notices(packages));
writeFileSync('sbom.cdx.json', billOfMaterials(packages));
noteBuild();

/** Writes CommonJS as the function that Node's own loader makes of it (bin/loader.js). */
function write(path, text) {
  const parameters = 'exports, require, module, __filename, __dirname';
  writeFileSync(path, `(function (${parameters}) { ${text}})\n`);
}

function convert(path, text, others) {
  return asCommonJs(text, others, zod.has(basename(path)) ? undefined : zod);
}

/** For each file, its sources. A package is listed by its name. */
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
