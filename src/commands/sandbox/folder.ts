import { join } from 'node:path';
import { refuseUnsafeFilesIn } from '../../store/disk/permissions.ts';
import type { Context } from '../context.ts';

/**
 * The folder of the sandbox's registration, certificates and addresses. This function checks the files, because the
 * sandbox itself does not.
 *
 * @throws Psd2Error `config` if a file in it belongs to another user, or others can read or change it
 */
export function sandboxFolderOf({ folder }: Pick<Context, 'folder'>): string {
  refuseUnsafeFilesIn(folder.sandbox);
  refuseUnsafeFilesIn(join(folder.sandbox, 'certificates'));
  return folder.sandbox;
}
