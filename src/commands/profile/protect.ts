import { join } from 'node:path';
import { listFolder } from '../../store/disk/files.ts';
import type { Context } from '../context.ts';
import { chooseProtector, type ProtectOptions } from './protector.ts';
import { openNamed, rewriteSecrets, tellProtection } from './rewrite-secrets.ts';

/**
 * `psd2 profile protect [name]`: from now on the secrets of a profile are written encrypted, and those that are
 * there are rewritten. Killed at any point it leaves everything readable, and run again it comes to its end: the
 * key is kept first, then what says that the profile is protected, then each file is replaced.
 *
 * @throws Psd2Error `config` when the key can't be kept: nothing is changed then
 */
export async function profileProtect(
  context: Context,
  name: string | undefined,
  options: ProtectOptions,
): Promise<void> {
  const opened = await openNamed(context, name);
  const protector = await chooseProtector(context, opened.profile.name, options);
  await opened.vault.exclusively(async () => {
    await opened.vault.protect(protector);
    await rewriteSecrets(context, opened);
  });
  warnOfDamaged(context, opened.profile.name);
  tellProtection(context, opened, 'is encrypted');
}

/** What was damaged is kept beside what replaced it, as it was. */
function warnOfDamaged({ folder, terminal }: Context, name: string): void {
  const settings = listFolder(folder.profiles).filter((file) => file.startsWith(`${name}.json.damaged-`));
  const logins = [folder.tokens(name), ...foldersIn(folder.tokens(name))];
  const tokens = logins.flatMap((login) =>
    listFolder(login)
      .filter((file) => file.includes('.json.damaged-'))
      .map((file) => join(login, file)),
  );
  const kept = [...settings.map((file) => join(folder.profiles, file)), ...tokens];
  if (kept.length > 0)
    terminal.warn(`Damaged files that may hold secrets in clear are left: rm ${kept.join(' ')}`);
}

function foldersIn(path: string): string[] {
  return listFolder(path)
    .filter((name) => /^(?:customer-\d+|client-credentials)$/.test(name))
    .map((name) => join(path, name));
}
