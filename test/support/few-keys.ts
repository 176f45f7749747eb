import { webcrypto } from 'node:crypto';
import { vi } from 'vitest';

/** Two sets of a sandbox. So two sets that are made at the same time have no key in common. */
const MOST_KEYS = 14;

/**
 * Lets this process make only a few RSA keys, and then gives the same ones again in turn: each takes a tenth of a second.
 * `vi.restoreAllMocks()` ends it.
 */
export function makeFewKeys(): void {
  const make = webcrypto.subtle.generateKey.bind(webcrypto.subtle);
  const made: Promise<webcrypto.CryptoKey | webcrypto.CryptoKeyPair>[] = [];
  let asked = 0;
  vi.spyOn(webcrypto.subtle, 'generateKey').mockImplementation((...[algorithm, extractable, usages]) => {
    const at = asked++ % MOST_KEYS;
    const keys = made[at] ?? make(algorithm, extractable, usages);
    made[at] = keys;
    return keys;
  });
}
