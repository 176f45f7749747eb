import { randomBytes, scrypt } from 'node:crypto';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { readJsonFile, removeStored, writeJsonFile } from '../disk/files.ts';
import { withLock } from '../disk/lock.ts';
import type { StoreFolder } from '../machine/folder.ts';
import { KEY_BYTES, type Place, type Sealed, seal, sealed, unseal } from './sealed.ts';

/** One of the settings that OWASP's Password Storage Cheat Sheet lists for scrypt (RFC 7914): 32 MiB, parallelism 3. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 3 };
const SCRYPT_MEMORY = 64 * 1024 * 1024;

/** Long enough to wait for each token file that another process is about to write. */
const MAX_CHANGE_MS = 200_000;

const CHOICES =
  'psd2 has changed nothing. Choose a passphrase (set PSD2_CONFIG_PASSPHRASE, or add --passphrase to be asked, or --passphrase-stdin), or a keyring that can be opened here, on Linux a Secret Service such as gnome-keyring or KWallet, on D-Bus.';

const protection = z.lazy(() =>
  z.object({
    v: z.literal(1),
    /** Id of the key. It also names the entry in the keyring. */
    id: z.string(),
    /**
     * `starting` while `profile protect` runs: psd2 still reads what is in clear. `ending` while `profile unprotect` runs: psd2 writes in
     * clear too.
     */
    state: z.enum(['starting', 'on', 'ending']),
    /** The state other than `on`, encrypted with the key: whoever only writes to the file cannot let psd2 use clear text. */
    proof: z.optional(sealed),
    wrappedBy: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('keyring') }),
      z.object({
        kind: z.literal('passphrase'),
        scrypt: z.object({
          N: z.literal(SCRYPT.N),
          r: z.literal(SCRYPT.r),
          p: z.literal(SCRYPT.p),
          salt: z.string(),
        }),
      }),
    ]),
    /** The key of the profile's files, encrypted with the keyring's key or the passphrase's. */
    key: sealed,
    /** The same key, encrypted with other passphrases: while a new one is introduced (`store rekey`). */
    also: z.optional(z.array(z.object({ salt: z.string(), key: sealed }))),
  }),
);
type Protection = z.infer<typeof protection>;

type ProtectionKind = Protection['wrappedBy']['kind'];

/** What will protect a profile. */
export type Protector = { kind: 'keyring' } | { kind: 'passphrase'; passphrase: string };

/** Gives the passphrase, and the signal that ends the wait for a keyring. */
export interface KeySources {
  /**
   * @param kept reads the passphrase that is stored elsewhere. Called if none is set, before psd2 asks the operator
   * @returns undefined if none is set or stored, and psd2 cannot ask for it
   */
  passphrase(profile: string, kept?: () => Promise<string | undefined>): Promise<string | undefined>;
  signal: AbortSignal;
}

/** The key of a protected profile. */
export interface ProfileKey {
  /** False while `profile unprotect` runs: psd2 writes in clear then. */
  sealsNew: boolean;
  /** Whether psd2 reads what is in clear: while `profile protect` or `profile unprotect` runs. */
  takesPlain: boolean;
  seal(place: Place, value: object): Sealed;
  /** @param path of the file, for messages. @throws Psd2Error `config` if the text is not what was sealed for this place */
  open<T>(path: string, place: Place, sealed: Sealed, schema: z.ZodMiniType<T>): T;
}

/** For callers that cannot ask for a passphrase. */
export const NO_SOURCES: KeySources = {
  passphrase: async () => undefined,
  signal: new AbortController().signal,
};

/**
 * The random key that encrypts a profile's secrets. psd2 keeps it in `protection/<profile>.json`, encrypted with a key from
 * the system's keyring or from a passphrase. If that file does not exist, the profile is not protected.
 */
export class Vault {
  readonly #path: string;
  readonly #profile: string;
  readonly #sources: KeySources;
  /** The key with this id. psd2 asks for it only once. */
  #opened: { id: string; key: Promise<Buffer> } | undefined;

  constructor(folder: StoreFolder, profile: string, sources: KeySources = NO_SOURCES) {
    this.#path = folder.protection(profile);
    this.#profile = profile;
    this.#sources = sources;
  }

  /** What protects the profile; undefined if nothing does. @throws Psd2Error `config` if its file is damaged */
  get kind(): ProtectionKind | undefined {
    return this.#read()?.wrappedBy.kind;
  }

  /**
   * The key; undefined if the profile is not protected.
   *
   * @throws Psd2Error `config` if the profile is protected and the key is not available
   */
  async key(): Promise<ProfileKey | undefined> {
    const current = this.#read();
    if (!current) return undefined;
    const key = await this.#open(current);
    this.#refuseUnproven(current, key);
    const whole = (place: Place) => [this.#profile, current.id, ...place];
    return {
      sealsNew: current.state !== 'ending',
      takesPlain: current.state !== 'on',
      seal: (place, value) => seal(key, whole(place), JSON.stringify(value)),
      open: (path, place, content, schema) => {
        const text = unseal(key, whole(place), content);
        const value = text === undefined ? undefined : schema.safeParse(JSON.parse(text)).data;
        if (value !== undefined) return value;
        throw new Psd2Error(
          'config',
          `${path} is damaged: what is encrypted in it was changed, or was written for another place`,
          { hint: `Restore it, or move it away: mv ${path} ${path}.damaged` },
        );
      },
    };
  }

  /**
   * Protects what psd2 writes from now on. If the profile was protected before, it keeps its key, encrypted in the new way. What is in
   * clear counts until {@link settle}.
   *
   * @param protector undefined keeps the current protection
   * @throws Psd2Error `config` if the key cannot be read or stored. Nothing has changed then
   */
  async protect(protector: Protector | undefined): Promise<void> {
    const before = this.#read();
    const key = before ? await this.#open(before) : randomBytes(KEY_BYTES);
    if (!protector) {
      if (before?.state === 'ending') await this.#write(this.#inState(before, key, 'starting'));
      return;
    }
    const id = before?.id ?? randomBytes(12).toString('base64url');
    const wrapping = await this.#newWrapping(id, protector);
    const wrapped = seal(wrapping.key, this.#wrapPlace(id), key.toString('base64'));
    const protectedBy = { v: 1, id, wrappedBy: wrapping.by, key: wrapped } as const;
    await this.#write(this.#inState(protectedBy, key, before?.state === 'on' ? 'on' : 'starting'));
    this.#opened = { id, key: Promise.resolve(key) };
    if (before?.wrappedBy.kind === 'keyring' && protector.kind !== 'keyring') await this.#forgetEntry(id);
  }

  /** Nothing is in clear any more: from now on, psd2 reads only what is encrypted. @throws Psd2Error `config` */
  async settle(): Promise<void> {
    const current = this.#read();
    if (current?.state === 'starting')
      await this.#write(this.#inState(current, await this.#open(current), 'on'));
  }

  /**
   * Lets a new passphrase open the profile beside the old one, if a passphrase protects it and the new one does not open it yet.
   *
   * @returns whether a passphrase protects the profile
   * @throws Psd2Error `config` if the key cannot be opened or written. Nothing has changed then
   */
  async addPassphrase(passphrase: string): Promise<boolean> {
    const current = this.#read();
    if (current?.wrappedBy.kind !== 'passphrase') return false;
    if ((await this.#openWith(current, passphrase)) !== undefined) return true;
    const key = await this.#open(current);
    const wrapping = await this.#newWrapping(current.id, { kind: 'passphrase', passphrase });
    if (wrapping.by.kind !== 'passphrase') return false;
    const { salt } = wrapping.by.scrypt;
    const wrapped = seal(wrapping.key, this.#wrapPlace(current.id), key.toString('base64'));
    await this.#write({ ...current, also: [...(current.also ?? []), { salt, key: wrapped }] });
    return true;
  }

  /** Makes sure that {@link addPassphrase} can open the key. @throws Psd2Error `config` */
  async openFor(passphrase: string): Promise<void> {
    const current = this.#read();
    if (current?.wrappedBy.kind !== 'passphrase') return;
    if ((await this.#openWith(current, passphrase)) === undefined) await this.#open(current);
  }

  /** Lets only this passphrase open the profile, after {@link addPassphrase}. @throws as {@link addPassphrase} */
  async dropOthers(passphrase: string): Promise<void> {
    const current = this.#read();
    if (current?.wrappedBy.kind !== 'passphrase' || !current.also?.length) return;
    const key = await this.#openWith(current, passphrase);
    if (key === undefined) throw new TypeError('addPassphrase has let this passphrase open the profile');
    const wrapping = await this.#newWrapping(current.id, { kind: 'passphrase', passphrase });
    const { also: _also, ...rest } = current;
    const wrapped = seal(wrapping.key, this.#wrapPlace(current.id), key);
    await this.#write({ ...rest, wrappedBy: wrapping.by, key: wrapped });
  }

  /** Runs `work`, which changes the protection, one process at a time. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return withLock(
      this.#path,
      `The protection of the profile ${this.#profile}`,
      work,
      MAX_CHANGE_MS,
      this.#sources.signal,
    );
  }

  /** From now on psd2 writes in clear, and still reads what is encrypted. @throws Psd2Error `config` */
  async startEnding(): Promise<void> {
    const current = this.#read();
    if (!current) return;
    await this.#write(this.#inState(current, await this.#open(current), 'ending'));
  }

  /** Forgets the key. Call it when nothing is encrypted with it any more. @throws Psd2Error `config` if the keyring keeps it */
  async forget(): Promise<void> {
    const current = this.#read();
    removeStored(this.#path);
    if (current?.wrappedBy.kind === 'keyring') await this.#forgetEntry(current.id);
  }

  #read(): Protection | undefined {
    return readJsonFile(this.#path, protection);
  }

  async #write(content: Protection): Promise<void> {
    await writeJsonFile(this.#path, content, protection);
  }

  #inState(content: Omit<Protection, 'state'>, key: Buffer, state: Protection['state']): Protection {
    const { proof: _proof, ...rest } = content;
    const place = [this.#profile, content.id, 'state'];
    return { ...rest, state, ...(state !== 'on' && { proof: seal(key, place, state) }) };
  }

  /** @throws Psd2Error `config` if somebody else has written the state */
  #refuseUnproven({ id, state, proof }: Protection, key: Buffer): void {
    if (state === 'on' || (proof && unseal(key, [this.#profile, id, 'state'], proof) === state)) return;
    throw new Psd2Error(
      'config',
      `${this.#path} was changed: psd2 did not write that protection is ${state}`,
      { hint: 'Find out who can write to the folder, and restore the file.' },
    );
  }

  #open(current: Protection): Promise<Buffer> {
    if (this.#opened?.id !== current.id) this.#opened = { id: current.id, key: this.#unwrap(current) };
    return this.#opened.key;
  }

  async #unwrap(current: Protection): Promise<Buffer> {
    const key =
      current.wrappedBy.kind === 'keyring'
        ? unseal(await this.#keyOfKeyring(current.id), this.#wrapPlace(current.id), current.key)
        : await this.#openWith(current, await this.#passphrase());
    if (key !== undefined) return Buffer.from(key, 'base64');
    throw new Psd2Error(
      'config',
      current.wrappedBy.kind === 'keyring'
        ? `The key in the system's keyring does not open the profile ${this.#profile}`
        : `The passphrase does not open the profile ${this.#profile}`,
      {
        hint:
          current.wrappedBy.kind === 'keyring'
            ? `Either the keyring's entry or ${this.#path} was changed: restore it.`
            : `Check the passphrase (PSD2_CONFIG_PASSPHRASE). If psd2 store rekey has changed it, use the new one. If it is right, ${this.#path} was changed: restore it.`,
      },
    );
  }

  async #keyOfKeyring(id: string): Promise<Buffer> {
    const entry = await this.#entry(id);
    const secret = await entry.read().catch((error: unknown) => {
      throw error instanceof Psd2Error && error.code === 'config'
        ? error.with({
            hint: `The keyring holds the key of the profile ${this.#profile}. ${error.hint} To use the profile without a keyring, protect it with a passphrase instead. Run this where the keyring is:`,
            next: [['profile', 'protect', this.#profile, '--passphrase']],
          })
        : error;
    });
    if (secret !== null) return Buffer.from(secret, 'base64');
    throw new Psd2Error('config', `The system's keyring has no key for the profile ${this.#profile}`, {
      hint: 'Use the keyring of the user who protected the profile, on the same machine.',
    });
  }

  /** @returns base64; undefined if the passphrase is none of the right ones */
  async #openWith(
    { id, wrappedBy, key, also = [] }: Protection,
    passphrase: string,
  ): Promise<string | undefined> {
    if (wrappedBy.kind !== 'passphrase') return undefined;
    for (const wrap of [{ salt: wrappedBy.scrypt.salt, key }, ...also]) {
      const opened = unseal(await deriveKey(passphrase, wrap.salt), this.#wrapPlace(id), wrap.key);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  async #passphrase(): Promise<string> {
    const passphrase = await this.#sources.passphrase(this.#profile);
    if (passphrase) return passphrase;
    throw new Psd2Error('config', `The profile ${this.#profile} is protected by a passphrase`, {
      hint: 'Set PSD2_CONFIG_PASSPHRASE, or run this at a terminal to be asked.',
    });
  }

  async #newWrapping(
    id: string,
    protector: Protector,
  ): Promise<{ by: Protection['wrappedBy']; key: Buffer }> {
    if (protector.kind === 'passphrase') {
      const salt = randomBytes(16).toString('base64');
      return {
        by: { kind: 'passphrase', scrypt: { ...SCRYPT, salt } },
        key: await deriveKey(protector.passphrase, salt),
      };
    }
    try {
      const entry = await this.#entry(id);
      // An existing entry is the key of data that was written before.
      const key = (await entry.read()) ?? randomBytes(KEY_BYTES).toString('base64');
      await entry.write(key);
      if ((await entry.read()) === key) return { by: { kind: 'keyring' }, key: Buffer.from(key, 'base64') };
      throw new Psd2Error('config', "The system's keyring does not return what psd2 stored in it");
    } catch (error) {
      throw error instanceof Psd2Error && error.code === 'config' ? error.with({ hint: CHOICES }) : error;
    }
  }

  async #forgetEntry(id: string): Promise<void> {
    await (await this.#entry(id)).remove();
  }

  async #entry(id: string) {
    const { keyringEntry } = await import('./keyring.ts');
    return keyringEntry(`${this.#profile} ${id}`, this.#sources.signal);
  }

  #wrapPlace(id: string): Place {
    return [this.#profile, id, 'key'];
  }
}

/** Derives a key from a passphrase with scrypt (RFC 7914). @param salt base64 */
export function deriveKey(passphrase: string, salt: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Keyboards compose letters differently (NFC, NFD). The passphrase must be the same for both.
    const letters = passphrase.normalize('NFC');
    scrypt(
      letters,
      Buffer.from(salt, 'base64'),
      KEY_BYTES,
      { ...SCRYPT, maxmem: SCRYPT_MEMORY },
      (error, key) => (error ? reject(error) : resolve(key)),
    );
  });
}
