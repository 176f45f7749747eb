import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { readEidasCertificate } from '../../src/certificates/eidas.ts';
import { loadOrCreateRegistration, type Registration } from '../../src/sandbox/folder/registration.ts';
import { makeFewKeys } from '../support/few-keys.ts';
import { words } from '../support/words.ts';

let folder: string;
let first: Registration;

beforeAll(async () => {
  makeFewKeys();
  folder = join(await mkdtemp(join(tmpdir(), 'psd2-registration-')), 'sandbox');
  first = await loadOrCreateRegistration(folder);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await rm(join(folder, '..'), { recursive: true, force: true });
});

function pem(file: string): string {
  return readFileSync(file, 'utf8');
}

describe('the first start', () => {
  test('a first start makes certificates that chain to the authority and match their keys', () => {
    const ca = new X509Certificate(pem(first.caFile));
    const pairs = [
      [first.serverCertFile, first.serverKeyFile],
      [first.qwacCertFile, first.qwacKeyFile],
      [first.qsealCertFile, first.qsealKeyFile],
      [first.bankSigningCertFile, first.bankSigningKeyFile],
    ] as const;
    for (const [certificateFile, keyFile] of pairs) {
      const certificate = new X509Certificate(pem(certificateFile));
      expect(certificate.verify(ca.publicKey)).toBe(true);
      expect(certificate.checkPrivateKey(createPrivateKey(pem(keyFile)))).toBe(true);
    }
    expect(new Set(pairs.map(([file]) => new X509Certificate(pem(file)).fingerprint256)).size).toBe(4);
  });

  test('a first start makes qualified certificates for the TPP, with the PSD2 roles', () => {
    const roles = ['PSP_AI', 'PSP_PI', 'PSP_IC'];
    const common = { organizationIdentifier: 'PSDIT-BI-12345', roles, ncaId: 'IT-BI' };
    expect(readEidasCertificate(pem(first.qwacCertFile))).toMatchObject({ ...common, qcType: 'web' });
    expect(readEidasCertificate(pem(first.qsealCertFile))).toMatchObject({ ...common, qcType: 'eseal' });
  });

  const TPP = '2.5.4.97=PSDIT-BI-12345';
  const OTHERS = 'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1';
  test.each<[file: keyof Omit<Registration, 'applications'>, subject: string[], names: string | undefined]>([
    ['caFile', ['CN=psd2 sandbox CA - not for production'], undefined],
    ['serverCertFile', ['CN=localhost'], OTHERS],
    ['qwacCertFile', ['CN=tpp.example', 'O=Sandbox TPP', TPP], 'DNS:tpp.example'],
    ['nextQwacCertFile', ['CN=tpp.example', 'O=Sandbox TPP', TPP], 'DNS:tpp.example'],
    ['qsealCertFile', ['CN=Sandbox TPP seal', 'O=Sandbox TPP', TPP], undefined],
    ['nextQsealCertFile', ['CN=Sandbox TPP seal', 'O=Sandbox TPP', TPP], undefined],
    ['bankSigningCertFile', ['CN=Sandbox Bank seal', 'O=Sandbox Bank', '2.5.4.97=PSDIT-BI-99999'], undefined],
  ])('the certificate of %s says whose it is', (file, subject, names) => {
    const certificate = new X509Certificate(pem(first[file]));
    const said = certificate.subject.replaceAll('organizationIdentifier=', '2.5.4.97=').split('\n');
    expect(said).toEqual(expect.arrayContaining(subject));
    expect(certificate.subjectAltName).toBe(names);
    expect(certificate.issuer).toContain('CN=psd2 sandbox CA - not for production');
    const days = (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / 86_400_000;
    expect(Math.round(days)).toBe(365);
  });

  test('OpenSSL reads the new certificates as what they should be', () => {
    const now = String(Math.floor(Date.now() / 1000));
    const verify = (file: string, ...purpose: string[]): string =>
      execFileSync('openssl', ['verify', '-attime', now, '-CAfile', first.caFile, ...purpose, file], {
        encoding: 'utf8',
      });
    expect(verify(first.qwacCertFile, '-purpose', 'sslclient')).toContain('OK');
    for (const name of [words`-verify_ip ::1`, words`-verify_hostname localhost`])
      expect(verify(first.serverCertFile, '-purpose', 'sslserver', ...name)).toContain('OK');
  });

  test('a first start registers two applications with different credentials', () => {
    const { authorizationCode, clientCredentials } = first.applications;
    for (const key of ['clientId', 'clientSecret', 'applicationName'] as const) {
      expect(authorizationCode[key]).not.toBe('');
      expect(authorizationCode[key]).not.toBe(clientCredentials[key]);
    }
  });

  test('only the user can read the registration', async () => {
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const files = await readdir(folder, { recursive: true });
    expect(files).toContain('registration.json');
    for (const name of files) {
      const file = await stat(join(folder, name));
      expect([name, file.mode & 0o777]).toEqual([name, file.isDirectory() ? 0o700 : 0o600]);
    }
  });
});

describe('a second start', () => {
  afterEach(() => {
    vi.doUnmock('../../src/certificates/eidas.ts');
    vi.resetModules();
  });

  test('a second start gives the same registration', async () => {
    const files = readFileSync(first.qwacCertFile);
    expect(await loadOrCreateRegistration(folder)).toEqual(first);
    expect(readFileSync(first.qwacCertFile)).toEqual(files);
  });

  test('a second start does not load the certificate library', async () => {
    vi.resetModules();
    vi.doMock('../../src/certificates/eidas.ts', () => {
      throw new Error('the certificate library was loaded');
    });
    const fresh = await import('../../src/sandbox/folder/registration.ts');
    expect(await fresh.loadOrCreateRegistration(folder)).toEqual(first);
    await expect(fresh.loadOrCreateRegistration(join(folder, '..', 'another'))).rejects.toThrow();
  });
});

describe('renewal of the certificates', () => {
  let own: string;
  let before: Registration;
  let oldQwac: string;

  beforeAll(async () => {
    own = join(folder, '..', 'own');
    cpSync(folder, own, { recursive: true });
    before = await loadOrCreateRegistration(own);
  });

  async function expectNewCertificates(now?: Date): Promise<void> {
    const after = await loadOrCreateRegistration(own, now && { now: () => now });
    expect(after).toEqual(before);
    expect(pem(after.qwacCertFile)).not.toBe(oldQwac);
    const { publicKey } = new X509Certificate(pem(after.caFile));
    expect(new X509Certificate(pem(after.qwacCertFile)).verify(publicKey)).toBe(true);
    expect((await readdir(own)).sort()).toEqual(['certificates', 'registration.json']);
  }

  test('the sandbox renews its certificates on their last day, not before, and keeps the applications', async () => {
    oldQwac = pem(before.qwacCertFile);
    const end = Date.parse(new X509Certificate(oldQwac).validTo);
    const hour = 60 * 60 * 1000;
    await loadOrCreateRegistration(own, { now: () => new Date(end - 25 * hour) });
    expect(pem(before.qwacCertFile)).toBe(oldQwac);
    await expectNewCertificates(new Date(end - 23 * hour));
  });

  const truncate = (file: string) => writeFileSync(file, pem(file).slice(0, 400));
  /** Takes files of the sandbox of all tests, whose authority is another one. */
  const takeOthers = (...files: ('ca' | 'server' | 'server-key' | 'next-qseal' | 'next-qseal-key')[]) => {
    for (const file of files)
      cpSync(
        join(inject('registration'), 'certificates', `${file}.pem`),
        join(own, 'certificates', `${file}.pem`),
      );
  };
  test.each<[string, () => void]>([
    ['the authority is another one', () => takeOthers('ca')],
    ['a certificate and its key are of another authority', () => takeOthers('server', 'server-key')],
    ['the next ones are of another authority', () => takeOthers('next-qseal', 'next-qseal-key')],
    ['a file is missing', () => rmSync(before.serverKeyFile)],
    ['a file is truncated', () => truncate(before.qsealCertFile)],
    ['a key does not match', () => writeFileSync(before.qwacKeyFile, pem(before.qsealKeyFile))],
  ])('the sandbox renews its certificates if %s', async (_, damage) => {
    oldQwac = pem(before.qwacCertFile);
    damage();
    await expectNewCertificates();
  });
});

describe('a start that was killed halfway', () => {
  // Process ids on Linux end at 2^22, so no process has this one.
  const dead = 2 ** 22 + 1;

  const left = `.certificates.${dead}.0123abcd`;
  const registered = `.registration.json.${dead}.0123abcd`;

  const leaveCertificate = async (own: string) => {
    await mkdir(join(own, left));
    writeFileSync(join(own, left, 'ca.pem'), '');
  };
  const leaveApplications = async (own: string) =>
    writeFileSync(join(own, registered), '{"authorizationCode":');
  const moveOut = async (own: string) => {
    cpSync(folder, own, { recursive: true });
    await rename(join((await loadOrCreateRegistration(own)).caFile, '..'), join(own, left));
  };
  test.each<[string, (own: string) => Promise<void>]>([
    ['while writing the certificates', leaveCertificate],
    ['while writing the applications', leaveApplications],
    ['between moving the old certificates out and the new ones in', moveOut],
  ])('after a start killed %s, the next start works and cleans up', async (_when, kill) => {
    const own = await mkdtemp(join(folder, '..', 'killed-'));
    await kill(own);
    const registration = await loadOrCreateRegistration(own);
    expect(existsSync(registration.qwacKeyFile)).toBe(true);
    expect((await readdir(own)).sort()).toEqual(['certificates', 'registration.json']);
  });

  test('a start leaves the files of one that is still writing', async () => {
    const own = await mkdtemp(join(folder, '..', 'writing-'));
    const writing = `.certificates.${process.pid}.0123abcd`;
    await mkdir(join(own, writing));
    await loadOrCreateRegistration(own);
    expect(await readdir(own)).toContain(writing);
  });
});

test('two first starts at the same time agree on one registration', async () => {
  const own = join(folder, '..', 'race');
  const [one, other] = await Promise.all([loadOrCreateRegistration(own), loadOrCreateRegistration(own)]);
  expect(one).toEqual(other);
  expect(await loadOrCreateRegistration(own)).toEqual(one);
  expect((await readdir(own)).sort()).toEqual(['certificates', 'registration.json']);
});

test('a broken registration.json stays as it is, and the error names it', async () => {
  const own = await mkdtemp(join(folder, '..', 'broken-'));
  writeFileSync(join(own, 'registration.json'), '{"authorizationCode": 1}');
  await expect(loadOrCreateRegistration(own)).rejects.toMatchObject({
    name: 'Psd2Error',
    code: 'sandbox',
    message: `${join(own, 'registration.json')} is not a registration of the sandbox`,
  });
  expect(pem(join(own, 'registration.json'))).toBe('{"authorizationCode": 1}');
});

test('a file in place of the folder is a clear error', async () => {
  const own = join(folder, '..', 'file');
  writeFileSync(own, '');
  await expect(loadOrCreateRegistration(own)).rejects.toMatchObject({ name: 'Psd2Error', code: 'sandbox' });
});
