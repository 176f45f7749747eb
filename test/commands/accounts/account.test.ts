import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Account } from '../../../src/bank/ports/bank.ts';
import {
  findAccount,
  keptAccount,
  openAccount,
  readAccount,
  withinHistory,
} from '../../../src/commands/accounts/account.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { isAccountId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { KeptConsent, KeptCustomer } from '../../../src/store/ports/customers.ts';
import { LEAST } from '../../bank-file/folder.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';

const day = (text: string) => parseDate('--date', text);
const named = (text: string) => (isAccountId(text) ? text : expect.unreachable(text));
const account = (productId: string, iban: string | null): Account => ({
  ...{ accountId: productId, productId, iban, currency: 'EUR' },
  ...{ name: null, productCode: null, productDescription: null },
});
const [IBAN, OTHER] = ['DE89370400440532013000', 'FR1420041010050500013M02606'];
const SPACED = 'DE89 3704 0044 0532 0130 00';

describe('an account that the operator names', () => {
  it('is found by its id, also if the id is an IBAN, before any IBAN', () => {
    const accounts = [account('other', IBAN), account(IBAN, IBAN), account('card', null)];
    expect(findAccount(accounts, named(IBAN), 'ada')).toBe(accounts[1]);
    expect(findAccount(accounts, named('card'), 'ada')).toBe(accounts[2]);
  });

  it('is found by its IBAN, however the bank and the operator write it', () => {
    const accounts = [account('card', null), account('a1', SPACED)];
    for (const text of [IBAN, IBAN.toLowerCase()])
      expect(findAccount(accounts, named(text), 'ada')).toBe(accounts[1]);
  });

  it("is found by its IBAN and currency, by the id of its rows, and by the bank's id of today", () => {
    const dollars = { ...account('a2', IBAN), currency: 'USD' };
    const accounts = [{ ...account('a1', IBAN), bankId: 'b1' }, dollars];
    for (const text of [`${IBAN}:EUR`, 'a1', 'b1'])
      expect(findAccount(accounts, named(text), 'ada')).toBe(accounts[0]);
    expect(findAccount(accounts, named(`${IBAN}:USD`), 'ada')).toBe(dollars);
    expect(() => findAccount(accounts, named(IBAN), 'ada')).toThrow(
      expect.objectContaining({
        hint: expect.stringContaining(`Name one by its currency: ${IBAN}:EUR, ${IBAN}:USD. `),
      }),
    );
    expect(() => findAccount(accounts, named(`${IBAN}:CHF`), 'ada')).toThrow(
      expect.objectContaining({ code: 'not_logged_in' }),
    );
    expect(() => findAccount([...accounts, account('b1', OTHER)], named('b1'), 'ada')).toThrow(
      expect.objectContaining({
        message: 'b1 is the id of one account today, and of another one in the store',
      }),
    );
  });

  const see = (hint: string) => ({ hint: `${hint}See the accounts with:`, next: [['accounts', 'list']] });
  const consent = (iban: string, covered: string) =>
    new Psd2Error('not_logged_in', `No consent of the customer ada covers the account ${iban}`, {
      hint: `${covered}Ask the customer for one:`,
      next: [['consent', 'request', '--customer', 'ada', '--account', IBAN]],
    });

  it('is refused if two have the IBAN, or none has the id', () => {
    const accounts = [account('a1', IBAN), account('a2', IBAN), account(IBAN, null)];
    const two = accounts.slice(0, 2);
    expect(() => findAccount(two, named(IBAN), 'ada')).toThrow(
      new Psd2Error('usage', `More than one account of the customer has the IBAN ${IBAN}`, {
        ...see(`The customer has a1 (${IBAN}), a2 (${IBAN}). `),
      }),
    );
    expect(() => findAccount([...accounts.slice(1), account('c', null)], named('b'), 'ada')).toThrow(
      new Psd2Error('usage', 'The customer has no account b', {
        ...see(`The customer has a2 (${IBAN}), ${IBAN}, c. `),
      }),
    );
    expect(() => findAccount([], named('b'), 'ada')).toThrow(
      new Psd2Error('usage', 'The customer has no account b', see('')),
    );
  });

  it('by an IBAN that the list lacks needs another consent: the customer may not have chosen it', () => {
    const accounts = [account('a1', null), account('a2', OTHER)];
    expect(() => findAccount(accounts, named(IBAN), 'ada')).toThrow(
      consent(IBAN, `It covers a1, a2 (${OTHER}). `),
    );
    expect(() => findAccount([], named(IBAN.toLowerCase()), 'ada')).toThrow(consent(IBAN.toLowerCase(), ''));
  });

  it.each(['x', 'DE8', 'DE8937040044', `${IBAN}0123456789012345`])('%s is no IBAN by its form', (text) => {
    const given = expect.objectContaining({ code: 'usage' });
    expect(() => findAccount([account('a1', null)], named(text), 'ada')).toThrow(given);
  });
});

describe('the history of a bank', () => {
  const earliestDay = () => day('2026-08-23');
  const within = (
    from: string | undefined,
    to: string | undefined,
    accounts: Parameters<typeof withinHistory>[1],
  ) => {
    const warnings: string[] = [];
    const terminal = { warn: (text: string) => void warnings.push(text) };
    const range = withinHistory({ terminal }, accounts, {
      from: from === undefined ? undefined : day(from),
      to: to === undefined ? undefined : day(to),
    });
    return { ...range, warnings };
  };

  const CUT = ['The bank shows no transactions before 2026-08-23, so psd2 reads from that day on.'];
  it.each<[string | undefined, string | undefined, string | undefined, string[]]>([
    ['2026-08-22', undefined, '2026-08-23', CUT],
    ['2026-08-23', '2026-08-23', '2026-08-23', []],
    [undefined, undefined, undefined, []],
    ['2026-01-01', '2026-08-23', '2026-08-23', CUT],
    [undefined, '2026-08-23', undefined, []],
  ])('cuts what is further back, and says so: from %s to %s', (from, to, begin, warnings) => {
    expect(within(from, to, { earliestDay })).toEqual({ from: begin, to, warnings });
  });

  it('refuses a range that is before it, if the bank names one', () => {
    expect(() => within('2026-01-01', '2026-08-22', { earliestDay })).toThrow(
      new Psd2Error('invalid_date', 'The bank shows no transactions before 2026-08-23', {
        hint: 'Choose a --to that is not before 2026-08-23.',
      }),
    );
    const range = { from: '2020-01-01', to: '2020-01-02' };
    expect(within(range.from, range.to, {})).toEqual({ ...range, warnings: [] });
  });
});

const keptConsent = (more: Partial<KeptConsent> = {}): KeptConsent => ({
  ...{ flow: 'co-1', consentId: 'c1', accounts: [IBAN], reads: ['accounts', 'balances'], validUntil: null },
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
  const OVER = keptConsent({ validUntil: day('2026-11-20') });
  it.each<[string, KeptConsent[], string]>([
    ['without any consent is left to the call', [], IBAN],
    ['that a consent names is read', [keptConsent()], IBAN],
    ['that a consent names is read, however it is written', [keptConsent()], SPACED],
    ['that another consent names is read', [keptConsent(), keptConsent({ accounts: [OTHER] })], OTHER],
    ['is read with a consent for all of them', [keptConsent({ accounts: null })], OTHER],
    ['that psd2 does not know is left to the bank', [keptConsent()], 'a-1'],
    ['is left to the call if the only consent is over', [OVER], OTHER],
  ])('%s', async (_, consents, account) => {
    const { context } = await atBank({ consents });
    expect((await readAccount(context, account)).replaceAll(' ', '')).toBe(account.replaceAll(' ', ''));
  });

  it('of a customer of whom psd2 knows nothing is left to the call', async () => {
    const { context } = openCommand(newConfigFolder(temporary), NOW, {
      env: { PSD2_BANK: join(temporary, 'bank.json') },
      globals: { customer: 'nobody' },
    });
    expect(await readAccount(context, IBAN)).toBe(IBAN);
    expect(await keptAccount(context, named(IBAN))).toBeUndefined();
  });

  const LISTED = [
    { accountId: 'a1', iban: IBAN, currency: 'EUR', name: 'Giro', productCode: 'CACC' },
    { accountId: 'card:a1', iban: null, kind: 'card' as const },
  ];

  it('whose id a card has, too, is refused with both, and each can be chosen', async () => {
    const { context } = await atBank({
      consents: [keptConsent({ accounts: null, listed: LISTED })],
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
    const { context } = await atBank({ consents: [keptConsent({ listed: LISTED })], accounts: LISTED });
    expect(await openAccount(context, SPACED)).toBe('a1');
    const known = { productId: 'a1', iban: IBAN, currency: 'EUR', name: 'Giro', productCode: 'CACC' };
    for (const text of [IBAN, 'account:a1'])
      expect(await keptAccount(context, await readAccount(context, text))).toMatchObject(known);
    expect(
      await keptAccount(context, await readAccount(context, OTHER, { fromStore: true })),
    ).toBeUndefined();
  });

  const SECOND = { accountId: 'a2', iban: IBAN, currency: 'EUR' };
  it.each<[string, KeptConsent['listed'][], string | undefined]>([
    ['that no consent has listed', [undefined, []], undefined],
    ['that one of two consents has listed', [[], LISTED], 'a1'],
    ['that two consents have listed', [LISTED, LISTED], 'a1'],
    ['whose IBAN another one has, in one list', [[...LISTED, SECOND]], undefined],
    ['whose IBAN another one has, in the list of another consent', [LISTED, [SECOND]], undefined],
  ])('%s is known by its IBAN as it is then', async (_, lists, id) => {
    const consents = lists.map((listed, index) =>
      keptConsent({ consentId: `c${index}`, ...(listed && { listed }) }),
    );
    const { context } = await atBank({ consents });
    expect((await keptAccount(context, named(IBAN)))?.productId).toBe(id);
  });

  it('that no consent names needs another one', async () => {
    const accounts = [{ accountId: 'a-2', iban: OTHER }];
    const { context } = await atBank({
      consents: [keptConsent(), keptConsent({ consentId: 'c2', accounts: [IBAN, 'card'] })],
      accounts,
    });
    for (const named of [OTHER, 'a-2'])
      await expect(readAccount(context, named)).rejects.toThrow(
        new Psd2Error('not_logged_in', `No consent of the customer ada covers the account ${named}`, {
          hint: `It covers ${IBAN}, card. Ask the customer for one:`,
          next: [['consent', 'request', '--customer', 'ada', '--account', OTHER]],
        }),
      );
    // What is stored needs no consent.
    expect(await readAccount(context, OTHER, { fromStore: true })).toBe(OTHER);
  });
});
