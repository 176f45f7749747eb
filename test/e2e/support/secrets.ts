import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Fields of the store's JSON files whose values are secret. */
const SECRET_FIELDS = /"(?:clientSecret|ccClientSecret|accessToken|refreshToken)":\s*"([^"]+)"/g;
const PRIVATE_KEY = /-----BEGIN (?:\w+ )*PRIVATE KEY-----([^-]+)-----END/g;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----([^-]+)-----END/g;

/** Every secret in the files of a configuration folder: tokens, client secrets and each private line of a key. */
export function secretsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const contents = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
  // A key and its certificate have the modulus in common, which is no secret.
  const certificates = contents.flatMap((content) =>
    [...content.matchAll(CERTIFICATE)].map(([, lines = '']) => lines.replace(/\\n|\n/g, '')),
  );
  return contents.flatMap((content) => {
    const values = [...content.matchAll(SECRET_FIELDS)].map(([, value = '']) => value);
    const keys = [...content.matchAll(PRIVATE_KEY)].flatMap(([, lines = '']) =>
      lines
        .split(/\\n|\n/)
        .filter(
          (line) => line.length > 20 && !certificates.some((certificate) => certificate.includes(line)),
        ),
    );
    return [...values, ...keys];
  });
}
