import { adviceOf } from '../advice.ts';
import { endSentence, Psd2Error } from '../errors.ts';
import { cleanLines } from './clean.ts';
import type { UnseenInput } from './unseen.ts';

/** The streams of the process that the terminal needs. A test gives its own. Node opens a stream on its first use. */
export interface Streams {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
}

/** The options of questions. */
export interface PromptOptions {
  noInput: boolean;
  /** Ends an open question when the operator interrupts. */
  signal: AbortSignal;
}

type Check = (answer: string) => void | Promise<void>;

/** The questions that psd2 can ask the operator. */
export interface Questions {
  /** @param initial the answer if the operator only presses Enter */
  confirm(question: string, initial?: boolean): Promise<boolean>;
  /** Asks until `check` accepts the answer. @param initial the suggested answer */
  ask(question: string, how?: { initial?: string | undefined; check?: Check }): Promise<string>;
  /** Asks for the path of a file, as {@link ask}. Tab completes it. */
  askPath(question: string, how?: { initial?: string | undefined; check?: Check }): Promise<string>;
  /**
   * @param choices `short` is what psd2 shows after the choice. Without it, the whole name
   * @param initial the choice that is selected at first (default: the first one)
   */
  choose<Value>(
    question: string,
    choices: readonly { value: Value; name: string; short?: string }[],
    initial?: NoInfer<Value>,
  ): Promise<Value>;
  /** Asks without echo, until `check` accepts the answer. */
  askSecret(question: string, check?: Check): Promise<string>;
  /**
   * Asks a customer for a credential. What was typed before is thrown away, and nothing that is typed is shown from now on, also between
   * questions, until {@link showTyping}.
   */
  askCredential(question: string): Promise<string>;
  /** The terminal shows again what is typed. */
  showTyping(): void;
}

/** The questions of a terminal, and the one that waits for its answer. */
export interface Prompts extends Questions {
  readonly canAsk: boolean;
  /** The question that waits for its answer. */
  readonly waiting: string | undefined;
}

type Package = typeof import('@inquirer/prompts');

/** What a question needs. */
interface Asking {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  signal: AbortSignal;
}

/** @param shown a question, as psd2 shows it */
// oxlint-disable-next-line max-lines-per-function -- data: a field for each kind of question
export function openPrompts(
  streams: Streams,
  { noInput, signal }: PromptOptions,
  shown: (question: string) => Promise<string>,
): Prompts {
  const canAsk = () => !noInput && streams.stdin.isTTY === true && streams.stderr.isTTY === true;
  let waiting: string | undefined;
  let unseen: UnseenInput | undefined;
  /** Asks one question. @throws Psd2Error `usage` without a terminal, `interrupted`. Also the reason of the aborted signal */
  const prompt = async <T>(
    question: string,
    ask: (prompts: Package, message: string, context: Asking) => Promise<T>,
  ): Promise<T> => {
    if (!canAsk()) throw noTerminal();
    const [text, prompts] = await Promise.all([shown(question), import('@inquirer/prompts')]);
    waiting = text;
    const asking = () => ask(prompts, text, { input: streams.stdin, output: streams.stderr, signal });
    try {
      return await (unseen ? unseen.during(asking) : asking());
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof Error && error.name === 'ExitPromptError')
        throw new Psd2Error('interrupted', 'Interrupted', { cause: error });
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
    async confirm(question, initial = false) {
      // Somebody may type the PIN once more instead of yes or no.
      if (unseen && canAsk()) return confirmUnseen(unseen, await shown(question), initial);
      return prompt(question, (prompts, message, context) =>
        prompts.confirm({ message, default: initial }, context),
      );
    },
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
    async askCredential(question) {
      if (!canAsk()) throw noTerminal();
      const { openUnseen } = await import('./unseen.ts');
      unseen ??= openUnseen(streams, signal);
      const text = await shown(question);
      waiting = text;
      try {
        return await unseen.ask(`? ${text}`);
      } finally {
        waiting = undefined;
      }
    },
    showTyping() {
      unseen?.end();
      unseen = undefined;
    },
    async askSecret(question, check) {
      for (;;) {
        const secret = await prompt(question, (prompts, message, context) =>
          prompts.password({ message, toggleMask: false }, context),
        );
        // Otherwise the prompt would keep the wrong answer, unseen, and append the next one to it.
        const wrong = check ? await complaint(check, secret) : true;
        if (wrong === true) return secret;
        streams.stderr.write(`${wrong}\n`);
      }
    },
  };
}

/** Asks for yes or no without showing what is typed. Anything else is asked again. */
async function confirmUnseen(unseen: UnseenInput, text: string, initial: boolean): Promise<boolean> {
  for (;;) {
    const answer = (await unseen.ask(`? ${text} (${initial ? 'Y/n' : 'y/N'}, unseen)`)).trim().toLowerCase();
    if (answer === '') return initial;
    if (['y', 'yes', 'n', 'no'].includes(answer)) return answer.startsWith('y');
  }
}

function noTerminal(): Psd2Error {
  return new Psd2Error('usage', 'psd2 cannot ask a question, because there is no terminal');
}

/** What is wrong with an answer, or true. */
async function complaint(check: Check, answer: string): Promise<string | true> {
  try {
    await check(answer);
    return true;
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return cleanLines([endSentence(error.message), adviceOf(error)].filter(Boolean).join(' '));
  }
}
