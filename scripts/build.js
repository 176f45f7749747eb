// Bundles src/main.ts into dist/ with splitting, so that a command loads only what it uses.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundle } from './bundle.js';
import { asCommonJs, chunksForEffect, chunksPassedOn, chunksWithZod } from './common-js.js';
import { noteBuild } from './last-build.js';
import { billOfMaterials, bundledPackages, notices } from './third-party.js';

// The build writes beside dist/ and replaces it at the end, so a build that fails leaves the old one.
const unfinished = `dist.${process.pid}`;

const { outputFiles, metafile } = await bundle(unfinished);
const lost = chunksForEffect(metafile);
if (lost.length > 0)
  throw new Error(`${lost.join(', ')} would never be loaded: nothing uses an export of them`);
const zod = chunksWithZod(metafile);
const passedOn = chunksPassedOn(outputFiles);
const isLoaded = ({ path }) => basename(dirname(path)) !== 'apart' && !passedOn.has(basename(path));
// esbuild splits only ES modules. Node starts faster with CommonJS (docs/performance.md), so each chunk is converted.
for (const { path, text } of outputFiles.filter(isLoaded)) {
  mkdirSync(dirname(path), { recursive: true });
  const needsLater = zod.has(basename(path)) ? undefined : zod;
  writeFileSync(path, path.endsWith('.js') ? await asCommonJs(text, passedOn, needsLater) : text);
}
writeFileSync(join(unfinished, 'package.json'), '{ "type": "commonjs" }\n');
// The bundle of src/sandbox/console looks for the console's page here.
cpSync('src/sandbox/console/public', `${unfinished}/chunks/public`, { recursive: true });
// For the test of what a command loads: the sources in each file. Not part of the package.
mkdirSync('node_modules/.cache', { recursive: true });
writeFileSync('node_modules/.cache/psd2-chunks.json', JSON.stringify(sourcesOfFiles(metafile)));
// By this digest, last-build.js knows whether dist/ is what the build made.
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

/** For each file, its sources. A package is listed by its name. */
function sourcesOfFiles({ outputs }) {
  return Object.fromEntries(
    Object.entries(outputs).map(([path, { inputs }]) => {
      const sources = Object.keys(inputs).filter((source) => inputs[source].bytesInOutput > 0);
      const names = sources.map(
        (source) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? source,
      );
      return [path.replace(`${unfinished}/`, ''), [...new Set(names)]];
    }),
  );
}
