import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The file with the current tokens of a login, of all generations that are stored. */
export function tokensFile(config: string, profile = 'sandbox', holder = 'customer-1048262'): string {
  const folder = join(config, 'tokens', profile, holder);
  const generations = readdirSync(folder).flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? []);
  return join(folder, `${Math.max(...generations.map(Number))}.json`);
}
