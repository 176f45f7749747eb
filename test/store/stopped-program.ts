import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

const PRELOAD = fileURLToPath(new URL('stop-at.cjs', import.meta.url));
/** A process that stands still counts as dead after a quarter of a second instead of five seconds. */
const HASTE = '20';

/** Builds a program for the tests of a file. Its processes say their points, and can be stopped at one (stop-at.cjs). */
export function useProgram(source: URL) {
  const outfile = join(temporaryFolder(), 'program.mjs');
  beforeAll(async () => {
    await build({
      entryPoints: [fileURLToPath(source)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
      banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
    });
  });
  return function start(args: string[], watched: string, env: Record<string, string> = {}) {
    const child = spawn(process.execPath, ['--require', PRELOAD, outfile, ...args], {
      env: { PATH: process.env.PATH, STOP_FOLDER: watched, STOP_HASTE: HASTE, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [said, trace] = ['', ''];
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    child.stderr.on('data', (chunk) => {
      trace += chunk;
    });
    const ended = once(child, 'close').then(([code]: (number | null)[]) => ({
      code,
      said,
      points: trace.split('\n').slice(0, -1),
    }));
    const isAt = (point: string) => trace.includes(`${point}\n`);
    /** Resolves when the process stands still at the point, or has ended. */
    const stands = (point: string) =>
      Promise.race([
        ended,
        new Promise<void>((resolve) => {
          if (isAt(point)) resolve();
          else child.stderr.on('data', () => isAt(point) && resolve());
        }),
      ]);
    return { child, ended, stands };
  };
}
