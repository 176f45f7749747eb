import { type ErrorContext, Psd2Error } from '../errors.ts';
import { cleanJson, cleanLines, cleanText } from '../terminal/clean.ts';
import { type ExitCode, exitCodeOf } from './exit-codes.ts';

/**
 * Writes an error to stderr: one line of JSON, or a sentence with its hint. Anything but a Psd2Error is a bug
 * of ours and shows its stack.
 *
 * @returns the exit code (command contract, "Exit codes")
 */
export function reportError(error: unknown, stderr: NodeJS.WriteStream, asJson: boolean): ExitCode {
  if (!(error instanceof Psd2Error)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    stderr.write(
      asJson
        ? `${toJson({ code: 'bug', message: error instanceof Error ? error.message : String(error), exitCode: 1 })}\n`
        : `This is a bug in psd2. Please report it with the lines below.\n${cleanLines(stack)}\n`,
    );
    return 1;
  }
  const exitCode = exitCodeOf(error.code);
  const { code, message, hint, httpStatus, bankCode, requestId, tppRequestId, transactionId } = error;
  if (asJson) {
    stderr.write(`${toJson({ code, message, exitCode, ...error.context })}\n`);
    return exitCode;
  }
  const ids = [
    bankCode && `code ${bankCode}`,
    requestId && `bank request ${requestId}`,
    tppRequestId && `request ${tppRequestId}`,
    transactionId && `transaction ${transactionId}`,
  ].filter(Boolean);
  stderr.write(`psd2: ${endSentence(cleanText(message))}\n`);
  if (hint) stderr.write(`  ${endSentence(cleanText(hint))}\n`);
  if (httpStatus !== undefined && ids.length > 0) stderr.write(`  (${cleanText(ids.join(', '))})\n`);
  return exitCode;
}

function toJson(
  error: { code: string; message: string; exitCode: ExitCode } & Omit<ErrorContext, 'cause'>,
): string {
  const { code, message, exitCode, hint, httpStatus, bankCode, requestId, tppRequestId, transactionId } =
    error;
  const unknown = null;
  return cleanJson(
    JSON.stringify({
      error: {
        code,
        message,
        exitCode,
        hint: hint ?? unknown,
        httpStatus: httpStatus ?? unknown,
        bankCode: bankCode ?? unknown,
        requestId: requestId ?? unknown,
        tppRequestId: tppRequestId ?? unknown,
        transactionId: transactionId ?? unknown,
      },
    }),
  );
}

/** In characters, with what stands before it. */
const LONGEST_COMMAND = 1000;

/** A full stop, unless there is an end already, or a command that someone may copy. */
function endSentence(text: string): string {
  // A bank's own words may be long, and there is no command of ours in their beginning.
  const end = text.slice(-LONGEST_COMMAND);
  return /[.!?:]$/.test(end) || /: (psd2 (--profile \S+ )?[^.]*|(openssl|chmod) .*)$/.test(end)
    ? text
    : `${text}.`;
}
