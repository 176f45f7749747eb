import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { logout } from '../../../src/commands/auth/logout.ts';
import { token } from '../../../src/commands/auth/token.ts';
import { readCalls } from '../../../src/store/machine/call-log.ts';
import { auditedIn, keepConsent, storeLogin } from '../access.ts';
import { failureOf } from '../failure.ts';
import { bankWhere } from '../named-bank.ts';
import { useOperatorOfEachTest } from '../operator.ts';

const operator = useOperatorOfEachTest();
const [ANNA, BRUNO] = ['1048262', '2073915'];
const APPLICATION = { globals: { grant: 'client_credentials' } } as const;

const printedToken = z.object({ accessToken: z.string(), expiresAt: z.nullable(z.string()) });
const login = z.looseObject({
  grantType: z.string(),
  customerId: z.nullable(z.string()),
  accessTokenExpiresAt: z.string(),
});
const stored = async (holder: string | null) => {
  const { tokens } = await operator.open().context.store();
  return tokens.read(holder);
};

describe('psd2 auth token', () => {
  it('prints the token alone for a shell, and with its end as JSON', async () => {
    const until = '2100-01-01T00:00:00.000Z';
    await storeLogin(operator.open().context, ANNA, { accessToken: 'secret', accessTokenExpiresAt: until });
    const { printed } = await operator.run(['auth', 'token'], { format: 'table' });
    expect(printed()).toBe('secret\n');
    const found = await operator.json(printedToken, ['auth', 'token']);
    expect(found).toEqual({ accessToken: 'secret', expiresAt: until });
    expect(token.prints?.shape.is(found)).toBe(true);
    // The bank need not name an end.
    await storeLogin(operator.open().context, ANNA, { accessToken: 'other' });
    const endless = await operator.json(printedToken, ['auth', 'token']);
    expect(endless).toEqual({ accessToken: 'other', expiresAt: null });
  });

  it('without a login there is no token', async () => {
    expect(await failureOf(operator.run(['auth', 'token']))).toEqual({
      ...{ code: 'not_logged_in', exitCode: 4, message: 'Nobody is logged in with the profile "env"' },
      next: [['--profile', 'env', 'auth', 'login']],
    });
  });
});

describe('psd2 auth refresh', () => {
  it('gets a new token, even if the old one is still valid, and prints the login without it', async () => {
    const { refreshToken } = await operator.bank.tpp.login('anna');
    const until = '2100-01-01T00:00:00.000Z';
    await storeLogin(operator.open().context, ANNA, {
      ...{ accessToken: 'old', refreshToken, accessTokenExpiresAt: until },
    });
    const { printed } = await operator.run(['auth', 'refresh']);
    const now = await stored(ANNA);
    expect(now?.accessToken).not.toBe('old');
    expect(JSON.parse(printed())).toEqual({
      ...{ profile: 'env', grantType: 'authorization_code', customerId: ANNA, scope: now?.scope },
      accessTokenExpiresAt: now?.accessTokenExpiresAt,
      refreshTokenExpiresAt: now?.refreshTokenExpiresAt,
    });
    expect(now?.accessTokenExpiresAt).not.toBe(until);
  });

  it('with --grant client_credentials renews the token of the application', async () => {
    await operator.logIn('anna');
    await operator.run(['auth', 'login', '--client-credentials']);
    const [before, anna] = [await stored(null), await stored(ANNA)];
    const found = await operator.json(login, ['auth', 'refresh'], APPLICATION);
    expect(found).toMatchObject({ grantType: 'client_credentials', customerId: ANNA });
    expect((await stored(null))?.accessToken).not.toBe(before?.accessToken);
    expect(await stored(ANNA)).toEqual(anna);
  });

  it('without a login there is nothing to renew', async () => {
    expect(await failureOf(operator.run(['auth', 'refresh']))).toMatchObject({ code: 'not_logged_in' });
    expect(await failureOf(operator.run(['auth', 'refresh'], APPLICATION))).toEqual({
      ...{ code: 'not_logged_in', exitCode: 4, message: 'Nobody is logged in with the profile "env"' },
      next: [['--profile', 'env', 'auth', 'login', '--client-credentials']],
    });
  });
});

describe.each(['token', 'refresh'])('psd2 auth %s at a bank whose customers do not log in', (verb) => {
  const find = bankWhere({ customers: 'named by the operator', logsIn: 'nobody' });
  const failure = () => failureOf(operator.run(['auth', verb], { find, globals: { customer: 'ada' } }));
  const refused = {
    ...{ code: 'not_logged_in', exitCode: 4 },
    message:
      'This bank gives no tokens, because its customers do not log in: readings need their consent alone',
  };

  it('leads to the consent that there is', async () => {
    await keepConsent(operator.open().context, 'ada', 'co-1');
    expect(await failure()).toEqual({
      ...refused,
      hint: 'See the consent with:',
      next: [['auth', 'status', '--customer', 'ada']],
    });
  });

  it('asks for the first one if there is none', async () => {
    expect(await failure()).toEqual({
      ...refused,
      hint: 'Ask the customer for one:',
      next: [['consent', 'request', '--customer', 'ada']],
    });
  });
});

const revoked = z.object({ profile: z.literal('env'), revoked: z.array(z.string()) });
const audited = async () => auditedIn(await operator.json(z.unknown(), ['audit']));
const logOut = (...how: Parameters<typeof operator.run>[1][]) =>
  operator.json(revoked, ['auth', 'logout'], ...how);
const loggedIn = async () => {
  const { tokens } = await operator.open().context.store();
  return (await tokens.logins()).map(({ customerId }) => customerId);
};

it('forgets the tokens of one customer, asks the bank for nothing, and the audit log says so', async () => {
  const { context } = operator.open();
  await storeLogin(context, BRUNO);
  await storeLogin(context, ANNA);
  const printed = await logOut();
  expect(printed).toEqual({ profile: 'env', revoked: [] });
  expect(logout.prints?.shape.is(printed)).toBe(true);
  expect(await loggedIn()).toEqual([BRUNO]);
  expect([...readCalls(operator.folder.log)]).toEqual([]);
  expect(await audited()).toEqual([['logged-out', ANNA, 'authorization_code']]);
});

it('--customer names who is logged out; the second time is an error, and names who else is logged in', async () => {
  await storeLogin(operator.open().context, ANNA);
  await storeLogin(operator.open().context, BRUNO);
  await logOut({ globals: { customer: ANNA } });
  expect(await loggedIn()).toEqual([BRUNO]);
  expect(await failureOf(logOut({ globals: { customer: ANNA } }))).toEqual({
    ...{ code: 'not_logged_in', exitCode: 4 },
    message: `The customer ${ANNA} is not logged in with the profile "env"`,
    hint: `Logged in: ${BRUNO}. Or run:`,
    next: [['--profile', 'env', 'auth', 'login']],
  });
});

it.each([
  [[], 'Logged out.'],
  [['--revoke'], 'Logged out; the bank has revoked refresh_token and access_token.'],
])('with %j a person reads: %s', async (words, text) => {
  await operator.logIn('anna');
  const { said, printed } = await operator.run(['auth', 'logout', ...words], { format: 'table' });
  expect([printed(), said()]).toEqual(['', `${text}\n`]);
  expect(await loggedIn()).toEqual([]);
});

it('--revoke asks the bank for the access token alone if there is no other', async () => {
  const { accessToken } = await operator.bank.tpp.login('anna');
  await storeLogin(operator.open().context, ANNA, { accessToken, refreshToken: null });
  expect(await operator.json(revoked, ['auth', 'logout', '--revoke'])).toEqual({
    ...{ profile: 'env', revoked: ['access_token'] },
  });
});

it('if the bank cannot be reached, --revoke keeps the tokens, and a logout without it forgets them', async () => {
  const env = { PSD2_BASE_URL: 'https://127.0.0.1:1' };
  await storeLogin(operator.open({ env }).context, ANNA);
  const command = operator.run(['auth', 'logout', '--revoke'], { env });
  expect(await failureOf(command)).toMatchObject({ code: 'bank_unreachable', exitCode: 11 });
  expect(await logOut({ env })).toEqual({ profile: 'env', revoked: [] });
});

it('logs the application out, and no customer', async () => {
  await operator.run(['auth', 'login', '--client-credentials']);
  await storeLogin(operator.open().context, ANNA);
  await logOut(APPLICATION);
  expect(await loggedIn()).toEqual([ANNA]);
  expect(await failureOf(logOut(APPLICATION))).toEqual({
    ...{ code: 'not_logged_in', exitCode: 4, message: 'Nobody is logged in with the profile "env"' },
    next: [['--profile', 'env', 'auth', 'login', '--client-credentials']],
  });
  const entry = [expect.any(String), null, 'client_credentials'];
  expect(await audited()).toEqual([entry, entry]);
});

describe('at a bank where the operator names the customers', () => {
  const how = { find: bankWhere({ customers: 'named by the operator' }) };
  const note = async (...flows: string[]) => {
    const { context } = operator.open();
    await (await context.store()).customers.change('ada', (before) => before);
    for (const flow of flows) await keepConsent(context, 'ada', flow);
  };
  const ada = { ...how, globals: { customer: 'ada' } };
  const stays = (...flows: string[]) =>
    `The consent stays in force at the bank. End it with:\n${flows.map((flow) => `  psd2 consent delete ${flow}\n`).join('')}`;

  it('a customer who is only noted has no tokens to forget, and that is no error', async () => {
    await note();
    const { said, printed } = await operator.run(['auth', 'logout'], { ...ada, format: 'table' });
    expect([printed(), said()]).toEqual(['', 'There are no tokens to forget.\n']);
    expect(await logOut(ada)).toEqual({ profile: 'env', revoked: [] });
  });

  it('the consents of such a customer stay, and psd2 says how to end each', async () => {
    await note('co-1', 'co-2');
    const { customers } = await operator.open().context.store();
    const funds = { flow: 'co-3', consentId: 'f1', validUntil: null, transactionId: 't1', account: 'A' };
    await customers.change('ada', (before) => ({
      ...before,
      funds: [{ ...funds, grantedAt: '2026-11-01T00:00:00.000Z' }],
    }));
    const { said } = await operator.run(['auth', 'logout'], ada);
    expect(said()).toBe(stays('co-1', 'co-2', 'co-3'));
  });

  it('a customer with tokens and a consent loses the tokens, and the consent stays', async () => {
    await note('co-1');
    await storeLogin(operator.open().context, 'ada');
    const { said, printed } = await operator.run(['auth', 'logout'], ada);
    expect([JSON.parse(printed()), said()]).toEqual([{ profile: 'env', revoked: [] }, stays('co-1')]);
    expect(await loggedIn()).toEqual([]);
  });

  it('a customer whom nobody has noted is not logged in', async () => {
    expect(await failureOf(logOut(ada))).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
  });
});
