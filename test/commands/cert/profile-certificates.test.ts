import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { generateRsaKeys, makeCertificateAuthority } from '../../../src/certificates/eidas.ts';
import { checkProfileCertificates } from '../../../src/commands/cert/profile-certificates.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const registration = await loadOrCreateRegistration(inject('registration'));
const now = new Date();
const open = (env: Record<string, string>) =>
  openCommand(newConfigFolder(temporary), now.toISOString(), { env }).context;

/** Checks the certificates of a profile as `psd2 cert check` does. */
function check(env: Record<string, string>) {
  const context = open(env);
  return checkProfileCertificates(context, context.profile(), { now, days: 30, soon: 'fail' });
}

it('of several CAs in one file, the check judges the last one to end', async () => {
  const keys = await generateRsaKeys();
  const pem = async (days: number) =>
    (await makeCertificateAuthority('CA', keys, { from: now, days })).certificatePem;
  const ca = join(temporary, 'ca.pem');
  writeFileSync(ca, (await pem(10)) + (await pem(100)), { mode: 0o600 });
  const checks = await check({
    ...{ PSD2_QWAC_CERT: registration.qwacCertFile, PSD2_QWAC_KEY: registration.qwacKeyFile, PSD2_CA: ca },
  });
  expect(checks.find(({ name }) => name === 'CA')).toMatchObject({ status: 'ok' });
});

it('a profile without a QWAC does not pass the check of its certificates', async () => {
  await expect(check({})).rejects.toMatchObject({
    code: 'config',
    message: 'The profile "env" has no QWAC certificate',
  });
});

it('psd2 uses no key that others can read in the file of its certificate', async () => {
  const both = join(temporary, 'both.pem');
  const parts = [registration.qwacCertFile, registration.qwacKeyFile].map((file) =>
    readFileSync(file, 'utf8'),
  );
  writeFileSync(both, parts.join('\n'), { mode: 0o600 });
  const pair = async () => (await open({ PSD2_QWAC_CERT: both }).keys()).pair('QWAC');
  expect((await pair()).key.type).toBe('private');
  chmodSync(both, 0o644);
  await expect(pair()).rejects.toMatchObject({
    code: 'config',
    message: `${both} can be read by others (mode 0644)`,
  });
});
