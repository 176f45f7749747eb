import { crc32 } from 'node:zlib';
import { Psd2Error } from '../../../errors.ts';
import { readPlainFile } from '../../disk/files.ts';
import { refuseUnsafe } from '../../disk/permissions.ts';

/** A line with its checksum, to append. The line break before it ends a line that a crash may have cut short. */
export function checkedLine(text: string): string {
  return `\n${checksum(text)} ${text}\n`;
}

/**
 * The complete lines of a file, without their checksums. Skips damaged ones. A file that is missing or cannot be read has none.
 *
 * @throws Psd2Error `config` if another user may have written them
 */
export function checkedLines(path: string): string[] {
  refuseUnsafe(path, 'secret');
  let content: string;
  try {
    content = readPlainFile(path)?.toString('utf8') ?? '';
  } catch (error) {
    if (error instanceof Psd2Error) return [];
    throw error;
  }
  return content.split('\n').flatMap((line) => {
    const text = line.slice(9);
    return line.length >= 10 && line.slice(0, 9) === `${checksum(text)} ` ? [text] : [];
  });
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
