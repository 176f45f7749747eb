import { join } from 'node:path';
import * as z from 'zod/mini';
import { listFolder, makePrivateFolder, readJsonFile, removeStored, writeJsonFile } from '../disk/files.ts';
import { withLock } from '../disk/lock.ts';
import type { StoreFolder } from '../machine/folder.ts';
import { keyOfPins } from '../pin-key.ts';
import type { CountedPins } from '../ports/copy.ts';
import type { UnacceptedPins } from '../ports/pins.ts';

const count = z.object({ sent: z.number() });

/** More time than a process needs to count. */
const PATIENCE_MS = 10_000;

const folderIn = (root: string) => join(root, 'pins');
const PERSON = /^([0-9a-f]{64})\.json$/;

/** The counts of a folder, for a copy of it. @throws Psd2Error `config` */
export function readPins(root: string): CountedPins[] {
  return listFolder(folderIn(root)).flatMap((name) => {
    const person = PERSON.exec(name)?.[1];
    const counted = person === undefined ? undefined : readJsonFile(join(folderIn(root), name), count);
    return person !== undefined && counted ? [{ person, sent: counted.sent }] : [];
  });
}

/** Counts at least so many in a folder, durably. @throws Psd2Error `config` */
export async function countPins(root: string, { person, sent }: CountedPins): Promise<void> {
  const path = join(folderIn(root), `${person}.json`);
  if ((readJsonFile(path, count)?.sent ?? 0) < sent) await writeJsonFile(path, { sent }, count);
}

/** A file for each person at a bank. It goes with the PIN that is accepted. */
export class FileUnacceptedPins implements UnacceptedPins {
  readonly #folder: string;
  readonly #interrupted: AbortSignal | undefined;
  readonly #bank: URL;

  constructor({ root, interrupted }: StoreFolder, bank: URL) {
    this.#folder = folderIn(root);
    this.#interrupted = interrupted;
    this.#bank = bank;
  }

  async count(psuId: string | undefined): Promise<number> {
    return readJsonFile(this.#path(psuId), count)?.sent ?? 0;
  }

  add(psuId: string | undefined, before: number): Promise<boolean> {
    const path = this.#path(psuId);
    return this.#locked(path, async () => {
      if ((await this.count(psuId)) !== before) return false;
      await writeJsonFile(path, { sent: before + 1 }, count);
      return true;
    });
  }

  clear(psuId: string | undefined): Promise<void> {
    const path = this.#path(psuId);
    return this.#locked(path, async () => removeStored(path));
  }

  #locked<T>(path: string, work: () => Promise<T>): Promise<T> {
    makePrivateFolder(this.#folder);
    return withLock(path, 'The count of PINs', work, PATIENCE_MS, this.#interrupted);
  }

  #path(psuId: string | undefined): string {
    return join(this.#folder, `${keyOfPins(this.#bank, psuId)}.json`);
  }
}
