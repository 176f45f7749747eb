import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import * as z from 'zod';
import type { Environment, Operator } from '../e2e/support/psd2.ts';

const PROGRAM = fileURLToPath(new URL('./resident-psd2.js', import.meta.url));
/** What a terminal acts on or does not show, except the ends of lines and the tabs between columns. */
export const ACTED_UPON = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Longer than any run of these tests may take. */
const PATIENCE_MS = 60_000;

const ended = z.object({
  code: z.number(),
  stdout: z.string(),
  stderr: z.string(),
  crash: z.string().optional(),
});
/** How a run ended: its exit code, what it printed, and what it threw, if nothing caught it. */
export type ResidentRun = z.infer<typeof ended>;

/** The built psd2 in a process that keeps running: a run costs milliseconds. */
export interface Resident {
  /**
   * Runs `psd2` to its end, one run at a time.
   *
   * @param columns width of the terminal on stdout; without it, stdout is a pipe
   * @throws Error if the run does not end
   */
  run(args: string[], options?: { env?: Environment; columns?: number }): Promise<ResidentRun>;
}

/** A resident psd2 for the tests of a file, with the operator's environment. */
export function useResident(operator: Operator): Resident {
  let child: ChildProcess;
  const start = async () => {
    child = fork(PROGRAM, { cwd: operator.folder, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: {} });
    await once(child, 'message');
  };
  beforeAll(start);
  afterAll(() => {
    child.kill('SIGKILL');
  });
  return {
    async run(args, { env, columns } = {}) {
      const all = Object.entries({ ...operator.env, NO_COLOR: '1', ...env });
      const set = Object.fromEntries(all.filter(([, value]) => value !== undefined));
      operator.called(args);
      child.send({ args, env: set, columns });
      try {
        const [message] = await once(child, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) });
        return ended.parse(message);
      } catch (cause) {
        child.kill('SIGKILL');
        await start();
        throw new Error(`psd2 ${JSON.stringify(args)} did not end`, { cause });
      }
    },
  };
}
