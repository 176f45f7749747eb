import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseDate } from '../../../src/domain/calendar.ts';
import { keepConsent, storeLogin } from '../access.ts';
import { cellsIn } from '../command.ts';
import { bankWhere } from '../named-bank.ts';
import { useOperatorOfEachTest } from '../operator.ts';

const operator = useOperatorOfEachTest();
const APPLICATION = { globals: { grant: 'client_credentials' as const } };
const STATUS = z.object({
  customerId: z.nullable(z.string()),
  refused: z.optional(z.object({ what: z.string(), message: z.string() })),
});
const status = (...how: Parameters<typeof operator.run>[1][]) =>
  operator.json(STATUS, ['auth', 'status'], ...how);

/** What the bank has refused to a holder's present login. */
async function refuse(holder: string | null, message: string): Promise<void> {
  const { tokens, notes } = await operator.open().context.store();
  const login = await tokens.login(holder);
  if (!login) throw new TypeError('The holder has no login');
  const at = operator.bank.clock.now().toISOString();
  await notes.refreshRefused(holder, login, { at, message });
  await notes.callRefused(holder, { at, message: 'A call' });
}

it('a new login of a customer forgets what the bank refused to the old one, and to nobody else', async () => {
  const [anna, bruno] = [await operator.logIn('anna'), await operator.logIn('bruno')];
  await refuse(anna, 'No to anna');
  await refuse(bruno, 'No to bruno');
  expect(await status({ globals: { customer: anna } })).toMatchObject({
    refused: { what: 'refresh', message: 'No to anna' },
  });
  await operator.runApproved(['auth', 'login'], 'anna');
  expect(await status()).toEqual({ customerId: anna });
  expect(await status({ globals: { customer: bruno } })).toMatchObject({
    refused: { what: 'refresh', message: 'No to bruno' },
  });
});

it("a new login of the application forgets the application's refusals, and a customer's stay", async () => {
  const anna = await operator.logIn('anna');
  await operator.run(['auth', 'login', '--client-credentials']);
  await refuse(null, 'No to the application');
  await refuse(anna, 'No to anna');
  expect((await status(APPLICATION)).refused?.message).toBe('No to the application');
  await operator.run(['auth', 'login', '--client-credentials']);
  expect(await status(APPLICATION)).toEqual({ customerId: anna });
  expect((await status()).refused?.message).toBe('No to anna');
});

it('a refused renewal is shown before a refused call, and a refused call alone', async () => {
  const { context } = operator.open();
  await storeLogin(context, '1');
  const { notes } = await context.store();
  await notes.callRefused('1', { at: '2026-11-21T10:00:00.000Z', message: 'A call' });
  expect((await status()).refused).toMatchObject({ what: 'call', message: 'A call' });
  await refuse('1', 'A renewal');
  expect((await status()).refused).toMatchObject({ what: 'refresh', message: 'A renewal' });
});

it.each([
  ['the option', { globals: { customer: '1' } }, '1'],
  ['nothing, which is the last login', {}, '2'],
])('the customer of auth status is that of %s', async (_, how, customerId) => {
  const { context } = operator.open();
  await storeLogin(context, '1');
  await storeLogin(context, '2');
  expect(await status(how)).toEqual({ customerId });
});

describe('as a person reads it', () => {
  const accessTokenExpiresAt = '2026-12-01T00:00:00.000Z';
  const refreshTokenExpiresAt = '2027-02-01T00:00:00.000Z';

  it('each value has a title, and what the bank has refused its time', async () => {
    const { context } = operator.open();
    await storeLogin(context, '1', { accessTokenExpiresAt, refreshTokenExpiresAt, scope: 'all' });
    const { notes } = await context.store();
    await notes.callRefused('1', { at: '2026-11-21T10:00:00.000Z', message: 'No consent' });
    const { printed } = await operator.run(['auth', 'status'], { format: 'table' });
    expect(cellsIn(printed())).toEqual([
      ['Profile', 'env'],
      ['Grant', 'authorization_code'],
      ['Customer', '1'],
      ['Scope', 'all'],
      ['Access token until', accessTokenExpiresAt],
      ['Refresh token until', refreshTokenExpiresAt],
      ['Refused', 'No consent (2026-11-21T10:00:00.000Z)'],
      ['Calls today', ''],
    ]);
    const drawn = await operator.run(['auth', 'status'], { format: 'table', columns: 100 });
    expect(drawn.printed()).toMatch(/^Access token until +2026-1\d-\d\d \d\d:\d\d$/m);
    expect(drawn.printed()).toMatch(/^Refresh token until +2027-0\d-\d\d \d\d:\d\d$/m);
  });

  it.each([
    [null, 'co-1'],
    ['2027-01-31', 'co-1 until 2027-01-31'],
  ])('a consent that ends at %j is: %s', async (end, text) => {
    const validUntil = end === null ? null : parseDate('a day', end);
    await keepConsent(operator.open().context, 'ada', 'co-1', { validUntil });
    const find = bankWhere({ customers: 'named by the operator' });
    const how = { find, globals: { customer: 'ada' }, format: 'table' } as const;
    const { printed } = await operator.run(['auth', 'status'], how);
    expect(cellsIn(printed())[3]).toEqual(['Consent', text]);
  });

  it("the application's login has no consent of its own, but that of the customer it acts for", async () => {
    const find = bankWhere({ customers: 'named by the operator' });
    const { context } = operator.open();
    const { tokens } = await context.store();
    await storeLogin(context, null, { accessTokenExpiresAt });
    const application = () => operator.json(z.unknown(), ['auth', 'status'], { find, ...APPLICATION });
    const known = { profile: 'env', grantType: 'client_credentials', scope: null, accessTokenExpiresAt };
    const ofDay = { refreshTokenExpiresAt: null, callsToday: 0, dailyLimit: null };
    expect(await application()).toEqual({ ...known, ...ofDay, customerId: null, consent: null });
    await keepConsent(context, 'ada', 'co-1');
    await tokens.remember('ada');
    expect(await application()).toMatchObject({ customerId: 'ada', consent: { flow: 'co-1' } });
  });
});

it('where the operator names the customers, tokens and records are shown, with the other or without', async () => {
  const find = bankWhere({ customers: 'named by the operator' });
  const { context } = operator.open();
  const accessTokenExpiresAt = '2026-12-01T00:00:00.000Z';
  for (const customer of ['ada', 'bob']) await storeLogin(context, customer, { accessTokenExpiresAt });
  const { customers } = await context.store();
  for (const customer of ['ada', 'cleo']) await customers.change(customer, (before) => before);
  const unknown = { profile: 'env', grantType: 'authorization_code', scope: null, consent: null };
  for (const [customerId, until] of [
    ['ada', accessTokenExpiresAt],
    ['bob', accessTokenExpiresAt],
    ['cleo', null],
  ] as const) {
    const how = { find, globals: { customer: customerId } };
    expect(await operator.json(z.unknown(), ['auth', 'status'], how)).toEqual({
      ...{ ...unknown, customerId, accessTokenExpiresAt: until, refreshTokenExpiresAt: null },
    });
  }
});
