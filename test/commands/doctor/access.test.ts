import { expect, it } from 'vitest';
import { checkConsents, checkEndings, checkToken } from '../../../src/commands/doctor/access.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsent, storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const CUSTOMER = '1000001';
const products = [parseProductId('0000012345')];
const days = (count: number) => new Date(Date.parse(NOW) + count * 24 * 60 * 60 * 1000).toISOString();

it.each([
  ['ok', 'its refresh token lasts for 14 days', { refreshTokenExpiresAt: days(14) }],
  ['warn', 'its refresh token ends in less than 14 days', { refreshTokenExpiresAt: days(13.9) }],
  ['ok', 'the bank named no ends', {}],
  ['warn', 'it has an access token alone', { accessTokenExpiresAt: days(1), refreshToken: null }],
  ['fail', 'both tokens have ended', { accessTokenExpiresAt: days(-2), refreshTokenExpiresAt: days(-1) }],
] as const)('the doctor says %s of a login if %s', async (status, _, ends) => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  await storeLogin(context, CUSTOMER, ends);
  expect(await checkToken(context)).toMatchObject({ status });
});

it('the doctor says that an expiry is unknown if the bank named none', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  await storeLogin(context, CUSTOMER, { accessTokenExpiresAt: null, refreshTokenExpiresAt: null });
  expect(await checkToken(context)).toMatchObject({
    detail: `customer ${CUSTOMER}: access token: expiry unknown, refresh token: expiry unknown`,
  });
});

it('the doctor warns of a call that the bank did not allow, and fails if it refused to renew the login', async () => {
  const folder = newConfigFolder(temporary);
  const { context } = openCommand(folder, NOW);
  await storeLogin(context, CUSTOMER);
  const { tokens } = await context.store();
  const login = await tokens.login(CUSTOMER);
  if (!login) throw new TypeError('The login was not stored');
  const { notes } = (await context.wholeStore()).open('env');
  await notes.callRefused(CUSTOMER, { at: NOW, message: 'No consent' });
  expect(await checkToken(context)).toMatchObject({
    status: 'warn',
    fix: { next: [['consent', 'request']] },
  });
  await notes.refreshRefused(CUSTOMER, login, { at: NOW, message: 'Revoked' });
  expect(await checkToken(context)).toMatchObject({ status: 'fail', code: 'not_logged_in' });
});

it.each([
  ['2026-08-13T23:00:00.000Z', 'ok', 'ACCOUNT_INFO for 15 more days'],
  ['2026-08-14T00:00:00.000Z', 'warn', 'ACCOUNT_INFO for 14 more days'],
  ['2026-08-28T00:00:00.000Z', 'warn', 'ACCOUNT_INFO is older than 180 days'],
])('at %s, the doctor says %s of a consent of 1 March', async (now, status, detail) => {
  const folder = newConfigFolder(temporary);
  const { context } = openCommand(folder, NOW);
  await storeLogin(context, CUSTOMER);
  const asked = [
    { name: 'ACCOUNT_INFO' as const, products },
    { name: 'FUNDS_AVAILABILITY' as const, products },
  ];
  await storeConsent(context, CUSTOMER, asked, ['FUNDS_AVAILABILITY']);
  const later = openCommand(folder, now).context;
  // Another customer's consent is not this one's.
  await storeConsent(later, '1000002', [{ name: 'ACCOUNT_INFO', products }]);
  expect(await checkConsents(later)).toMatchObject({ status, detail });
});

it('the doctor counts the days of a consent that a person resolved from its request, as psd2 consent list does', async () => {
  const folder = newConfigFolder(temporary);
  const { context } = openCommand(folder, NOW);
  await storeLogin(context, CUSTOMER);
  const { flows } = await context.store();
  const begin = {
    transactionId: 't1',
    customerId: CUSTOMER,
    categories: [{ name: 'PAYMENTS' as const, products }],
  };
  const flow = await flows.begin('consent', begin, async (open) => {
    await open.record({
      type: 'requested',
      resourceId: 'r1',
      outcomes: [{ name: 'PAYMENTS', outcome: true }],
    });
    await open.record({ type: 'confirm-unanswered' });
    return open.current.flow;
  });
  const later = openCommand(folder, days(100)).context;
  await (await later.store()).flows.resume('consent', flow, (open) =>
    open.record({ type: 'resolved', outcome: 'executed', by: 'ada', note: null }),
  );
  expect(await checkConsents(later)).toMatchObject({ detail: 'PAYMENTS for 80 more days' });
});

it('the doctor warns of whatever ends within 14 days', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
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
  const folder = newConfigFolder(temporary);
  const { context } = openCommand(folder, NOW);
  await storeLogin(context, CUSTOMER);
  const both = [
    { name: 'ACCOUNT_INFO' as const, products },
    { name: 'PAYMENTS' as const, products },
  ];
  await storeConsent(context, CUSTOMER, both);
  // A second round: one of the two is renewed.
  await storeConsent(openCommand(folder, days(100)).context, CUSTOMER, [{ name: 'PAYMENTS', products }]);
  const check = await checkConsents(openCommand(folder, days(170)).context);
  expect(check).toMatchObject({
    status: 'warn',
    detail: 'PAYMENTS for 110 more days, ACCOUNT_INFO for 10 more days',
    fix: { next: [['consent', 'request', '--all-products', '--category', 'ACCOUNT_INFO']] },
  });
  const late = await checkConsents(openCommand(folder, days(275)).context);
  expect(late.fix?.next).toEqual([
    ['consent', 'request', '--all-products', '--category', 'PAYMENTS', '--category', 'ACCOUNT_INFO'],
  ]);
});

it('the doctor takes the customer of the option, else the one who logged in last', async () => {
  const folder = newConfigFolder(temporary);
  const { context } = openCommand(folder, NOW);
  await storeLogin(context, '1000001');
  await storeLogin(context, '1000002', { accessTokenExpiresAt: days(-2), refreshTokenExpiresAt: days(-1) });
  expect(await checkToken(context)).toMatchObject({ status: 'fail' });
  const named = openCommand(folder, NOW, { globals: { customer: '1000001' } }).context;
  expect(await checkToken(named)).toMatchObject({ status: 'ok' });
  const nobody = openCommand(folder, NOW, { globals: { customer: '1000003' } }).context;
  expect(await checkToken(nobody)).toMatchObject({ status: 'warn', fix: { next: [['auth', 'login']] } });
});
