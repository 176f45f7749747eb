import { fitLine } from './cells.ts';
import { cleanJson, cleanText } from './clean.ts';
import { writeLocalTime } from './local-time.ts';
import { openPrompts, type PromptOptions, type Prompts, type Questions, type Streams } from './prompts.ts';

/** Speaks to the operator. Everything goes to stderr, since stdout carries data and nothing else. */
export interface Terminal extends Questions {
  /** Whether psd2 can ask questions: stdin and stderr are a terminal, and `--no-input` was not given. */
  readonly canAsk: boolean;
  /** The size in cells; undefined or 0 if it is not known. */
  readonly size: { columns: number | undefined; rows: number | undefined };
  readonly colour: boolean;
  /** Prints an event that a program can read too. @param text what a person reads */
  tell(event: TerminalEvent, text: string): void;
  /** Prints progress and hints. Prints nothing with `--quiet`. */
  say(text: string): void;
  /** Prints what the operator must see even with `--quiet`. */
  warn(text: string): void;
  /** Shows `text` while `work` runs, with a spinner if stderr is a terminal. It calls a function for the current text. */
  whileWaiting<T>(text: string | (() => string), work: Promise<T>): Promise<T>;
  /** Puts a mark before every question from now on, for example `PRODUCTION mybank`. */
  mark(label: string): void;
  /** A text with the mark before it, if there is one. */
  marked(text: string): string;
  /** Writes an ISO 8601 time within a text: the operator's local time if stderr is a terminal, else unchanged. */
  writeTime(time: string): string;
}

export interface TerminalOptions extends PromptOptions {
  /** Whether to print only warnings and questions. For a program, nothing at all. */
  quiet: boolean;
  /** Whether a terminal may show colours. */
  mayHaveColour: boolean;
  /** Whether a program reads stderr. Each line is an object then. */
  asEvents: boolean;
}

/** @param streams opened on their first use */
export function openTerminal(streams: Streams, options: TerminalOptions): Terminal {
  let label: string | undefined;
  const marked = (text: string) => (label === undefined ? text : `[${label}] ${text}`);
  const prompts = openPrompts(streams, options, async (question) => {
    const text = cleanText(marked(question));
    if (label === undefined || !options.mayHaveColour) return text;
    // The mark is highlighted if the terminal has colours.
    const { default: chalk } = await import('chalk');
    return text.replace(/^\[.*?\]/, (mark) => chalk.bold.red(mark));
  });
  const tell = teller(streams, options, prompts);
  const fitted = (text: string) => {
    const columns = streams.stderr.isTTY ? streams.stderr.columns : undefined;
    // What fits lines need not be loaded then.
    if (!columns) return text;
    return text
      .split('\n')
      .map((line) => fitLine(line, columns))
      .join('\n');
  };
  return {
    get canAsk() {
      return prompts.canAsk;
    },
    get size() {
      return { columns: streams.stderr.columns, rows: streams.stderr.rows };
    },
    get colour() {
      return options.mayHaveColour && streams.stderr.isTTY === true;
    },
    mark: (text) => {
      label = text;
    },
    marked,
    writeTime: (time) => (streams.stderr.isTTY ? writeLocalTime(time) : time),
    tell,
    say: (text) => tell({ event: 'note', message: text }, fitted(text)),
    warn: (text) => tell({ event: 'warning', message: text }, fitted(text)),
    whileWaiting: (text, work) =>
      options.quiet || !streams.stderr.isTTY ? work : spinWhile(streams.stderr, options, text, work),
    confirm: prompts.confirm,
    ask: prompts.ask,
    askPath: prompts.askPath,
    choose: prompts.choose,
    askSecret: prompts.askSecret,
    askCredential: prompts.askCredential,
    showTyping: prompts.showTyping,
  };
}

/** What `--quiet` leaves out. */
const IS_LEFT_OUT: Record<TerminalEvent['event'], boolean> = {
  note: true,
  flow: true,
  call: true,
  warning: false,
  open: false,
};

function teller(
  streams: Streams,
  { quiet, asEvents }: TerminalOptions,
  prompts: Pick<Prompts, 'waiting'>,
): Terminal['tell'] {
  return (event, text) => {
    if (quiet && (asEvents || IS_LEFT_OUT[event.event])) return;
    const { waiting } = prompts;
    if (asEvents) streams.stderr.write(`${cleanJson(JSON.stringify(event))}\n`);
    // If a question waits, the text gets its own line, and the question is shown again.
    else streams.stderr.write(waiting === undefined ? `${text}\n` : `\n${text}\n? ${waiting} `);
  };
}

/** Shows `text` with a spinner while `work` runs. */
async function spinWhile<T>(
  stderr: NodeJS.WriteStream,
  { mayHaveColour }: TerminalOptions,
  text: string | (() => string),
  work: Promise<T>,
): Promise<T> {
  const { default: ora } = await import('ora');
  const current = () => cleanText(typeof text === 'string' ? text : text());
  const spinner = ora({
    text: current(),
    stream: stderr,
    color: mayHaveColour ? 'cyan' : false,
    discardStdin: false,
    // If the terminal does not know its width, the spinner would erase lines without end.
    ...(!stderr.columns && { isEnabled: false }),
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
}

/** `4:05`, or `1:00:00` from an hour on. */
export function writeTimeLeft(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const tail = String(seconds % 60).padStart(2, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}

/**
 * A message of a command beside its data. A person reads the text. A program reads an object on one line of stderr
 * (docs/output.md).
 */
type TerminalEvent =
  /** Something that the operator may want to know. */
  | { event: 'note'; message: string }
  /** Something that the operator should know. */
  | { event: 'warning'; message: string }
  /** psd2 has begun or continued a flow. */
  | { event: 'flow'; flow: string; kind: string; state: string }
  /** The customer must open this address. */
  | { event: 'open'; url: string; psuId?: string }
  /** A call to the bank (`--verbose`). */
  | {
      event: 'call';
      method: string;
      path: string;
      /** The HTTP status, or why there was none. */
      outcome: number | string;
      milliseconds: number;
      tppRequestId: string;
      transactionId: string;
      requestId: string | null;
      apiTrackId: string | null;
    };
