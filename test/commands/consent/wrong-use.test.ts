import { expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const open = () => openCommand(newConfigFolder(temporary), NOW).context;

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
