import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { makePrivateFolder, readJsonFile, writeJsonFile } from '../disk/json-file.ts';
import type { StoreFolder } from '../machine/folder.ts';
import type { StoredLogin } from '../ports/tokens.ts';

/** What the bank refused, and when: ISO 8601 with zone. */
const note = z.object({ at: z.string(), message: z.string() });
const accessNotes = z.object({
  /** `of`: when the access token of the login ends whose renewal was refused. Each generation of tokens has another. */
  refresh: z.optional(z.object({ at: z.string(), message: z.string(), of: z.nullable(z.string()) })),
  call: z.optional(note),
});

export type AccessNote = z.infer<typeof note>;

/**
 * What the bank refused a login since it was made: its renewal, or a call that it does not allow (HTTP 403). Tokens alone do not
 * tell. A refused renewal counts for the tokens that it was made with; all is forgotten with a new login.
 */
export class AccessNotes {
  readonly #folder: string;

  constructor(folder: StoreFolder, profile: string) {
    this.#folder = join(folder.tokens(profile), 'access-notes');
  }

  /** @param holder the customer, or null for the application. @throws Psd2Error `config` when it is damaged */
  async read(
    holder: string | null,
    { accessTokenExpiresAt }: StoredLogin,
  ): Promise<{ refresh: AccessNote | undefined; call: AccessNote | undefined }> {
    const { refresh, call } = readJsonFile(this.#path(holder), accessNotes) ?? {};
    return { refresh: refresh?.of === accessTokenExpiresAt ? refresh : undefined, call };
  }

  /** The bank refused to renew the login. */
  async refreshRefused(holder: string | null, login: StoredLogin, refused: AccessNote): Promise<void> {
    await this.#change(holder, { refresh: { ...refused, of: login.accessTokenExpiresAt } });
  }

  /** The bank does not allow a call; undefined when it does again. */
  async callRefused(holder: string | null, refused: AccessNote | undefined): Promise<void> {
    await this.#change(holder, { call: refused });
  }

  /** Whether a call was refused and none was allowed since. */
  hasRefusedCall(holder: string | null): boolean {
    return readJsonFile(this.#path(holder), accessNotes)?.call !== undefined;
  }

  /** After a new login. */
  async forget(holder: string | null): Promise<void> {
    rmSync(this.#path(holder), { force: true });
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
