import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { Psd2Error } from '../../errors.ts';
import { faultOf, type Judged } from '../disk/permissions.ts';

/** A bundle of all the authorities that a system trusts has some 250 KiB. */
const LARGEST = 4 * 1024 * 1024;

/**
 * Reads a file with certificates or keys. It is a plain file of a sensible size, or a link to one: a pipe would
 * be waited for without end, and a device may never end.
 *
 * @param name how messages call it, as `QWAC key`
 * @param judged `secret`: a key
 * @throws Psd2Error `certificate` when it is no such file, `config` when it is another user's, or others can change it or
 *   read a key; the system's error when it can't be read
 */
export function readKeyFile(path: string, name: string, judged: Exclude<Judged, 'folder'>): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    const refuse = (what: string) =>
      new Psd2Error('certificate', `The ${name} ${path} ${what}`, {
        hint: 'Give the path of a file with the certificate or key.',
      });
    if (stats.isDirectory()) throw refuse('is a folder, not a file');
    if (!stats.isFile()) throw refuse('is a pipe or a device, not a file');
    if (stats.size > LARGEST) throw refuse('is larger than 4 MiB, so it holds no certificate or key');
    const fault = faultOf(path, stats, judged);
    if (fault) throw fault;
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
