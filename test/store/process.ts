import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { beforeAll } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

/** Builds a program for a process. */
async function built(program: BuildOptions, outfile: string): Promise<string> {
  await build({
    ...{ ...program, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'warning' },
    // CommonJS packages inside the bundle load Node's own modules with require().
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
  });
  return outfile;
}

/**
 * Starts a program in a separate process.
 *
 * @param program TypeScript source that imports from `../../../src`, as a test in a folder below this one does
 * @param folder receives the built program
 * @param blocks the largest file that the process may write, in blocks of 1024 bytes
 */
export async function startProgram(
  program: string,
  folder: string,
  options: { arguments?: string[]; blocks?: number } = {},
): Promise<{ process: ChildProcess; output: Promise<string> }> {
  const stdin = { contents: program, resolveDir: join(import.meta.dirname, 'files'), loader: 'ts' } as const;
  const outfile = await built({ stdin }, join(folder, `program-${process.hrtime.bigint()}.mjs`));
  const node = [process.execPath, outfile, ...(options.arguments ?? [])];
  const [command = '', ...rest] =
    options.blocks === undefined
      ? node
      : ['bash', '-c', `ulimit -f ${options.blocks}; exec "$0" "$@"`, ...node];
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  const output = text(child.stdout);
  return { process: child, output: once(child, 'close').then(() => output) };
}

const PRELOAD = fileURLToPath(new URL('stop-at.cjs', import.meta.url));
/** A process that stands still counts as dead after a quarter of a second instead of five seconds. */
const HASTE = '20';

/** Builds a program for the tests of a file. Its processes say their points, and can be stopped at one (stop-at.cjs). */
export function useProgram(source: URL) {
  const outfile = join(temporaryFolder(), 'program.mjs');
  beforeAll(async () => {
    await built({ entryPoints: [fileURLToPath(source)] }, outfile);
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
