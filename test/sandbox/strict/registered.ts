import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inject } from 'vitest';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';

const files = await loadOrCreateRegistration(inject('registration'));

function certificate(file: string): X509Certificate {
  return new X509Certificate(readFileSync(file));
}

/** The certificates that the TPP registered. */
export const registered = {
  qwac: certificate(files.qwacCertFile),
  qseal: certificate(files.qsealCertFile),
};

/** A certificate that is not the TPP's. */
export const stranger = certificate(files.bankSigningCertFile);

/** The PEM of the keys of these certificates. */
export const keys = {
  qwac: readFileSync(files.qwacKeyFile, 'utf8'),
  qseal: readFileSync(files.qsealKeyFile, 'utf8'),
  stranger: readFileSync(files.bankSigningKeyFile, 'utf8'),
  /** Of no certificate in these tests. */
  other: readFileSync(files.serverKeyFile, 'utf8'),
};
