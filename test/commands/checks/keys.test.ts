import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BasicConstraintsExtension, X509CertificateGenerator } from '@peculiar/x509';
import { expect, inject, it } from 'vitest';
import { keys as keysCheck } from '../../../src/commands/checks/keys.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { makeOne } from './make-one.ts';

const temporary = temporaryFolder();
const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

const NOW = '2026-03-01T00:00:00.000Z';
const STRANGER = 'has 1 certificate that does not belong to its chain. psd2 does not send it';

/** A certificate for each name, each issued by the one after it; the last one by itself. */
async function chainOf(...names: string[]): Promise<string[]> {
  const pems: string[] = [];
  let issuer: { name: string; keys: webcrypto.CryptoKeyPair } | undefined;
  for (const name of names.toReversed()) {
    const keys = await webcrypto.subtle.generateKey(EC, false, ['sign', 'verify']);
    const made = await X509CertificateGenerator.create({
      ...{ subject: `CN=${name}`, publicKey: keys.publicKey, signingAlgorithm: EC },
      extensions: [new BasicConstraintsExtension(issuer === undefined || name === 'Issuer')],
      issuer: `CN=${issuer?.name ?? name}`,
      signingKey: (issuer?.keys ?? keys).privateKey,
    });
    pems.unshift(`${made.toString('pem')}\n`);
    issuer = { name, keys };
  }
  return pems;
}

const BOTH = 'QWAC: sent with 1 issuer; QSealC: sent with 1 issuer';
it.each<[string, number[], number[], string, string]>([
  ['the chain is whole', [0, 1, 2], [], 'ok', 'QWAC: sent with 1 issuer'],
  ['it has no issuer', [0], [], 'ok', 'QWAC: sent alone, since its file has no issuers'],
  ['the root is missing', [0, 1], [], 'ok', 'QWAC: sent with 1 issuer'],
  ['the order is another', [1, 2, 0], [], 'ok', 'QWAC: sent with 1 issuer'],
  ['one is there twice', [0, 1, 1], [], 'warn', `the file of the QWAC ${STRANGER}`],
  ['the QSealC is good, too', [1, 0], [0, 1], 'ok', BOTH],
  ['the QSealC has another of the same name', [1, 0], [0, 3], 'warn', `the file of the QSealC ${STRANGER}`],
])('of a QWAC whose chain has three certificates, if %s', async (_, qwac, qseal, status, detail) => {
  const chain = [...(await chainOf('TPP', 'Issuer', 'Root')), ...(await chainOf('Issuer', 'Root'))];
  const write = (order: number[]) => {
    const file = join(temporary, `chain-${order.join('')}.pem`);
    writeFileSync(file, order.map((index) => chain[index]).join(''), { mode: 0o600 });
    return file;
  };
  const { context } = openCommand(newConfigFolder(temporary), NOW, {
    env: { PSD2_QWAC_CERT: write(qwac), ...(qseal.length > 0 && { PSD2_QSEAL_CERT: write(qseal) }) },
  });
  const { chain: check } = await makeOne(context, keysCheck);
  expect(check).toMatchObject({ status, detail });
});

const SOON = new Date(Date.now() + 60_000).toISOString();
const keys = await loadOrCreateRegistration(inject('registration'));
/** Keys that a command may sign with. */
const KEYS = { QWAC: keys.qwacKeyFile, QSealC: keys.qsealKeyFile, other: keys.nextQsealKeyFile };

/** What the doctor says of a command that signs with a key. */
async function verdictOn(key: keyof typeof KEYS, qseal: boolean): Promise<string> {
  const { context } = openCommand(newConfigFolder(temporary), SOON, {
    env: {
      PATH: process.env.PATH,
      PSD2_QWAC_CERT: keys.qwacCertFile,
      PSD2_QWAC_KEY: keys.qwacKeyFile,
      ...(qseal && { PSD2_QSEAL_CERT: keys.qsealCertFile }),
      PSD2_SIGNER: `sh -c "openssl dgst -sha256 -sign '${KEYS[key]}' | openssl base64 -A"`,
    },
  });
  const { signer } = await makeOne(context, keysCheck);
  return signer?.code ?? [signer?.status, signer?.detail, signer?.fix].join();
}

it.each([
  ['QSealC', true, 'ok'],
  ['QWAC', true, 'config'],
  ['other', true, 'config'],
  ['QWAC', false, 'ok'],
  ['QSealC', false, 'config'],
] as const)('a signer with the key of the %s (a QSealC is set: %s) is %s', async (key, qseal, verdict) => {
  const good = 'ok,the signer command makes signatures that match the certificate,';
  expect(await verdictOn(key, qseal)).toBe(verdict === 'ok' ? good : verdict);
});
