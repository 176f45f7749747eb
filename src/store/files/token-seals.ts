import { Psd2Error } from '../../errors.ts';
import type { Holder } from '../ports/tokens.ts';
import { placeOfTokens } from '../secrets/sealed.ts';
import type { ProfileKey, Vault } from '../secrets/vault.ts';
import { type GrantedTokens, keyIsGone, type TokenFile, tokenSecrets } from './token-file.ts';

/** Where tokens are: an older file in the place of a newer one, or of another holder's, is not opened. */
export interface TokenPlace {
  holder: Holder;
  generation: number;
}

/** Encrypts the token files of a protected profile, and decrypts them. */
export class FileSeals {
  readonly #vault: Vault;
  /** The profile's key during each {@link within}, by the path of the locked file. */
  readonly #keys = new Map<string, ProfileKey | undefined>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /** Makes sure that tokens can be encrypted if the profile is protected. @throws Psd2Error `config` if its key is not available */
  async ready(): Promise<void> {
    await this.#vault.key();
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

  /**
   * @param path of the file, for messages
   * @throws Psd2Error `config` if the key is not available, or the tokens are not what psd2 wrote in this generation
   */
  async open({ holder, generation }: TokenPlace, path: string, stored: TokenFile): Promise<GrantedTokens> {
    const key = await this.#vault.key();
    if (!('sealed' in stored)) {
      if (key && !key.takesPlain) throw notSealed(holder, path);
      return stored;
    }
    const { sealed: content, ...login } = stored;
    if (!key) throw keyIsGone(path);
    const place = placeOfTokens({ holder, generation, baseUrl: login.baseUrl });
    return { ...login, ...key.open(path, place, content, tokenSecrets) };
  }

  /**
   * The content of a token file. It is encrypted for this generation if the profile is protected.
   *
   * @param path of the lock
   * @param wasSealed whether the file before is encrypted
   * @throws Psd2Error `config` if the key is not available
   */
  async close(
    { holder, generation }: TokenPlace,
    path: string,
    tokens: GrantedTokens,
    wasSealed: () => boolean,
  ): Promise<string> {
    const key = this.#keys.has(path) ? this.#keys.get(path) : await this.#vault.key();
    if (!key && wasSealed()) throw keyIsGone(path);
    if (!key?.sealsNew) return JSON.stringify(tokens, null, '\t');
    const { accessToken, refreshToken, unproven, server, consent, ...login } = tokens;
    const place = placeOfTokens({ holder, generation, baseUrl: tokens.baseUrl });
    const content = key.seal(place, { accessToken, refreshToken, unproven, server, consent });
    return JSON.stringify({ ...login, sealed: content }, null, '\t');
  }
}

function notSealed(holder: Holder, path: string): Psd2Error {
  return new Psd2Error('config', `${path} is not encrypted, and the profile is protected`, {
    hint: 'Someone without its key has written it. Find out who can write to the folder, then log in again:',
    next: [['auth', 'login', ...(holder === null ? ['--client-credentials'] : [])]],
  });
}
