import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
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

it('psd2 cert generate makes test certificates that openssl accepts, and overwrites nothing', async () => {
  const args = words`cert generate --out test-certificates --organization-identifier PSDDE-BAFIN-4711
      --roles PSP_AI,PSP_PI --name ${'Ada & Co'} --days 7`;
  const { files, roles } = await operator.json(shapes.generated, args);
  expect(roles).toEqual(['PSP_AI', 'PSP_PI']);
  for (const file of Object.values(files)) expect(statSync(own(file)).mode & 0o777).toBe(0o600);
  const chain = ['-CAfile', own(files.ca), own(files.qwacCertificate), own(files.qsealCertificate)];
  const verify = ['verify', '-attime', String(Math.floor(Date.now() / 1000)), ...chain];
  expect(execFileSync('openssl', verify, { encoding: 'utf8' })).toMatch(/: OK\n.*: OK\n/);
  const inspect = ['cert', 'inspect', files.qsealCertificate, '--key', files.qsealKey];
  const subject = expect.stringContaining('O=Ada & Co TEST');
  expect(await operator.json(inspected, inspect)).toMatchObject([{ subject, keyMatches: true }]);
  const before = readFileSync(own(files.qwacKey), 'utf8');
  expect(readError(await operator.psd2([...args, '--json']))).toMatchObject({ exitCode: 2 });
  expect(readFileSync(own(files.qwacKey), 'utf8')).toBe(before);
});

describe('keys in PKCS#12 files', () => {
  const list = (env: Record<string, string>) => operator.psd2(['accounts', 'list', '--json'], { env });
  let modern: string;
  let old: string;
  beforeAll(() => {
    const pack = (file: string, ...options: string[]) => {
      const pair = ['-in', sandbox('qseal.pem'), '-inkey', sandbox('qseal-key.pem'), '-out', own(file)];
      execFileSync(
        'sh',
        ['-c', 'umask 077; exec openssl pkcs12 -export "$@"', 'sh', ...pair, ...options].concat([
          '-passout',
          `pass:${PASSPHRASE}`,
        ]),
        { stdio: 'pipe' },
      );
      return own(file);
    };
    modern = pack('modern.p12');
    old = pack('old.p12', '-legacy');
  });

  it('keys in PKCS#12 files sign requests', async () => {
    const env = { PSD2_QSEAL_CERT: modern, PSD2_QSEAL_KEY: '', PSD2_KEY_PASSPHRASE: PASSPHRASE };
    expect(await list(env)).toMatchObject({ code: 0 });
    const wrong = readError(await list({ ...env, PSD2_KEY_PASSPHRASE: 'a wrong passphrase' }));
    expect(wrong).toMatchObject({ code: 'certificate', exitCode: 3, hint: 'Set PSD2_KEY_PASSPHRASE.' });
  });

  it('for old PKCS#12 ciphers psd2 names the command that converts them, and its file works', async () => {
    const env = { PSD2_QSEAL_KEY: '', PSD2_KEY_PASSPHRASE: PASSPHRASE };
    const refused = readError(await list({ ...env, PSD2_QSEAL_CERT: old }));
    expect(refused).toMatchObject({ code: 'certificate', message: expect.stringContaining('RC2') });
    const command = /openssl (pkcs12 .*)$/.exec(refused.hint ?? '')?.[1] ?? '';
    const pass = ['-passin', `pass:${PASSPHRASE}`, '-passout', `pass:${PASSPHRASE}`];
    execFileSync('openssl', [...command.split(' '), ...pass], { stdio: 'pipe' });
    expect(await list({ ...env, PSD2_QSEAL_CERT: own('old.pem') })).toMatchObject({ code: 0 });
  });
});
