import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { makePrivateFolder, readJsonFile, removeStored } from '../../../store/disk/files.ts';
import { replaceDurably } from '../../../store/disk/replace.ts';

/** Something that psd2 has begun at the bank and not ended. `id` is null if the bank's answer was lost. */
const text = z.string();
const begunThing = z.object({ what: text, id: z.nullable(text), requestId: text, at: text, bank: text });
export type BegunThing = z.infer<typeof begunThing>;

const stored = z.object({ begun: z.array(begunThing) });

/** What psd2 has begun at the bank and not ended yet: on disk before the request leaves, so that nothing is forgotten after a kill. */
export class BegunThings {
  readonly #path: string;
  #things: BegunThing[];

  constructor(path: string) {
    this.#path = path;
    makePrivateFolder(dirname(path));
    this.#things = readJsonFile(path, stored)?.begun ?? [];
  }

  get all(): readonly BegunThing[] {
    return this.#things;
  }

  add(thing: BegunThing): void {
    this.#save([...this.#things, thing]);
  }

  /** The bank has given it an id. */
  name(requestId: string, id: string): void {
    this.#save(this.#things.map((each) => (each.requestId === requestId ? { ...each, id } : each)));
  }

  /** It has ended, or never began. */
  drop(requestId: string): void {
    this.#save(this.#things.filter((each) => each.requestId !== requestId));
  }

  /** Forgets what has no id, once it was said: nobody can end it. */
  dropUnnamed(): void {
    if (this.#things.some(({ id }) => id === null)) this.#save(this.#things.filter(({ id }) => id !== null));
  }

  #save(things: BegunThing[]): void {
    this.#things = things;
    if (things.length === 0) removeStored(this.#path);
    else replaceDurably(this.#path, `${JSON.stringify({ begun: things })}\n`);
  }
}
