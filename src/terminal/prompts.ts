import { adviceOf } from '../advice.ts';
import { Psd2Error } from '../errors.ts';
import { cleanText } from './clean.ts';
import type { Streams, TerminalOptions } from './terminal.ts';

type Check = (answer: string) => void | Promise<void>;

/** What can be asked of the operator. */
export interface Questions {
  /** @param initial the answer of who just presses Enter */
  confirm(question: string, initial?: boolean): Promise<boolean>;
  /** Asks until `check` does not throw a Psd2Error. @param initial what is offered as the answer */
  ask(question: string, how?: { initial?: string | undefined; check?: Check }): Promise<string>;
  choose<Value>(question: string, choices: readonly { value: Value; name: string }[]): Promise<Value>;
  /** Asks without echo. */
  askSecret(question: string): Promise<string>;
}

/** The questions of a terminal, and which of them waits for its answer. */
export interface Prompts extends Questions {
  readonly canAsk: boolean;
  /** The question that stands on the terminal and waits. */
  readonly waiting: string | undefined;
}

type Package = typeof import('@inquirer/prompts');

/** What a question is asked with. */
interface Asking {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  signal: AbortSignal;
}

/** @param shown a question as it is shown */
export function openPrompts(
  streams: Streams,
  { noInput, signal }: TerminalOptions,
  shown: (question: string) => Promise<string>,
): Prompts {
  const canAsk = () => !noInput && streams.stdin.isTTY === true && streams.stderr.isTTY === true;
  let waiting: string | undefined;
  const prompt = async <T>(
    question: string,
    ask: (prompts: Package, message: string, context: Asking) => Promise<T>,
  ) => {
    if (!canAsk()) throw new Psd2Error('usage', 'A question could not be asked, since there is no terminal');
    const [text, prompts] = await Promise.all([shown(question), import('@inquirer/prompts')]);
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
  return {
    get canAsk() {
      return canAsk();
    },
    get waiting() {
      return waiting;
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
    choose: (question, choices) =>
      prompt(question, (prompts, message, context) =>
        prompts.select({ message, choices: [...choices] }, context),
      ),
    askSecret: (question) =>
      prompt(question, (prompts, message, context) =>
        prompts.password({ message, toggleMask: false }, context),
      ),
  };
}

/** What is wrong with an answer, or true. */
async function complaint(check: Check, answer: string): Promise<string | true> {
  try {
    await check(answer);
    return true;
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return cleanText([error.message, adviceOf(error)].filter(Boolean).join('. '));
  }
}
