import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Less than a test of the built program may take, so that what was printed is told. */
const PATIENCE_MS = 240_000;

/** How a process ended, and what it printed. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** How a call of `psd2` ended. */
export interface EndedCall extends Ended {
  /** Whether it reported its calls to the bank (`--verbose`). */
  isVerbose: boolean;
}

/** A process that has been started. */
export interface Running {
  pid: number;
  /** Waits until the output on either stream matches; fails after four minutes, or if the process ends first. */
  prints(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when the text was taken. A text that is larger than a pipe is taken when the process reads. */
  write(text: string): Promise<void>;
  /** Closes its standard input. */
  closeInput(): void;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<EndedCall>;
}

/**
 * Watches a child process.
 *
 * @param isVerbose whether it reports its calls to the bank
 * @param typed is told of each text for its standard input, and of what it had printed before
 */
export function watch(
  child: ChildProcess,
  isVerbose: boolean,
  typed: (text: string, before: string) => void,
): Running {
  let stdout = '';
  let stderr = '';
  let over = false;
  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of listeners) listener();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    changed();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    changed();
  });
  // Errors from writing to a process that has ended do not matter.
  child.stdin?.on('error', () => {});
  const ended = once(child, 'close').then(([code, signal]): EndedCall => {
    over = true;
    changed();
    return { code, signal, stdout, stderr, isVerbose };
  });
  return {
    pid: child.pid ?? 0,
    prints: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(stderr) ?? pattern.exec(stdout);
          if (found) settle(() => resolve(found));
          else if (over) giveUp();
        };
        const giveUp = () =>
          settle(() => reject(new Error(`It did not print ${pattern}, but:\n${stdout}\n${stderr}`)));
        const settle = (tell: () => void) => {
          clearTimeout(patience);
          listeners.delete(look);
          tell();
        };
        const patience = setTimeout(giveUp, PATIENCE_MS);
        listeners.add(look);
        look();
      }),
    write: (text) => {
      typed(text, stdout);
      return new Promise((resolve) => child.stdin?.write(text, () => resolve()));
    },
    closeInput: () => child.stdin?.end(),
    kill: (signal) => child.kill(signal),
    ended,
  };
}
