import { StringDecoder } from 'node:string_decoder';
import { Psd2Error } from '../errors.ts';

/** The streams of a terminal. */
interface Keyboard {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
}

/** Input that the terminal does not show, from the first question until it ends. What is typed between questions is thrown away. */
export interface UnseenInput {
  /** @throws Psd2Error `interrupted` for Ctrl-C. Also the reason of the aborted signal */
  ask(question: string): Promise<string>;
  /** Lets another question have the keyboard. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** The terminal shows again what is typed. */
  end(): void;
}

const [CTRL_C, CTRL_U] = ['\u0003', '\u0015'];
const ERASES = new Set(['\u007f', '\b']);
const ENDS = new Set(['\r', '\n', '\u0004']);
/** What keys such as the arrows send, and the marks around what is pasted. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC is what such keys begin with
const SEQUENCE = /\u001b(\[[0-9;?]*[ -/]*[@-~]|O.|.)?/g;

/** Long enough for the terminal to hand over what was typed before the question. */
const TYPED_AHEAD_MS = 30;

/**
 * Takes the keyboard. Node shows what is typed again when the process ends, whatever ends it in order.
 *
 * @param signal ends a question when the operator interrupts
 * @param interrupt Ctrl-C while no question waits: the terminal makes no signal of it now
 */
export function openUnseen(
  { stdin, stderr }: Keyboard,
  signal: AbortSignal,
  interrupt: () => void = () => process.kill(process.pid, 'SIGINT'),
): UnseenInput {
  let take: ((text: string) => void) | undefined;
  const decoder = new StringDecoder('utf8');
  const onData = (chunk: Buffer | string): void => {
    const text = (typeof chunk === 'string' ? chunk : decoder.write(chunk)).replace(SEQUENCE, '');
    if (take) take(text);
    else if (text.includes(CTRL_C)) interrupt();
  };
  const begin = (): void => {
    stdin.setRawMode(true);
    stdin.on('data', onData);
    stdin.resume();
  };
  const end = (): void => {
    stdin.off('data', onData);
    stdin.setRawMode(false);
    stdin.pause();
  };
  begin();
  return {
    async ask(question) {
      await new Promise((resolve) => setTimeout(resolve, TYPED_AHEAD_MS));
      signal.throwIfAborted();
      stderr.write(`${question} `);
      try {
        return await readLine((taking) => {
          take = taking;
        }, signal);
      } finally {
        take = undefined;
        stderr.write('\n');
      }
    },
    async during(work) {
      end();
      try {
        return await work();
      } finally {
        begin();
      }
    },
    end,
  };
}

/** Reads keys until Enter. What comes with it is thrown away. */
function readLine(give: (take: (text: string) => void) => void, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let line: string[] = [];
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const settle = (how: () => void) => {
      signal.removeEventListener('abort', onAbort);
      how();
    };
    give((text) => {
      for (const key of text) {
        if (key === CTRL_C) return settle(() => reject(new Psd2Error('interrupted', 'Interrupted')));
        if (ENDS.has(key)) return settle(() => resolve(line.join('')));
        if (key === CTRL_U) line = [];
        else if (ERASES.has(key)) line.pop();
        // What is pasted may have characters that nobody sees.
        else if (!/\p{C}|\p{DI}/u.test(key)) line.push(key);
      }
    });
  });
}
