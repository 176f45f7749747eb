import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { X509CertificateGenerator } from '@peculiar/x509';
import { expect, it } from 'vitest';
import { checkChains } from '../../../src/commands/doctor/keys.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

async function selfSigned(): Promise<string> {
  const keys = await webcrypto.subtle.generateKey(EC, false, ['sign', 'verify']);
  const made = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Authority',
    keys,
    signingAlgorithm: EC,
  });
  return `${made.toString('pem')}\n`;
}

it.each([
  ['ok', 'the issuer itself', true],
  ['fail', 'one with the name of the issuer and another key', false],
])('the doctor says %s of a chain whose next certificate is %s', async (status, _, isIssuer) => {
  const first = await selfSigned();
  const file = join(temporary, `${status}.pem`);
  writeFileSync(file, first + (isIssuer ? first : await selfSigned()), { mode: 0o600 });
  const { context } = openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z', {
    env: { PSD2_QWAC_CERT: file },
  });
  expect(await checkChains(context.profile(), await context.keys())).toMatchObject({ status });
});

it.each([
  ['ok', 'QWAC: 1 issuers in the file; QSealC: 1 issuers in the file', true],
  ['fail', 'in the file of the QSealC certificate 2 did not issue certificate 1', false],
])('the doctor says %s of a good QWAC beside a QSealC: %s', async (status, detail, isIssuer) => {
  const first = await selfSigned();
  const files = {
    qwac: join(temporary, `qwac-${status}.pem`),
    qseal: join(temporary, `qseal-${status}.pem`),
  };
  writeFileSync(files.qwac, first + first, { mode: 0o600 });
  writeFileSync(files.qseal, first + (isIssuer ? first : await selfSigned()), { mode: 0o600 });
  const { context } = openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z', {
    env: { PSD2_QWAC_CERT: files.qwac, PSD2_QSEAL_CERT: files.qseal },
  });
  expect(await checkChains(context.profile(), await context.keys())).toMatchObject({ status, detail });
});

/** A certificate for each name, each issued by the one after it; the last one by itself. */
async function chainOf(...names: string[]): Promise<string[]> {
  const pems: string[] = [];
  let issuer: { name: string; keys: webcrypto.CryptoKeyPair } | undefined;
  for (const name of names.toReversed()) {
    const keys = await webcrypto.subtle.generateKey(EC, false, ['sign', 'verify']);
    const made = await X509CertificateGenerator.create({
      ...{ subject: `CN=${name}`, publicKey: keys.publicKey, signingAlgorithm: EC },
      issuer: `CN=${issuer?.name ?? name}`,
      signingKey: (issuer?.keys ?? keys).privateKey,
    });
    pems.unshift(`${made.toString('pem')}\n`);
    issuer = { name, keys };
  }
  return pems;
}

it.each([
  ['the chain is whole', [0, 1, 2], 'ok', 'QWAC: 2 issuers in the file'],
  ['it has no issuer', [0], 'ok', 'QWAC: no issuers in the file'],
  ['the second issuer is missing', [0, 1], 'ok', 'QWAC: 1 issuers in the file'],
  [
    'the order is wrong',
    [1, 0, 2],
    'fail',
    'in the file of the QWAC certificate 2 did not issue certificate 1',
  ],
  [
    'only the second link is wrong',
    [0, 1, 1],
    'fail',
    'in the file of the QWAC certificate 3 did not issue certificate 2',
  ],
])('of a QWAC alone whose chain has three certificates, if %s', async (_, order, status, detail) => {
  const chain = await chainOf('TPP', 'Issuer', 'Root');
  const file = join(temporary, `chain-${order.join('')}.pem`);
  writeFileSync(file, order.map((index) => chain[index]).join(''), { mode: 0o600 });
  const { context } = openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z', {
    env: { PSD2_QWAC_CERT: file },
  });
  const fix = { hint: 'Put the certificate first, then its issuer, then the issuer of that.' };
  expect(await checkChains(context.profile(), await context.keys())).toEqual(
    status === 'ok' ? { status, detail, fix: null } : { status, code: 'certificate', detail, fix },
  );
});
