import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { chromiumPath } from './chromium.ts';
import { makeSchemasIfMissing } from './iso-schemas.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The inputs of the build. */
const SOURCES = ['src', 'scripts', 'package.json', 'package-lock.json'];
/** Its outputs. */
const BUILT = ['dist/main.js', 'THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'];

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder in which psd2 keeps its compiled code between processes. */
    compiledCode: string;
  }
}

/**
 * Prepares what the end-to-end tests need: the built program, a Chromium, shells, readers, and shared files.
 *
 * @returns a function that removes the shared files
 */
export default function setUp({ provide }: TestProject): () => void {
  buildIfStale();
  installPrograms(Object.keys(PACKAGES));
  makeSchemasIfMissing();
  const shared = mkdtempSync(join(tmpdir(), 'psd2-shared-'));
  provide('compiledCode', join(shared, 'compiled'));
  return () => rmSync(shared, { recursive: true, force: true });
}

function buildIfStale(): void {
  const built = Math.min(...BUILT.map((path) => newest(join(ROOT, path))));
  if (built > Math.max(...SOURCES.map((source) => newest(join(ROOT, source))))) return;
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: ROOT, stdio: 'inherit' });
}

/** The time of the last change in a file or folder (an added or removed file counts); 0 if the path does not exist. */
function newest(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.mtimeMs ?? 0;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Debian packages that the tests need, each with a check that finds it. */
const PACKAGES: Record<string, () => unknown> = {
  chromium: chromiumPath,
  zsh: () => findProgram('zsh'),
  fish: () => findProgram('fish'),
  'bash-completion': () => existsSync('/usr/share/bash-completion/bash_completion'),
  'man-db': () => findProgram('man'),
  // Readers of the files that psd2 writes.
  'libxml2-utils': () => findProgram('xmllint'),
  ofx: () => findProgram('ofxdump'),
  unzip: () => findProgram('unzip'),
  'zbar-tools': () => findProgram('zbarimg'),
  less: () => findProgram('less'),
  // Checkers for the examples in docs/pipelines.md.
  systemd: () => findProgram('systemd-analyze'),
  shellcheck: () => findProgram('shellcheck'),
  // An HSM, for the outside signer.
  softhsm2: () => findProgram('softhsm2-util'),
  opensc: () => findProgram('pkcs11-tool'),
  // A keyring, as on a desktop.
  dbus: () => findProgram('dbus-daemon'),
  'gnome-keyring': () => findProgram('gnome-keyring-daemon'),
  // The other backend of the store.
  postgresql: () => existsSync('/usr/lib/postgresql') || findProgram('initdb'),
};

/** Installs those of the Debian packages that are missing. @throws Error if it cannot */
export function installPrograms(packages: readonly string[]): void {
  const missing = () => packages.filter((name) => !isThere(name));
  // If the environment names a Chromium that does not exist, the tests do not install another one.
  const wanted = missing().filter((name) => name !== 'chromium' || !process.env.CHROMIUM_PATH);
  const apt = process.getuid?.() === 0 && findProgram('apt-get');
  if (apt && wanted.length > 0) {
    const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    execFileSync(apt, ['update'], options);
    execFileSync(apt, ['install', '-y', '--no-install-recommends', ...wanted], options);
  }
  const lacking = missing();
  if (lacking.length === 0) return;
  throw new Error(
    `Programs that the tests need are missing. On Debian: apt-get install ${lacking.join(' ')}`,
  );
}

function isThere(name: string): boolean {
  try {
    return Boolean(PACKAGES[name]?.());
  } catch {
    return false;
  }
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
