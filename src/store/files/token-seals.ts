import type { Holder } from '../ports/tokens.ts';
import { placeOfTokens } from '../secrets/sealed.ts';
import type { ProfileKey, Vault } from '../secrets/vault.ts';
import { type GrantedTokens, keyIsGone, type TokenFile, tokenSecrets } from './token-file.ts';

/** Encrypts the token files of a protected profile, and decrypts them. */
export class FileSeals {
  readonly #vault: Vault;
  /** The profile's key during each {@link within}, by the path of the locked file. */
  readonly #keys = new Map<string, ProfileKey | undefined>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /** Gets the profile's key first, so that what `work` writes to the file with this path can be encrypted. */
  async within<T>(path: string, work: () => Promise<T>): Promise<T> {
    this.#keys.set(path, await this.#vault.key());
    try {
      return await work();
    } finally {
      this.#keys.delete(path);
    }
  }

  /** @param path of the file, for messages @throws Psd2Error `config` if the key is not available */
  async open(holder: Holder, path: string, stored: TokenFile): Promise<GrantedTokens> {
    if (!('sealed' in stored)) return stored;
    const { sealed: content, ...login } = stored;
    const key = await this.#vault.key();
    if (!key) throw keyIsGone(path);
    return { ...login, ...key.open(path, placeOfTokens(holder, login.baseUrl), content, tokenSecrets) };
  }

  /**
   * The content of a token file. It is encrypted if the profile is protected.
   *
   * @param wasSealed whether the file before is encrypted
   * @throws Psd2Error `config` if the key is not available
   */
  async close(
    holder: Holder,
    path: string,
    tokens: GrantedTokens,
    wasSealed: () => boolean,
  ): Promise<string> {
    const key = this.#keys.has(path) ? this.#keys.get(path) : await this.#vault.key();
    if (!key && wasSealed()) throw keyIsGone(path);
    if (!key?.sealsNew) return JSON.stringify(tokens, null, '\t');
    const { accessToken, refreshToken, unproven, server, ...login } = tokens;
    const place = placeOfTokens(holder, tokens.baseUrl);
    const content = key.seal(place, { accessToken, refreshToken, unproven, server });
    return JSON.stringify({ ...login, sealed: content }, null, '\t');
  }
}
