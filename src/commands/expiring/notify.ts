import { join } from 'node:path';
import * as z from 'zod/mini';
import { endSentence, Psd2Error } from '../../errors.ts';
import { makePrivateFolder, readJsonFile, writeJsonFile } from '../../store/disk/files.ts';
import type { Context } from '../context.ts';
import { runOutsideCommand } from '../shared/outside-command.ts';
import type { Ending } from './endings.ts';

/** The end of each item that the command has already got, by the key of the item. */
const notified = () => z.record(z.string(), z.string());

/**
 * Gives each ending to the operator's command (`PSD2_NOTIFY`) as JSON on its standard input: once, and again if its end
 * changes. If the command fails, it gets the ending again the next time.
 *
 * @param all everything that ends, also later. psd2 forgets what is no longer in it
 */
export async function notify(
  context: Context,
  soon: readonly Ending[],
  all: readonly Ending[],
): Promise<void> {
  const { env, folder, terminal } = context;
  const command = env.PSD2_NOTIFY;
  if (!command) return;
  const { name: profile } = context.profile();
  const place = join(folder.root, 'notified');
  const path = join(place, `${profile}.json`);
  const keys = new Set(all.map(keyOf));
  const before = Object.entries(readJsonFile(path, notified()) ?? {});
  const known = new Map(before.filter(([key]) => keys.has(key)));
  for (const ending of soon) {
    if (known.get(keyOf(ending)) === ending.endsAt) continue;
    try {
      await runOutsideCommand(context, 'notify', command, `${JSON.stringify({ profile, ...ending })}\n`);
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
      terminal.warn([endSentence(error.message), error.hint].filter(Boolean).join(' '));
      continue;
    }
    known.set(keyOf(ending), ending.endsAt);
    makePrivateFolder(place);
    await writeJsonFile(path, Object.fromEntries(known), notified(), terminal.warn);
  }
}

/** What identifies an ending. Consents for different products are different ones. */
function keyOf({ kind, name, customerId, next }: Ending): string {
  const products = kind === 'consent' ? next.filter((_word, at) => next[at - 1] === '--product') : [];
  return [kind, name, customerId ?? '', ...products].join(' ');
}
