// @peculiar/x509 uses tsyringe, which needs this import to be first.
import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { requested } from '../../e2e/support/shapes.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const registration = await loadOrCreateRegistration(inject('registration'));
const profile = {
  PSD2_QWAC_CERT: registration.qwacCertFile,
  PSD2_QWAC_KEY: registration.qwacKeyFile,
  PSD2_QSEAL_CERT: registration.qsealCertFile,
  PSD2_QSEAL_KEY: registration.qsealKeyFile,
};
const newFolder = () => mkdtempSync(join(temporary, 'out-'));

/** Runs `psd2 cert request` and returns what it printed. */
async function request(words: string[], env: Record<string, string> = profile) {
  const command = openCommand(newConfigFolder(temporary), new Date().toISOString(), { env });
  await runIn(command.context, 'cert', 'request', ...words);
  return requested.parse(JSON.parse(command.printed()));
}

/** What OpenSSL, an independent decoder, prints of a request. It fails if the signature is wrong. */
const opensslRequest = (file: string) =>
  execFileSync('openssl', ['req', '-in', file, '-verify', '-noout', '-text'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const subjectOf = (kind: 'req' | 'x509', file: string) =>
  execFileSync('openssl', [kind, '-in', file, '-noout', '-subject', '-nameopt', 'multiline,show_type'], {
    encoding: 'utf8',
  });
/** The ASN.1 of a request as OpenSSL prints it. The extension's octets stay hexadecimal. */
const qcStatementsOf = (file: string) => {
  const lines = execFileSync('openssl', ['asn1parse', '-in', file], { encoding: 'utf8' }).split('\n');
  const at = lines.findIndex((line) => line.includes('qcStatements'));
  return /HEX DUMP\]:([0-9A-F]+)/.exec(lines[at + 1] ?? '')?.[1];
};
/** Whether OpenSSL finds the key's public half in the request. */
function belongs(keyFile: string, requestFile: string, passphrase?: string): boolean {
  const inRequest = execFileSync('openssl', ['req', '-in', requestFile, '-noout', '-pubkey'], {
    encoding: 'utf8',
  });
  const key = createPrivateKey({ key: readFileSync(keyFile), passphrase });
  return createPublicKey(key).equals(createPublicKey(inRequest));
}

describe('psd2 cert request', () => {
  it.each([
    ['the QWAC', [], 'qwac', registration.qwacCertFile],
    ['the QSealC', ['--qseal'], 'qseal', registration.qsealCertFile],
  ])(
    'a request for %s of the profile has all the fields of the old certificate',
    async (_, words, name, old) => {
      const out = join(newFolder(), 'below', 'new');
      const made = await request([...words, '--out', out]);
      const files = { keyFile: join(out, `${name}-key.pem`), requestFile: join(out, `${name}.csr`) };
      expect(made).toMatchObject({
        organizationIdentifier: 'PSDIT-BI-12345',
        qcType: name === 'qwac' ? 'web' : 'eseal',
        roles: ['PSP_AI', 'PSP_PI', 'PSP_IC'],
        ncaName: 'Bank of Italy',
        ncaId: 'IT-BI',
        ...{ keyType: 'RSA', keyBits: 2048, keyEncrypted: false },
        ...files,
      });
      expect(subjectOf('req', files.requestFile)).toBe(subjectOf('x509', old));
      expect(qcStatementsOf(files.requestFile)).toBe(qcStatementsOf(old));
      expect(qcStatementsOf(files.requestFile)).toMatch(/^30/);
      const printed = opensslRequest(files.requestFile);
      expect(printed).toContain('Public-Key: (2048 bit)');
      if (name === 'qwac') {
        expect(printed).toMatch(/Key Usage: critical\s+Digital Signature\n/);
        expect(printed).toContain('TLS Web Client Authentication, TLS Web Server Authentication');
        expect(printed).toContain('DNS:tpp.example');
      } else {
        expect(printed).toMatch(/Key Usage: critical\s+Digital Signature, Non Repudiation\n/);
        expect(printed).not.toContain('Alternative Name');
      }
      expect(belongs(files.keyFile, files.requestFile)).toBe(true);
      const key = createPrivateKey(readFileSync(files.keyFile));
      expect(new X509Certificate(readFileSync(old)).checkPrivateKey(key)).toBe(false);
      expect(statSync(files.keyFile).mode & 0o777).toBe(0o600);
      expect(statSync(out).mode & 0o777).toBe(0o700);
    },
  );
});

/** Makes a self-signed certificate with OpenSSL. */
function selfSigned(name: string, ...newKey: string[]): string {
  const file = join(temporary, name);
  const words = ['req', '-x509', '-nodes', '-subj', '/C=DE/O=Old/OU=A/OU=B/CN=old.example', '-days', '2'];
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE'];
  execFileSync('openssl', [...words, ...leaf, ...newKey, '-keyout', `${file}.key`, '-out', file], {
    stdio: 'pipe',
  });
  return file;
}

describe('psd2 cert request with a file', () => {
  it.each([
    ['1024 bits', ['-newkey', 'rsa:1024'], 'RSA', 2048, 'sha256WithRSAEncryption'],
    ['3072 bits', ['-newkey', 'rsa:3072'], 'RSA', 3072, 'sha256WithRSAEncryption'],
    ['P-384', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384'], 'EC', 384, 'ecdsa-with-SHA384'],
  ])(
    'the new key is like the old one of %s, and strong enough',
    async (name, newKey, keyType, keyBits, signed) => {
      const old = selfSigned(`${name}.pem`, ...newKey);
      const made = await request([old, '--out', newFolder()], {});
      expect(made).toMatchObject({
        ...{ keyType, keyBits, qcType: null, organizationIdentifier: null, roles: [] },
        ...{ ncaName: null, ncaId: null, keyFile: expect.stringMatching(/\/certificate-key\.pem$/) },
      });
      expect(subjectOf('req', made.requestFile)).toBe(subjectOf('x509', old));
      const printed = opensslRequest(made.requestFile);
      expect(printed).toContain(`Public-Key: (${keyBits} bit)`);
      expect(printed).toContain(`Signature Algorithm: ${signed}`);
      expect(belongs(made.keyFile, made.requestFile)).toBe(true);
    },
  );
  const { PSD2_QWAC_CERT, PSD2_QWAC_KEY } = profile;
  it.each<[string, () => string[], string, RegExp]>([
    ['a file that is missing', () => ['missing.pem'], 'usage', /missing\.pem/],
    [
      'a key of an unknown kind',
      () => [selfSigned('ed.pem', '-newkey', 'ed25519')],
      'certificate',
      /ed25519/,
    ],
    ['the QSealC that it lacks', () => ['--qseal'], 'config', /no QSealC/],
    ['a folder that is a file', () => ['--out', PSD2_QWAC_CERT], 'config', /cannot write the key/],
  ])('%s ends with one sentence, and leaves no files', async (_, words, code, message) => {
    const out = newFolder();
    const env = { PSD2_QWAC_CERT, PSD2_QWAC_KEY };
    expect(await failureOf(request(['--out', out, ...words()], env))).toMatchObject({
      ...{ code, message: expect.stringMatching(message) },
    });
    expect(readdirSync(out)).toEqual([]);
  });

  it.each(['qwac-key.pem', 'qwac.csr'])('psd2 does not overwrite %s', async (name) => {
    const out = newFolder();
    writeFileSync(join(out, name), 'mine');
    expect(await failureOf(request(['--out', out]))).toEqual({
      ...{ code: 'usage', exitCode: 2, hint: 'Choose another folder with --out.' },
      message: `${join(out, name)} already exists, and psd2 does not overwrite it`,
    });
    expect(readdirSync(out)).toEqual([name]);
    expect(readFileSync(join(out, name), 'utf8')).toBe('mine');
  });
});
