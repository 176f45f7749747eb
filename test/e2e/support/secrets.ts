import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keysIn } from './secret-search.ts';

/** Fields of the store's JSON files whose values are secret. */
const SECRET_FIELDS = /"(?:clientSecret|ccClientSecret|accessToken|refreshToken)":\s*"([^"]+)"/g;

/** Every secret in the files of a configuration folder: tokens, client secrets and each private line of a key. */
export function secretsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
    .flatMap((content) => [
      ...[...content.matchAll(SECRET_FIELDS)].map(([, value = '']) => value),
      ...keysIn(content).map(({ bytes }) => bytes.toString('base64')),
    ]);
}
