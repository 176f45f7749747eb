import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { token } from '../../../src/commands/auth/token.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { failureOf } from '../failure.ts';
import { bankWhere } from '../named-bank.ts';
import { useOperatorHere } from '../operator.ts';

const temporary = temporaryFolder();
const operator = useOperatorHere();
const ANNA = '1048262';
const APPLICATION = { globals: { grant: 'client_credentials' } } as const;

beforeEach(() => {
  operator.folder = newConfigFolder(temporary);
});

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
  });

  it('the end is null if the bank named none', async () => {
    await storeLogin(operator.open().context, ANNA, { accessToken: 'secret' });
    expect(await operator.json(printedToken, ['auth', 'token'])).toEqual({
      ...{ accessToken: 'secret', expiresAt: null },
    });
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
    const { customers } = await operator.open().context.store();
    const given = { flow: 'co-1', consentId: 'c1', accounts: null, reads: ['accounts'] as const };
    const terms = { validUntil: null, recurring: true, frequencyPerDay: 4 };
    const grantedAt = '2026-11-01T00:00:00.000Z';
    await customers.change('ada', (before) => ({
      ...before,
      consents: [{ ...given, reads: [...given.reads], ...terms, grantedAt }],
    }));
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
