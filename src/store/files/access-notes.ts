import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { makePrivateFolder, readJsonFile, writeJsonFile } from '../disk/json-file.ts';
import type { StoreFolder } from '../machine/folder.ts';
import type { AccessNote, AccessNotes } from '../ports/access.ts';
import type { NoteRecord } from '../ports/copy.ts';
import type { StoredLogin } from '../ports/tokens.ts';

const note = z.object({ at: z.string(), message: z.string() });
const accessNotes = z.object({
  /** `of`: the expiry time of the access token whose renewal the bank refused. It identifies the generation of tokens. */
  refresh: z.optional(z.object({ at: z.string(), message: z.string(), of: z.nullable(z.string()) })),
  call: z.optional(note),
});

/** What the bank refused to the logins of one profile, in a file for each holder. */
export class FileAccessNotes implements AccessNotes {
  readonly #folder: string;

  constructor(folder: StoreFolder, profile: string) {
    this.#folder = join(folder.tokens(profile), 'access-notes');
  }

  async read(
    holder: string | null,
    { accessTokenExpiresAt }: StoredLogin,
  ): Promise<{ refresh: AccessNote | undefined; call: AccessNote | undefined }> {
    const { refresh, call } = readJsonFile(this.#path(holder), accessNotes) ?? {};
    const isOfNow = refresh?.of === accessTokenExpiresAt;
    return { refresh: refresh && isOfNow ? { at: refresh.at, message: refresh.message } : undefined, call };
  }

  async refreshRefused(holder: string | null, login: StoredLogin, refused: AccessNote): Promise<void> {
    await this.#change(holder, { refresh: { ...refused, of: login.accessTokenExpiresAt } });
  }

  async callRefused(holder: string | null, refused: AccessNote | undefined): Promise<void> {
    await this.#change(holder, { call: refused });
  }

  async hasRefusedCall(holder: string | null): Promise<boolean> {
    return readJsonFile(this.#path(holder), accessNotes)?.call !== undefined;
  }

  async forget(holder: string | null): Promise<void> {
    rmSync(this.#path(holder), { force: true });
  }

  /** The notes, for `store copy`. Times are in UTC. @throws Psd2Error `config` if they are damaged */
  kept(holder: string | null): Pick<NoteRecord, 'refresh' | 'call'> | undefined {
    const notes = readJsonFile(this.#path(holder), accessNotes);
    if (!notes?.refresh && !notes?.call) return undefined;
    const { refresh, call } = notes;
    return {
      refresh: refresh
        ? { at: inUtc(refresh.at), message: refresh.message, of: refresh.of && inUtc(refresh.of) }
        : null,
      call: call ? { ...call, at: inUtc(call.at) } : null,
    };
  }

  /** Stores copied notes. @throws Psd2Error `config` */
  async keep(holder: string | null, { refresh, call }: Pick<NoteRecord, 'refresh' | 'call'>): Promise<void> {
    await this.#change(holder, { refresh: refresh ?? undefined, call: call ?? undefined });
  }

  async #change(holder: string | null, change: z.infer<typeof accessNotes>): Promise<void> {
    const notes = { ...readJsonFile(this.#path(holder), accessNotes), ...change };
    makePrivateFolder(this.#folder);
    await writeJsonFile(this.#path(holder), notes, accessNotes);
  }

  #path(holder: string | null): string {
    return join(this.#folder, `${holder === null ? 'application' : `customer-${holder}`}.json`);
  }
}

function inUtc(time: string): string {
  return new Date(time).toISOString();
}
