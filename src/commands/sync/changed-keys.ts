import { createHash } from 'node:crypto';
import { endSentence, Psd2Error } from '../../errors.ts';
import { openProfile, type Profile, readSource } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { grantOf } from '../open/bank.ts';
import { PAIR_SETTINGS } from '../open/keys.ts';

const KEYS = Object.values(PAIR_SETTINGS).flatMap(({ certificate, key }) => [certificate, key]);

/** Takes changed certificates and keys into use between two rounds. All other settings stay as they were at the start. */
export class ChangedKeys {
  #context: Context;
  /** The certificates and keys in use, and those that could not be used. */
  readonly #seen = new Set<string>();

  private constructor(context: Context) {
    this.#context = context;
  }

  /** Call it before the first call to the bank. @throws Psd2Error `config`, `certificate` */
  static async begin(context: Context): Promise<ChangedKeys> {
    const keys = new ChangedKeys(context);
    keys.#seen.add(digestOf(await context.unsealed()));
    return keys;
  }

  /** The context with the certificates that are in use. */
  get context(): Context {
    return this.#context;
  }

  /** Opens the certificates and keys if they have changed. If they cannot be used, the old ones stay in use. */
  async look(): Promise<void> {
    const { terminal } = this.#context;
    try {
      const profile = await this.#stored();
      const digest = digestOf(profile);
      if (this.#seen.has(digest)) return;
      this.#seen.add(digest);
      await this.#use(profile);
      this.#seen.clear();
      this.#seen.add(digest);
      terminal.say('The certificates have changed. psd2 uses the new ones from now on.');
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
      terminal.warn(
        `The certificates have changed, but psd2 still uses the old ones: ${endSentence(error.message)}`,
      );
    }
  }

  /** The profile with the certificates and keys that are stored now. */
  async #stored(): Promise<Profile> {
    const { name, settings } = await this.#context.unsealed();
    const { profiles, env } = this.#context;
    const { settings: now } = await this.#context.forProfile(openProfile(profiles, name, env)).unsealed();
    const changed = { ...settings };
    for (const key of KEYS) {
      delete changed[key];
      if (now[key]) changed[key] = now[key];
    }
    return { name, settings: changed };
  }

  async #use(profile: Profile): Promise<void> {
    const grant = await grantOf(this.#context);
    const old = await this.#context.transport(grant);
    const next = this.#context.withKeysOf(profile, { pace: old.ownPace.state, tally: old.tally.state });
    await next.transport(grant);
    this.#context = next;
    // Its connections have the old certificate.
    await old.connection.close();
  }
}

/** The SHA-256 of the certificates and keys. @throws Psd2Error `config`, `certificate` if a file cannot be read */
function digestOf({ settings }: Profile): string {
  const hash = createHash('sha256');
  for (const key of KEYS) {
    const source = settings[key];
    hash.update(source ? readSource(source, key) : '').update('\0');
  }
  return hash.digest('hex');
}
