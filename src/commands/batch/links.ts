import { appendFileSync, fstatSync, fsyncSync, lstatSync, statSync } from 'node:fs';
import { endSentence, Psd2Error } from '../../errors.ts';
import type { Links } from '../../flows/batch/ports.ts';
import { reasonOf, withFile } from '../../store/disk/files.ts';
import { refuseShared } from '../../store/disk/permissions.ts';
import type { Context } from '../context.ts';
import { runOutsideCommand } from '../shared/outside-command.ts';

/**
 * The links of a run: a line of JSON for each, at the end of the file of `--links`, and to the command of `PSD2_NOTIFY_LINK`.
 *
 * @returns null if there is neither, so that the customers are at this machine
 * @throws Psd2Error `config` if the file cannot be written, belongs to another user, or others may read or change it
 */
export function linksFile(context: Context, file: string | undefined): Links | null {
  const command = context.profile().settings.notifyLink;
  if (file === undefined && command === undefined) return null;
  // A path that cannot be written is better known before a customer has something to authorise.
  if (file !== undefined) append(file, '');
  return {
    async give(link) {
      const text = `${JSON.stringify(link)}\n`;
      if (file !== undefined) append(file, text);
      if (command === undefined) return;
      try {
        await runOutsideCommand(context, 'notifyLink', command, text);
      } catch (error) {
        // The report says it of one payment, and a job's log may have no report.
        if (error instanceof Psd2Error && error.code === 'config')
          context.terminal.warn([endSentence(error.message), error.hint].filter(Boolean).join(' '));
        throw error;
      }
    },
  };
}

/**
 * Writes to the end of the file, which is the operator's own: who reads a link can authorise the payment. A terminal or another
 * device is written to as it is.
 *
 * @throws Psd2Error `config`
 */
function append(file: string, text: string): void {
  const target = statSync(file, { throwIfNoEntry: false });
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() && (!target || target.isFile()))
    throw new Psd2Error('config', `The links cannot be written to ${file}, which is a link to another file`, {
      hint: 'Name the file itself.',
    });
  try {
    withFile(file, 'a', (opened) => {
      const stats = fstatSync(opened);
      if (stats.isFile() || stats.isFIFO()) refuseShared(file, stats);
      appendFileSync(opened, text);
      fsyncSync(opened);
    });
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw new Psd2Error('config', `The links cannot be written to ${file}: ${reasonOf(cause)}`, {
      hint: 'Check the path and the free space. The next run makes a new link.',
      cause,
    });
  }
}
