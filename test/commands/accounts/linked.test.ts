import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keptAccount, openAccount, readAccount } from '../../../src/commands/accounts/account.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { KeptConsent, KeptCustomer } from '../../../src/store/ports/customers.ts';
import { LEAST } from '../../bank-file/folder.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const [ONE, OTHER] = ['DE89370400440532013000', 'FR1420041010050500013M02606'];

const consent = (more: Partial<KeptConsent> = {}): KeptConsent => ({
  ...{ flow: 'co-1', consentId: 'c1', accounts: [ONE], reads: ['accounts', 'balances'], validUntil: null },
  ...{ recurring: true, frequencyPerDay: 4, grantedAt: '2026-11-20T12:00:00.000Z', ...more },
});

/** A command for the customer `ada` of a bank where a consent names IBANs. @param kept what psd2 knows of the customer */
async function atBank(kept: Partial<KeptCustomer> = {}) {
  const file = join(temporary, 'bank.json');
  writeFileSync(file, JSON.stringify(LEAST));
  const command = openCommand(newConfigFolder(temporary), NOW, {
    env: { PSD2_BANK: file },
    globals: { customer: 'ada' },
  });
  const { customers } = await command.context.store();
  await customers.change('ada', (before) => ({ ...before, ...kept }));
  return command;
}

describe('at a bank whose consents name accounts, an account', () => {
  const SPACED = 'DE89 3704 0044 0532 0130 00';
  const OVER = consent({ validUntil: parseDate('--date', '2026-11-20') });
  it.each<[string, KeptConsent[], string]>([
    ['without any consent is left to the call', [], ONE],
    ['that a consent names is read', [consent()], ONE],
    ['that a consent names is read, however it is written', [consent()], SPACED],
    ['that another consent names is read', [consent(), consent({ accounts: [OTHER] })], OTHER],
    ['is read with a consent for all of them', [consent({ accounts: null })], OTHER],
    ['that psd2 does not know is left to the bank', [consent()], 'a-1'],
    ['is left to the call if the only consent is over', [OVER], OTHER],
  ])('%s', async (_, consents, account) => {
    const { context } = await atBank({ consents });
    expect((await readAccount(context, account)).replaceAll(' ', '')).toBe(account.replaceAll(' ', ''));
  });

  const LISTED = [
    { accountId: 'a1', iban: ONE, currency: 'EUR', name: 'Giro', productCode: 'CACC' },
    { accountId: 'card:a1', iban: null, kind: 'card' as const },
  ];

  it('whose id a card has, too, is refused with both, and each can be chosen', async () => {
    const { context } = await atBank({
      consents: [consent({ accounts: null, listed: LISTED })],
      accounts: LISTED,
    });
    await expect(readAccount(context, 'a1')).rejects.toMatchObject({
      ...{ code: 'usage', message: 'An account and a card of the customer have the id a1' },
      hint: 'Name the account as account:a1, or the card as card:a1.',
    });
    expect(await readAccount(context, 'account:a1')).toBe('a1');
    expect(await readAccount(context, 'card:a1')).toBe('card:a1');
  });

  it('by an IBAN that a list had has its id without any call', async () => {
    const { context } = await atBank({ consents: [consent({ listed: LISTED })], accounts: LISTED });
    expect(await openAccount(context, 'DE89 3704 0044 0532 0130 00')).toBe('a1');
    const known = { productId: 'a1', iban: ONE, currency: 'EUR', name: 'Giro', productCode: 'CACC' };
    for (const text of [ONE, 'account:a1'])
      expect(await keptAccount(context, await readAccount(context, text))).toMatchObject(known);
    expect(
      await keptAccount(context, await readAccount(context, OTHER, { fromStore: true })),
    ).toBeUndefined();
  });

  it('that no consent names needs another one', async () => {
    const accounts = [{ accountId: 'a-2', iban: OTHER }];
    const { context } = await atBank({
      consents: [consent(), consent({ consentId: 'c2', accounts: [ONE, 'card'] })],
      accounts,
    });
    for (const named of [OTHER, 'a-2'])
      await expect(readAccount(context, named)).rejects.toThrow(
        new Psd2Error('not_logged_in', `No consent of the customer ada covers the account ${named}`, {
          hint: `It covers ${ONE}, card. Ask the customer for one:`,
          next: [['consent', 'request', '--customer', 'ada', '--account', OTHER]],
        }),
      );
    // What is stored needs no consent.
    expect(await readAccount(context, OTHER, { fromStore: true })).toBe(OTHER);
  });
});
