import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const PROGRAM = fileURLToPath(new URL('../../hostile/resident-psd2.js', import.meta.url));
/**
 * Commands that need a process of their own: they start the program again by its path, or they write to the file
 * descriptor of stdout.
 */
const OWN_PROCESS = /^(demo|sandbox start|completion|__complete|help)\b|(^| )(--help|-h|--version|-V)( |$)/;
/** Variables that Node.js or a package reads once, when it starts. */
const READ_AT_START = /^(NODE_|FORCE_COLOR|NO_COLOR|COLORTERM|TZ$)/;

const ended = z.object({
  code: z.number(),
  stdout: z.string(),
  stderr: z.string(),
  crash: z.optional(z.string()),
});

/** The built psd2 in processes that keep running. Starting a process takes longer than most commands. */
export interface Residents {
  /** Runs `psd2` to its end. Commands that run at the same time have a process each. */
  run(
    args: string[],
    env: Record<string, string>,
    input: string | undefined,
  ): Promise<{ code: number; signal: null; stdout: string; stderr: string }>;
  close(): Promise<void>;
}

/** Whether a command does the same in a process that keeps running. @param env what is added to the environment */
export function isForResidents(args: string[], env: Record<string, string | undefined>): boolean {
  return args.length > 0 && !OWN_PROCESS.test(args.join(' ')) && !Object.keys(env).some(isReadAtStart);
}

function isReadAtStart(name: string): boolean {
  return READ_AT_START.test(name) && name !== 'NODE_COMPILE_CACHE';
}

/** @param environment of the processes when they start; a run has its own. @param folder the working directory */
export function openResidents(folder: string, environment: () => Record<string, string>): Residents {
  const all = new Set<ChildProcess>();
  const idle: ChildProcess[] = [];
  const started = async () => {
    const child = fork(PROGRAM, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: environment(),
    });
    all.add(child);
    child.once('exit', () => all.delete(child));
    await answerOf(child);
    return child;
  };
  return {
    async run(args, env, input) {
      const child = idle.pop() ?? (await started());
      child.send({ args, env, input });
      const { crash, stderr, ...rest } = ended.parse(await answerOf(child));
      idle.push(child);
      return { ...rest, signal: null, stderr: crash === undefined ? stderr : `${stderr}\n${crash}` };
    },
    async close() {
      const ends = [...all].map((child) => once(child, 'exit'));
      for (const child of all) child.kill('SIGKILL');
      await Promise.all(ends);
    },
  };
}

/** @throws Error if the process ends before it answers */
function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('a resident psd2 has ended'));
    child.once('exit', onExit).once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
