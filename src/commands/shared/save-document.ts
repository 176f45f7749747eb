import { type Stats, statSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { Psd2Error } from '../../errors.ts';
import { systemCode } from '../../store/disk/system-error.ts';
import type { Context } from '../context.ts';
import { saved } from './shapes.ts';

/** Where a document goes, checked before it is asked for: binary never goes to a terminal. @throws Psd2Error `usage` */
export function requireFile(
  { stdoutIsTerminal }: Context,
  file: string | undefined,
  kind: 'binary' | 'text' = 'binary',
): string {
  if (file === undefined || file === '')
    throw new Psd2Error('usage', 'No file to save the document to was given', { hint: 'Add --file <path>.' });
  if (file === '-' && kind === 'binary' && stdoutIsTerminal) {
    throw new Psd2Error('usage', 'The document is binary and is not written to a terminal', {
      hint: 'Add --file <path>, or pipe it on.',
    });
  }
  refuseNoFile(file);
  return file;
}

/** The document would take the place of a device or pipe: root would have no `/dev/null` any more. @throws Psd2Error `usage` */
function refuseNoFile(file: string): void {
  const stats = file === '-' ? undefined : statsOf(file);
  if (!stats || stats.isFile()) return;
  const what = stats.isDirectory() ? 'a folder' : stats.isFIFO() ? 'a pipe' : 'a device or socket';
  throw new Psd2Error('usage', `${file} is ${what}, and the document has to be a file`, {
    hint: 'Give the path of a file, or - for standard output.',
  });
}

function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    // Nothing is there, or it can't be reached: that is told when it is written.
    return undefined;
  }
}

/** Saves a document whole or not at all; `-` is stdout. @throws Psd2Error `config` when it can't be written */
export async function saveDocument(context: Context, file: string, document: Buffer): Promise<void> {
  if (file === '-') return context.printBytes(document);
  refuseNoFile(file);
  const unfinished = `${file}.${process.pid}.part`;
  try {
    // 'wx': a link that someone put under this name is not followed.
    await writeFile(unfinished, document, { mode: 0o600, flag: 'wx' });
    await rename(unfinished, file);
  } catch (cause) {
    // What was there already is not ours.
    if (systemCode(cause) !== 'EEXIST') await rm(unfinished, { force: true });
    throw new Psd2Error('config', `The document could not be written to ${file}`, {
      hint: 'Check the folder and the free space.',
      cause,
    });
  }
  context.terminal.say(`Saved ${document.length} bytes to ${file}`);
}

/** Saves the document that is all a command gives, and says with `--json` where it is. @throws Psd2Error `config` */
export async function saveResult(context: Context, file: string, document: Buffer): Promise<void> {
  await saveDocument(context, file, document);
  if (file !== '-' && context.output.format !== 'table')
    context.output.record({ file, bytes: document.length }, [], saved);
}
