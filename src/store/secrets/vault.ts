import { randomBytes, scrypt } from 'node:crypto';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { removeStored } from '../disk/files.ts';
import { readJsonFile, writeJsonFile } from '../disk/json-file.ts';
import { withLock } from '../disk/lock.ts';
import type { StoreFolder } from '../machine/folder.ts';
import { KEY_BYTES, type Place, type Sealed, seal, sealed, unseal } from './sealed.ts';

/** One of the settings that OWASP's Password Storage Cheat Sheet gives for scrypt (RFC 7914): 32 MiB, three times. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 3 };
const SCRYPT_MEMORY = 64 * 1024 * 1024;

/** Each file of tokens is waited for that another process is about to write. */
const LONGEST_CHANGE_MS = 200_000;

const CHOICES =
  'Nothing was changed. Choose: a passphrase (set PSD2_CONFIG_PASSPHRASE, or add --passphrase to be asked, or --passphrase-stdin), or a keyring that can be opened here: on Linux a Secret Service such as gnome-keyring or KWallet, on D-Bus.';

const protection = z.lazy(() =>
  z.object({
    v: z.literal(1),
    /** Of the key; an entry of the keyring is found by it. */
    id: z.string(),
    /** `ending` while `profile unprotect` is at work: what is written is in clear then, what is sealed still opens. */
    state: z.enum(['on', 'ending']),
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
    /** The key of the profile's files, sealed with the keyring's key or the passphrase's. */
    key: sealed,
  }),
);
type Protection = z.infer<typeof protection>;

export type ProtectionKind = Protection['wrappedBy']['kind'];

/** What a profile is to be protected by. */
export type Protector = { kind: 'keyring' } | { kind: 'passphrase'; passphrase: string };

/** Where a passphrase comes from, and what ends waiting for a keyring. */
export interface KeySources {
  /** @returns undefined when none is set and nobody can be asked */
  passphrase(profile: string): Promise<string | undefined>;
  signal: AbortSignal;
}

/** The key of a protected profile. */
export interface ProfileKey {
  /** False while the protection is being taken off: what is written is in clear then. */
  sealsNew: boolean;
  seal(place: Place, value: object): Sealed;
  /** @param path of the file that it stands in. @throws Psd2Error `config` when it is not what was sealed there */
  open<T>(path: string, place: Place, sealed: Sealed, schema: z.ZodMiniType<T>): T;
}

/** For who can ask nobody. */
export const NO_SOURCES: KeySources = {
  passphrase: async () => undefined,
  signal: new AbortController().signal,
};

/**
 * The key that a profile's secrets are encrypted with: made at random, and kept in `protection/<profile>.json`,
 * itself encrypted with a key of the system's keyring or of a passphrase. Without that file the profile is not
 * protected.
 */
export class Vault {
  readonly #path: string;
  readonly #profile: string;
  readonly #sources: KeySources;
  /** Of the key with this id; asked for once. */
  #opened: { id: string; key: Promise<Buffer> } | undefined;

  constructor(folder: StoreFolder, profile: string, sources: KeySources = NO_SOURCES) {
    this.#path = folder.protection(profile);
    this.#profile = profile;
    this.#sources = sources;
  }

  /** What the profile is protected by. @throws Psd2Error `config` when its file is damaged */
  get kind(): ProtectionKind | undefined {
    return this.#read()?.wrappedBy.kind;
  }

  /**
   * The key; undefined when the profile is not protected.
   *
   * @throws Psd2Error `config` when the profile is protected and the key can't be had
   */
  async key(): Promise<ProfileKey | undefined> {
    const current = this.#read();
    if (!current) return undefined;
    const key = await this.#open(current);
    const whole = (place: Place) => [this.#profile, current.id, ...place];
    return {
      sealsNew: current.state === 'on',
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
   * Protects what is written from now on. A profile that is protected keeps its key, and gets it wrapped anew.
   *
   * @param protector undefined: what it is protected by already
   * @throws Psd2Error `config` when the key can't be had or kept; nothing is changed then
   */
  async protect(protector: Protector | undefined): Promise<void> {
    const before = this.#read();
    const key = before ? await this.#open(before) : randomBytes(KEY_BYTES);
    if (!protector) {
      if (before && before.state !== 'on') await this.#write({ ...before, state: 'on' });
      return;
    }
    const id = before?.id ?? randomBytes(12).toString('base64url');
    const wrapping = await this.#newWrapping(id, protector);
    await this.#write({
      v: 1,
      id,
      state: 'on',
      wrappedBy: wrapping.by,
      key: seal(wrapping.key, this.#wrapPlace(id), key.toString('base64')),
    });
    this.#opened = { id, key: Promise.resolve(key) };
    if (before?.wrappedBy.kind === 'keyring' && protector.kind !== 'keyring') await this.#forgetEntry(id);
  }

  /** One process at a time, for changing how the profile is protected. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return withLock(
      this.#path,
      `The protection of the profile ${this.#profile}`,
      work,
      LONGEST_CHANGE_MS,
      this.#sources.signal,
    );
  }

  /** What is written from now on is in clear; what is sealed still opens. @throws Psd2Error `config` */
  async startEnding(): Promise<void> {
    const current = this.#read();
    if (!current) return;
    await this.#open(current);
    await this.#write({ ...current, state: 'ending' });
  }

  /** Forgets the key, when nothing is sealed with it any more. @throws Psd2Error `config` when the keyring keeps it */
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

  #open(current: Protection): Promise<Buffer> {
    if (this.#opened?.id !== current.id) this.#opened = { id: current.id, key: this.#unwrap(current) };
    return this.#opened.key;
  }

  async #unwrap(current: Protection): Promise<Buffer> {
    const wrapping =
      current.wrappedBy.kind === 'keyring'
        ? await this.#keyOfKeyring(current.id)
        : await this.#keyOfPassphrase(current.wrappedBy.scrypt.salt);
    const key = unseal(wrapping, this.#wrapPlace(current.id), current.key);
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
            : `Check the passphrase (PSD2_CONFIG_PASSPHRASE); if it is right, ${this.#path} was changed: restore it.`,
      },
    );
  }

  async #keyOfKeyring(id: string): Promise<Buffer> {
    const entry = await this.#entry(id);
    const secret = await entry.read().catch((error: unknown) => {
      throw error instanceof Psd2Error && error.code === 'config'
        ? error.with({
            hint: `The key of the profile ${this.#profile} is there. ${error.hint} Where there is no keyring, protect the profile by a passphrase instead, from where the keyring is:`,
            next: [['profile', 'protect', this.#profile, '--passphrase']],
          })
        : error;
    });
    if (secret !== null) return Buffer.from(secret, 'base64');
    throw new Psd2Error('config', `The system's keyring has no key for the profile ${this.#profile}`, {
      hint: 'Use the keyring of the user who protected it, on the machine where that was done.',
    });
  }

  async #keyOfPassphrase(salt: string): Promise<Buffer> {
    const passphrase = await this.#sources.passphrase(this.#profile);
    if (passphrase) return deriveKey(passphrase, salt);
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
      // One that is there belongs to what is written already.
      const key = (await entry.read()) ?? randomBytes(KEY_BYTES).toString('base64');
      await entry.write(key);
      if ((await entry.read()) === key) return { by: { kind: 'keyring' }, key: Buffer.from(key, 'base64') };
      throw new Psd2Error('config', "The system's keyring does not give back what it was given");
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

/** The key that a passphrase stands for: scrypt (RFC 7914). @param salt base64 */
export function deriveKey(passphrase: string, salt: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The same letters are one passphrase, however a keyboard composed them.
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
