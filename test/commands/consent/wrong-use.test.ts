import { expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow } from '../access.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const open = (how?: Parameters<typeof openCommand>[2]) =>
  openCommand(newConfigFolder(temporary), NOW, how).context;

const CATEGORIES = 'Use one of ACCOUNT_INFO, FUNDS_AVAILABILITY, PAYMENTS.';
const ACCOUNTS = { hint: 'Add --account <id> for each account, or --all-accounts.' };
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
])('psd2 consent request with %j asks for nothing', async (words, message, advice) => {
  await expect(runIn(open(), 'consent', 'request', ...words)).rejects.toThrow(
    new Psd2Error('usage', message, advice),
  );
});

it.each([
  ...['--list-only', '--balances', '--transactions', '--once', '--paste'],
  ...['--valid-until 2027-01-01', '--frequency 4', '--psu-id x'],
])('psd2 consent request %s is for banks where the operator chooses the terms', async (option) => {
  const [name = '', ...value] = option.split(' ');
  await expect(runIn(open(), 'consent', 'request', name, ...value)).rejects.toThrow(
    new Psd2Error('usage', `The interface of this bank has no ${name}`, {
      hint: 'It is for banks where you choose the terms of a consent.',
    }),
  );
});

it.each(['status', 'delete'])('psd2 consent %s is refused at a bank that has none', async (verb) => {
  await expect(runIn(open(), 'consent', verb, 'co-1')).rejects.toMatchObject({ code: 'usage' });
});

it('with client credentials psd2 asks for no consent, and confirms none, even if confirm was sent before', async () => {
  const context = open({ globals: { grant: 'client_credentials' } });
  const sent = { requestId: 'a-request', digest: null };
  const flow = await storeConsentFlow(
    context,
    { categories: [{ name: 'ACCOUNT_INFO', products: [] }] },
    { type: 'request-sent', ...sent },
    { type: 'requested', resourceId: 'r', outcomes: [{ name: 'ACCOUNT_INFO', outcome: true }] },
    { type: 'confirm-sent', ...sent },
  );
  for (const words of [
    ['request', '--category', 'PAYMENTS', '--all-accounts'],
    ['resume', flow],
  ])
    await expect(runIn(context, 'consent', ...words)).rejects.toMatchObject({
      code: 'usage',
      message: 'This needs the customer, so it needs the grant authorization_code',
    });
});
