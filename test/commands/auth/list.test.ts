import { describe, expect, it, vi } from 'vitest';
import { authList, list } from '../../../src/commands/auth/list.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { keepConsent, storeLogin } from '../access.ts';
import { type How, openCommand, runIn, useFolder } from '../command.ts';
import { bankWhere } from '../named-bank.ts';

const folder = useFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const [BEFORE, AFTER] = ['2026-11-21T11:59:59.999Z', '2026-11-21T12:00:00.001Z'];
const NAMED = { find: bankWhere({ customers: 'named by the operator' }) };

it.each([
  ['good', { accessTokenExpiresAt: AFTER }],
  ['to be renewed', { accessTokenExpiresAt: BEFORE, refreshTokenExpiresAt: AFTER }],
  ['to be renewed', { accessTokenExpiresAt: NOW, refreshTokenExpiresAt: AFTER }],
  ['expired', { accessTokenExpiresAt: BEFORE, refreshTokenExpiresAt: BEFORE }],
  ['to be renewed', { accessTokenExpiresAt: BEFORE, refreshTokenExpiresAt: null }],
  ['expired', { accessTokenExpiresAt: BEFORE, refreshToken: null, refreshTokenExpiresAt: null }],
  ['not known', { accessTokenExpiresAt: null, refreshTokenExpiresAt: null }],
])('psd2 auth list says %j of a login with %j', async (validity, ends) => {
  const { context, printed } = openCommand(folder, NOW, { format: 'table' });
  await storeLogin(context, '1000001', ends);
  await authList(context);
  expect(printed().split('\t').slice(0, 4)).toEqual(['*', '1000001', 'authorization_code', validity]);
});

/** What `psd2 auth list` prints, and what it says beside that. */
async function listed(how: How = {}) {
  const { context, printed, said } = openCommand(folder, NOW, how);
  await authList(context);
  return { printed: printed(), said: said() };
}

const login = (customerId: string | null, more: object = {}) => ({
  ...{ profile: 'env', grantType: 'authorization_code', customerId, scope: null },
  ...{ accessTokenExpiresAt: null, refreshTokenExpiresAt: null, ...more },
});

describe('as JSON', () => {
  it('the customers are sorted, the application comes last, and no token is there', async () => {
    const { context } = openCommand(folder, NOW);
    await storeLogin(context, '1000002', { scope: 'all' });
    await storeLogin(context, '1000001', { accessTokenExpiresAt: AFTER });
    await storeLogin(context, null, { accessTokenExpiresAt: AFTER });
    const { printed, said } = await listed();
    const data: unknown = JSON.parse(printed);
    const application = { grantType: 'client_credentials', accessTokenExpiresAt: AFTER };
    expect(data).toEqual([
      login('1000001', { accessTokenExpiresAt: AFTER }),
      login('1000002', { scope: 'all' }),
      login(null, { ...application, callsToday: 0, dailyLimit: null }),
    ]);
    expect(list.prints?.shape.is(data)).toBe(true);
    expect(said).toBe('');
  });

  it('a refusal is there, and takes the end of the refresh token away', async () => {
    const { context } = openCommand(folder, NOW);
    await storeLogin(context, '1000001', { refreshTokenExpiresAt: AFTER });
    await storeLogin(context, '1000002', { refreshTokenExpiresAt: AFTER });
    const { tokens, notes } = await context.store();
    const stored = await tokens.login('1000001');
    if (stored) await notes.refreshRefused('1000001', stored, { at: BEFORE, message: 'Revoked' });
    await notes.callRefused('1000002', { at: BEFORE, message: 'No consent' });
    expect(JSON.parse((await listed()).printed)).toEqual([
      login('1000001', { refused: { what: 'refresh', at: BEFORE, message: 'Revoked' } }),
      login('1000002', {
        refreshTokenExpiresAt: AFTER,
        refused: { what: 'call', at: BEFORE, message: 'No consent' },
      }),
    ]);
    const rows = (await listed({ format: 'table' })).printed.split('\n');
    expect(rows.map((row) => row.split('\t')[3])).toEqual(['renewal refused', 'call refused', undefined]);
    // It belongs to the login that it met, not to a newer one.
    await storeLogin(context, '1000001', { accessTokenExpiresAt: AFTER, refreshTokenExpiresAt: AFTER });
    expect((await listed({ format: 'table' })).printed.split('\t')[3]).toBe('good');
  });
});

describe('without a login', () => {
  it('the list is empty, and a person reads why', async () => {
    expect(await listed()).toEqual({ printed: '[]\n', said: '' });
    expect(await listed({ format: 'table' })).toEqual({
      ...{ printed: '', said: 'Nobody is logged in with this profile.\n' },
    });
  });

  it('logins at another base URL are a warning, and only if there is none here', async () => {
    const old = { env: { PSD2_BASE_URL: 'https://old.bank.example' } };
    await storeLogin(openCommand(folder, NOW, old).context, '1000001');
    const elsewhere = '1 login of this profile belongs to https://old.bank.example/.\n';
    expect(await listed()).toEqual({ printed: '[]\n', said: elsewhere });
    await storeLogin(openCommand(folder, NOW).context, '1000002');
    expect((await listed()).said).toBe('');
  });
});

describe('at a terminal', () => {
  it('the customer of the last login has a mark, and ends are in local time', async () => {
    const { context } = openCommand(folder, NOW);
    await storeLogin(context, '1000001', { accessTokenExpiresAt: AFTER });
    await storeLogin(context, '1000002', { accessTokenExpiresAt: BEFORE, refreshTokenExpiresAt: AFTER });
    const { tokens } = await context.store();
    await tokens.remember('1000001');
    const { printed } = await listed({ format: 'table', columns: 140 });
    const [, ...rows] = printed.trimEnd().split('\n');
    // In the zone of the operator.
    const time = '2026-11-2\\d \\d\\d:\\d\\d';
    expect(rows[0]).toMatch(new RegExp(`^\\* +1000001 +authorization_code +good +${time} *$`));
    expect(rows[1]).toMatch(new RegExp(`^ +1000002 +authorization_code +to be renewed +${time} +${time} *$`));
  });

  it('nobody is the customer of the last login if nobody has logged in last', async () => {
    const { context } = openCommand(folder, NOW);
    await storeLogin(context, null, { accessTokenExpiresAt: AFTER });
    const { printed } = await listed({ format: 'table' });
    expect(printed.split('\t').slice(0, 4)).toEqual([' ', '', 'client_credentials', 'good']);
  });

  it('each column has a title, and in a narrow one the end of the access token goes first, then the grant', async () => {
    await storeLogin(openCommand(folder, NOW).context, '1000001', {
      ...{ accessTokenExpiresAt: AFTER, refreshTokenExpiresAt: AFTER },
    });
    const titles = async (columns: number) =>
      (await listed({ format: 'table', columns })).printed.split('\n')[0]?.trim().split(/ {2,}/);
    expect(await titles(100)).toEqual([
      ...['CUSTOMER', 'GRANT', 'TOKEN', 'ACCESS TOKEN UNTIL', 'REFRESH TOKEN UNTIL'],
    ]);
    expect(await titles(70)).toEqual(['CUSTOMER', 'GRANT', 'TOKEN', 'REFRESH TOKEN UNTIL']);
    expect(await titles(45)).toEqual(['CUSTOMER', 'TOKEN', 'REFRESH TOKEN UNTIL']);
  });
});

it('an error that is not about the key ends the list', async () => {
  const { context } = openCommand(folder, NOW, { format: 'table' });
  await storeLogin(context, '1000001', { accessTokenExpiresAt: BEFORE });
  const { tokens } = await context.store();
  const read = vi.spyOn(tokens, 'read');
  for (const error of [
    new Psd2Error('interrupted', 'Interrupted'),
    Object.assign(new TypeError('A fault'), { code: 'config' }),
  ]) {
    read.mockRejectedValueOnce(error);
    await expect(authList(context)).rejects.toBe(error);
  }
});

it('without the key of the profile nobody knows whether an ended login has a refresh token', async () => {
  const env = { PSD2_CONFIG_PASSPHRASE: 'secret' };
  const { context } = openCommand(folder, NOW, { env });
  await storeLogin(context, '1000001', { accessTokenExpiresAt: BEFORE });
  await runIn(openCommand(folder, NOW, { env }).context, 'profile', 'protect', 'env', '--passphrase');
  const validity = async (how: object) => (await listed({ format: 'table', ...how })).printed.split('\t')[3];
  expect(await validity({ env })).toBe('to be renewed');
  expect(await validity({})).toBe('not known');
});

it('where the operator names the customers, those with a record alone are there too, each with the newest consent', async () => {
  const { context } = openCommand(folder, NOW);
  const validUntil = parseDate('a day', '2027-01-31');
  await (await context.store()).customers.change('cleo', (before) => before);
  await keepConsent(context, 'bea', 'co-1');
  await keepConsent(context, 'bea', 'co-2', { validUntil, accounts: ['DE1'], grantedAt: NOW });
  await keepConsent(context, 'ada', 'co-3');
  await storeLogin(context, 'bea', { accessTokenExpiresAt: AFTER });
  const { printed } = await listed(NAMED);
  const data: unknown = JSON.parse(printed);
  const given = { recurring: true, accounts: null, validUntil: null };
  expect(data).toEqual([
    login('ada', { consent: { flow: 'co-3', ...given } }),
    login('bea', {
      accessTokenExpiresAt: AFTER,
      consent: { flow: 'co-2', ...given, accounts: ['DE1'], validUntil: '2027-01-31' },
    }),
    login('cleo', { consent: null }),
  ]);
  expect(list.prints?.shape.is(data)).toBe(true);

  const table = await listed({ ...NAMED, format: 'table', columns: 160 });
  const lines = table.printed
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^[* ] +/, ''));
  expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
    ['CUSTOMER', 'GRANT', 'TOKEN', 'ACCESS TOKEN UNTIL', 'CONSENT'],
    ['ada', 'authorization_code', 'none', 'co-3'],
    ['bea', 'authorization_code', 'good', expect.stringContaining('2026-11-21'), 'co-2 until 2027-01-31'],
    ['cleo', 'authorization_code', 'none'],
  ]);
});
