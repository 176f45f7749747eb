import { type Stats, statSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { systemCode } from '../../store/disk/files.ts';
import { object, text, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { Printed } from '../declare.ts';

const saved = object({ file: text('its path'), bytes: whole('its size') });

export const SAVED: Printed = { what: 'the file that was saved', shape: saved };

/** Checks where a document goes, before psd2 asks the bank for it. Binary data never goes to a terminal. @throws Psd2Error `usage` */
export function requireFile(
  { stdoutIsTerminal }: Context,
  file: string | undefined,
  kind: 'binary' | 'text' = 'binary',
): string {
  if (file === undefined || file === '')
    throw new Psd2Error('usage', 'The file for the document is missing', { hint: 'Add --file <path>.' });
  if (file === '-' && kind === 'binary' && stdoutIsTerminal)
    throw new Psd2Error('usage', 'The document is binary, and psd2 does not write it to a terminal', {
      hint: 'Add --file <path>, or pipe it to another program.',
    });
  refuseNoFile(file);
  if (file !== '-' && !statsOf(dirname(file))?.isDirectory())
    throw new Psd2Error('usage', `There is no folder ${dirname(file)} for the document`, {
      hint: 'Make the folder, or name another file.',
    });
  return file;
}

/** As {@link requireFile} for text. A file that exists stays as it is: it may be what another export has saved. @throws Psd2Error `usage` */
export function requireNewFile(context: Context, file: string): string {
  requireFile(context, file, 'text');
  if (file === '-' || !statsOf(file)) return file;
  throw new Psd2Error('usage', `${file} already exists`, {
    hint: 'Name a new file with --file, or remove this one first.',
  });
}

/** Refuses a device or pipe, which the document would replace: root would lose `/dev/null`. @throws Psd2Error `usage` */
function refuseNoFile(file: string): void {
  const stats = file === '-' ? undefined : statsOf(file);
  if (!stats || stats.isFile()) return;
  const what = stats.isDirectory() ? 'a folder' : stats.isFIFO() ? 'a pipe' : 'a device or socket';
  throw new Psd2Error('usage', `${file} is ${what}, but the document needs a file`, {
    hint: 'Give the path of a file, or - for standard output.',
  });
}

function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    // There is no file, or it can't be reached: the later write reports that.
    return undefined;
  }
}

/** Saves a whole document or nothing. `-` is stdout. @throws Psd2Error `config` if it can't be written */
export async function saveDocument(context: Context, file: string, document: Buffer): Promise<void> {
  if (file === '-') return context.printBytes(document);
  refuseNoFile(file);
  const unfinished = `${file}.${process.pid}.part`;
  try {
    // 'wx' does not follow a link that someone put under this name.
    await writeFile(unfinished, document, { mode: 0o600, flag: 'wx' });
    await rename(unfinished, file);
  } catch (cause) {
    // A file that was there before belongs to someone else.
    if (systemCode(cause) !== 'EEXIST') await rm(unfinished, { force: true });
    throw new Psd2Error('config', `The document could not be written to ${file}`, {
      hint: 'Check the folder and the free space.',
      cause,
    });
  }
  context.terminal.say(`Saved ${document.length} bytes to ${file}`);
}

/** Saves a document that is a command's only output, and prints its path with `--json`. @throws Psd2Error `config` */
export async function saveResult(context: Context, file: string, document: Buffer): Promise<void> {
  await saveDocument(context, file, document);
  if (file !== '-' && context.output.format !== 'table')
    context.output.record({ file, bytes: document.length }, saved);
}
