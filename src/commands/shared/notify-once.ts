import { join } from 'node:path';
import * as z from 'zod/mini';
import { endSentence, Psd2Error } from '../../errors.ts';
import { makePrivateFolder, readJsonFile, writeJsonFile } from '../../store/disk/files.ts';
import { withLock } from '../../store/disk/lock.ts';
import type { Context } from '../context.ts';
import { runOutsideCommand } from './outside-command.ts';

/** What the command has already got: a text for each key, which changes if it must get it again. */
const notified = () => z.record(z.string(), z.string());

/** Something that the operator's command gets. */
export interface Notification {
  /** What it is about. The first word is its kind. */
  key: string;
  /** If this changes, the command gets it again. */
  version: string;
  /** Printed as JSON, after the profile. */
  content: object;
}

const PATIENCE_MS = 10_000;

/**
 * Gives each notification to the operator's command (`PSD2_NOTIFY`) as JSON on its standard input: once, and again if its version
 * changes. If the command fails, psd2 warns, and the command gets it again the next time.
 *
 * @param isOver whether what a key is about has ended, so that psd2 forgets it. Other keys stay
 */
export async function notifyOnce(
  context: Context,
  notifications: readonly Notification[],
  isOver: (key: string) => boolean,
): Promise<void> {
  const { env, folder, terminal } = context;
  const command = env.PSD2_NOTIFY;
  if (!command) return;
  const { name: profile } = context.profile();
  const place = join(folder.root, 'notified');
  const path = join(place, `${profile}.json`);
  const read = () => readJsonFile(path, notified()) ?? {};
  const change = async (update: (known: Record<string, string>) => Record<string, string>) => {
    makePrivateFolder(place);
    await withLock(
      path,
      'What PSD2_NOTIFY has got',
      () => writeJsonFile(path, update(read()), notified(), terminal.warn),
      PATIENCE_MS,
    );
  };
  try {
    if (Object.keys(read()).some(isOver))
      await change((sent) => Object.fromEntries(Object.entries(sent).filter(([key]) => !isOver(key))));
    for (const { key, version, content } of notifications) {
      if (read()[key] === version) continue;
      await runOutsideCommand(context, 'notify', command, `${JSON.stringify({ profile, ...content })}\n`);
      await change((sent) => ({ ...sent, [key]: version }));
    }
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    terminal.warn([endSentence(error.message), error.hint].filter(Boolean).join(' '));
  }
}
