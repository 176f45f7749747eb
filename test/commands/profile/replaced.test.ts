import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { profileAdd } from '../../../src/commands/profile/add.ts';
import { profileRemove } from '../../../src/commands/profile/remove.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const BASE_URL = 'https://psd2.bank.example/';
const TOKEN = 'the-access-token-of-the-earlier-login';

/** A command whose profile "bank" has a login. */
async function withLogin(env: Record<string, string> = {}) {
  const { context } = openCommand(newConfigFolder(temporary), new Date().toISOString(), {
    env,
    globals: { yes: true },
  });
  await context.profiles.write('bank', { baseUrl: BASE_URL, clientId: 'id' });
  const bank = context.forProfile('bank');
  await storeLogin(bank, '1000001', { accessToken: TOKEN });
  const everything = () =>
    readdirSync(context.folder.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
      .join('\n');
  return { context, bank, everything };
}

it('psd2 profile remove forgets the tokens', async () => {
  const { context, everything } = await withLogin();
  expect(everything()).toContain(TOKEN);
  await profileRemove(context, 'bank');
  expect(context.profiles.list()).toEqual([]);
  expect(everything()).not.toContain(TOKEN);
});

it('psd2 profile remove keeps a profile while a payment is authorised and not executed', async () => {
  const { context, bank, everything } = await withLogin();
  const { flows } = await bank.store();
  const from = parseProductId('0000012345');
  const order = { customerId: '1000001', from, operation: 'standingOrder', data: '{}' };
  const flow = await flows.begin(
    'operation',
    { transactionId: 't1', commits: 'on execute', order },
    async (open) => {
      await open.record({
        ...{ type: 'verified', resourceId: 'r1', totalAmount: null, commissions: null, bankName: null },
        nextStep: 'execute',
      });
      await open.record({ type: 'accepted' });
      await open.record({ type: 'sca-started' });
      await open.record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
      return open.current.flow;
    },
  );
  await expect(profileRemove(context, 'bank')).rejects.toMatchObject({
    code: 'config',
    next: [['--profile', 'bank', 'operation', 'resume', flow]],
  });
  expect(context.profiles.list()).toEqual(['bank']);
  expect(everything()).toContain(TOKEN);
});

it('psd2 profile add --protect also encrypts the tokens of the profile that it replaces', async () => {
  const { context, everything } = await withLogin({ PSD2_CONFIG_PASSPHRASE: 'open sesame' });
  const keys = await loadOrCreateRegistration(inject('registration'));
  const clientSecretFile = join(temporary, 'secret');
  writeFileSync(clientSecretFile, 'hush', { mode: 0o600 });
  await profileAdd(context, 'bank', {
    ...{
      reference: false,
      protect: true,
      baseUrl: BASE_URL,
      clientId: 'id',
      clientSecretFile,
      appName: 'app',
    },
    ...{ qwacCert: keys.qwacCertFile, qwacKey: keys.qwacKeyFile },
  });
  for (const secret of [TOKEN, 'hush', 'PRIVATE KEY']) expect(everything()).not.toContain(secret);
});
