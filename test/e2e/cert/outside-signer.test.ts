import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
const own = (name: string) => join(operator.folder, name);
const sandbox = (name: string) => join(operator.config, 'sandbox', 'certificates', name);
const MODULES = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so'];
const TRANSFER = words`transfer --from 0010482620 --to DE89370400440532013000 --name ${'Ada Lovelace'}
  --amount 3.00 --yes`;

describe('an outside signer with a key in SoftHSM2, by the script of docs/hsm.md', () => {
  const PIN = '271828';
  let env: Record<string, string>;

  beforeAll(() => {
    mkdirSync(own('tokens'));
    writeFileSync(own('softhsm2.conf'), `directories.tokendir = ${own('tokens')}\n`);
    const hsm = { env: { ...process.env, SOFTHSM2_CONF: own('softhsm2.conf') }, stdio: 'pipe' } as const;
    const pin = ['--pin', PIN];
    execFileSync(
      'softhsm2-util',
      ['--init-token', '--free', '--label', 'psd2', '--so-pin', PIN, ...pin],
      hsm,
    );
    const key = ['--import', sandbox('qseal-key.pem'), '--token', 'psd2', '--label', 'qseal', '--id', '01'];
    execFileSync('softhsm2-util', [...key, ...pin], hsm);
    const [, documented = ''] =
      /```bash\n(#!\/bin\/bash\n[\s\S]*?)```/.exec(readFileSync('docs/hsm.md', 'utf8')) ?? [];
    writeFileSync(own('psd2-sign'), documented, { mode: 0o700 });
    env = {
      SOFTHSM2_CONF: own('softhsm2.conf'),
      PKCS11_MODULE: MODULES.find((path) => existsSync(path)) ?? '',
      HSM_PIN: PIN,
      PSD2_SIGNER: own('psd2-sign'),
      // The key of the QSealC is not available to psd2.
      PSD2_QSEAL_KEY: own('no-such-key.pem'),
    };
  });

  it('an outside signer with a key in an HSM signs a payment', async () => {
    const transfer = await operator.json(shapes.transfer, TRANSFER, { env });
    expect(transfer.state).toBe('executed');
  });

  it('with a wrong PIN psd2 exits with 3, and shows what the signer said', async () => {
    const ended = await operator.psd2(['accounts', 'list', '--json'], { env: { ...env, HSM_PIN: '1' } });
    expect(readError(ended)).toMatchObject({
      code: 'config',
      exitCode: 3,
      message: expect.stringMatching(/ended with the exit code \d+/),
      hint: expect.stringMatching(/CKR_PIN/),
    });
  });
});
