import { expect, inject, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow, storeLogin } from '../access.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const CATEGORIES = 'Use one of ACCOUNT_INFO, FUNDS_AVAILABILITY, PAYMENTS.';
const ACCOUNTS = { hint: 'Add --account <id> for each account, or --all-accounts.' };
const OTHER_INTERFACE = { hint: 'It is for banks where you choose the terms of a consent.' };

it.each<[string[], string, { hint: string }]>([
  [
    [],
    'The category is missing',
    { hint: 'Add --category with one of ACCOUNT_INFO, FUNDS_AVAILABILITY, PAYMENTS.' },
  ],
  [['--category', 'ACCOUNT_INFO'], 'The account is missing', ACCOUNTS],
  [
    ['--category', 'PAYMENTS', '--account', '0012345678', '--all-accounts'],
    '--account and --all-accounts cannot be used together',
    ACCOUNTS,
  ],
  [
    ['--category', 'payments', '--all-accounts'],
    'Unknown category "payments"',
    { hint: `Did you mean PAYMENTS? ${CATEGORIES}` },
  ],
  [['--category', 'x', '--all-accounts'], 'Unknown category "x"', { hint: CATEGORIES }],
  [['--list-only'], 'The interface of this bank has no --list-only', OTHER_INTERFACE],
  [['--balances'], 'The interface of this bank has no --balances', OTHER_INTERFACE],
  [['--transactions'], 'The interface of this bank has no --transactions', OTHER_INTERFACE],
  [['--valid-until', '2027-01-01'], 'The interface of this bank has no --valid-until', OTHER_INTERFACE],
  [['--frequency', '4'], 'The interface of this bank has no --frequency', OTHER_INTERFACE],
  [['--once'], 'The interface of this bank has no --once', OTHER_INTERFACE],
  [['--paste'], 'The interface of this bank has no --paste', OTHER_INTERFACE],
  [['--psu-id', 'x'], 'The interface of this bank has no --psu-id', OTHER_INTERFACE],
])('psd2 consent request with %j asks for nothing', async (words, message, advice) => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-21T12:00:00.000Z');
  await expect(runIn(context, 'consent', 'request', ...words)).rejects.toThrow(
    new Psd2Error('usage', message, advice),
  );
});

it('psd2 consent request asks for nothing with client credentials', async () => {
  const globals = { grant: 'client_credentials' as const };
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-21T12:00:00.000Z', { globals });
  await expect(
    runIn(context, 'consent', 'request', '--category', 'PAYMENTS', '--all-accounts'),
  ).rejects.toMatchObject({
    code: 'usage',
    message: 'This needs the customer, so it needs the grant authorization_code',
  });
});

it.each(['status', 'delete'])('psd2 consent %s is refused at a bank that has none', async (verb) => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-21T12:00:00.000Z');
  await expect(runIn(context, 'consent', verb, 'co-1')).rejects.toMatchObject({ code: 'usage' });
});

it('psd2 consent resume confirms nothing with client credentials, even if confirm was sent before', async () => {
  const globals = { grant: 'client_credentials' as const };
  const { context } = openCommand(newConfigFolder(temporary), new Date().toISOString(), { globals });
  const sent = { requestId: 'a-request', digest: null };
  const flow = await storeConsentFlow(
    context,
    { categories: [{ name: 'ACCOUNT_INFO', products: [] }] },
    { type: 'request-sent', ...sent },
    {
      ...{ type: 'requested', resourceId: 'r' },
      outcomes: [{ name: 'ACCOUNT_INFO', outcome: true }],
    },
    { type: 'confirm-sent', ...sent },
  );
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
  const flow = await storeConsentFlow(context, { categories: [{ name: 'ACCOUNT_INFO', products: [] }] });
  await expect(runIn(context, 'consent', 'resume', flow)).rejects.toMatchObject({
    code: 'not_logged_in',
    message: 'The customer 1000001 is not logged in with the profile "env"',
  });
});
