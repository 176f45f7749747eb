import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { adviceOf, type Repeated, writeCommand } from '../advice.ts';
import { type ErrorData, errorData } from '../commands/shared/error-data.ts';
import { endSentence, Psd2Error } from '../errors.ts';
import { type ExitCode, exitCodeOf } from '../exit-codes.ts';
import { fitLine } from '../terminal/cells.ts';
import { cleanJson, cleanLines, cleanText } from '../terminal/clean.ts';
import { wantsJson } from './output-mode.ts';

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
  if (style.asJson) stderr.write(`${toJson(errorData(error, style.repeated))}\n`);
  else {
    const { meaning, message } = error;
    const lines = [
      ...sentencesOf(meaning ?? message, adviceOf(error, style.repeated)),
      // The bank's words are in the meaning.
      ...(meaning === undefined
        ? []
        : [`  ${endSentence(cleanText(message.replace(/(\(HTTP \d+\)): .*$/s, '$1')))}`]),
      ...supportIds(error),
    ];
    const columns = stderr.isTTY ? stderr.columns : undefined;
    const own = error.next?.map((words) => writeCommand(words, style.repeated)) ?? [];
    const fitted = columns ? lines.map((line, at) => fitLine(line, columns, at === 0 ? 0 : 2, own)) : lines;
    stderr.write(`${fitted.join('\n')}\n`);
  }
  return exitCodeOf(error.code);
}

function reportBug(error: unknown, stderr: NodeJS.WriteStream, asJson: boolean): void {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  stderr.write(
    asJson
      ? `${toJson(errorData(error))}\n`
      : `This is a bug in psd2. Please report it with the lines below.\n${cleanLines(stack)}\n`,
  );
}

/** @param hint already ends with a full stop, or with a command to copy */
function sentencesOf(message: string, hint: string | undefined): string[] {
  const first = `psd2: ${endSentence(cleanText(message))}`;
  const advice = hint === undefined ? [] : cleanLines(hint).split('\n');
  return [first, ...advice.map((line) => `  ${line}`)];
}

/** The ids that a bank's support asks for. */
function supportIds({ httpStatus, bankCode, requestId, tppRequestId, transactionId }: Psd2Error): string[] {
  const ids = [
    bankCode && `code ${bankCode}`,
    requestId && `bank request ${requestId}`,
    tppRequestId && `request ${tppRequestId}`,
    transactionId && `transaction ${transactionId}`,
  ].filter(Boolean);
  return httpStatus === undefined || ids.length === 0 ? [] : [`  (${cleanText(ids.join(', '))})`];
}

function toJson(error: ErrorData): string {
  return cleanJson(JSON.stringify({ event: 'error', error }));
}

/**
 * The error for a program that was replaced while it ran, for example by an upgrade: it needs one of its own files, which is
 * gone. A missing file is a bug if the file that asks for it is still the one that runs.
 *
 * @param program the folder of the built program's files
 * @returns undefined for any other error
 */
export function replacedWhileRunning(
  error: unknown,
  program = dirname(dirname(fileURLToPath(import.meta.url))),
): Psd2Error | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'MODULE_NOT_FOUND') return undefined;
  const [, file = ''] = /^Cannot find module '([^']+)'/.exec(error.message) ?? [];
  const stack: unknown = 'requireStack' in error ? error.requireStack : undefined;
  const [asking]: unknown[] = Array.isArray(stack) ? stack : [];
  // A thread begins with the whole path of its file.
  const missing = resolve(typeof asking === 'string' ? dirname(asking) : '/', file);
  if (!missing.startsWith(program + sep) || existsSync(missing)) return undefined;
  if (typeof asking === 'string' && asksFor(asking, basename(missing))) return undefined;
  return new Psd2Error('config', 'psd2 was replaced while it ran, and cannot load the rest of itself', {
    hint: 'Start it again. A payment or a consent that had begun can be resumed.',
    cause: error,
  });
}

/** Whether a file exists and names another one. */
function asksFor(file: string, name: string): boolean {
  try {
    return readFileSync(file, 'utf8').includes(name);
  } catch {
    return false;
  }
}

let isStderrWatched = false;

/** Lets the command go on if stderr has no reader any more: a payment must not stop half-way. Does not open the stream. */
export function watchStderr(): void {
  const described = Object.getOwnPropertyDescriptor(process, 'stderr');
  const open = described?.get;
  if (isStderrWatched || described === undefined || open === undefined) return;
  isStderrWatched = true;
  const get = () => {
    Object.defineProperty(process, 'stderr', described);
    const stream: NodeJS.WriteStream = open.call(process);
    return stream.on('error', () => {});
  };
  Object.defineProperty(process, 'stderr', { ...described, get });
}

/** Ends the process, since its output is lost. A reader that stops early (`| head`) is not an error and hides none. */
export function endOverLostOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  const lost = reportLostOutput(error);
  process.exit(process.exitCode || lost);
}

/**
 * Reports that standard output cannot be written, for example on a full disk.
 *
 * @returns the exit code, if the command does not have its own
 */
function reportLostOutput({ code = 'unknown reason' }: NodeJS.ErrnoException): number {
  const error = new Psd2Error('config', `Standard output could not be written (${code})`, {
    hint: 'Check the free space of its disk. See the outcome of a payment with:',
    next: [['transfer', 'list']],
  });
  return reportError(error, process.stderr, { asJson: wantsJson() });
}
