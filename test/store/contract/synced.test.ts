import { beforeEach, describe, expect, it } from 'vitest';
import { type IsoDate, isIsoDate } from '../../../src/domain/calendar.ts';
import { type Decimal, isDecimal } from '../../../src/domain/decimal.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import type { SyncTarget } from '../../../src/store/ports/sync.ts';
import { append, rowOf } from '../row-of.ts';
import { type Place, useBackends } from './backends.ts';

const BANK = new URL('https://bank.example');
const day = (text: string): IsoDate => (isIsoDate(text) ? text : expect.unreachable());
const decimal = (text: string): Decimal => (isDecimal(text) ? text : expect.unreachable());
const ACCOUNT = {
  ...{ accountId: 'A1', productId: 'A1', iban: 'IT60X0542811101000000123456', currency: 'EUR', name: 'Mine' },
  ...{ productCode: null, productDescription: 'Current account' },
};
const money = (amount: string) => ({ amount: decimal(amount), currency: 'EUR' });
const BALANCE = {
  ...{ accountId: 'A1', productId: 'A1', accountBalance: money('97.50'), availableBalance: money('90.00') },
  ...{ accountAvailability: null, accountAvailableCredit: null, asOf: '2026-11-01T10:00:00+01:00' },
};
const row = (id: string, bookingDate: string | null, amount: string) => ({
  ...rowOf(id, bookingDate, amount),
  ...{ valueDate: day('2026-11-01'), details: 'Market', feeCharge: false },
});
const DAYS = { from: day('2026-10-01'), through: day('2026-11-01') };

describe.each(useBackends())('$name', ({ open }) => {
  let place: Place;
  let data: ProfileData;
  beforeEach(async () => {
    place = await open();
    data = (await place.worker()).open('bank', BANK);
  });
  const sync = (work: (to: SyncTarget) => Promise<unknown>) =>
    data.sync(place.out).run(new AbortController().signal, (run) => run.customer('1048262', work));
  const whole = async (to: SyncTarget) => {
    to.replace('accounts', [ACCOUNT]);
    to.replace('balances', [BALANCE]);
    const rows = await to.booked('A1', true);
    await append(rows, [
      row('a', '2026-10-05', '-1.50'),
      row('b', '2026-10-31', '-1.00'),
      row('c', null, '2'),
    ]);
    to.remember('A1', { ...DAYS, balance: money('97.50') }, day('2026-10-01'));
  };
  const synced = async () => (await place.worker()).open('bank', BANK).synced(place.out);

  it('a coming row that vanishes before its day is cancelled: no reader gets it, and it may come again', async () => {
    const of = { productId: 'A1', currency: 'EUR' };
    const coming = { ...row('d', '2026-11-05', '-4.00'), future: true };
    const through = async (rows: (typeof coming)[]) => {
      let ended: { cancelled: number; gone: number } | undefined;
      await sync(async (to) => {
        const booked = await to.booked('A1', true);
        await booked.append(rows, { of, covered: { from: DAYS.from, to: undefined }, today: DAYS.through });
        ended = await booked.end(DAYS.from);
        to.remember('A1', DAYS, DAYS.from);
      });
      const stored = await (await synced()).booked('1048262', 'A1', DAYS.from);
      return { ...ended, rows: stored?.rows.map(({ amount }) => Number(amount)) };
    };
    const kept = { ...row('e', '2026-10-30', '-1.00'), future: false };
    expect(await through([coming, kept])).toEqual({ cancelled: 0, gone: 0, rows: [-4, -1] });
    expect(await through([kept])).toEqual({ cancelled: 1, gone: 0, rows: [-1] });
    expect(await through([kept])).toEqual({ cancelled: 0, gone: 0, rows: [-1] });
    expect(await through([coming, kept])).toEqual({ cancelled: 0, gone: 0, rows: [-4, -1] });
    expect(await through([])).toMatchObject({ cancelled: 1, gone: 1 });
  });

  it('a row that is marked as replaced does not count, and counts again if the bank shows it again', async () => {
    const of = { productId: 'A1', currency: 'EUR' };
    const shows = async (ids: string[]) => {
      const rows = ids.map((id) => row(id, '2026-10-30', '-4.00'));
      let gone: string[] = [];
      await sync(async (to) => {
        const booked = await to.booked('A1', true);
        await booked.append(rows, { of, covered: { from: DAYS.from, to: undefined }, today: DAYS.through });
        const missing = await booked.gone();
        gone = missing.map(({ id }) => id);
        await booked.replace(missing);
        expect(await booked.end(DAYS.from)).toEqual({ cancelled: 0, gone: 0 });
        to.remember('A1', DAYS, DAYS.from);
      });
      const stored = await (await synced()).booked('1048262', 'A1', DAYS.from);
      return { gone, counted: stored?.rows.map(({ description }) => description) };
    };
    expect(await shows(['held', 'other'])).toEqual({ gone: [], counted: ['other', 'held'] });
    expect(await shows(['other'])).toEqual({ gone: ['held'], counted: ['other'] });
    // Whoever reads the store with another program sees it too.
    const held = place
      .everything()
      .split('\n')
      .filter((line) => line.includes('held'));
    expect(held.length).toBeGreaterThan(0);
    for (const line of held)
      expect([/hidden/.test(line), /booked[^_]/.test(line.replace('bookingDate', ''))]).toEqual([
        true,
        false,
      ]);
    expect(await shows(['other'])).toEqual({ gone: [], counted: ['other'] });
    const { counted } = await shows(['held', 'other']);
    expect(counted?.toSorted()).toEqual(['held', 'other']);
  });

  it('a row with only a value day is of that day, and is stored once', async () => {
    const of = { productId: 'A1', currency: 'EUR' };
    const days = (['2026-09-30', '2026-10-30'] as const).map((text) => ({
      ...row(text, null, '-4.00'),
      valueDate: day(text),
    }));
    const appended: number[] = [];
    for (const _sync of [1, 2])
      await sync(async (to) => {
        const booked = await to.booked('A1', true);
        const covered = { from: day('2026-09-01'), to: undefined };
        appended.push((await booked.append(days, { of, covered })).added.length);
        expect(await booked.lastDay(DAYS.through)).toBe('2026-10-30');
        to.remember('A1', DAYS, DAYS.from);
      });
    expect(appended).toEqual([2, 0]);
    const stored = await (await synced()).booked('1048262', 'A1', DAYS.from);
    expect(stored?.rows).toMatchObject([{ bookingDate: null, valueDate: '2026-10-30' }]);
  });

  it('a row is stored once, however often the bank shows it in one sync, and whatever day it has', async () => {
    const of = { productId: 'A1', currency: 'EUR' };
    const rows = {
      early: row('early', '2026-10-05', '-1.00'),
      late: row('late', '2026-10-31', '-2.00'),
      byValue: { ...row('byValue', null, '-3.00'), valueDate: day('2026-10-30') },
      undated: { ...row('undated', null, '-4.00'), valueDate: null },
    };
    const all = Object.values(rows);
    for (const expected of [
      [1, 1, 1, 1],
      [0, 0, 0, 0],
    ]) {
      const added: number[] = [];
      await sync(async (to) => {
        const booked = await to.booked('A1', true);
        for (const each of all) {
          added.push(await append(booked, [each]));
          expect(await append(booked, [each])).toBe(0);
        }
        // What is not shown again is gone, from the first day on that the bank has shown whole.
        for (const [from, gone] of [
          ['2026-10-31', ['late']],
          ['2026-10-30', ['byValue', 'late']],
        ] as const) {
          await booked.append([], { of, covered: { from: day(from), to: undefined } });
          expect((await booked.gone()).map(({ description }) => description).toSorted()).toEqual(gone);
        }
        to.remember('A1', DAYS, DAYS.from);
      });
      expect(added).toEqual(expected);
      // What has no day may be of any.
      const stored = await (await synced()).booked('1048262', 'A1', day('2026-10-31'));
      expect(stored?.rows.map(({ amount }) => Number(amount))).toEqual([-2, -4]);
    }
  });

  it('a row that was stored with the day 0001-01-01 is known again by its value day', async () => {
    const of = { productId: 'A1', currency: 'EUR' };
    const appended: number[] = [];
    for (const bookingDate of ['0001-01-01', null])
      await sync(async (to) => {
        const booked = await to.booked('A1', true);
        const covered = { from: DAYS.from, to: undefined };
        appended.push((await booked.append([row('d', bookingDate, '-4.00')], { of, covered })).added.length);
        to.remember('A1', DAYS, DAYS.from);
      });
    expect(appended).toEqual([1, 0]);
  });

  it('an account that the bank gives another id goes on in the same place, and is found by both', async () => {
    const under = async (id: string) => {
      await sync(async (to) => {
        const account = { ...ACCOUNT, accountId: id, productId: id };
        expect(await to.place([account], true)).toEqual([{ account, storedAs: 'A1', takenFor: null }]);
        to.replace('balances', [{ ...BALANCE, accountId: id, productId: id }]);
        to.replace(`pending/${id}`, [{ amount: '-5.00', currency: 'EUR', description: `coming ${id}` }]);
        expect((await to.progress(id))?.through).toBe(id === 'A1' ? undefined : DAYS.through);
        await append(await to.booked(id, true), [row('a', '2026-10-05', '-1.50')]);
        to.remember(id, DAYS, DAYS.from);
      });
    };
    await under('A1');
    await under('B2');
    await under('C3');
    const stored = await synced();
    expect(await stored.accounts('1048262')).toMatchObject([{ productId: 'A1', bankId: 'C3' }]);
    expect((await stored.booked('1048262', 'A1', DAYS.from))?.rows).toHaveLength(1);
    expect(await stored.balance('1048262', 'A1')).toMatchObject({ accountBalance: BALANCE.accountBalance });
    expect(await stored.days('1048262', 'C3')).toBeUndefined();
    // What is pending replaces what was, whatever the id.
    expect(place.everything().match(/coming \w+/g)).toEqual(['coming C3']);
  });

  it('an account without an IBAN that gets another id is guessed once, and then known by that id', async () => {
    const taken: unknown[] = [];
    for (const id of ['A1', 'B2', 'B2', 'C3', 'C3'])
      await sync(async (to) => {
        const account = { ...ACCOUNT, iban: null, accountId: id, productId: id };
        const [placed] = await to.place([account], true);
        taken.push([placed?.storedAs, placed?.takenFor]);
        to.remember(id, DAYS, DAYS.from);
      });
    expect(taken).toEqual([
      ...[['A1', null]],
      ...[
        ['A1', 'A1'],
        ['A1', null],
      ],
      ...[
        ['A1', 'B2'],
        ['A1', null],
      ],
    ]);
  });

  it('what a sync has stored is read again: accounts, balances, days and rows, the newest first', async () => {
    await sync(whole);
    const stored = await synced();
    const { accountId: _a, ...account } = ACCOUNT;
    const { accountId: _b, ...balance } = BALANCE;
    expect(await stored.customers()).toEqual(['1048262']);
    expect(await stored.accounts('1048262')).toMatchObject([account]);
    expect(await stored.balance('1048262', 'A1')).toEqual(balance);
    expect(await stored.days('1048262', 'A1')).toMatchObject({ from: DAYS.from, through: DAYS.through });
    const found = await stored.booked('1048262', 'A1', day('2026-10-31'));
    expect(found).toMatchObject({ from: DAYS.from, through: DAYS.through, balance: money('97.50') });
    expect(found?.rows.map(({ id, amount }) => [id, amount])).toEqual([
      ['c', '2'],
      ['b', '-1.00'],
    ]);
  });

  it('whether a credit line is in a balance, and what statements contradict, is read again', async () => {
    const contradictions = [{ says: '1 is not 2', ...DAYS }];
    const limited = { ...BALANCE, creditLimitIncluded: { accountBalance: false, availableBalance: true } };
    await sync(async (to) => {
      to.replace('accounts', [ACCOUNT]);
      to.replace('balances', [limited]);
      await to.booked('A1', true);
      to.remember('A1', { ...DAYS, contradictions }, DAYS.from);
    });
    const stored = await synced();
    expect((await stored.balance('1048262', 'A1'))?.creditLimitIncluded).toEqual(limited.creditLimitIncluded);
    expect((await stored.booked('1048262', 'A1', DAYS.from))?.contradictions).toEqual(contradictions);
    await sync(async (to) => {
      to.replace('balances', [BALANCE]);
      expect((await to.progress('A1'))?.contradictions).toEqual(contradictions);
      to.remember('A1', { ...DAYS, contradictions: [] }, DAYS.from);
    });
    expect(await (await synced()).balance('1048262', 'A1')).not.toHaveProperty('creditLimitIncluded');
    expect((await (await synced()).booked('1048262', 'A1', DAYS.from))?.contradictions).toEqual([]);
  });

  it('each balance is read again as that of its kind, also if it is the only one', async () => {
    const none = { accountBalance: null, availableBalance: null, accountAvailability: null };
    const balances = {
      ...{ accountBalance: money('1.00'), availableBalance: { ...money('-2.00'), currency: 'CHF' } },
      ...{ accountAvailability: money('3.00'), accountAvailableCredit: money('4.00') },
    };
    const cases = [balances, ...Object.entries(balances).map(([kind, balance]) => ({ [kind]: balance }))];
    for (const each of cases) {
      const row = { ...none, accountAvailableCredit: null, ...each, productId: 'A1', asOf: BALANCE.asOf };
      await sync(async (to) => to.replace('balances', [row]));
      expect(await (await synced()).balance('1048262', 'A1')).toEqual(row);
    }
  });

  it('a limit of credit is read again for one balance alone', async () => {
    for (const creditLimitIncluded of [{ accountBalance: true }, { availableBalance: false }]) {
      await sync(async (to) => to.replace('balances', [{ ...BALANCE, creditLimitIncluded }]));
      expect(await (await synced()).balance('1048262', 'A1')).toMatchObject({ creditLimitIncluded });
      expect((await (await synced()).balance('1048262', 'A1'))?.creditLimitIncluded).toStrictEqual(
        creditLimitIncluded,
      );
    }
  });

  it('a reader gets of a row what the bank has said, and nothing of how psd2 has stored it', async () => {
    const stored = {
      ...row('a', '2026-10-05', '-1.50'),
      ...{ code: 'C', transferReference: 'T-1', internalTransactionId: 'inner', future: false },
    };
    await sync(async (to) => {
      await append(await to.booked('A1', true), [stored]);
      to.remember('A1', DAYS, DAYS.from);
    });
    const found = await (await synced()).booked('1048262', 'A1', DAYS.from);
    const { status: _status, internalTransactionId: _inner, future: _future, ...said } = stored;
    const withoutNulls = found?.rows.map((each) =>
      Object.fromEntries(Object.entries(each).filter(([field, value]) => value !== null || field in said)),
    );
    expect(withoutNulls).toEqual([said]);
  });

  it('customers are in the order of their ids, each with their accounts', async () => {
    const accounts = (customer: string) => ['A2', customer, 'A1'];
    for (const customer of ['b', 'a', 'C'])
      await data.sync(place.out).run(new AbortController().signal, (run) =>
        run.customer(customer, async (to) =>
          to.replace(
            'accounts',
            accounts(customer).map((productId) => ({ ...ACCOUNT, accountId: productId, productId })),
          ),
        ),
      );
    const stored = await synced();
    expect(await stored.customers()).toEqual(['C', 'a', 'b']);
    for (const customer of ['b', 'a', 'C'])
      expect((await stored.accounts(customer)).map(({ productId }) => productId).toSorted()).toEqual(
        accounts(customer).toSorted(),
      );
  });

  it('a balance that could not be read has its reason', async () => {
    const none = { ...{ accountBalance: null, availableBalance: null, accountAvailability: null } };
    const unread = { productId: 'A1', ...none, accountAvailableCredit: null, asOf: null, reason: 'why' };
    await sync(async (to) => to.replace('balances', [BALANCE]));
    for (const [name, row] of [
      ['balances', unread],
      ['balances/A1', { ...none, reason: 'why' }],
    ] as const) {
      await sync(async (to) => to.replace(name, [row]));
      expect(await (await synced()).balance('1048262', 'A1')).toEqual(unread);
    }
    await sync(async (to) => to.replace('balances', [BALANCE]));
    expect(await (await synced()).balance('1048262', 'A1')).not.toHaveProperty('reason');
  });

  it('what the bank told of a row is read again', async () => {
    const told = {
      ...{ endToEndId: 'E2E-77', counterpartyName: 'Market', counterpartyIban: 'DE02100100109307118603' },
      ...{ counterpartyAccount: '12', mandateId: 'M-1', remittanceStructured: 'RF18' },
      ...{ originalAmount: decimal('100.00'), originalCurrency: 'USD', exchangeRate: decimal('0.9200') },
      ...{ feeAmount: decimal('0.40'), feeCurrency: 'EUR' },
    };
    await sync(async (to) => {
      const rows = await to.booked('A1', true);
      await append(rows, [{ ...row('a', '2026-10-05', '-1.50'), ...told }]);
      to.remember('A1', DAYS, day('2026-10-01'));
    });
    const found = await (await synced()).booked('1048262', 'A1', day('2026-10-01'));
    expect(found?.rows).toMatchObject([told]);
  });

  it('nothing is stored before the first sync, and nothing of an account that no sync has read', async () => {
    expect(await (await synced()).customers()).toEqual([]);
    expect(await (await synced()).accounts('1048262')).toEqual([]);
    await sync(whole);
    expect(await (await synced()).days('1048262', 'A2')).toBeUndefined();
    expect(await (await synced()).booked('1048262', 'A2', day('2026-10-01'))).toBeUndefined();
    expect(await (await synced()).balance('1048262', 'A2')).toBeUndefined();
  });

  it('rows of a sync that has not come to its end do not count, since the balance does not have them', async () => {
    await sync(whole);
    await expect(
      sync(async (to) => {
        const rows = await to.booked('A1', true);
        await append(rows, [row('d', '2026-11-01', '-5.00')]);
        throw new Error('killed');
      }),
    ).rejects.toThrow('killed');
    const found = await (await synced()).booked('1048262', 'A1', day('2026-10-01'));
    expect([found?.balance, found?.rows.map(({ id }) => id)]).toEqual([money('97.50'), ['c', 'b', 'a']]);
  });

  it('a sync that has not come to the last day has no balance', async () => {
    await sync(whole);
    await sync(async (to) => {
      await to.booked('A1', true);
      to.remember('A1', DAYS, day('2026-10-01'));
    });
    expect((await (await synced()).booked('1048262', 'A1', day('2026-10-01')))?.balance).toBeNull();
  });
});
