import { execFileSync } from 'node:child_process';
import { createVerify, X509Certificate } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { openKeyRing, openSigner } from '../../../src/commands/open/keys.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration, type Registration } from '../../../src/sandbox/folder/registration.ts';
import type { PemSource } from '../../../src/store/machine/profiles.ts';
import type { Environment, Profile } from '../../../src/store/machine/settings.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
/** The certificates are valid by then. */
const NOW = new Date(Date.now() + 60_000).toISOString();
const own = (name: string) => join(temporary, name);
const PASSPHRASE = 'correct horse';

let files: Registration;
let pems: { qwac: string; qwacKey: string; qseal: string; qsealKey: string };
beforeAll(async () => {
  files = await loadOrCreateRegistration(inject('registration'));
  const [qwac, qwacKey] = [files.qwacCertFile, files.qwacKeyFile];
  const [qseal, qsealKey] = [files.qsealCertFile, files.qsealKeyFile];
  const read = (path: string) => readFileSync(path, 'utf8');
  pems = { qwac: read(qwac), qwacKey: read(qwacKey), qseal: read(qseal), qsealKey: read(qsealKey) };
  const makePkcs12 = (name: string, ...words: string[]) => {
    const out = ['-out', own(name), '-passout', `pass:${PASSPHRASE}`];
    execFileSync('openssl', ['pkcs12', '-export', ...words, ...out], { stdio: 'pipe' });
    chmodSync(own(name), 0o600);
  };
  makePkcs12('both.p12', '-in', qwac, '-inkey', qwacKey);
  makePkcs12('certificate.p12', '-in', qwac, '-nokeys');
  makePkcs12('key.p12', '-inkey', qwacKey, '-nocerts');
  writeFileSync(own('both.pem'), pems.qwac + pems.qwacKey, { mode: 0o600 });
  const rsaKey = execFileSync('openssl', ['rsa', '-traditional', '-in', qwacKey], { stdio: 'pipe' });
  writeFileSync(own('rsa.pem'), `${pems.qwac}${rsaKey}`, { mode: 0o600 });
});

type Settings = Profile['settings'];
/** What a profile names: a path, or the content of a certificate or key. */
type Named = 'both.p12' | 'certificate.p12' | 'key.p12' | 'both.pem' | 'rsa.pem' | keyof typeof pems;
const isContent = (named: Named): named is keyof typeof pems => named in pems;
const sourceOf = (named: Named): PemSource =>
  isContent(named) ? { pem: pems[named] } : { path: own(named) };

function open(settings: Settings, env: Environment = { PSD2_KEY_PASSPHRASE: PASSPHRASE }) {
  const { context } = openCommand(newConfigFolder(temporary), NOW, {
    env: { PATH: process.env.PATH, ...env },
  });
  const profile = { name: 'bank', settings };
  return { context, profile, keys: openKeyRing(context, profile) };
}
const qwac = (certificate: Named, key?: Named): Settings => ({
  qwacCertificate: sourceOf(certificate),
  ...(key !== undefined && { qwacKey: sourceOf(key) }),
});

/** A person who knows the passphrase. @param asked gets the questions */
const knowingPassphrase = ({ terminal }: Context, asked: string[]) => ({
  ...terminal,
  canAsk: true,
  askSecret: async (question: string) => {
    asked.push(question);
    return PASSPHRASE;
  },
});

describe('the certificate and the key of a pair', () => {
  it.each<[string, Named, Named | undefined]>([
    ['in a file each', 'qwac', 'qwacKey'],
    ['in one PEM file', 'both.pem', undefined],
    ['in one PEM file, with a key of RSA alone', 'rsa.pem', undefined],
    ['in one PKCS#12 file', 'both.p12', undefined],
    ['in a PKCS#12 file, and the key elsewhere', 'certificate.p12', 'qwacKey'],
    ['in a PEM file whose key is also elsewhere', 'both.pem', 'qwacKey'],
    ['in a PKCS#12 file beside an older key, which it replaces', 'both.p12', 'qsealKey'],
  ])('can be %s', async (_, certificate, key) => {
    const { keys } = open(qwac(certificate, key));
    const pair = await keys.pair('QWAC');
    expect(pair.certificate.fingerprint256).toBe(new X509Certificate(pems.qwac).fingerprint256);
    expect(pair.certificate.checkPrivateKey(pair.key)).toBe(true);
    expect((await keys.certificate('QWAC')).fingerprint256).toBe(pair.certificate.fingerprint256);
  });

  it('can be in one PEM text that the profile stores', async () => {
    const { keys } = open({ ...qwac('qwac'), qwacCertificate: { pem: pems.qwac + pems.qwacKey } });
    expect((await keys.pair('QWAC')).certificatePem).toBe(pems.qwac);
  });

  it('can be in a PKCS#12 file that the profile stores by its content', async () => {
    const pkcs12 = readFileSync(own('both.p12')).toString('base64');
    const { keys } = open({ qsealCertificate: { pkcs12 } });
    expect((await keys.pair('QSealC')).certificate.fingerprint256).toBe(
      new X509Certificate(pems.qwac).fingerprint256,
    );
  });

  it('the key that the profile names counts, not the one beside the certificate', async () => {
    const { keys } = open(qwac('both.pem', 'qsealKey'));
    expect(await failureOf(keys.pair('QWAC'))).toEqual({
      ...{ code: 'certificate', exitCode: 3 },
      message: 'The QWAC key does not belong to the QWAC certificate',
      hint: 'Give the key that the certificate was requested with.',
    });
  });

  it.each<Named>(['qwac', 'certificate.p12'])('without a key, %s is not enough', async (certificate) => {
    const { keys } = open(qwac(certificate));
    expect((await keys.read('QWAC')).key()).toBeUndefined();
    expect(await failureOf(keys.pair('QWAC'))).toMatchObject({
      ...{ code: 'config', exitCode: 3, message: 'The profile "bank" has no QWAC key' },
      next: [['profile', 'edit', 'bank']],
    });
    expect((await keys.certificate('QWAC')).subject).toBe(new X509Certificate(pems.qwac).subject);
  });

  it('a PKCS#12 file without a certificate is named', async () => {
    expect(await failureOf(open(qwac('key.p12')).keys.read('QWAC'))).toEqual({
      ...{ code: 'certificate', exitCode: 3 },
      message: `The PKCS#12 file ${own('key.p12')} contains no certificate`,
    });
    const pkcs12 = readFileSync(own('key.p12')).toString('base64');
    expect(await failureOf(open({ qsealCertificate: { pkcs12 } }).keys.read('QSealC'))).toEqual({
      ...{ code: 'certificate', exitCode: 3 },
      message: 'The PKCS#12 file of the QSealC contains no certificate',
    });
  });

  it.each(['both.p12', 'both.pem'] as const)('%s that others can read is refused', async (name) => {
    const copy = own(`readable-${name}`);
    writeFileSync(copy, readFileSync(own(name)));
    chmodSync(copy, 0o644);
    const { keys } = open({ qwacCertificate: { path: copy } });
    const failure = await failureOf(keys.read('QWAC'));
    expect(failure).toMatchObject({ code: 'config', exitCode: 3 });
    expect(failure.message).toContain(copy);
  });

  it('the passphrase of a PKCS#12 file is asked for once, and opens the second file too', async () => {
    const { context } = open(qwac('both.p12'));
    const asked: string[] = [];
    const terminal = knowingPassphrase(context, asked);
    const settings = { ...qwac('both.p12'), qsealCertificate: sourceOf('both.p12') };
    const keys = openKeyRing({ ...context, env: {}, terminal }, { name: 'bank', settings });
    await keys.pair('QWAC');
    await keys.pair('QSealC');
    expect(asked).toEqual([`Passphrase of the PKCS#12 file ${own('both.p12')}`]);
  });

  it('the question for the passphrase of an encrypted key says whose it is', async () => {
    const encrypted = own('encrypted.pem');
    const words = ['pkcs8', '-topk8', '-in', files.qwacKeyFile, '-out', encrypted];
    execFileSync('openssl', [...words, '-passout', `pass:${PASSPHRASE}`], { stdio: 'pipe' });
    chmodSync(encrypted, 0o600);
    const asked: string[] = [];
    const { context, profile } = open({ ...qwac('qwac'), qwacKey: { path: encrypted } });
    const terminal = knowingPassphrase(context, asked);
    await openKeyRing({ ...context, env: {}, terminal }, profile).pair('QWAC');
    expect(asked).toEqual(['Passphrase of the QWAC key']);
  });
});

it('a passphrase that does not open a PKCS#12 file is an error that names the file', async () => {
  const { keys } = open(qwac('both.p12'), { PSD2_KEY_PASSPHRASE: 'wrong' });
  const failure = await failureOf(keys.read('QWAC'));
  expect(failure).toMatchObject({ code: 'certificate', exitCode: 3 });
  expect(failure.message).toContain(own('both.p12'));
});

it('an error that no passphrase can mend asks for none', async () => {
  const { context, profile } = open(qwac('both.p12'));
  const terminal = {
    ...context.terminal,
    canAsk: true,
    askSecret: () => Promise.reject(new TypeError('Nobody should be asked')),
  };
  const { opening } = openKeyRing({ ...context, env: {}, terminal }, profile);
  const damaged = new Psd2Error('certificate', 'The file is damaged');
  await expect(opening('the file', () => Promise.reject(damaged))).rejects.toBe(damaged);
});

describe('the signer', () => {
  const seal = (): Settings => ({
    qsealCertificate: sourceOf('qseal'),
    qsealKey: sourceOf('qsealKey'),
  });
  const command = (key: string) => `sh -c "openssl dgst -sha256 -sign '${key}' | openssl base64 -A"`;
  const opened = async (settings: Settings) => {
    const { context, profile, keys } = open(settings, {});
    return openSigner(context, profile, keys, await keys.pair('QWAC'));
  };

  it.each([
    ['the key of the QSealC', 'qseal', () => seal()],
    ['without a QSealC the key of the QWAC', 'qwac', () => ({})],
    [
      "the operator's command for the QSealC, whose key psd2 need not have",
      'qseal',
      () => ({ qsealCertificate: sourceOf('qseal'), signer: command(files.qsealKeyFile) }),
    ],
    [
      "the operator's command for the QWAC, if there is no QSealC",
      'qwac',
      () => ({ signer: command(files.qwacKeyFile) }),
    ],
    [
      "the operator's command, although psd2 has the key of the QSealC",
      'qseal',
      () => ({ ...seal(), signer: command(files.qsealKeyFile) }),
    ],
  ] as const)('is %s', async (_, signs, settings) => {
    const { signer, signingCertificate } = await opened({ ...qwac('qwac', 'qwacKey'), ...settings() });
    const certificate = new X509Certificate(pems[signs]);
    expect(signingCertificate.fingerprint256).toBe(certificate.fingerprint256);
    const signature = await signer('what is signed');
    const verify = createVerify('sha256').update('what is signed');
    expect(verify.verify(certificate.publicKey, signature, 'base64')).toBe(true);
  });

  it("the operator's command counts, even if it signs with another key than the profile's", async () => {
    const settings = { ...qwac('qwac', 'qwacKey'), ...seal(), signer: command(files.qwacKeyFile) };
    const { signer } = await opened(settings);
    expect((await failureOf(signer('what is signed'))).message).toBe(
      'The signature of the signer command does not match the signing certificate',
    );
  });

  it('a key of a QSealC without its certificate is an error, also with a command', async () => {
    const key = { ...qwac('qwac', 'qwacKey'), qsealKey: sourceOf('qsealKey') };
    const message = 'The profile "bank" has no QSealC certificate';
    expect((await failureOf(opened(key))).message).toBe(message);
    expect((await failureOf(opened({ ...key, signer: 'true' }))).message).toBe(message);
  });
});
