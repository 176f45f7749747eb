import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type * as z from 'zod/mini';
import { Psd2Error } from '../errors.ts';

/**
 * Reads a JSON file of the store.
 *
 * @returns undefined when there is no such file
 * @throws Psd2Error `config` when it can't be read, others can read it, or it is damaged
 */
export function readJsonFile<T>(path: string, schema: z.ZodMiniType<T>): T | undefined {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw new Psd2Error('config', `${path} cannot be read`, {
      hint: 'Check who owns it and its mode.',
      cause,
    });
  }
  refuseIfOthersCanRead(path);
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (cause) {
    throw new Psd2Error('config', `${path} is damaged: it is not JSON`, {
      hint: `Restore it, or move it away: mv ${path} ${path}.damaged`,
      cause,
    });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const where = result.error.issues[0]?.path.join('.') || 'its content';
  throw new Psd2Error('config', `${path} is damaged: ${where} is not as psd2 wrote it`, {
    hint: `Restore it, or move it away: mv ${path} ${path}.damaged`,
  });
}

/**
 * Writes a JSON file of the store through `conf`: atomically, with fsync, mode 0600 in a folder of 0700.
 *
 * @throws Psd2Error `config` when it can't be written; the old file stays then
 */
export async function writeJsonFile(path: string, value: object): Promise<void> {
  const { default: Conf } = await import('conf');
  try {
    makePrivateFolder(dirname(path));
    const file = new Conf<Record<string, unknown>>({
      cwd: dirname(path),
      configName: basename(path, '.json'),
      configFileMode: 0o600,
      // What stands there is replaced, so a damaged file must not be in the way.
      clearInvalidConfig: true,
    });
    file.store = { ...value };
  } catch (cause) {
    throw new Psd2Error('config', `${path} cannot be written`, {
      hint: 'Check the free space, and who owns the folder.',
      cause,
    });
  }
}

/** Makes a folder that only its owner can enter, and those above it as needed. @throws Psd2Error `config` */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Psd2Error('config', `The folder ${path} cannot be made`, {
      hint: 'Check who owns the folder above it, or set PSD2_CONFIG_DIR.',
      cause,
    });
  }
}

/**
 * Refuses a file with secrets that is the user's own and that others may read, as `ssh` does.
 *
 * @throws Psd2Error `config`
 */
export function refuseIfOthersCanRead(path: string): void {
  if (process.platform === 'win32') return;
  const { mode, uid } = statSync(path);
  if (uid === process.getuid?.() && (mode & 0o077) !== 0) {
    throw new Psd2Error(
      'config',
      `${path} can be read by others (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`,
      {
        hint: `Run: chmod 600 ${path}`,
      },
    );
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
