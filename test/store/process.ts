import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';

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
  const outfile = join(folder, `program-${process.hrtime.bigint()}.mjs`);
  await build({
    stdin: { contents: program, resolveDir: join(import.meta.dirname, 'files'), loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
    // CommonJS packages inside the bundle load Node's own modules with require().
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
  });
  const node = [process.execPath, outfile, ...(options.arguments ?? [])];
  const [command = '', ...rest] =
    options.blocks === undefined
      ? node
      : ['bash', '-c', `ulimit -f ${options.blocks}; exec "$0" "$@"`, ...node];
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  const output = text(child.stdout);
  return { process: child, output: once(child, 'close').then(() => output) };
}
