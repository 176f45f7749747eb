import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openTestBank } from './tpp.ts';

const SCRIPT = fileURLToPath(new URL('curl-client.sh', import.meta.url));

test('curl and openssl log a customer in on the customer site, and read the accounts', async () => {
  const work = await mkdtemp(join(tmpdir(), 'psd2-curl-'));
  // curl uses the system's clock, so the bank must use it too.
  const bank = await openTestBank({ now: () => new Date() });
  try {
    const { registration } = bank.tpp;
    const { clientId, clientSecret, applicationName } = registration.applications.authorizationCode;
    const { stdout } = await promisify(execFile)('bash', [SCRIPT], {
      env: {
        PATH: process.env.PATH,
        BASE_URL: bank.sandbox.baseUrl,
        CERTIFICATES: dirname(registration.qsealCertFile),
        CLIENT_ID: clientId,
        CLIENT_SECRET: clientSecret,
        APP_NAME: applicationName,
        WORK: work,
        LOGIN_USER: 'bruno',
        LOGIN_PASSWORD: 'bruno-sandbox',
      },
    });
    const answer: unknown = JSON.parse(stdout);
    expect(answer).toMatchObject({
      result: { outcome: 'SUCCESS' },
      data: {
        accounts: [{ accountId: '0020739150' }, { accountId: '0020739168' }, { accountId: '0000093025' }],
      },
    });
  } finally {
    await bank.close();
    await rm(work, { recursive: true, force: true });
  }
});
