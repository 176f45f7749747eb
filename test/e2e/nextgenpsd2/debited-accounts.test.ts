import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { accounts, useSecondDoor } from './second-door-customer.ts';

// Payments name the IBAN of the account. The operator may name its id: psd2 asks the bank once.

const PAYEE = ['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', '1.00'];
/** The customer is present, so readings do not count. */
const PRESENT = ['--psu-ip', '192.0.2.7'];
const calls = z.array(z.looseObject({ method: z.string(), path: z.string() }));

describe('an account that the operator names by its id', () => {
  const operator = useSecondDoor([]);
  const accountsOf = (customer: string) =>
    operator.json(accounts, ['accounts', 'list', '--customer', customer]);
  const pay = (customer: string, from: string, ...present: string[]) =>
    operator.psd2([
      'transfer',
      '--customer',
      customer,
      '--from',
      from,
      ...PAYEE,
      '--yes',
      '--json',
      ...present,
    ]);
  const check = (customer: string, account: string, ...present: string[]) =>
    operator.psd2([
      'funds',
      'check',
      '--customer',
      customer,
      '--account',
      account,
      '--amount',
      '1',
      '--json',
      ...present,
    ]);
  const readings = async () => {
    const made = await operator.json(calls, ['log']);
    return made.filter(({ method, path }) => method === 'GET' && path.endsWith('/v1/accounts')).length;
  };
  const consented = async (customer: string) => {
    await operator.request('--all-accounts', '--customer', customer);
    const [first] = await accountsOf(customer);
    return { id: first?.accountId ?? '', iban: first?.iban ?? '' };
  };

  it('that a list had is not read again for payments and confirmations of funds', async () => {
    const { id, iban } = await consented('anna');
    const before = await readings();
    for (let n = 0; n < 5; n += 1) expect(await pay('anna', id)).toMatchObject({ code: 0 });
    expect(JSON.parse((await check('anna', id)).stdout)).toMatchObject({
      account: iban,
      fundsAvailable: true,
    });
    expect(JSON.parse((await check('anna', iban.toLowerCase())).stdout)).toMatchObject({ account: iban });
    expect((await pay('anna', iban)).code).toBe(0);
    expect(await readings()).toBe(before);
  });

  it('is refused if the customer has no such account, or it has no IBAN, and nothing is paid', async () => {
    const { id } = await consented('berta');
    const card = (await accountsOf('berta')).find(({ iban }) => iban === null)?.accountId ?? '';
    for (const account of ['no-such-account', card])
      for (const ended of [
        await pay('berta', account, ...PRESENT),
        await check('berta', account, ...PRESENT),
      ]) {
        expect(ended.code).toBe(2);
        expect(readError(ended).message).toContain(account);
      }
    expect((await pay('berta', id)).code).toBe(0);
    expect((await check('berta', 'DE00370400440532013000')).stderr).toContain('wrong check digits');
    const listed = await operator.json(z.array(z.unknown()), ['transfer', 'list', '--customer', 'berta']);
    expect(listed).toHaveLength(1);
  });

  it('is read again after another consent, and not without one', async () => {
    const { id } = await consented('carla');
    expect((await pay('carla', id)).code).toBe(0);
    const before = await readings();
    const { flow } = await operator.request('--all-accounts', '--customer', 'carla');
    expect((await pay('carla', id)).code).toBe(0);
    expect(await readings()).toBe(before + 1);
    expect((await operator.psd2(['consent', 'delete', flow, '--yes'])).code).toBe(0);
    for (const ended of [await pay('carla', id), await check('carla', id)]) {
      expect(ended.code).toBe(4);
      expect(readError(ended).hint).toMatch(/(Give --from the|--account also takes the) IBAN/);
    }
    expect(await readings()).toBe(before + 1);
  });

  it('is kept with a customer whose accepted payment the bank may still reject', async () => {
    const { id, iban } = await consented('emil');
    expect((await pay('emil', id)).code).toBe(0);
    expect(readError(await operator.psd2(['customer', 'forget', 'emil', '--yes', '--json']))).toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^Customer emil has unfinished payments: tr-\w+ \(executed\)$/),
    });
    expect((await operator.psd2(['customer', 'export', 'emil', '--json'])).stdout).toContain(iban);
  });

  it('is forgotten with the customer', async () => {
    const { id, iban } = await consented('dora');
    expect((await pay('dora', id, '--instant', '--payee-verified')).code).toBe(0);
    const exported = await operator.psd2(['customer', 'export', 'dora', '--json']);
    expect(exported.stdout).toContain(iban);
    const forgotten = await operator.psd2(['customer', 'forget', 'dora', '--yes', '--json']);
    expect(forgotten, forgotten.stderr).toMatchObject({ code: 0 });
    expect((await operator.psd2(['customer', 'export', 'dora', '--json'])).stdout).not.toContain(iban);
    expect((await pay('dora', id)).code).toBe(4);
  });
});
