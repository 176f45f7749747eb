import { adviceOf, commandOf, type Repeated } from '../advice.ts';
import { type ErrorContext, Psd2Error } from '../errors.ts';
import { wrapWords } from '../terminal/cells.ts';
import { cleanJson, cleanLines, cleanText } from '../terminal/clean.ts';
import { type ExitCode, exitCodeOf } from './exit-codes.ts';
import { replacedWhileRunning } from './replaced.ts';

/** How psd2 writes an error. */
export interface ErrorStyle {
  /** One line of JSON, for programs. */
  asJson: boolean;
  /** Options of this command that the commands in an error repeat. */
  repeated?: Repeated;
}

/**
 * Writes an error to stderr: one line of JSON, or a sentence with its hint. Any other error than a Psd2Error is a bug in psd2,
 * and its stack is shown.
 *
 * @returns the exit code (command contract, "Exit codes")
 */
export function reportError(thrown: unknown, stderr: NodeJS.WriteStream, style: ErrorStyle): ExitCode {
  const error = replacedWhileRunning(thrown) ?? thrown;
  if (!(error instanceof Psd2Error)) {
    reportBug(error, stderr, style.asJson);
    return 1;
  }
  const exitCode = exitCodeOf(error.code);
  const hint = adviceOf(error, style.repeated);
  if (style.asJson) {
    const { code, message, context } = error;
    const next = error.next?.map((words) => commandOf(words, style.repeated ?? {}));
    stderr.write(`${toJson({ code, message, exitCode, ...context, hint, next })}\n`);
  } else {
    const lines = [...sentencesOf(error, hint), ...idsOf(error)];
    stderr.write(`${lines.map((line, at) => wrapLine(line, at === 0 ? 0 : 2, stderr)).join('\n')}\n`);
  }
  return exitCode;
}

function reportBug(error: unknown, stderr: NodeJS.WriteStream, asJson: boolean): void {
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? (error.stack ?? message) : message;
  stderr.write(
    asJson
      ? `${toJson({ code: 'bug', message, exitCode: 1 })}\n`
      : `This is a bug in psd2. Please report it with the lines below.\n${cleanLines(stack)}\n`,
  );
}

/** @param hint already ends with a full stop, or with a command to copy */
function sentencesOf({ message }: Psd2Error, hint: string | undefined): string[] {
  const first = `psd2: ${endSentence(cleanText(message))}`;
  return hint === undefined ? [first] : [first, `  ${cleanText(hint)}`];
}

/** The ids that a bank's support asks for. */
function idsOf({ httpStatus, bankCode, requestId, tppRequestId, transactionId }: Psd2Error): string[] {
  const ids = [
    bankCode && `code ${bankCode}`,
    requestId && `bank request ${requestId}`,
    tppRequestId && `request ${tppRequestId}`,
    transactionId && `transaction ${transactionId}`,
  ].filter(Boolean);
  return httpStatus === undefined || ids.length === 0 ? [] : [`  (${cleanText(ids.join(', '))})`];
}

/** Breaks a line between words if it is wider than the terminal, and indents the further lines. */
function wrapLine(line: string, indent: number, { isTTY, columns }: NodeJS.WriteStream): string {
  if (!isTTY || !columns) return line;
  const blanks = ' '.repeat(indent);
  return wrapWords(line.slice(indent), columns - indent)
    .map((part) => blanks + part)
    .join('\n');
}

function toJson(
  error: { code: string; message: string; exitCode: ExitCode } & {
    [Key in keyof Omit<ErrorContext, 'cause'>]: ErrorContext[Key] | undefined;
  },
): string {
  const { code, message, exitCode, hint, next, flow, httpStatus, bankCode } = error;
  const { requestId, tppRequestId, transactionId, differs } = error;
  const unknown = null;
  return cleanJson(
    JSON.stringify({
      error: {
        code,
        message,
        exitCode,
        hint: hint ?? unknown,
        next: next ?? [],
        flow: flow ?? unknown,
        httpStatus: httpStatus ?? unknown,
        bankCode: bankCode ?? unknown,
        requestId: requestId ?? unknown,
        tppRequestId: tppRequestId ?? unknown,
        transactionId: transactionId ?? unknown,
        ...(differs && { differs }),
      },
    }),
  );
}

/** Adds a full stop, unless the message has an end, for example from the bank's own words. */
function endSentence(message: string): string {
  return ENDS.some((end) => message.endsWith(end)) ? message : `${message}.`;
}

const ENDS = ['.', '!', '?', ':'];
