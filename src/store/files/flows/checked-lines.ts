import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Psd2Error } from '../../../errors.ts';
import { readPlainFile } from '../../disk/files.ts';
import { refuseUnsafe } from '../../disk/permissions.ts';

/** A line with its checksum, to append. The line break before it ends a line that a crash may have cut short. */
export function checkedLine(text: string): string {
  return `\n${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

/**
 * Adds lines to a file on which nothing depends. They are not flushed, and a full disk does not matter: without them, commands are only
 * slower.
 */
export function addCheckedLines(path: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  try {
    const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
    const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
    try {
      writeFileSync(file, lines.join(''));
    } finally {
      closeSync(file);
    }
  } catch {
    // The command is about something else.
  }
}

/**
 * The complete lines of a file, without their checksums. Skips damaged ones. A file that is missing or cannot be read has none.
 *
 * @throws Psd2Error `config` if another user may have written them
 */
export function checkedLines(path: string): string[] {
  refuseUnsafe(path, 'secret');
  return checkedTexts(checkedContent(path));
}

/** The text of a line with a checksum. Undefined if it is damaged or not complete. */
export function textOfChecked(line: string): string | undefined {
  return isWholeLine(line) ? line.slice(9) : undefined;
}

/** What is in a file of such lines. Nothing if it is missing or cannot be read. */
export function checkedContent(path: string): Buffer {
  try {
    return readPlainFile(path) ?? Buffer.alloc(0);
  } catch (error) {
    if (error instanceof Psd2Error) return Buffer.alloc(0);
    throw error;
  }
}

function checkedTexts(content: Buffer): string[] {
  return content
    .toString('utf8')
    .split('\n')
    .flatMap((line) => textOfChecked(line) ?? []);
}

function isWholeLine(line: string): boolean {
  return line.length >= 10 && line[8] === ' ' && Number.parseInt(line, 16) === crc32(line.slice(9));
}
