import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromiumPath } from '../chromium.ts';
import { makeCamtSchemaIfMissing } from '../statements/camt-schema.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What the bundle is made of. */
const SOURCES = ['src', 'scripts', 'package.json', 'package-lock.json'];

/** Programs that read what psd2 wrote, by the Debian package that has them. */
const READERS = {
  xmllint: 'libxml2-utils',
  ofxdump: 'ofx',
  unzip: 'unzip',
  zbarimg: 'zbar-tools',
  less: 'less',
};

/** Makes what the end-to-end tests run with: the built program, a Chromium for the customer's pages, and readers. */
export default function setUp(): void {
  buildIfStale();
  installChromiumIfMissing();
  installReadersIfMissing();
  makeCamtSchemaIfMissing();
}

function buildIfStale(): void {
  const built = newest(join(ROOT, 'dist', 'main.js'));
  if (built > Math.max(...SOURCES.map((source) => newest(join(ROOT, source))))) return;
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: ROOT, stdio: 'inherit' });
}

/** When a file, or anything in a folder, was last changed, added or removed; 0 when there is no such path. */
function newest(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.mtimeMs ?? 0;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function installChromiumIfMissing(): void {
  let missing: unknown;
  try {
    chromiumPath();
    return;
  } catch (error) {
    missing = error;
  }
  if (process.env.CHROMIUM_PATH) throw missing;
  install(['chromium'], missing);
  chromiumPath();
}

function installReadersIfMissing(): void {
  const missing = Object.entries(READERS).flatMap(([program, name]) => (findProgram(program) ? [] : [name]));
  if (missing.length > 0) {
    install(missing, new Error(`The tests need these Debian packages: apt-get install ${missing.join(' ')}`));
  }
}

/** @throws `missing` where it is not Debian, or we may not install */
function install(packages: string[], missing: unknown): void {
  const apt = process.getuid?.() === 0 && findProgram('apt-get');
  if (!apt) throw missing;
  const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  execFileSync(apt, ['update'], options);
  execFileSync(apt, ['install', '-y', '--no-install-recommends', ...packages], options);
}

function findProgram(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
