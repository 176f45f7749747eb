import { appendFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { IsoDate } from '../domain/calendar.ts';
import type { StoreFolder } from './folder.ts';
import { isMissing, makePrivateFolder } from './json-file.ts';

/**
 * Counts the calls of a profile with client credentials, which PSD2 limits per day (interface specification,
 * "Limits"): a file for the day, one byte a call, so that processes side by side need no lock.
 */
export class CallCounter {
  readonly #folder: string;

  constructor(folder: StoreFolder, profile: string) {
    this.#folder = join(folder.tokens(profile), 'client-credentials-calls');
  }

  count(day: IsoDate): void {
    makePrivateFolder(this.#folder);
    if (this.callsOn(day) === 0) this.#forgetOtherDays(day);
    appendFileSync(join(this.#folder, day), '.', { mode: 0o600 });
  }

  callsOn(day: IsoDate): number {
    try {
      return statSync(join(this.#folder, day)).size;
    } catch (error) {
      if (isMissing(error)) return 0;
      throw error;
    }
  }

  #forgetOtherDays(day: IsoDate): void {
    for (const file of readdirSync(this.#folder)) {
      if (file !== day) rmSync(join(this.#folder, file), { force: true });
    }
  }
}
