import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../errors.ts';
import { listFolder, removeStored } from './files.ts';
import type { StoreFolder } from './folder.ts';
import { type Notice, readJsonFile, writeJsonFile } from './json-file.ts';
import { LONGEST_RENEWAL_MS, withLock } from './lock.ts';

/** Certificate or key: its PEM text, a PKCS#12 file in base64, or the path of a file that holds it. */
const pem = z.union([
  z.object({ pem: z.string() }),
  z.object({ pkcs12: z.string() }),
  z.object({ path: z.string() }),
]);
export type PemSource = z.infer<typeof pem>;

/** Whether a bank moves real money: `sandbox` is one that a bank offers to try its interface. */
export const BANK_ENVIRONMENTS = ['production', 'sandbox'] as const;
export type BankEnvironment = (typeof BANK_ENVIRONMENTS)[number];

const profile = z.object({
  baseUrl: z.string(),
  clientId: z.optional(z.string()),
  clientSecret: z.optional(z.string()),
  applicationName: z.optional(z.string()),
  ccClientId: z.optional(z.string()),
  ccClientSecret: z.optional(z.string()),
  ccApplicationName: z.optional(z.string()),
  qwacCertificate: z.optional(pem),
  qwacKey: z.optional(pem),
  qsealCertificate: z.optional(pem),
  qsealKey: z.optional(pem),
  ca: z.optional(pem),
  bankSigningCertificate: z.optional(pem),
  ccDailyLimit: z.optional(z.string()),
  redirectUri: z.optional(z.string()),
  signer: z.optional(z.string()),
  payeeCheck: z.optional(z.string()),
  environment: z.optional(z.enum(BANK_ENVIRONMENTS)),
  /** A decimal, as given. */
  maxAmount: z.optional(z.string()),
  tppCertificate: z.optional(z.enum(['der-base64', 'pem-urlencoded', 'none'])),
});

/** The settings of a profile, as stored. What is missing comes from the environment or has a default. */
export type ProfileSettings = z.infer<typeof profile>;

const config = z.object({ currentProfile: z.optional(z.string()) });

/** The name of the profile that the environment alone makes up. */
export const ENVIRONMENT_PROFILE = 'env';

/** @throws Psd2Error `usage` */
export function parseProfileName(name: string): string {
  if (name === ENVIRONMENT_PROFILE) {
    throw new Psd2Error('usage', `The profile name "${name}" is kept for the settings of the environment`, {
      hint: 'Choose another name.',
    });
  }
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return name;
  throw new Psd2Error('usage', `The profile name ${JSON.stringify(name)} is not usable`, {
    hint: 'Use letters, digits, dots, dashes and underscores, at most 64, a letter or digit first.',
  });
}

/** The stored profiles of one configuration folder. */
export class ProfileStore {
  readonly #folder: StoreFolder;
  readonly #notice: Notice;

  /** @param notice is told where a damaged file is kept that another takes the place of */
  constructor(folder: StoreFolder, notice: Notice = () => {}) {
    this.#folder = folder;
    this.#notice = notice;
  }

  /** Names of the stored profiles, sorted. */
  list(): string[] {
    return listFolder(this.#folder.profiles)
      .filter((file) => file.endsWith('.json'))
      .map((file) => basename(file, '.json'))
      .sort();
  }

  /** @throws Psd2Error `config` when its file is damaged or can be read by others */
  read(name: string): ProfileSettings | undefined {
    return readJsonFile(this.#folder.profile(parseProfileName(name)), profile);
  }

  /** Stores a profile in place of one that may be there. */
  async write(name: string, settings: ProfileSettings): Promise<void> {
    await writeJsonFile(this.#folder.profile(parseProfileName(name)), settings, profile, this.#notice);
  }

  /** The profile chosen with `profile use`, if it is still there. */
  current(): string | undefined {
    const name = readJsonFile(this.#folder.config, config)?.currentProfile;
    return name !== undefined && this.list().includes(name) ? name : undefined;
  }

  async use(name: string): Promise<void> {
    await writeJsonFile(this.#folder.config, { currentProfile: name }, config, this.#notice);
  }

  /** Removes the settings and the tokens. The journal of its flows stays: it is the record of payments. */
  async remove(name: string): Promise<void> {
    const tokens = this.#folder.tokens(parseProfileName(name));
    for (const file of listFolder(tokens).filter((each) => each.endsWith('.json'))) {
      const path = join(tokens, file);
      // A renewal that is under way would store its tokens afterwards.
      await withLock(path, `The login in ${path}`, async () => removeStored(path), LONGEST_RENEWAL_MS);
    }
    removeStored(tokens);
    removeStored(this.#folder.profile(name));
  }
}
