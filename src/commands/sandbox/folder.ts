import { join } from 'node:path';
import { refuseUnsafeFilesIn } from '../../store/disk/permissions.ts';
import type { Context } from '../context.ts';

/**
 * Where the sandbox keeps its registration, its certificates and how it is reached. They are judged here: the sandbox is
 * a world of its own, and reads what it finds.
 *
 * @throws Psd2Error `config` when a file in it is another user's, or others can read or change it
 */
export function sandboxFolderOf({ folder }: Pick<Context, 'folder'>): string {
  refuseUnsafeFilesIn(folder.sandbox);
  refuseUnsafeFilesIn(join(folder.sandbox, 'certificates'));
  return folder.sandbox;
}
