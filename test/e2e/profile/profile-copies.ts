import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import * as z from 'zod';
import { type EndedCall, type Environment, type Operator, readDocument } from '../support/psd2.ts';
import { secretsIn } from '../support/secrets.ts';

export const PASSPHRASE = 'correct horse battery staple';
const protectedProfile = z.strictObject({
  name: z.string(),
  protected: z.enum(['passphrase', 'keyring', 'no']),
});

/** Copies of a configuration folder with the profile `bank`, which holds its own keys and has two logins. */
export interface ProfileCopies {
  /** The settings of the profile, as variables. */
  settings(): Record<string, string>;
  /** The folder that is copied. Nothing in it is protected. */
  original(): string;
  copy(): string;
  /** The environment of an operator who knows only the profile and perhaps the passphrase. */
  own(config: string, passphrase?: string): Environment;
  run(config: string, args: string[], passphrase?: string): Promise<EndedCall>;
  protect(config: string): Promise<void>;
  token(config: string): Promise<string>;
}

/** Makes the folder that the tests of a file copy. */
export function useProfileCopies(operator: Operator): ProfileCopies {
  const original = join(operator.folder, 'original');
  let settings: Record<string, string> = {};
  let count = 0;
  const copies: ProfileCopies = {
    settings: () => settings,
    original: () => original,
    copy: () => {
      count += 1;
      const config = join(operator.folder, `config-${count}`);
      cpSync(original, config, { recursive: true });
      return config;
    },
    own: (config, passphrase) => ({
      PSD2_CONFIG_DIR: config,
      PSD2_PROFILE: 'bank',
      PSD2_CONFIG_PASSPHRASE: passphrase,
    }),
    run: (config, args, passphrase) => operator.psd2(args, { env: copies.own(config, passphrase) }),
    protect: async (config) => {
      const ended = await copies.run(config, ['profile', 'protect', '--json'], PASSPHRASE);
      expect(ended.code, ended.stderr).toBe(0);
      expect(readDocument(protectedProfile, ended.stdout)).toEqual({ name: 'bank', protected: 'passphrase' });
    },
    token: async (config) => (await copies.run(config, ['auth', 'token'], PASSPHRASE)).stdout,
  };
  beforeAll(async () => {
    settings = await operator.json(z.record(z.string(), z.string()), ['sandbox', 'env']);
    for (const args of [
      ['profile', 'add', 'bank'],
      ['auth', 'login'],
      ['auth', 'login', '--client-credentials'],
    ]) {
      await operator.succeeds(args, { env: { ...settings, ...copies.own(original) } });
    }
    expect(secretsIn(original).length).toBeGreaterThan(20);
  });
  return copies;
}

export function expectNoSecretIn(config: string, secrets: string[]): void {
  const text = readdirSync(config, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join();
  for (const secret of secrets) expect(text.includes(secret)).toBe(false);
}
