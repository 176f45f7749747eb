// Bundles src/main.ts into dist/ with splitting, so that a command loads only what it uses.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundle } from './bundle.js';
import { asCommonJs, chunksForEffect } from './common-js.js';
import { billOfMaterials, bundledPackages, notices } from './third-party.js';

// Built beside it and then put in its place: a build that fails leaves the old one.
const unfinished = `dist.${process.pid}`;

const { outputFiles, metafile } = await bundle(unfinished);
const lost = chunksForEffect(metafile);
if (lost.length > 0) throw new Error(`${lost.join(', ')} would never be loaded: nothing of them is used`);
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
