import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
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

/** How many processes wait for the next test file. */
const MOST_IDLE = 4;
/** They live as long as the process of the tests, which runs many test files. */
const idle: Record<'commands' | 'sandboxes', ChildProcess[]> = { commands: [], sandboxes: [] };

const ended = z.object({
  code: z.number(),
  stdout: z.string(),
  stderr: z.string(),
  crash: z.optional(z.string()),
  /** Something else than the tests has told the process to end, and it does. */
  exits: z.boolean(),
});

/** How a command ended, and what it printed. */
export interface EndedRun {
  code: number;
  signal: null;
  stdout: string;
  stderr: string;
}

/** A command that runs until it is interrupted. */
export interface Hosted {
  /** Interrupts it, if it still runs. @returns how it ended; undefined if its process was killed, and the second time */
  interrupt(): Promise<EndedRun | undefined>;
}

/** The built psd2 in processes that keep running. Starting a process takes longer than most commands. */
export interface Residents {
  /** Runs `psd2` to its end. Commands that run at the same time have a process each. */
  run(args: string[], env: Record<string, string>, input: string | undefined): Promise<EndedRun>;
  /** Starts `psd2`, and waits until it has printed something. @throws Error if it ends first */
  host(args: string[], env: Record<string, string>): Promise<Hosted>;
  /** Ends the processes that still run something. */
  close(): Promise<void>;
}

/** Whether a command does the same in a process that keeps running. @param env what is added to the environment */
export function isForResidents(args: string[], env: Record<string, string | undefined>): boolean {
  return args.length > 0 && !OWN_PROCESS.test(args.join(' ')) && !isSetAtStart(env);
}

/** Whether a variable counts only when the process starts. */
export function isSetAtStart(env: Record<string, string | undefined>): boolean {
  return Object.entries(env).some(([name, value]) => value !== undefined && isReadAtStart(name));
}

function isReadAtStart(name: string): boolean {
  return READ_AT_START.test(name) && name !== 'NODE_COMPILE_CACHE';
}

/**
 * @param folder the working directory
 * @param environment of a process when it starts; a run has its own
 */
export function openResidents(folder: string, environment: () => Record<string, string>): Residents {
  const busy = new Set<ChildProcess>();
  const take = async (kind: keyof typeof idle) => {
    const child = idle[kind].pop();
    if (child) {
      hold(child);
      busy.add(child);
      return child;
    }
    const started = startProcess(environment());
    busy.add(started.once('exit', () => busy.delete(started)));
    await answerOf(started);
    return started;
  };
  const putAway = (child: ChildProcess, kind: keyof typeof idle) => {
    busy.delete(child);
    if (idle[kind].length >= MOST_IDLE) child.kill('SIGKILL');
    else idle[kind].push(child);
    letGo(child);
  };
  return {
    async run(args, env, input) {
      const child = await take('commands');
      child.send({ args, env, input, cwd: folder });
      const answer = await answerOf(child);
      putAway(child, 'commands');
      return readEnd(answer);
    },
    async host(args, env) {
      const child = await take('sandboxes');
      child.send({ args, env, cwd: folder, isHosted: true });
      const first = await answerOf(child);
      if (first !== 'printed') throw new Error(`psd2 ${args.join(' ')} ended: ${JSON.stringify(first)}`);
      const over = answerOf(child).catch(() => undefined);
      let isInterrupted = false;
      return {
        async interrupt() {
          // Its process may run something else by now.
          if (isInterrupted) return undefined;
          isInterrupted = true;
          // It may have ended.
          child.send('interrupt', () => {});
          const answer = await over;
          if (answer === undefined) return undefined;
          if (!ended.parse(answer).exits) putAway(child, 'sandboxes');
          return readEnd(answer);
        },
      };
    },
    async close() {
      // One that another test file has started may have ended by itself. It says so only once.
      const running = [...busy].filter(
        ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
      );
      const ends = running.map((child) => once(child, 'exit'));
      for (const child of running) child.kill('SIGKILL');
      await Promise.all(ends);
    },
  };
}

function startProcess(env: Record<string, string>): ChildProcess {
  // Without the options of the test runner, it finds the compiled code that psd2 keeps.
  const child = fork(PROGRAM, {
    cwd: tmpdir(),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env,
  });
  return child.once('exit', () => {
    idle.commands = idle.commands.filter((other) => other !== child);
    idle.sandboxes = idle.sandboxes.filter((other) => other !== child);
  });
}

/** Lets the process of the tests end while this one waits for a run. */
function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

function hold(child: ChildProcess): void {
  child.ref();
  child.channel?.ref();
}

function readEnd(answer: unknown): EndedRun {
  const { code, stdout, stderr, crash } = ended.parse(answer);
  return { code, signal: null, stdout, stderr: crash === undefined ? stderr : `${stderr}\n${crash}` };
}

/** @throws Error if the process ends before it answers */
function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: string | null) =>
      reject(new Error(`a resident psd2 has ended with ${signal ?? code}`));
    child.once('exit', onExit).once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
