import { describe, expect, it } from 'vitest';
import type { Account } from '../../../src/bank/ports/bank.ts';
import { findAccount, withinHistory } from '../../../src/commands/accounts/account.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { isAccountId } from '../../../src/domain/identifiers.ts';

const day = (text: string) => parseDate('--date', text);
const named = (text: string) => (isAccountId(text) ? text : expect.unreachable(text));
const account = (productId: string, iban: string | null): Account => ({
  ...{ accountId: productId, productId, iban, currency: 'EUR' },
  ...{ name: null, productCode: null, productDescription: null },
});
const IBAN = 'DE89370400440532013000';

describe('an account that the operator names', () => {
  it('is found by its id, also if the id is an IBAN, before any IBAN', () => {
    const accounts = [account('other', IBAN), account(IBAN, IBAN), account('card', null)];
    expect(findAccount(accounts, named(IBAN), 'ada')).toBe(accounts[1]);
    expect(findAccount(accounts, named('card'), 'ada')).toBe(accounts[2]);
  });

  it('is found by its IBAN, however the bank and the operator write it', () => {
    const accounts = [account('card', null), account('a1', 'DE89 3704 0044 0532 0130 00')];
    for (const text of [IBAN, IBAN.toLowerCase()])
      expect(findAccount(accounts, named(text), 'ada')).toBe(accounts[1]);
  });

  it('is refused if two have the IBAN, or none', () => {
    const accounts = [account('a1', IBAN), account('a2', IBAN)];
    expect(() => findAccount(accounts, named(IBAN), 'ada')).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('More than one account') }),
    );
    expect(() => findAccount(accounts, named('b'), 'ada')).toThrow(
      expect.objectContaining({
        code: 'usage',
        hint: expect.stringContaining(`a1 (${IBAN}), a2 (${IBAN}).`),
      }),
    );
    expect(() => findAccount([], named('b'), 'ada')).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('by an IBAN that the list lacks needs another consent: the customer may not have chosen it', () => {
    expect(() => findAccount([account('a1', null)], named(IBAN), 'ada')).toThrow(
      expect.objectContaining({
        code: 'not_logged_in',
        hint: 'It covers a1. Ask the customer for one:',
        next: [['consent', 'request', '--customer', 'ada', '--account', IBAN]],
      }),
    );
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
    return { ...range, warnings: warnings.length };
  };

  it('cuts what is further back, and says so', () => {
    expect(within('2026-08-22', undefined, { earliestDay })).toEqual({
      from: '2026-08-23',
      to: undefined,
      warnings: 1,
    });
    expect(within('2026-08-23', '2026-08-23', { earliestDay })).toEqual({
      ...{ from: '2026-08-23', to: '2026-08-23', warnings: 0 },
    });
    expect(within(undefined, undefined, { earliestDay })).toEqual({
      from: undefined,
      to: undefined,
      warnings: 0,
    });
  });

  it('refuses a range that is before it', () => {
    expect(() => within('2026-01-01', '2026-08-22', { earliestDay })).toThrow(
      expect.objectContaining({ code: 'invalid_date' }),
    );
  });

  it('of a bank that names none is not cut', () => {
    expect(within('2020-01-01', '2020-01-02', {})).toEqual({
      from: '2020-01-01',
      to: '2020-01-02',
      warnings: 0,
    });
  });
});
