import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from '../store/temporary-folder.ts';

const clone = temporaryFolder();
const MODULE = new URL('../../scripts/last-build.js', import.meta.url).href;
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text);
};

const SOURCES = [
  'src/main.ts',
  'src/a/b.ts',
  'scripts/build.js',
  'bin/psd2.js',
  'package.json',
  'package-lock.json',
];
const WRITTEN = [
  ...['dist/build', 'dist/help.txt', 'THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'],
  ...['node_modules/.cache/psd2-chunks.json', 'node_modules/.cache/psd2-schemas.json'],
];

/** Node.js reads package.json, so all are JSON. For each path that changes, whether psd2 counts as built then; runs in the clone. */
const PROGRAM = `
  import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
  import { isBuilt, noteBuild } from '${MODULE}';
  const seen = { before: isBuilt() };
  noteBuild();
  seen.after = isBuilt();
  const looked = (name, path, change) => {
    const text = existsSync(path) ? readFileSync(path) : undefined;
    change();
    seen[name] = isBuilt();
    if (text === undefined) rmSync(path);
    else writeFileSync(path, text);
  };
  for (const path of ${JSON.stringify([...SOURCES, 'dist/build', 'src/new.ts'])})
    looked('changed ' + path, path, () => writeFileSync(path, '{}'));
  for (const path of ${JSON.stringify(WRITTEN)}) looked('without ' + path, path, () => rmSync(path));
  seen.end = isBuilt();
  console.log(JSON.stringify(seen));
`;

it('npm prepares the package again only if a source, or what the build wrote, is another one', () => {
  for (const path of [...SOURCES, ...WRITTEN]) write(path, JSON.stringify({ path }));
  const seen: unknown = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM], { cwd: clone, encoding: 'utf8' }),
  );
  expect(seen).toEqual({
    ...{ before: false, after: true, end: true, 'changed src/new.ts': false, 'changed dist/build': false },
    ...Object.fromEntries(SOURCES.map((path) => [`changed ${path}`, false])),
    ...Object.fromEntries(WRITTEN.map((path) => [`without ${path}`, false])),
  });
});

it('npm asks that before each npm ci, npm link and npm pack', () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync('package.json', 'utf8')));
  expect([scripts.prepare, scripts.build]).toEqual(['node scripts/prepare.js', 'node scripts/build.js']);
});
