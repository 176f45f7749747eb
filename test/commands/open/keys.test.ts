import { execFileSync } from 'node:child_process';
import { createSign, createVerify, X509Certificate } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { WrongPassphrase } from '../../../src/certificates/key-pair.ts';
import { openKeyRing, openSigner } from '../../../src/commands/open/keys.ts';
import { outsideSigner } from '../../../src/commands/open/outside-signer.ts';
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
  const { qwacCertFile: qwac, qwacKeyFile: qwacKey, qsealCertFile: qseal, qsealKeyFile: qsealKey } = files;
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

/** Keys of an operator who gives the passphrase when they are asked. `asked` has the questions. */
function openAsking(settings: Settings) {
  const asked: string[] = [];
  const { context, profile } = open(settings, {});
  const askSecret = async (question: string) => {
    asked.push(question);
    return PASSPHRASE;
  };
  const terminal = { ...context.terminal, canAsk: true, askSecret };
  return { asked, keys: openKeyRing({ ...context, terminal }, profile) };
}

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

  it('can be in what the profile stores: in one PEM text, or in a PKCS#12 file', async () => {
    const pem = { pem: pems.qwac + pems.qwacKey };
    const pkcs12 = { pkcs12: readFileSync(own('both.p12')).toString('base64') };
    const { keys } = open({ qwacCertificate: pem, qsealCertificate: pkcs12 });
    expect((await keys.pair('QWAC')).certificatePem).toBe(pems.qwac);
    const { certificate } = await keys.pair('QSealC');
    expect(certificate.fingerprint256).toBe(new X509Certificate(pems.qwac).fingerprint256);
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
    const failure = (file: string) => ({
      ...{ code: 'certificate', exitCode: 3, message: `The PKCS#12 file ${file} contains no certificate` },
    });
    const { keys } = open(qwac('key.p12'));
    expect(await failureOf(keys.read('QWAC'))).toEqual(failure(own('key.p12')));
    const pkcs12 = readFileSync(own('key.p12')).toString('base64');
    const { keys: stored } = open({ qsealCertificate: { pkcs12 } });
    expect(await failureOf(stored.read('QSealC'))).toEqual(failure('of the QSealC'));
  });

  it.each(['both.p12', 'both.pem'] as const)('%s that others can read is refused', async (name) => {
    const copy = own(`readable-${name}`);
    writeFileSync(copy, readFileSync(own(name)));
    chmodSync(copy, 0o644);
    const { keys } = open({ qwacCertificate: { path: copy } });
    const message = `${copy} can be read by others (mode 0644)`;
    expect(await failureOf(keys.pair('QWAC'))).toMatchObject({ code: 'config', exitCode: 3, message });
  });

  it('the passphrase of a PKCS#12 file is asked for once, and opens the second file too', async () => {
    const { asked, keys } = openAsking({ ...qwac('both.p12'), qsealCertificate: sourceOf('both.p12') });
    await keys.pair('QWAC');
    await keys.pair('QSealC');
    expect(asked).toEqual([`Passphrase of the PKCS#12 file ${own('both.p12')}`]);
  });

  it('the question for the passphrase of an encrypted key says whose it is', async () => {
    const encrypted = own('encrypted.pem');
    const words = ['pkcs8', '-topk8', '-in', files.qwacKeyFile, '-out', encrypted];
    execFileSync('openssl', [...words, '-passout', `pass:${PASSPHRASE}`], { stdio: 'pipe' });
    chmodSync(encrypted, 0o600);
    const { asked, keys } = openAsking({ ...qwac('qwac'), qwacKey: { path: encrypted } });
    await keys.pair('QWAC');
    expect(asked).toEqual(['Passphrase of the QWAC key']);
  });
});

it('a passphrase that does not open a PKCS#12 file is an error that names the file', async () => {
  const { keys } = open(qwac('both.p12'), { PSD2_KEY_PASSPHRASE: 'wrong' });
  expect(await failureOf(keys.read('QWAC'))).toMatchObject({
    ...{ code: 'certificate', exitCode: 3, message: expect.stringContaining(own('both.p12')) },
  });
});

describe('the passphrase of a key', () => {
  /** Opens keys one after the other, while a person gives these answers. @returns what the person saw, and what opened the keys */
  async function opening(answers: string[], rights: string[], variable?: string) {
    const { context, profile } = open({}, { PSD2_KEY_PASSPHRASE: variable });
    const opened: unknown[] = [];
    const [warn, askSecret] = [vi.fn(), vi.fn(async () => answers.shift() ?? '')];
    const terminal = { ...context.terminal, canAsk: answers.length > 0, warn, askSecret };
    const ring = openKeyRing({ ...context, terminal }, profile);
    const openAll = async () => {
      for (const right of rights)
        await ring.opening(`the key ${right}`, (given) => {
          if (given !== right) throw new WrongPassphrase('certificate', 'It is wrong');
          opened.push(given);
        });
    };
    const end = await openAll().catch((error: unknown) => failureOf(Promise.reject(error)));
    const [asked, warned] = [askSecret.mock.calls.length, warn.mock.calls.length];
    return `asked ${asked}, warned ${warned}, opened ${opened}; ${end?.message ?? 'good'}`;
  }

  it.each([
    ['the first answer is right', 'a', 'a', undefined, 'asked 1, warned 0, opened a; good'],
    ['the second answer is right', 'xa', 'a', undefined, 'asked 2, warned 1, opened a; good'],
    ['the third answer is right', 'xya', 'a', undefined, 'asked 3, warned 2, opened a; good'],
    ['three answers are wrong', 'xyza', 'a', undefined, 'asked 3, warned 2, opened ; It is wrong'],
    ['a second key has the same', 'a', 'aa', undefined, 'asked 1, warned 0, opened a,a; good'],
    ['a second key has another', 'ab', 'ab', undefined, 'asked 2, warned 0, opened a,b; good'],
    ['the variable is right', 'x', 'a', 'a', 'asked 0, warned 0, opened a; good'],
    ['the variable is wrong', 'a', 'a', 'x', 'asked 0, warned 0, opened ; It is wrong'],
    ['the variable is empty', 'a', 'a', '', 'asked 1, warned 0, opened a; good'],
    ['nobody can answer', '', 'a', undefined, 'asked 0, warned 0, opened ; It is wrong'],
  ])('is asked for as often as needed: %s', async (_, answers, rights, variable, seen) => {
    expect(await opening([...answers], [...rights], variable)).toBe(seen);
  });

  it('is not asked for after an error that no passphrase can mend', async () => {
    const { asked, keys } = openAsking({});
    const damaged = new Psd2Error('certificate', 'The file is damaged');
    await expect(keys.opening('the file', () => Promise.reject(damaged))).rejects.toBe(damaged);
    expect(asked).toEqual([]);
  });
});

describe('the signer', () => {
  const seal = (): Settings => ({ qsealCertificate: sourceOf('qseal'), qsealKey: sourceOf('qsealKey') });
  const command = (key: string) => `sh -c "openssl dgst -sha256 -sign '${key}' | openssl base64 -A"`;
  const COMMAND_ALONE = (): Settings => ({
    ...{ qsealCertificate: sourceOf('qseal'), signer: command(files.qsealKeyFile) },
  });
  const opened = async (settings: Settings) => {
    const { context, profile, keys } = open(settings, {});
    return openSigner(context, profile, keys, await keys.pair('QWAC'));
  };

  it.each([
    ['the key of the QSealC', 'qseal', () => seal()],
    ['without a QSealC the key of the QWAC', 'qwac', () => ({})],
    ["the operator's command for the QSealC, whose key psd2 need not have", 'qseal', () => COMMAND_ALONE()],
    ["the operator's command for the QWAC alone", 'qwac', () => ({ signer: command(files.qwacKeyFile) })],
    ["the operator's command, although psd2 has the key", 'qseal', () => ({ ...seal(), ...COMMAND_ALONE() })],
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

  describe("of the operator's command", () => {
    const TEXT = 'the signing string';
    const signatureOf = (text: string) =>
      createSign('sha256').update(text).sign(readFileSync(files.qsealKeyFile), 'base64');
    const certificate = () => new X509Certificate(pems.qseal);
    /** Signs with a command that prints this. */
    async function signWith(printed: string) {
      const file = own('printed');
      writeFileSync(file, printed);
      return outsideSigner(open({}).context, `cat ${file}`, certificate())(TEXT);
    }

    it('may print a signature over several lines', async () => {
      const signature = signatureOf(TEXT);
      const lines = signature.replace(/(.{10})/g, '$1\r\n  ');
      expect(await signWith(`\n${lines}\n`)).toBe(signature);
    });

    it.each(['', '\n', 'no!', '!AAAA', 'AAAA!', 'AA===', '=', '-----BEGIN SIGNATURE-----'])(
      'takes %j, which is not base64, for no signature',
      async (printed) => {
        expect(await failureOf(signWith(printed))).toEqual({
          ...{ code: 'config', exitCode: 3 },
          message: 'The signer command did not print a signature in base64',
          hint: 'It must print only the signature, in base64. For base64 without line breaks, use: openssl base64 -A',
        });
      },
    );

    it('refuses a signature of something else before anything is sent', async () => {
      expect(await failureOf(signWith(signatureOf('another text')))).toEqual({
        ...{ code: 'config', exitCode: 3 },
        message: 'The signature of the signer command does not match the signing certificate',
        hint: 'psd2 has sent nothing. The command must sign its unchanged standard input with SHA-256 and the key of that certificate. See the certificate with:',
        next: [['cert', 'inspect']],
      });
    });

    it('does not run it for another hash than SHA-256, and says what else the operator can do', async () => {
      const signer = outsideSigner(open({}).context, 'no-such-program', certificate());
      expect(await failureOf(signer(TEXT, 'rsa-sha512'))).toEqual({
        ...{ code: 'config', exitCode: 3 },
        message: 'The signer command signs with SHA-256, but this bank wants rsa-sha512',
        hint: 'Use a key that psd2 can read, or a bank file with another signing.algorithm.',
      });
      expect((await failureOf(signer(TEXT, 'ecdsa-sha256'))).code).toBe('certificate');
    });
  });
});
