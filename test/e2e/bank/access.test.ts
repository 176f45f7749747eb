import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, readDocument, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { callsOf } from '../support/verbose.ts';

const ACCOUNT = '0010482620';
const CC = ['--grant', 'client_credentials'];

describe('a bank that checks roles and limits', () => {
  const operator = keepRunning(
    useLoggedIn(['--roles', 'AISP', '--daily-limit', '3', '--no-enforce-consents'], 'none'),
  );
  const status = () => operator.json(shapes.applicationLogin, ['auth', 'status', ...CC]);

  it('the bank counts the calls with client credentials; psd2 warns before the limit, and exits with 10 when it is reached', async () => {
    const login = await operator.json(shapes.applicationLogin, ['auth', 'login', '--client-credentials']);
    expect(login).toMatchObject({
      callsToday: 0,
      dailyLimit: null,
      refreshTokenExpiresAt: null,
      customerId: '1048262',
    });
    const env = { PSD2_CC_DAILY_LIMIT: '3' };
    const call = () => operator.psd2(['accounts', 'list', ...CC, '--json'], { env });
    for (const already of [0, 1, 2]) {
      expect((await status()).callsToday).toBe(already);
      const ended = await call();
      expect(readDocument(shapes.accounts, ended.stdout)).toHaveLength(3);
      expect(ended.stderr).toBe('');
    }
    const refused = await call();
    expect(refused.stderr).toContain('psd2 has made 3 of the 3 calls a day with client credentials.');
    expect(readError(refused)).toMatchObject({
      exitCode: 10,
      httpStatus: 420,
      hint: expect.stringContaining('retry after'),
    });
    // A customer's own calls are not limited.
    expect(await operator.json(shapes.accounts, ['accounts', 'list'])).toHaveLength(3);
  });
});

describe('a bank that enforces consents, and gives tokens that are about to end', () => {
  // psd2 renews a token 30 seconds before its end.
  const operator = keepRunning(useLoggedIn(['--token-ttl', '30', '--no-rotation'], 'none'));

  it('psd2 refuses a balance without consent with 5, and shows it after a consent', async () => {
    const before = await operator.psd2(['accounts', 'balance', ACCOUNT, '--json']);
    expect(readError(before)).toMatchObject({
      exitCode: 5,
      bankCode: 'CONSENT_MISSING',
      hint: expect.stringContaining('psd2 consent request'),
    });
    await operator.json(shapes.consent, words`consent request --category ACCOUNT_INFO --account ${ACCOUNT}`);
    await operator.json(shapes.balance, ['accounts', 'balance', ACCOUNT]);
    const other = await operator.psd2(['accounts', 'balance', '0010482638', '--json']);
    expect(readError(other).exitCode).toBe(5);
  });

  it('if tokens are about to end, every call begins with a refresh, and the refresh token stays the same', async () => {
    const token = async () => (await operator.json(shapes.token, ['auth', 'token'])).accessToken;
    const [first, refreshToken] = [await token(), refreshTokenIn(operator.config)];
    expect(await token()).not.toBe(first);
    expect(refreshTokenIn(operator.config)).toBe(refreshToken);
    const ended = await operator.psd2(['customer', 'id', '--verbose']);
    expect(callsOf(ended).map(({ path }) => path)).toEqual([
      '/auth/oauth/v2/token',
      // Once to check whose the new token is, and once for the operator.
      '/private/customers/customerid-info',
      '/private/customers/customerid-info',
    ]);
  });
});

describe('tokens', () => {
  const operator = keepRunning(useLoggedIn());

  /** Logs out with --revoke, and then restores the tokens, as if they had been copied before. */
  async function revokeAndRestore(grant: string[]): Promise<unknown> {
    const [tokens, copy] = [join(operator.config, 'tokens'), join(operator.folder, 'copy')];
    cpSync(tokens, copy, { recursive: true });
    const { revoked } = await operator.json(shapes.logout, ['auth', 'logout', '--revoke', ...grant]);
    const status = await operator.psd2(['auth', 'status', '--json', ...grant]);
    expect(readError(status)).toMatchObject({ exitCode: 4, code: 'not_logged_in' });
    rmSync(tokens, { recursive: true });
    cpSync(copy, tokens, { recursive: true });
    rmSync(copy, { recursive: true });
    return revoked;
  }

  const read = (...args: string[]) =>
    operator.psd2(['api', 'GET', '/private/customers/1048262/accounts', '--json', '--verbose', ...args]);

  it('revoked tokens of a customer work neither for a call nor for a refresh', async () => {
    expect(await revokeAndRestore([])).toEqual(['refresh_token', 'access_token']);
    const ended = await read();
    expect(readError(ended).exitCode).toBe(4);
    expect(callsOf(ended).map(({ path, outcome }) => `${path} ${outcome}`)).toEqual([
      '/private/customers/1048262/accounts 401',
      '/auth/oauth/v2/token 400',
    ]);
  });
});

/** The only stored refresh token. */
function refreshTokenIn(config: string): string {
  const folder = join(config, 'tokens');
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .flatMap(({ parentPath, name }) => {
      const [, token] =
        /"refreshToken":\s*"([^"]+)"/.exec(readFileSync(join(parentPath, name), 'utf8')) ?? [];
      return token === undefined ? [] : [token];
    });
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}
