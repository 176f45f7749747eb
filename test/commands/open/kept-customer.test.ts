import { expect, it } from 'vitest';
import { readKept } from '../../../src/commands/open/kept-customer.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { KeptConsent } from '../../../src/store/ports/customers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const day = (text: string) => parseDate('a day', text);
/** In Rome it is the 22nd already. */
const NOW = '2026-11-21T23:30:00.000Z';
const [A, B] = ['IT89F0999001600000010482620', 'IT31P0999001600000010482638'];

async function consentsOf(...given: Partial<KeptConsent>[]) {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const { customers } = await context.store();
  const consents = given.map(
    (each, index): KeptConsent => ({
      flow: `co-${index}`,
      consentId: `c${index}`,
      accounts: null,
      reads: ['accounts', 'balances', 'transactions'],
      validUntil: null,
      recurring: true,
      frequencyPerDay: 4,
      // The newest first.
      grantedAt: `2026-11-0${9 - index}T00:00:00.000Z`,
      ...each,
    }),
  );
  await customers.change('ada', (before) => ({ ...before, consents }));
  return (await readKept(context, customers, 'ada')).consents;
}

it.each<[string, Partial<KeptConsent>[], 'list' | { account: string }, string]>([
  ['the newest', [{}, {}], 'list', 'c0'],
  ['the one for all accounts, for their list', [{ accounts: [A] }, {}], 'list', 'c1'],
  ['the one that names the account', [{ accounts: [A] }, { accounts: [B] }], { account: B }, 'c1'],
  ['the one for all accounts, for one that none names', [{ accounts: [A] }, {}], { account: B }, 'c1'],
  ['one that reads more than the list', [{ reads: ['accounts'] }, {}], { account: A }, 'c1'],
  ['any, because only the bank knows', [{ accounts: [A] }], { account: 'id-of-a' }, 'c0'],
  ['one whose last day is today at the bank', [{ validUntil: day('2026-11-22') }], 'list', 'c0'],
  ['none that ended yesterday at the bank', [{ validUntil: day('2026-11-21') }, {}], 'list', 'c1'],
])('a reading takes %s', async (_, kept, what, consentId) => {
  expect(await (await consentsOf(...kept)).for(what)).toMatchObject({ consentId });
});

it.each([
  ['has given no consent', []],
  ['has no valid consent any more', [{ validUntil: day('2026-11-21') }]],
])('a customer who %s is asked for one', async (said, kept) => {
  await expect((await consentsOf(...kept)).for('list')).rejects.toMatchObject({
    code: 'not_logged_in',
    message: expect.stringContaining(said),
    next: [['consent', 'request', '--customer', 'ada']],
  });
});
