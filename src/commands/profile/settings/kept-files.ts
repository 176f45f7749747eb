import { resolve } from 'node:path';
import { isPkcs12 } from '../../../certificates/key-pair.ts';
import type { PemSource, ProfileSettings } from '../../../store/machine/profiles.ts';
import { PEM_SETTINGS, type PemSetting, readSource } from '../../../store/machine/settings.ts';

/** Turns a file into a setting: its contents or its path. @throws Psd2Error `certificate`, `config` */
export type PemSourceOf = (path: string, key: PemSetting) => PemSource;

/** @param byReference store paths instead of the contents of certificates and keys */
export function keeping(byReference: boolean): PemSourceOf {
  return (path, key) => {
    const content = readSource({ path }, key);
    if (byReference) return { path: resolve(path) };
    return isPkcs12(content) ? { pkcs12: content.toString('base64') } : { pem: content.toString('utf8') };
  };
}

/** Applies `keep` to all files that the settings name. @throws as {@link PemSourceOf} */
export function keepFiles(settings: Partial<ProfileSettings>, keep: PemSourceOf): Partial<ProfileSettings> {
  const kept = { ...settings };
  for (const key of PEM_SETTINGS) {
    const source = settings[key];
    if (source && 'path' in source) kept[key] = keep(source.path, key);
  }
  return kept;
}
