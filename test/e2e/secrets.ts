import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Fields of the store's JSON files whose values are secret. */
const SECRET_FIELDS = /"(?:clientSecret|ccClientSecret|accessToken|refreshToken)":\s*"([^"]+)"/g;
const PRIVATE_KEY = /-----BEGIN (?:\w+ )*PRIVATE KEY-----([^-]+)-----END/g;

/** Every secret in the files of a configuration folder: tokens, client secrets and each line of a key. */
export function secretsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.flatMap(({ parentPath, name }) => {
    const content = readFileSync(join(parentPath, name), 'utf8');
    const values = [...content.matchAll(SECRET_FIELDS)].map(([, value = '']) => value);
    const keys = [...content.matchAll(PRIVATE_KEY)].flatMap(([, lines = '']) =>
      lines.split(/\\n|\n/).filter((line) => line.length > 20),
    );
    return [...values, ...keys];
  });
}
