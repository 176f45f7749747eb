// What the last build was made of. npm prepares the package after npm ci, and again before npm link and npm pack.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NOTE = 'node_modules/.cache/psd2-built.json';
/** What the build writes. `dist/build` is a digest of dist/. */
const WRITTEN = [
  'dist/build',
  'dist/help.txt',
  'THIRD-PARTY-NOTICES.txt',
  'sbom.cdx.json',
  'node_modules/.cache/psd2-chunks.json',
  'node_modules/.cache/psd2-schemas.json',
];

/** Whether the clone has what a build would write now. */
export function isBuilt() {
  if (![NOTE, ...WRITTEN].every((path) => existsSync(path))) return false;
  const { inputs, build } = JSON.parse(readFileSync(NOTE, 'utf8'));
  return inputs === digestOfInputs() && build === readFileSync('dist/build', 'utf8');
}

/** Call it at the end of a build. */
export function noteBuild() {
  writeFileSync(
    NOTE,
    JSON.stringify({ inputs: digestOfInputs(), build: readFileSync('dist/build', 'utf8') }),
  );
}

/** A digest of all that a build reads. package-lock.json stands for the packages. */
function digestOfInputs() {
  const hash = createHash('sha256');
  const files = ['src', 'scripts', 'bin'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => join(folder, name)),
  );
  for (const path of ['package.json', 'package-lock.json', ...files.sort()])
    if (statSync(path).isFile()) hash.update(`${path}\0`).update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}
