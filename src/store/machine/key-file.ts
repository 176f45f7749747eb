import { constants, fstatSync, readFileSync } from 'node:fs';
import { Psd2Error } from '../../errors.ts';
import { withFile } from '../disk/files.ts';
import { type Judged, refuseReplaceable } from '../disk/permissions.ts';

/** Far more than a system's bundle of all trusted authorities, which has about 250 KiB. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads a file with certificates or keys. It must be a plain file of a sensible size, or a link to one: reading a pipe or
 * a device may never end.
 *
 * @param name its name in messages, for example `QWAC key`
 * @param judged `secret` for a key
 * @throws Psd2Error `certificate` if it is not such a file, `config` if it belongs to another user, or others can change or
 *   replace it, or read a key; the system's error if it cannot be read
 */
export function readKeyFile(path: string, name: string, judged: Exclude<Judged, 'folder'>): Buffer {
  return withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, (file) => {
    const stats = fstatSync(file);
    const refuse = (what: string) =>
      new Psd2Error('certificate', `The ${name} ${path} ${what}`, {
        hint: 'Give the path of a file with the certificate or key.',
      });
    if (stats.isDirectory()) throw refuse('is a folder, not a file');
    if (!stats.isFile()) throw refuse('is a pipe or a device, not a file');
    if (stats.size > MAX_BYTES) throw refuse('is larger than 4 MiB, so it contains no certificate or key');
    refuseReplaceable(path, stats, judged);
    return readFileSync(file);
  });
}
