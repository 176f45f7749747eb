import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { checkSigner } from '../../../src/commands/doctor/keys.ts';
import { RSA, withOpenssl } from '../../certificates/openssl.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = new Date(Date.now() + 60_000).toISOString();
const path = (name: string, kind: 'crt' | 'key') => join(temporary, `${name}.${kind}`);

beforeAll(() => {
  withOpenssl((openssl) => {
    const ca = openssl.authority('CA');
    for (const name of ['QWAC', 'QSealC', 'other']) {
      const { cert, key } = openssl.issued(ca, name, RSA);
      writeFileSync(path(name, 'crt'), cert);
      writeFileSync(path(name, 'key'), key, { mode: 0o600 });
    }
  });
});

/** What the doctor says of a command that signs with a key. */
async function verdictOn(key: string, qseal: boolean): Promise<string> {
  const { context } = openCommand(newConfigFolder(temporary), NOW, {
    env: {
      PATH: process.env.PATH,
      PSD2_QWAC_CERT: path('QWAC', 'crt'),
      PSD2_QWAC_KEY: path('QWAC', 'key'),
      ...(qseal && { PSD2_QSEAL_CERT: path('QSealC', 'crt') }),
      PSD2_SIGNER: `sh -c "openssl dgst -sha256 -sign '${path(key, 'key')}' | openssl base64 -A"`,
    },
  });
  return checkSigner(context, context.profile(), await context.keys()).then(
    ({ status }) => status,
    ({ code }) => code,
  );
}

it.each([
  ['QSealC', true, 'ok'],
  ['QWAC', true, 'config'],
  ['other', true, 'config'],
  ['QWAC', false, 'ok'],
  ['QSealC', false, 'config'],
])(
  'a signer with the key of the %s, with a QSealC in the profile: %s, is %s',
  async (key, qseal, verdict) => {
    expect(await verdictOn(key, qseal)).toBe(verdict);
  },
);

it('the doctor skips the check of the signer without one', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  expect(await checkSigner(context, context.profile(), await context.keys())).toMatchObject({
    status: 'skip',
  });
});
