import { describe, expect, it } from 'vitest';
import { consent } from '../../../src/commands/checks/consent.ts';
import { endings } from '../../../src/commands/checks/endings.ts';
import { login } from '../../../src/commands/checks/login.ts';
import type { Context } from '../../../src/commands/context.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import type { KeptConsent } from '../../../src/store/ports/customers.ts';
import { storeConsent, storeConsentFlow, storeLogin } from '../access.ts';
import { type How, openCommand, useFolder } from '../command.ts';
import { bankWhere } from '../named-bank.ts';
import { makeOne } from './make-one.ts';

const checkToken = async (context: Context) => (await makeOne(context, login)).token;
const checkConsents = async (context: Context) => (await makeOne(context, consent)).consents;
const checkEndings = async (context: Context) => (await makeOne(context, endings)).expiring;

const NOW = '2026-03-01T00:00:00.000Z';
const CUSTOMER = '1000001';
const products = [parseProductId('0000012345')];
const [ACCOUNT_INFO, FUNDS_AVAILABILITY, PAYMENTS] = [
  { name: 'ACCOUNT_INFO', products } as const,
  { name: 'FUNDS_AVAILABILITY', products } as const,
  { name: 'PAYMENTS', products } as const,
];
const folder = useFolder();
const open = (how?: How) => openCommand(folder, NOW, how).context;
const of = (customer: string) => ({ globals: { customer } });
const days = (count: number) => new Date(Date.parse(NOW) + count * 24 * 60 * 60 * 1000).toISOString();

it.each([
  ['2026-08-13T23:00:00.000Z', 'ok', 'ACCOUNT_INFO for 15 more days'],
  ['2026-08-14T00:00:00.001Z', 'warn', 'ACCOUNT_INFO for 14 more days'],
  ['2026-08-28T00:00:00.000Z', 'warn', 'ACCOUNT_INFO is older than 180 days'],
])('at %s, the doctor says %s of a consent of 1 March', async (now, status, detail) => {
  const context = open();
  await storeLogin(context, CUSTOMER);
  await storeConsent(context, CUSTOMER, [ACCOUNT_INFO, FUNDS_AVAILABILITY], ['FUNDS_AVAILABILITY']);
  const later = openCommand(folder, now).context;
  // Another customer's consent is not this one's.
  await storeConsent(later, '1000002', [ACCOUNT_INFO]);
  expect(await checkConsents(later)).toMatchObject({ status, detail });
});

it('the doctor counts the days of a consent that a person resolved from its request, as psd2 consent list does', async () => {
  const context = open();
  await storeLogin(context, CUSTOMER);
  const flow = await storeConsentFlow(
    context,
    { customerId: CUSTOMER, categories: [PAYMENTS] },
    { type: 'requested', resourceId: 'r1', outcomes: [{ name: 'PAYMENTS', outcome: true }] },
    { type: 'confirm-unanswered' },
  );
  const later = openCommand(folder, days(100)).context;
  await (await later.store()).flows.resume('consent', flow, (open) =>
    open.record({ type: 'resolved', outcome: 'executed', by: 'ada', note: null }),
  );
  expect(await checkConsents(later)).toMatchObject({ detail: 'PAYMENTS for 80 more days' });
});

it('the doctor warns of whatever ends within 14 days', async () => {
  const context = open();
  await storeLogin(context, CUSTOMER, { refreshTokenExpiresAt: days(14.1) });
  expect(await checkEndings(context)).toMatchObject({ status: 'ok' });
  await storeLogin(context, '1000002', { refreshTokenExpiresAt: days(13.9) });
  expect(await checkEndings(context)).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining('the login of customer 1000002 ends at'),
    fix: { next: [['expiring']] },
  });
});

it('of two consents of a category the newer one counts, and the command asks for what ends alone', async () => {
  const context = open();
  await storeLogin(context, CUSTOMER);
  await storeConsent(context, CUSTOMER, [ACCOUNT_INFO, PAYMENTS]);
  // A second round: one of the two is renewed.
  await storeConsent(openCommand(folder, days(100)).context, CUSTOMER, [PAYMENTS]);
  const check = await checkConsents(openCommand(folder, days(170)).context);
  expect(check).toMatchObject({
    status: 'warn',
    detail: 'PAYMENTS for 110 more days, ACCOUNT_INFO for 10 more days',
    fix: { next: [['consent', 'request', '--all-accounts', '--category', 'ACCOUNT_INFO']] },
  });
  const late = await checkConsents(openCommand(folder, days(275)).context);
  expect(late?.fix?.next).toEqual([
    ['consent', 'request', '--all-accounts', '--category', 'PAYMENTS', '--category', 'ACCOUNT_INFO'],
  ]);
});

it('the doctor takes the customer of the option, else the one who logged in last', async () => {
  const context = open();
  await storeLogin(context, '1000001');
  await storeLogin(context, '1000002', { accessTokenExpiresAt: days(-2), refreshTokenExpiresAt: days(-1) });
  expect(await checkToken(context)).toMatchObject({ status: 'fail' });
  const named = open(of('1000001'));
  expect(await checkToken(named)).toMatchObject({ status: 'ok' });
  const nobody = open(of('1000003'));
  expect(await checkToken(nobody)).toMatchObject({ status: 'warn', fix: { next: [['auth', 'login']] } });
});

const ACCESS = { accessTokenExpiresAt: days(1) };
const UNTIL = `access token until ${days(1)}`;
it.each([
  [{}, 'access token: expiry unknown, refresh token: expiry unknown', 'ok'],
  [{ ...ACCESS, refreshTokenExpiresAt: days(14) }, `${UNTIL}, refresh token until ${days(14)}`, 'ok'],
  [{ ...ACCESS, refreshTokenExpiresAt: days(13.9) }, `${UNTIL}, refresh token until ${days(13.9)}`, 'warn'],
  [{ ...ACCESS, refreshToken: null }, `${UNTIL}, without a refresh token to renew it`, 'warn'],
  [{ accessTokenExpiresAt: days(0), refreshTokenExpiresAt: days(0) }, 'the login has ended', 'fail'],
])('of a login with %j, the doctor says: %s', async (ends, detail, status) => {
  const context = open();
  await storeLogin(context, CUSTOMER, ends);
  const fix = status === 'ok' ? null : { next: [['auth', 'login']] };
  expect(await checkToken(context)).toEqual({
    ...{ status, detail: `customer ${CUSTOMER}: ${detail}`, fix },
    ...(status === 'fail' && { code: 'not_logged_in' }),
  });
});

describe('without a login', () => {
  const fix = { next: [['auth', 'login']] };

  it('nobody is logged in, and those who are logged in at another base URL are counted', async () => {
    const nobody = { status: 'warn', detail: 'nobody is logged in', fix };
    expect(await checkToken(open())).toEqual(nobody);
    await storeLogin(open({ env: { PSD2_BASE_URL: 'https://old.bank.example' } }), CUSTOMER);
    expect(await checkToken(open())).toEqual({
      ...nobody,
      detail: 'nobody is logged in; 1 login of this profile belongs to https://old.bank.example/',
    });
  });

  it('others who are logged in are named, also if psd2 has forgotten who was the last one', async () => {
    const context = open();
    await storeLogin(context, CUSTOMER);
    await storeLogin(context, '1000002');
    const named = open(of('1000003'));
    expect(await checkToken(named)).toEqual({
      ...{ status: 'warn', fix },
      detail: `customer 1000003 is not logged in; Logged in: ${CUSTOMER}, 1000002`,
    });
    const { personal } = await context.store();
    await personal.removeRows('1000002');
    expect(await checkToken(open())).toEqual({
      ...{ status: 'warn', fix },
      detail: `psd2 has forgotten who logged in last; Logged in: ${CUSTOMER}`,
    });
  });

  it('others who are logged in count more than those at another base URL', async () => {
    await storeLogin(open({ env: { PSD2_BASE_URL: 'https://old.bank.example' } }), '1000009');
    await storeLogin(open(), CUSTOMER);
    expect(await checkToken(open(of('1000003')))).toEqual({
      ...{ status: 'warn', fix },
      detail: `customer 1000003 is not logged in; Logged in: ${CUSTOMER}`,
    });
  });

  it('a bank where nobody logs in before a consent has nothing to check, but for a login that has ended', async () => {
    const skipped = {
      ...{ status: 'skip', fix: null },
      detail: 'customers of this bank do not log in before they consent',
    };
    for (const logsIn of ['nobody', 'application'] as const)
      expect(await checkToken(open({ find: bankWhere({ logsIn }) }))).toEqual(skipped);
    const context = open({ find: bankWhere({ logsIn: 'with a consent' }) });
    expect(await checkToken(context)).toEqual(skipped);
    await storeLogin(context, CUSTOMER, { accessTokenExpiresAt: days(-1), refreshToken: null });
    const next = [['consent', 'request']];
    expect(await checkToken(context)).toMatchObject({ status: 'fail', fix: { next } });
  });
});

it('what the bank has refused: a renewal counts more than a call, and each says when', async () => {
  const context = open();
  await storeLogin(context, CUSTOMER, { refreshTokenExpiresAt: days(20) });
  const { tokens, notes } = await context.store();
  await notes.callRefused(CUSTOMER, { at: NOW, message: 'No consent' });
  expect(await checkToken(context)).toEqual({
    ...{ status: 'warn', fix: { next: [['consent', 'request']] } },
    detail: `customer ${CUSTOMER}: the bank did not allow a call at ${NOW}: No consent`,
  });
  const login = await tokens.login(CUSTOMER);
  if (login) await notes.refreshRefused(CUSTOMER, login, { at: NOW, message: 'Revoked' });
  expect(await checkToken(context)).toEqual({
    ...{ status: 'fail', code: 'not_logged_in', fix: { next: [['auth', 'login']] } },
    detail: `customer ${CUSTOMER}: the bank refused to renew the login at ${NOW}: Revoked`,
  });
});

describe('the consents that readings use', () => {
  const find = bankWhere({ customers: 'named by the operator' });
  const fix = { next: [['consent', 'request', '--customer', 'ada']] };

  /** Checks a customer with these consents. */
  async function check(consents: Partial<KeptConsent>[] | 'no record', env = {}) {
    const how = { find, globals: { customer: 'ada' } };
    if (consents !== 'no record') {
      const { customers } = await open({ ...how, env }).store();
      const kept = consents.map(
        (each, index): KeptConsent => ({
          ...{ flow: `co-${index}`, consentId: `c${index}`, accounts: null, reads: ['accounts'] },
          ...{ validUntil: null, recurring: true, frequencyPerDay: 4, grantedAt: NOW, ...each },
        }),
      );
      await customers.change('ada', (before) => ({ ...before, consents: kept }));
    }
    return checkConsents(open(how));
  }
  const until = (text: string) => ({ validUntil: parseDate('a day', text) });

  it('a customer who has consented to confirmations of funds alone has what they need', async () => {
    const how = { find, globals: { customer: 'ada' } };
    const { customers } = await open(how).store();
    const funds = { flow: 'co-9', transactionId: 't', consentId: 'f', account: 'a', validUntil: null };
    await customers.change('ada', (before) => ({ ...before, funds: [{ ...funds, grantedAt: NOW }] }));
    const found = await checkConsents(open(how));
    expect(found).toMatchObject({ status: 'ok', detail: 'for confirmations of funds: co-9' });
  });

  const THREE = ['2026-02-28', '2026-03-02', '2027-01-01'].map(until);
  it.each<[string, Partial<KeptConsent>[] | 'no record', string, string]>([
    ['none, and is not known', 'no record', 'warn', 'customer ada has given no consent'],
    ['none that is left', [], 'warn', 'customer ada has no valid consent'],
    ['one that ended yesterday', [until('2026-02-28')], 'warn', 'customer ada: the consent has ended'],
    ['one without a last day', [{}], 'ok', 'co-0 until 2026-08-28'],
    [
      'one without a last day, and the 180 days are nearly over',
      [{ grantedAt: '2025-09-10T10:00:00.000Z' }],
      'warn',
      'co-0 until 2026-03-09',
    ],
    ['one that ends today', [until('2026-03-01')], 'warn', 'co-0 until 2026-03-01'],
    ['one that lasts 14 days', [until('2026-03-15')], 'ok', 'co-0 until 2026-03-15'],
    ['one that lasts 13 days', [until('2026-03-14')], 'warn', 'co-0 until 2026-03-14'],
    ['one for a single reading', [{ recurring: false }], 'warn', 'co-0 without an end'],
    [
      'one that lasts, as long as its SCA, beside two that do not',
      THREE,
      'ok',
      'co-1 until 2026-03-02, co-2 until 2026-08-28',
    ],
  ])('a customer has %s', async (_, consents, status, detail) => {
    expect(await check(consents)).toEqual({ status, detail, fix: status === 'ok' ? null : fix });
  });

  it('those at another base URL are counted', async () => {
    await check([{}], { PSD2_BASE_URL: 'https://old.bank.example' });
    expect(await check('no record', {})).toEqual({
      ...{ status: 'warn', fix },
      detail:
        'customer ada has given no consent; the consents of 1 customer of this profile belong to https://old.bank.example/',
    });
  });
});
