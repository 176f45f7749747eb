import { Psd2Error } from '../errors.ts';
import { cleanText } from './clean.ts';

/** What of the process the terminal needs; a test gives its own. */
export interface Streams {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
}

/** How the operator is spoken to. All of it goes to stderr: stdout carries data and nothing else. */
export interface Terminal {
  /** Questions can be asked: stdin and stderr are a terminal, and `--no-input` was not given. */
  readonly canAsk: boolean;
  /** In cells; undefined or 0 where it is not known. */
  readonly size: { columns: number | undefined; rows: number | undefined };
  readonly colour: boolean;
  /** Progress and hints; nothing with `--quiet`. */
  say(text: string): void;
  /** What the operator has to see even with `--quiet`. */
  warn(text: string): void;
  /** Shows `text` while `work` runs, turning where stderr is a terminal; a function is asked for it anew again and again. */
  whileWaiting<T>(text: string | (() => string), work: Promise<T>): Promise<T>;
  confirm(question: string): Promise<boolean>;
  ask(question: string): Promise<string>;
  /** Asks without echo. */
  askSecret(question: string): Promise<string>;
}

/** @param signal ends an open question when the operator interrupts */
export function openTerminal(
  { stdin, stderr }: Streams,
  options: { noInput: boolean; quiet: boolean; colour: boolean; signal: AbortSignal },
): Terminal {
  const { quiet, signal } = options;
  const canAsk = !options.noInput && stdin.isTTY === true && stderr.isTTY === true;
  const prompt = async <T>(
    question: (context: {
      input: NodeJS.ReadStream;
      output: NodeJS.WriteStream;
      signal: AbortSignal;
    }) => Promise<T>,
  ) => {
    if (!canAsk) throw new Psd2Error('usage', 'A question could not be asked, since there is no terminal');
    try {
      return await question({ input: stdin, output: stderr, signal });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof Error && error.name === 'ExitPromptError') {
        throw new Psd2Error('interrupted', 'Interrupted', { cause: error });
      }
      throw error;
    }
  };
  const write = (text: string) => stderr.write(`${text}\n`);

  return {
    canAsk,
    size: { columns: stderr.columns, rows: stderr.rows },
    colour: options.colour && stderr.isTTY === true,
    say: (text) => {
      if (!quiet) write(text);
    },
    warn: (text) => {
      write(text);
    },
    async whileWaiting(text, work) {
      if (quiet || !stderr.isTTY) return work;
      const { default: ora } = await import('ora');
      const current = () => cleanText(typeof text === 'string' ? text : text());
      const spinner = ora({
        text: current(),
        stream: stderr,
        color: options.colour ? 'cyan' : false,
        discardStdin: false,
      }).start();
      const refresh = setInterval(() => {
        spinner.text = current();
      }, 200);
      try {
        return await work;
      } finally {
        clearInterval(refresh);
        spinner.stop();
      }
    },
    confirm: (question) =>
      prompt(async (context) =>
        (await import('@inquirer/prompts')).confirm(
          { message: cleanText(question), default: false },
          context,
        ),
      ),
    ask: (question) =>
      prompt(async (context) =>
        (await import('@inquirer/prompts')).input({ message: cleanText(question) }, context),
      ),
    askSecret: (question) =>
      prompt(async (context) =>
        (await import('@inquirer/prompts')).password(
          { message: cleanText(question), toggleMask: false },
          context,
        ),
      ),
  };
}

/** `4:05`, or `1:00:00` from an hour on. */
export function writeTimeLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const tail = String(seconds % 60).padStart(2, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}
