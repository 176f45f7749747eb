import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import {
  listFolder,
  type Notice,
  type QuickShape,
  readJsonFile,
  removeHalfWritten,
  removeStored,
  type StoredShape,
  writeJsonFile,
} from '../disk/files.ts';
import { withLock } from '../disk/lock.ts';
import { type Place, sealed } from '../secrets/sealed.ts';
import { type KeySources, NO_SOURCES, type ProfileKey, Vault } from '../secrets/vault.ts';
import type { StoreFolder } from './folder.ts';
import {
  type ChoiceOf,
  type PemSetting,
  SETTINGS,
  type SettingKey,
  type SettingRow,
  type StoredSetting,
  settingKeys,
} from './setting-table.ts';

type SchemaOf<Key extends SettingKey> = Key extends StoredSetting
  ? z.ZodMiniString
  : Key extends PemSetting
    ? z.ZodMiniOptional<z.ZodMiniType<PemSource>>
    : ChoiceOf<Key, null> extends infer Choice extends string
      ? z.ZodMiniOptional<z.ZodMiniEnum<{ [Value in Choice]: Value }>>
      : z.ZodMiniOptional<z.ZodMiniString>;

/** A certificate or key: its PEM text, a PKCS#12 file in base64, or the path of its file. */
export type PemSource = { pem: string } | { pkcs12: string } | { path: string };

/** Made when a file needs them, because zod takes longer to load than the rest of `psd2 profile list`. */
let schemas: ReturnType<typeof makeSchemas> | undefined;
const schemasOfProfile = () => {
  schemas ??= makeSchemas();
  return schemas;
};

function makeSchemas() {
  const text = z.optional(z.string());
  const file = z.optional(
    z.union([
      z.object({ pem: z.string() }),
      z.object({ pkcs12: z.string() }),
      z.object({ path: z.string() }),
    ]),
  );
  const schemaOf = (key: SettingKey) => {
    const { kind, choices, required } = SETTINGS[key];
    if (kind === 'file') return file;
    if (choices) return z.optional(z.enum(choices));
    return required === 'in the file' ? z.string() : text;
  };
  const shape: { [Key in SettingKey]: SchemaOf<Key> } = Object.fromEntries(
    settingKeys().map((key): unknown[] => [key, schemaOf(key)]),
  );
  const settings = z.object(shape);
  const name = z.keyof(settings);
  const stored = z.extend(settings, {
    /** The secret settings of a protected profile, with their names. */
    sealed: z.optional(z.object({ names: z.array(name), content: sealed })),
  });
  return { settings, name, stored, secrets: z.omit(z.partial(settings), { baseUrl: true }) };
}

type Schemas = ReturnType<typeof makeSchemas>;

/** The settings of a profile. A missing one comes from the environment or has a default. */
export type ProfileSettings = z.infer<Schemas['settings']>;
export type BankEnvironment = NonNullable<ProfileSettings['environment']>;

/** The settings in the profile's file. If the profile is protected, the secret ones are in `sealed`. */
export type StoredProfile = z.infer<Schemas['stored']>;

/** The file of a profile that is not protected needs no schema. */
export const storedProfile: QuickShape<StoredProfile> = {
  schema: () => schemasOfProfile().stored,
  isCertainly: (value): value is StoredProfile =>
    isPlainObject(value) &&
    settingKeys().every((key) => key in value || SETTINGS[key].required !== 'in the file') &&
    Object.entries(value).every(
      ([key, content]) => isSettingKey(key) && isCertainlyOf(SETTINGS[key], content),
    ),
};

function isCertainlyOf({ kind, choices }: SettingRow, content: unknown): boolean {
  if (kind !== 'file') return typeof content === 'string' && (!choices || choices.includes(content));
  if (!isPlainObject(content)) return false;
  const [[form = '', text] = [], ...more] = Object.entries(content);
  return more.length === 0 && ['pem', 'pkcs12', 'path'].includes(form) && typeof text === 'string';
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSettingKey = (text: string): text is SettingKey => Object.hasOwn(SETTINGS, text);

type Config = { currentProfile?: string | undefined };

const config: StoredShape<Config> = {
  schema: () => z.object({ currentProfile: z.optional(z.string()) }),
  isCertainly: (value): value is Config =>
    isPlainObject(value) &&
    Object.entries(value).every(([key, name]) => key === 'currentProfile' && typeof name === 'string'),
};

/** More time than a process needs to write a profile. */
const LOCK_PATIENCE_MS = 10_000;

/** The name of the profile that consists of environment variables alone. */
export const ENVIRONMENT_PROFILE = 'env';

/** @throws Psd2Error `usage` */
export function parseProfileName(name: string): string {
  if (name === ENVIRONMENT_PROFILE)
    throw new Psd2Error(
      'usage',
      `The profile name "${name}" is reserved for the settings of the environment`,
      { hint: 'Choose another name.' },
    );
  if (isProfileName(name)) return name;
  throw new Psd2Error('usage', `The profile name ${JSON.stringify(name)} is not usable`, {
    hint: 'Use at most 64 letters, digits, dots, dashes and underscores. Begin with a letter or digit.',
  });
}

/** Whether psd2 can store data under a name. This includes the name of the environment's profile. */
export function isProfileName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** The stored profiles of one configuration folder. */
export class ProfileStore {
  readonly #folder: StoreFolder;
  readonly #notice: Notice;
  readonly #keySources: KeySources | undefined;
  readonly #vaults = new Map<string, Vault>();

  /**
   * @param notice called if a damaged file was kept and replaced
   * @param keySources gives the passphrases of protected profiles
   */
  constructor(folder: StoreFolder, notice: Notice = () => {}, keySources?: KeySources) {
    this.#notice = notice;
    this.#folder = folder;
    this.#keySources = keySources;
  }

  /** Gives passphrases to a backend that has keys of its own. */
  get keySources(): KeySources {
    return this.#keySources ?? NO_SOURCES;
  }

  /** The key for the data of a profile, or of the environment's profile. */
  vault(name: string): Vault {
    const existing = this.#vaults.get(name);
    if (existing) return existing;
    const vault = new Vault(this.#folder, name, this.#keySources);
    this.#vaults.set(name, vault);
    return vault;
  }

  /** Names of the stored profiles, sorted. */
  list(): string[] {
    return listFolder(this.#folder.profiles)
      .filter((file) => file.endsWith('.json'))
      .map((file) => basename(file, '.json'))
      .sort();
  }

  /** @throws Psd2Error `config` if its file is damaged or can be read by others */
  read(name: string): StoredProfile | undefined {
    return readJsonFile(this.#folder.profile(parseProfileName(name)), storedProfile);
  }

  /**
   * Decrypts the secret settings in the profile's file. Empty if it has none.
   *
   * @throws Psd2Error `config` if the key is not available, or the file was changed
   */
  async readSealed(name: string): Promise<Partial<ProfileSettings>> {
    const stored = this.read(name);
    if (!stored?.sealed) return {};
    const key = await this.vault(name).key();
    if (!key) throw this.#keyIsGone(name);
    const path = this.#folder.profile(name);
    return key.open(path, placeOf(stored), stored.sealed.content, schemasOfProfile().secrets);
  }

  /**
   * Stores a profile, or replaces an existing one. Encrypts it if it is protected.
   *
   * @throws Psd2Error `config` if it cannot be written, or the key of a protected profile is not available
   */
  async write(name: string, settings: ProfileSettings): Promise<void> {
    await this.#locked(name, () => this.#write(name, settings));
  }

  /**
   * Replaces the settings that were read with new ones.
   *
   * @param before the result of {@link read}
   * @returns false, and stores nothing, if another process has changed the profile in the meantime
   * @throws Psd2Error `config` as {@link write}
   */
  async replace(name: string, before: StoredProfile, settings: ProfileSettings): Promise<boolean> {
    return this.#locked(name, async () => {
      if (!isDeepStrictEqual(this.read(name), before)) return false;
      await this.#write(name, settings);
      return true;
    });
  }

  /** Rewrites the profile, encrypted or in clear as its protection now requires. @throws Psd2Error `config` */
  async rewrite(name: string): Promise<void> {
    await this.#locked(name, async (path) => {
      removeHalfWritten(path);
      const stored = this.read(name);
      if (!stored) return;
      const { sealed: before, ...clear } = stored;
      await this.#write(name, { ...clear, ...(await this.readSealed(name)) });
    });
  }

  #locked<T>(name: string, work: (path: string) => Promise<T>): Promise<T> {
    const path = this.#folder.profile(parseProfileName(name));
    const { interrupted } = this.#folder;
    return withLock(path, `The profile ${name}`, () => work(path), LOCK_PATIENCE_MS, interrupted);
  }

  async #write(name: string, settings: ProfileSettings): Promise<void> {
    const key = await this.vault(name).key();
    if (!key && this.#isSealed(name)) throw this.#keyIsGone(name);
    const stored = key?.sealsNew ? sealSettings(settings, key) : settings;
    await writeJsonFile(this.#folder.profile(name), stored, storedProfile, this.#notice);
  }

  /** The profile chosen with `profile use`, if it still exists. */
  current(): string | undefined {
    const name = readJsonFile(this.#folder.config, config)?.currentProfile;
    return name !== undefined && this.list().includes(name) ? name : undefined;
  }

  async use(name: string): Promise<void> {
    await writeJsonFile(this.#folder.config, { currentProfile: name }, config, this.#notice);
  }

  /** Paths of the damaged settings files that psd2 kept. */
  damaged(name: string): string[] {
    const { profiles } = this.#folder;
    return listFolder(profiles)
      .filter((file) => file.startsWith(`${name}.json.damaged-`))
      .map((file) => join(profiles, file));
  }

  /** Removes the settings of a profile, and what its smoke tests keep: a new profile of the name may be of another bank. */
  remove(name: string): void {
    const profile = parseProfileName(name);
    const { checkedBank, smoke, shapes } = this.#folder;
    // The settings come last, so that a removal that was stopped can be made again.
    for (const path of [checkedBank, smoke, shapes, this.#folder.profile]) removeStored(path(profile));
  }

  #isSealed(name: string): boolean {
    try {
      return this.read(name)?.sealed !== undefined;
    } catch {
      // A damaged profile may be replaced.
      return false;
    }
  }

  #keyIsGone(name: string): Psd2Error {
    const path = this.#folder.profile(name);
    const key = this.#folder.protection(name);
    return new Psd2Error('config', `${path} is encrypted, and its key ${key} is gone`, {
      hint: 'Restore that file, or add the profile again:',
      next: [
        ['profile', 'remove', name],
        ['profile', 'add', name],
      ],
    });
  }
}

function sealSettings(settings: ProfileSettings, key: ProfileKey): StoredProfile {
  const names = Object.keys(settings)
    .map((name) => schemasOfProfile().name.parse(name))
    .filter((name) => isSecret(name, settings[name]));
  if (names.length === 0) return settings;
  const secrets = Object.fromEntries(names.map((name) => [name, settings[name]]));
  return {
    ...settings,
    ...Object.fromEntries(names.map((name) => [name, undefined])),
    sealed: { names, content: key.seal(placeOf(settings), secrets) },
  };
}

/** A path is not a secret. Only the content of the file is. */
function isSecret(name: SettingKey, value: ProfileSettings[SettingKey]): boolean {
  if (value === undefined || (typeof value === 'object' && 'path' in value)) return false;
  const { kind, sealed = kind === 'secret' } = SETTINGS[name];
  if (sealed !== 'with a key') return sealed;
  return typeof value === 'object' && ('pkcs12' in value || value.pem.includes('PRIVATE KEY'));
}

/** The place includes the base URL. If someone changes it in the file, the secrets cannot be sent to another bank. */
function placeOf({ baseUrl }: ProfileSettings): Place {
  return ['settings', baseUrl];
}
