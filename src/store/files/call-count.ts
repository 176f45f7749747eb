import { closeSync, constants, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { listFolder } from '../disk/files.ts';
import { makePrivateFolder } from '../disk/json-file.ts';
import { reasonOf } from '../disk/system-error.ts';
import type { CallCount } from '../ports/calls.ts';

/**
 * Counts a profile's calls with client credentials, which PSD2 limits per day (interface specification, "Limits"). Each day
 * has a file with one byte per call, so that parallel processes need no lock.
 */
export class FileCallCount implements CallCount {
  readonly #folder: string;

  /** @param tokens the folder of the profile's tokens */
  constructor(tokens: string) {
    this.#folder = join(tokens, 'client-credentials-calls');
  }

  async count(day: IsoDate): Promise<void> {
    makePrivateFolder(this.#folder);
    const path = join(this.#folder, day);
    try {
      if (this.#callsOn(day) === 0) this.#forgetOtherDays(day);
      const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
      const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
      try {
        writeSync(file, '.');
      } finally {
        closeSync(file);
      }
    } catch (cause) {
      throw new Psd2Error('config', `The count of calls ${path} cannot be written: ${reasonOf(cause)}`, {
        hint: 'Check the free space, and who owns the folder.',
        cause,
      });
    }
  }

  async on(day: IsoDate): Promise<number> {
    return this.#callsOn(day);
  }

  #callsOn(day: IsoDate): number {
    try {
      const stats = statSync(join(this.#folder, day));
      return stats.isFile() ? stats.size : 0;
    } catch {
      return 0;
    }
  }

  #forgetOtherDays(day: IsoDate): void {
    for (const file of listFolder(this.#folder)) {
      if (file !== day) rmSync(join(this.#folder, file), { force: true });
    }
  }
}
