import { expect, inject, it } from 'vitest';
import { checkSigner } from '../../../src/commands/doctor/keys.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = new Date(Date.now() + 60_000).toISOString();
const keys = await loadOrCreateRegistration(inject('registration'));
/** Keys that a command may sign with. */
const KEYS = { QWAC: keys.qwacKeyFile, QSealC: keys.qsealKeyFile, other: keys.nextQsealKeyFile };

/** What the doctor says of a command that signs with a key. */
async function verdictOn(key: keyof typeof KEYS, qseal: boolean): Promise<string> {
  const { context } = openCommand(newConfigFolder(temporary), NOW, {
    env: {
      PATH: process.env.PATH,
      PSD2_QWAC_CERT: keys.qwacCertFile,
      PSD2_QWAC_KEY: keys.qwacKeyFile,
      ...(qseal && { PSD2_QSEAL_CERT: keys.qsealCertFile }),
      PSD2_SIGNER: `sh -c "openssl dgst -sha256 -sign '${KEYS[key]}' | openssl base64 -A"`,
    },
  });
  return checkSigner(context, context.profile(), await context.keys()).then(
    ({ status, detail, fix }) => [status, detail, fix].join(),
    ({ code }) => code,
  );
}

it.each([
  ['QSealC', true, 'ok'],
  ['QWAC', true, 'config'],
  ['other', true, 'config'],
  ['QWAC', false, 'ok'],
  ['QSealC', false, 'config'],
] as const)(
  'a signer with the key of the %s, with a QSealC in the profile: %s, is %s',
  async (key, qseal, verdict) => {
    const good = 'ok,the signer command makes signatures that match the certificate,';
    expect(await verdictOn(key, qseal)).toBe(verdict === 'ok' ? good : verdict);
  },
);

it('the doctor skips the check of the signer without one', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  expect(await checkSigner(context, context.profile(), await context.keys())).toEqual({
    ...{ status: 'skip', detail: 'psd2 signs itself: no PSD2_SIGNER', fix: null },
  });
});
