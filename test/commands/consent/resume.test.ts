import { expect, inject, it } from 'vitest';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();

it('psd2 consent resume confirms nothing with client credentials, even if confirm was sent before', async () => {
  const globals = { grant: 'client_credentials' as const };
  const { context } = openCommand(newConfigFolder(temporary), new Date().toISOString(), { globals });
  const products = [parseProductId('0000012345')];
  const begin = {
    transactionId: context.world.newId(),
    customerId: '1000001',
    categories: [{ name: 'ACCOUNT_INFO' as const, products }],
  };
  const { flows } = await context.store();
  const flow = await flows.begin('consent', begin, async ({ current, record }) => {
    await record({ type: 'request-sent', requestId: 'the-request', digest: null });
    const outcomes = [{ name: 'ACCOUNT_INFO', outcome: true }];
    await record({ type: 'requested', resourceId: 'the-resource', outcomes });
    await record({ type: 'confirm-sent', requestId: 'the-confirm', digest: null });
    return current.flow;
  });
  expect(await flows.find('consent', flow)).toMatchObject({ state: 'confirming' });
  await expect(runIn(context, 'consent', 'resume', flow)).rejects.toMatchObject({
    code: 'usage',
    message: 'This needs the customer, so it needs the grant authorization_code',
  });
});

it("psd2 consent resume acts for the consent's customer, whoever logged in last", async () => {
  const keys = await loadOrCreateRegistration(inject('registration'));
  const env = {
    ...{ PSD2_APP_NAME: 'app', PSD2_QWAC_CERT: keys.qwacCertFile, PSD2_QWAC_KEY: keys.qwacKeyFile },
  };
  const { context } = openCommand(newConfigFolder(temporary), new Date().toISOString(), { env });
  await storeLogin(context, '1000002');
  const { flows } = await context.store();
  const products = [parseProductId('0000012345')];
  const begin = {
    transactionId: context.world.newId(),
    customerId: '1000001',
    categories: [{ name: 'ACCOUNT_INFO' as const, products }],
  };
  const flow = await flows.begin('consent', begin, async ({ current }) => current.flow);
  await expect(runIn(context, 'consent', 'resume', flow)).rejects.toMatchObject({
    code: 'not_logged_in',
    message: 'The customer 1000001 is not logged in with the profile "env"',
  });
});
