import { Psd2Error } from '../errors.ts';
import { cleanText } from './clean.ts';

/** What of the process the terminal needs; a test gives its own. Node opens a stream when it is first looked at. */
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
  /** Puts a mark before every question from now on, for example `PRODUCTION mybank`. */
  mark(label: string): void;
  /** A text with the mark before it, if there is one. */
  marked(text: string): string;
  /** @param initial the answer of who just presses Enter */
  confirm(question: string, initial?: boolean): Promise<boolean>;
  /** Asks until `check` does not throw a Psd2Error. @param initial what is offered as the answer */
  ask(question: string, how?: { initial?: string | undefined; check?: Check }): Promise<string>;
  /** Likewise for the path of a file, which Tab completes. */
  askPath(question: string, how?: { initial?: string | undefined; check?: Check }): Promise<string>;
  /**
   * @param choices `short`: what stands behind the question once it was chosen; without it the whole name
   * @param initial which of them is offered first; else the first
   */
  choose<Value>(
    question: string,
    choices: readonly { value: Value; name: string; short?: string }[],
    initial?: NoInfer<Value>,
  ): Promise<Value>;
  /** Asks without echo, and anew while `check` throws a Psd2Error. */
  askSecret(question: string, check?: Check): Promise<string>;
}

type Check = (answer: string) => void | Promise<void>;

/**
 * @param streams are looked at when they are first used
 * @param options `colour`: it may have colour where it is a terminal; `signal` ends an open question when the operator interrupts
 */
export function openTerminal(
  streams: Streams,
  options: { noInput: boolean; quiet: boolean; colour: boolean; signal: AbortSignal },
): Terminal {
  const { quiet, signal } = options;
  const canAsk = () => !options.noInput && streams.stdin.isTTY === true && streams.stderr.isTTY === true;
  let label: string | undefined;
  const marked = (text: string) => (label === undefined ? text : `[${label}] ${text}`);
  /** A question as it is shown: the mark stands out where there is colour. */
  const message = async (question: string) => {
    const text = cleanText(marked(question));
    if (label === undefined || !options.colour) return text;
    const { default: chalk } = await import('chalk');
    return text.replace(/^\[.*?\]/, (mark) => chalk.bold.red(mark));
  };
  /** The question that stands on the terminal and waits. */
  let waiting: string | undefined;
  const prompt = async <T>(
    question: string,
    ask: (
      prompts: typeof import('@inquirer/prompts'),
      message: string,
      context: { input: NodeJS.ReadStream; output: NodeJS.WriteStream; signal: AbortSignal },
    ) => Promise<T>,
  ) => {
    if (!canAsk()) throw new Psd2Error('usage', 'A question could not be asked, since there is no terminal');
    const [text, prompts] = await Promise.all([message(question), import('@inquirer/prompts')]);
    waiting = text;
    try {
      return await ask(prompts, text, { input: streams.stdin, output: streams.stderr, signal });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof Error && error.name === 'ExitPromptError') {
        throw new Psd2Error('interrupted', 'Interrupted', { cause: error });
      }
      throw error;
    } finally {
      waiting = undefined;
    }
  };
  /** What comes while a question waits gets a line of its own, and the question is shown again. */
  const write = (text: string) =>
    streams.stderr.write(waiting === undefined ? `${text}\n` : `\n${text}\n? ${waiting} `);

  return {
    get canAsk() {
      return canAsk();
    },
    get size() {
      return { columns: streams.stderr.columns, rows: streams.stderr.rows };
    },
    get colour() {
      return options.colour && streams.stderr.isTTY === true;
    },
    mark: (text) => {
      label = text;
    },
    marked,
    say: (text) => {
      if (!quiet) write(text);
    },
    warn: (text) => {
      write(text);
    },
    async whileWaiting(text, work) {
      if (quiet || !streams.stderr.isTTY) return work;
      const { default: ora } = await import('ora');
      const current = () => cleanText(typeof text === 'string' ? text : text());
      const spinner = ora({
        text: current(),
        stream: streams.stderr,
        color: options.colour ? 'cyan' : false,
        discardStdin: false,
        // Of a terminal that does not know its width it would erase lines without end.
        ...(!streams.stderr.columns && { isEnabled: false }),
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
    confirm: (question, initial = false) =>
      prompt(question, (prompts, message, context) =>
        prompts.confirm({ message, default: initial }, context),
      ),
    ask: (question, { initial, check } = {}) =>
      prompt(question, (prompts, message, context) =>
        prompts.input(
          {
            message,
            ...(initial !== undefined && { default: initial }),
            ...(check && { validate: (answer: string) => complaint(check, answer) }),
          },
          context,
        ),
      ),
    askPath: (question, { initial, check } = {}) =>
      prompt(question, async (_, message, context) => {
        const { pathPrompt } = await import('./path-prompt.ts');
        const validate = (answer: string) => (check ? complaint(check, answer) : true);
        return pathPrompt({ message, initial: initial ?? '', validate }, context);
      }),
    choose: (question, choices, initial) =>
      prompt(question, (prompts, message, context) =>
        prompts.select(
          { message, choices: [...choices], ...(initial !== undefined && { default: initial }) },
          context,
        ),
      ),
    async askSecret(question, check) {
      for (;;) {
        const secret = await prompt(question, (prompts, message, context) =>
          prompts.password({ message, toggleMask: false }, context),
        );
        // The prompt would keep what is wrong, unseen, and what is entered next would stand behind it.
        const wrong = check ? await complaint(check, secret) : true;
        if (wrong === true) return secret;
        write(wrong);
      }
    },
  };
}

/** `4:05`, or `1:00:00` from an hour on. */
export function writeTimeLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const tail = String(seconds % 60).padStart(2, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}

/** What is wrong with an answer, or true. */
async function complaint(check: Check, answer: string): Promise<string | true> {
  try {
    await check(answer);
    return true;
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return cleanText([error.message, error.hint].filter(Boolean).join('. '));
  }
}
