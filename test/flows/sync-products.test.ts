import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { ago, type BankRow, money, PRODUCT, syncBank, synced, syncTarget, TODAY } from './sync-bank.ts';

const OTHER = 'CARD000001';

describe('the products of a customer', () => {
  it('sync stores the accounts, the balances and the pending rows of each product', async () => {
    const pending = [{ day: ago(1), text: 'pending' }];
    const { bank } = syncBank({ products: [PRODUCT, OTHER], pending });
    const { target, stored } = syncTarget();
    const none = { late: 0, coming: 0, cancelled: 0, vanished: 0, changed: 0 };
    const check = { balanced: null, difference: null, complete: true, certainFrom: null, ...none };
    expect(await synced(bank, target)).toEqual({
      ...{ accounts: 2, newTransactions: 0, pending: 2, skipped: [], failures: [] },
      checks: [PRODUCT, OTHER].map((productId) => ({ productId, ...check })),
    });
    expect(stored.replaced).toMatchObject({
      accounts: [{ productId: PRODUCT }, { productId: OTHER }],
      balances: [
        { productId: PRODUCT, accountBalance: money },
        { productId: OTHER, accountBalance: money },
      ],
      [`pending/${PRODUCT}`]: [{ details: 'pending' }],
      [`pending/${OTHER}`]: [{ details: 'pending' }],
    });
  });

  it.each([
    ['of today', undefined, money],
    ['of the days that were read again', ago(3), money],
    ['of an earlier day', ago(20), undefined],
    ['of no day', null, undefined],
  ])('a balance %s is the one that the rows lead to, or not', async (_, bookedDay, balance) => {
    const { bank } = syncBank({});
    const { accounts } = bank;
    const read: typeof accounts.balance = async (...of) => ({
      ...(await accounts.balance(...of)),
      ...(bookedDay !== undefined && { bookedDay }),
    });
    const { target, stored } = syncTarget();
    await synced({ ...bank, accounts: { ...accounts, balance: read } }, target);
    expect(stored.balance).toEqual(balance);
  });

  it('if a product is not due, sync replaces only the balances of the others', async () => {
    const { bank, calls } = syncBank({ products: [PRODUCT, OTHER] });
    const { target, stored } = syncTarget();
    const mayRead = async (productId: string) => productId !== PRODUCT;
    expect(await synced(bank, target, { mayRead })).toMatchObject({ accounts: 2, skipped: [PRODUCT] });
    expect(Object.keys(stored.replaced)).toEqual(['accounts', `pending/${OTHER}`, `balances/${OTHER}`]);
    const [balance] = stored.replaced[`balances/${OTHER}`] ?? [];
    expect(balance).toMatchObject({ accountBalance: money });
    expect(balance).not.toHaveProperty('productId');
    expect(calls.filter(({ pathname }) => pathname.includes(PRODUCT))).toEqual([]);
  });

  it('a product whose reads the bank says are used up is skipped, and keeps what was stored of it', async () => {
    const onCall = (path: string) => {
      if (path.includes(PRODUCT))
        throw new Psd2Error('too_many_calls', 'The bank allows no more', { lasts: true });
    };
    const { bank } = syncBank({ products: [PRODUCT, OTHER], onCall });
    const { target, stored } = syncTarget();
    expect(await synced(bank, target)).toMatchObject({ accounts: 2, skipped: [PRODUCT], failures: [] });
    expect(Object.keys(stored.replaced)).toEqual(['accounts', `pending/${OTHER}`, `balances/${OTHER}`]);
  });

  it('a product that the bank fails on is named, and the others are read', async () => {
    const onCall = (path: string) => {
      if (path.includes(PRODUCT)) throw new Psd2Error('bank_failing', 'The bank failed');
    };
    const { bank } = syncBank({ products: [PRODUCT, OTHER], onCall });
    const { target, stored } = syncTarget();
    const { failures } = await synced(bank, target);
    expect(failures).toMatchObject([{ productId: PRODUCT, error: { code: 'bank_failing' } }]);
    expect(Object.keys(stored.replaced)).toContain(`pending/${OTHER}`);
  });

  it('a product that the consent does not cover fails alone, and a refused login ends the sync', async () => {
    const failing = (refusal: 'other' | 'unread') => {
      const onCall = (path: string) => {
        if (path.includes(PRODUCT)) throw new Psd2Error('not_logged_in', 'No', { refusal });
      };
      return synced(syncBank({ products: [PRODUCT, OTHER], onCall }).bank, syncTarget().target);
    };
    expect(await failing('other')).toMatchObject({ skipped: [], failures: [{ productId: PRODUCT }] });
    await expect(failing('unread')).rejects.toMatchObject({ code: 'not_logged_in' });
  });

  it('if an error ends the sync of the customer, sync names the products that it skipped or that failed before', async () => {
    const [forbidden, skipped, stops, after] = ['FORBIDDEN', 'SKIPPED', 'STOPS', 'AFTER'] as const;
    const onCall = (path: string) => {
      if (path.includes(forbidden)) throw new Psd2Error('forbidden', 'No');
      if (path.includes(stops)) throw new Psd2Error('not_logged_in', 'No');
    };
    const { bank } = syncBank({ products: [forbidden, skipped, stops, after], onCall });
    const stopped: unknown[] = [];
    const sync = synced(bank, syncTarget().target, {
      mayRead: async (productId) => productId !== skipped,
      onStopped: (at) => stopped.push(at),
    });
    await expect(sync).rejects.toMatchObject({ code: 'not_logged_in' });
    expect(stopped).toMatchObject([
      {
        unread: [stops, after],
        skipped: [skipped],
        failures: [{ productId: forbidden, error: { code: 'forbidden' } }],
      },
    ]);
  });

  it.each(['1', 'A'.repeat(35), ' 1', '1\n'])(
    'the product id %j is stored, without blanks around it',
    async (productId) => {
      const { bank } = syncBank({ products: [productId] });
      const { target, stored } = syncTarget();
      await synced(bank, target);
      expect(Object.keys(stored.replaced)).toContain(`pending/${productId.trim()}`);
    },
  );

  it.each(['../1', '1/..', '1.', 'A'.repeat(36)])(
    'the product id %j is refused before anything is stored, because files get its name',
    async (productId) => {
      const { bank, calls } = syncBank({ products: [PRODUCT, productId] });
      const { target, stored } = syncTarget();
      await expect(synced(bank, target)).rejects.toMatchObject({
        code: 'bank_answer',
        message: `The bank sent an account with the invalid id ${JSON.stringify(productId)}`,
        transactionId: 't',
      });
      expect(stored.replaced).toEqual({});
      expect(calls).toHaveLength(1);
    },
  );
});

describe('an error with one product', () => {
  const syncWith = async (error: unknown, where: string) => {
    const { bank, calls } = syncBank({
      products: [PRODUCT, OTHER],
      onCall: (path) => {
        if (path.includes(PRODUCT) && path.includes(where)) throw error;
      },
    });
    const { target, stored } = syncTarget();
    return { stored, calls, run: () => synced(bank, target) };
  };

  it.each(['forbidden', 'sca_required', 'bank_refused', 'bank_answer', 'list_changed'] as const)(
    'sync reports %s with the product, and syncs the others',
    async (code) => {
      const error = new Psd2Error(code, 'Not this product');
      const { stored, run } = await syncWith(error, '/transactions/');
      expect(await run()).toMatchObject({ failures: [{ productId: PRODUCT, error }], skipped: [] });
      expect(stored.remembered).toHaveLength(1);
    },
  );

  it.each(['forbidden', 'bank_failing', 'bank_answer'] as const)(
    'a balance that cannot be read (%s) is told, and the transactions are read all the same',
    async (code) => {
      const { stored, run } = await syncWith(new Psd2Error(code, 'No balance'), '/balance/');
      const message = 'The balance could not be read: No balance';
      expect(await run()).toMatchObject({ failures: [{ productId: PRODUCT, error: { code, message } }] });
      expect(stored.remembered).toHaveLength(2);
      expect(stored.replaced.balances).toMatchObject([
        { productId: PRODUCT, accountBalance: null, reason: 'No balance' },
        { productId: OTHER, accountBalance: money },
      ]);
    },
  );

  it.each([
    new Psd2Error('bank_unreachable', 'The bank could not be reached'),
    new Psd2Error('not_logged_in', 'The login has ended'),
    new Psd2Error('interrupted', 'Interrupted'),
    new TypeError('a mistake in psd2'),
  ])('%s ends the sync, because it does not concern only one product', async (error) => {
    const { stored, calls, run } = await syncWith(error, '/balance/');
    await expect(run()).rejects.toBe(error);
    expect(Object.keys(stored.replaced)).toEqual(['accounts']);
    expect(calls.filter(({ pathname }) => pathname.includes(OTHER))).toEqual([]);
  });

  it('if the rows change during each of three readings, psd2 does not read them a fourth time', async () => {
    // Each page begins as the one before it ended, as if a row had been booked meanwhile, and no reading is like another.
    let readings = 0;
    const rows: BankRow[] = [];
    const { bank, ranges } = syncBank({
      booked: rows,
      pageSize: 2,
      onCall: (path) => {
        if (!path.includes('/transactions/') || path.includes('next')) return;
        readings += 1;
        const text = `row of reading ${readings}`;
        rows.splice(0, rows.length, ...[1, 2, 3].map(() => ({ day: TODAY, text })));
      },
    });
    const { target, stored } = syncTarget();
    expect(await synced(bank, target)).toMatchObject({
      failures: [{ productId: PRODUCT, error: expect.objectContaining({ code: 'list_changed' }) }],
    });
    expect(ranges).toHaveLength(3);
    expect(stored.appended).toEqual([]);
  });
});

describe('the rows of a product', () => {
  const appendedFrom = async (booked: BankRow[], since = ago(89)) => {
    const { bank } = syncBank({ booked, ignoresRange: true });
    const { target, stored } = syncTarget();
    await synced(bank, target, { since });
    return stored.appended.flat();
  };

  it('sync stores rows by their booking day, those without one first, and rows of one day oldest first', async () => {
    const booked = [
      { day: ago(2), text: 'e' },
      { day: ago(1), text: 'g' },
      { day: null, text: 'b' },
      { day: ago(2), text: 'd' },
      { day: ago(1), text: 'f' },
      { day: null, text: 'a' },
      { day: ago(2), text: 'c' },
    ];
    expect((await appendedFrom(booked)).join('')).toBe('abcdefg');
  });

  it('sync stores rows that are older than what it asked for, too', async () => {
    const booked = [0, 10, 39, 40, 41, 100].map((days) => ({ day: ago(days), text: `${days} days ago` }));
    const texts = ['100', '41', '40', '39', '10', '0'].map((days) => `${days} days ago`);
    expect(await appendedFrom([...booked, { day: null, text: 'no day' }], ago(10))).toEqual([
      'no day',
      ...texts,
    ]);
  });
});
