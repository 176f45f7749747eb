import { readFileSync } from 'node:fs';
import { inject } from 'vitest';
import { loadOrCreateRegistration } from '../../src/sandbox/folder/registration.ts';
import type { PemPair } from '../certificates/openssl.ts';

/**
 * Certificates of the run's registration, for a test that needs any bank with any RSA key. A test file that makes its own waits
 * for openssl, and the mutation tests load it again for each mutant.
 */
export async function registeredPairs(): Promise<{ bank: PemPair; other: PemPair }> {
  const keys = await loadOrCreateRegistration(inject('registration'));
  const pair = (cert: string, key: string) => ({
    cert: readFileSync(cert, 'utf8'),
    key: readFileSync(key, 'utf8'),
  });
  return {
    bank: pair(keys.bankSigningCertFile, keys.bankSigningKeyFile),
    other: pair(keys.nextQsealCertFile, keys.nextQsealKeyFile),
  };
}
