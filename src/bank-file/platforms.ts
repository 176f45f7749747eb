import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isObject } from './values.ts';

/**
 * The bank files that come with psd2, one for each platform. The package has them as they stand in the repository, so that no
 * command loads more of them than it names.
 */
const FOLDER = new URL('../../banks/', import.meta.url);

/** A platform, as its file says it. */
export interface Platform {
  /** A bank file, not yet checked. */
  content: Record<string, unknown>;
  /** What the file says beside it, not yet checked (`about.ts`). */
  about: unknown;
}

/** Whether a name can be that of a platform. A path with a folder or a dot cannot. */
export function looksLikePlatform(name: string): boolean {
  return /^[a-z0-9-]+$/.test(name);
}

/** The names of the platforms that come with psd2, sorted. */
export function platformNames(): string[] {
  const names = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));
  return names.filter(looksLikePlatform).sort();
}

/** Whether a platform of this name comes with psd2. */
export function isPlatform(name: string): boolean {
  return looksLikePlatform(name) && existsSync(fileOf(name));
}

/**
 * A platform that comes with psd2.
 *
 * @throws TypeError if there is none of this name, or its file is no object of JSON
 */
export function readPlatform(name: string): Platform {
  const file: unknown = JSON.parse(readFileSync(fileOf(name), 'utf8'));
  if (!isObject(file)) throw new TypeError(`The file of the platform ${name} is no bank file`);
  const { $schema: _schema, about, ...content } = file;
  return { content, about };
}

function fileOf(name: string): URL {
  return new URL(`${name}.json`, FOLDER);
}
