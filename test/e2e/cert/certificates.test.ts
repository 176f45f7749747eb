import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const PASSPHRASE = 'correct horse battery staple';
const operator = keepRunning(useLoggedIn());
const own = (name: string) => join(operator.folder, name);
const sandbox = (name: string) => join(operator.config, 'sandbox', 'certificates', name);
const inspected = z.array(shapes.certificate);

/** Makes a file with the openssl command. Only its owner can read the file. */
function openssl(file: string, ...args: string[]): string {
  execFileSync('openssl', [...args, '-out', own(file)], { stdio: 'pipe', umask: 0o077 } as object);
  return own(file);
}

let files: { modern: string; old: string; der: string; chain: string };
beforeAll(() => {
  const pair = [
    '-in',
    sandbox('qseal.pem'),
    '-inkey',
    sandbox('qseal-key.pem'),
    '-certfile',
    sandbox('ca.pem'),
  ];
  const pack = ['pkcs12', '-export', ...pair, '-passout', `pass:${PASSPHRASE}`];
  writeFileSync(
    own('chain.pem'),
    ['qwac-key.pem', 'qwac.pem', 'ca.pem'].map((name) => readFileSync(sandbox(name), 'utf8')).join(''),
    { mode: 0o600 },
  );
  files = {
    modern: openssl('modern.p12', ...pack),
    old: openssl('old.p12', ...pack, '-legacy'),
    der: openssl('qwac.der', 'x509', '-in', sandbox('qwac.pem'), '-outform', 'der'),
    chain: own('chain.pem'),
  };
});

describe('psd2 cert inspect', () => {
  it('psd2 cert inspect reads the certificates of the profile as openssl does', async () => {
    const [qwac, qseal] = await operator.json(inspected, ['cert', 'inspect']);
    const real = new X509Certificate(readFileSync(sandbox('qwac.pem')));
    expect(qwac).toMatchObject({
      serialNumber: real.serialNumber.toLowerCase(),
      notAfter: new Date(real.validTo).toISOString(),
      sha256: real.fingerprint256.replaceAll(':', '').toLowerCase(),
      organizationIdentifier: 'PSDIT-BI-12345',
      qcType: 'web',
      roles: ['PSP_AI', 'PSP_PI', 'PSP_IC'],
      ncaName: 'Bank of Italy',
      ncaId: 'IT-BI',
      keyMatches: true,
    });
    expect(qseal).toMatchObject({ qcType: 'eseal', keyMatches: true });
  });

  it('psd2 cert inspect reads PEM with several certificates, DER and PKCS#12', async () => {
    const env = { PSD2_KEY_PASSPHRASE: PASSPHRASE, PSD2_PROFILE: 'none' };
    const inspect = async (...args: string[]) =>
      (await operator.json(inspected, ['cert', 'inspect', ...args], { env })).map(
        ({ subject, keyMatches }) => [/CN=([^,\\]*)/.exec(subject)?.[1], keyMatches] as const,
      );
    expect(await inspect(files.chain)).toEqual([
      ['tpp.example', true],
      ['psd2 sandbox CA - not for production', null],
    ]);
    expect(await inspect(files.der)).toEqual([['tpp.example', null]]);
    expect(await inspect(files.der, '--key', sandbox('qwac-key.pem'))).toEqual([['tpp.example', true]]);
    expect(await inspect(files.der, '--key', sandbox('qseal-key.pem'))).toEqual([['tpp.example', false]]);
    expect(await inspect(files.modern)).toEqual([
      ['Sandbox TPP seal', true],
      ['psd2 sandbox CA - not for production', null],
    ]);
    const [known] = await operator.json(inspected, ['cert', 'inspect', files.der]);
    expect(known?.keyMatches).toBe(true);
  });
});

it('psd2 cert generate makes test certificates that openssl accepts, and overwrites nothing', async () => {
  const args = words`cert generate --out test-certificates --organization-identifier PSDDE-BAFIN-4711
      --roles PSP_AI,PSP_PI --name ${'Ada & Co'} --days 7`;
  const { files, roles } = await operator.json(shapes.generated, args);
  expect(roles).toEqual(['PSP_AI', 'PSP_PI']);
  for (const file of Object.values(files)) expect(statSync(own(file)).mode & 0o777).toBe(0o600);
  const chain = ['-CAfile', own(files.ca), own(files.qwacCertificate), own(files.qsealCertificate)];
  expect(execFileSync('openssl', ['verify', ...chain], { encoding: 'utf8' })).toMatch(/: OK\n.*: OK\n/);
  const inspect = ['cert', 'inspect', files.qsealCertificate, '--key', files.qsealKey];
  expect(await operator.json(inspected, inspect)).toMatchObject([
    {
      subject: expect.stringContaining('O=Ada & Co TEST'),
      organizationIdentifier: 'PSDDE-BAFIN-4711',
      qcType: 'eseal',
      ncaId: 'DE-BAFIN',
      keyMatches: true,
    },
  ]);
  const before = readFileSync(own(files.qwacKey), 'utf8');
  const again = readError(await operator.psd2([...args, '--json']));
  expect(again).toMatchObject({ exitCode: 2, message: expect.stringContaining('already exists') });
  expect(readFileSync(own(files.qwacKey), 'utf8')).toBe(before);
});

describe('keys in PKCS#12 files', () => {
  const list = (env: Record<string, string>) => operator.psd2(['accounts', 'list', '--json'], { env });

  it('keys in PKCS#12 files sign requests and open connections', async () => {
    const env = { PSD2_QSEAL_CERT: files.modern, PSD2_QSEAL_KEY: '', PSD2_KEY_PASSPHRASE: PASSPHRASE };
    expect(await list(env)).toMatchObject({ code: 0 });
    const wrong = readError(await list({ ...env, PSD2_KEY_PASSPHRASE: 'wrong' }));
    expect(wrong).toMatchObject({ code: 'certificate', exitCode: 3, hint: 'Set PSD2_KEY_PASSPHRASE.' });
    const none = readError(await list({ ...env, PSD2_KEY_PASSPHRASE: '' }));
    expect(none).toMatchObject({ exitCode: 3, hint: 'Set PSD2_KEY_PASSPHRASE.' });
  });

  it('for old PKCS#12 ciphers psd2 names the command that converts them, and its file works', async () => {
    const old = readError(await list({ PSD2_QSEAL_CERT: files.old, PSD2_KEY_PASSPHRASE: PASSPHRASE }));
    expect(old).toMatchObject({ code: 'certificate', exitCode: 3, message: expect.stringContaining('RC2') });
    const command = /openssl (pkcs12 .*)$/.exec(old.hint ?? '')?.[1] ?? '';
    const pass = ['-passin', `pass:${PASSPHRASE}`, '-passout', `pass:${PASSPHRASE}`];
    execFileSync('openssl', [...command.split(' '), ...pass], { stdio: 'pipe' });
    const env = { PSD2_QSEAL_CERT: own('old.pem'), PSD2_KEY_PASSPHRASE: PASSPHRASE };
    await operator.succeeds(
      words`profile add converted --base-url https://psd2.bank.example --client-id an-id
        --client-secret-stdin --app-name an-app --qseal-cert ${own('old.pem')} --qwac-cert
        ${files.modern}`,
      { input: 'a secret', env },
    );
    const inspect = ['cert', 'inspect', '--profile', 'converted'];
    const kept = await operator.json(inspected, inspect, { env: { PSD2_KEY_PASSPHRASE: PASSPHRASE } });
    expect(kept).toMatchObject([{ keyMatches: true }, { keyMatches: true }]);
  });
});
