import { createHash } from 'node:crypto';
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { makeFolder } from '../../make-folder.ts';
import type { StatePart } from '../state-part.ts';
import { flushFolder, ignoreMissing, removeLeftovers, temporaryPath, writeDurably } from './durable-files.ts';

/** The parts of a bank's state, by their names. */
export type StateParts = Readonly<Record<string, StatePart>>;

/** The folder of `sandbox start --state`. It has one file with all parts, so that what two of them share stays shared. */
export interface StateFolder {
  /** Gives the parts what they remembered. A part that the file does not have keeps its beginning. */
  restore(parts: StateParts): void;
  /**
   * Waits until all that the parts remember at this moment is on the disk. Calls during a write share the next one.
   *
   * @throws Psd2Error `sandbox` if it cannot be written, or another sandbox uses the folder
   */
  save(parts: StateParts): Promise<void>;
}

const FILE = 'state.bin';
/** The first bytes of the file: another number is the state of another psd2. */
const FORMAT = 'psd2 sandbox state 2';

const keptParts = z.record(z.string(), z.record(z.string(), z.unknown()));

/**
 * Opens the folder, and makes it if it is missing.
 *
 * @throws Psd2Error `sandbox` if it cannot be used, or its file is not a state of this psd2
 */
export async function openStateFolder(folder: string): Promise<StateFolder> {
  const path = join(folder, FILE);
  const content = await readStateFile(folder, path);
  const storedParts = content && parseState(path, content);
  const writer = new StateWriter(folder, path, await identityOf(path));
  return {
    restore: (parts) => {
      for (const [name, part] of Object.entries(parts))
        part.memory = { ...part.memory, ...storedParts?.[name] };
    },
    save: (parts) => writer.save(parts),
  };
}

async function readStateFile(folder: string, path: string): Promise<Buffer | undefined> {
  try {
    makeFolder(folder);
    await removeLeftovers(folder);
    return await readFile(path).catch(ignoreMissing);
  } catch (cause) {
    throw new Psd2Error('sandbox', `The sandbox cannot use the folder ${folder} for its state`, {
      hint: 'Name a folder that you may read and write with --state.',
      cause,
    });
  }
}

function parseState(path: string, content: Buffer): Record<string, Record<string, unknown>> {
  const [end, body] = [content.indexOf('\n'), content.subarray(content.indexOf('\n') + 1)];
  const header = content.subarray(0, Math.max(end, 0)).toString('latin1');
  try {
    if (header !== headerOf(body)) throw new Error('the first line does not match');
    return keptParts.parse(deserialize(body));
  } catch (cause) {
    throw new Psd2Error('sandbox', `${path} is damaged, or another version of psd2 wrote it`, {
      hint: 'Restore the file, start that version, or name a new folder with --state.',
      cause,
    });
  }
}

function headerOf(body: Buffer): string {
  return `${FORMAT} ${createHash('sha256').update(body).digest('hex')}`;
}

/** One write at a time. A rename makes each of them complete or absent, whatever ends the process. */
class StateWriter {
  readonly #folder: string;
  readonly #path: string;
  /** The file that this sandbox read or wrote last. */
  #identity: string | undefined;
  #header = '';
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(folder: string, path: string, identity: string | undefined) {
    this.#folder = folder;
    this.#path = path;
    this.#identity = identity;
  }

  save(parts: StateParts): Promise<void> {
    // A write that has not begun yet will see what the parts remember now.
    this.#next ??= this.#after(parts);
    return this.#next;
  }

  async #after(parts: StateParts): Promise<void> {
    await this.#writing.catch(() => undefined);
    this.#next = undefined;
    this.#writing = this.#write(parts);
    await this.#writing;
  }

  async #write(parts: StateParts): Promise<void> {
    const body = serialize(
      Object.fromEntries(Object.entries(parts).map(([name, { memory }]) => [name, memory])),
    );
    const header = headerOf(body);
    if (header === this.#header) return;
    await this.#refuseOther();
    const temporary = temporaryPath(this.#folder, FILE);
    try {
      await writeDurably(temporary, Buffer.concat([Buffer.from(`${header}\n`), body]));
      const identity = await identityOf(temporary);
      await rename(temporary, this.#path);
      this.#identity = identity;
      await flushFolder(this.#folder);
      this.#header = header;
    } catch (cause) {
      await rm(temporary, { force: true });
      throw new Psd2Error('sandbox', `The sandbox cannot write its state to ${this.#path}`, {
        hint: 'Check that you may write to the folder, and that the disk is not full.',
        cause,
      });
    }
  }

  async #refuseOther(): Promise<void> {
    if ((await identityOf(this.#path)) === this.#identity) return;
    throw new Psd2Error('sandbox', `Another sandbox uses ${this.#folder}, or changed its file`, {
      hint: 'Stop one of them. Each sandbox needs a --state folder of its own.',
    });
  }
}

async function identityOf(path: string): Promise<string | undefined> {
  const file = await stat(path).catch(ignoreMissing);
  return file && `${file.ino} ${file.mtimeMs} ${file.size}`;
}
