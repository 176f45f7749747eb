import { join } from 'node:path';
import * as z from 'zod/mini';
import { listFolder, makePrivateFolder, readJsonFile, removeStored } from '../../../store/disk/files.ts';
import { replaceDurably } from '../../../store/disk/replace.ts';

const text = z.string();
const begunThing = z.object({ what: text, id: z.nullable(text), requestId: text, at: text, bank: text });

/** Something that psd2 has begun at the bank and not ended. `id` is null if the bank's answer was lost. */
export type BegunThing = z.infer<typeof begunThing>;

/**
 * What psd2 has begun at the bank and not ended yet: on disk before the request leaves, so that nothing is forgotten after a
 * kill. Each thing is a file of its own, so nothing is lost either if another process begins something for the profile at once.
 */
export class BegunThings {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    makePrivateFolder(folder);
  }

  /** The first one first. */
  get all(): BegunThing[] {
    return listFolder(this.#folder)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => readJsonFile(join(this.#folder, name), begunThing) ?? [])
      .toSorted((one, other) => one.at.localeCompare(other.at));
  }

  /** Keeps it, or what is known of it now. */
  keep(thing: BegunThing): void {
    replaceDurably(this.#fileOf(thing), `${JSON.stringify(thing)}\n`);
  }

  /** It has ended, or never began, or was said and nobody can end it. */
  drop(thing: BegunThing): void {
    removeStored(this.#fileOf(thing));
  }

  #fileOf({ requestId }: BegunThing): string {
    return join(this.#folder, `${requestId}.json`);
  }
}
