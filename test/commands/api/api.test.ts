import { expect, inject, it } from 'vitest';
import type { RawGlobals } from '../../../src/cli/globals.ts';
import { type ApiOptions, makeCall } from '../../../src/commands/api/api.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const keys = await loadOrCreateRegistration(inject('registration'));
const env = {
  ...{ PSD2_APP_NAME: 'app', PSD2_QWAC_CERT: keys.qwacCertFile, PSD2_QWAC_KEY: keys.qwacKeyFile },
};
const ACCOUNTS = '/private/customers/1000001/accounts';

/** What psd2 prints instead of sending the call. */
async function shown(
  method: string,
  path: string,
  options: Partial<ApiOptions>,
  globals: Partial<RawGlobals> = {},
): Promise<string> {
  const folder = newConfigFolder(temporary);
  const { context, printed } = openCommand(folder, new Date().toISOString(), { env, globals });
  await makeCall(context, method, path, {
    header: [],
    token: true,
    dryRun: false,
    curl: false,
    paginate: false,
    ...options,
  });
  return printed();
}

it.each([
  ...[
    'authorization',
    'digest',
    'signature',
    'date',
    'tpp-request-id',
    'tpp-transaction-id',
    'content-length',
  ],
  ...['host', 'connection', 'transfer-encoding', 'expect', 'te', 'trailer', 'upgrade'],
])('psd2 api sets the header %s itself', async (name) => {
  for (const given of [name, name.toUpperCase()]) {
    await expect(shown('GET', ACCOUNTS, { header: [`${given}: x`], dryRun: true })).rejects.toMatchObject({
      code: 'usage',
      message: `psd2 sets the header ${given} itself`,
    });
  }
});

it.each(['client_secret', 'code', 'token', 'refresh_token', 'access_token', 'password'])(
  'psd2 api --dry-run and --curl hide the %s of a call to the authorization server',
  async (field) => {
    const data = JSON.stringify({ client_id: 'id', [field]: 'hush' });
    for (const how of [{ dryRun: true }, { curl: true }]) {
      const text = await shown('POST', '/auth/oauth/v2/token/revoke', { data, token: false, ...how });
      expect(text).toContain('<secret>');
      expect(text).not.toContain('hush');
    }
  },
);

it('psd2 api --no-token shows a request without a token', async () => {
  const headers = async (token: boolean) =>
    JSON.parse(await shown('GET', ACCOUNTS, { dryRun: true, token })).headers;
  expect(await headers(true)).toMatchObject({ authorization: 'Bearer <access token>' });
  expect(await headers(false)).not.toHaveProperty('authorization');
});

it('psd2 api --curl gets the token of the customer who was named', async () => {
  const curl = (globals: Partial<RawGlobals>) => shown('GET', ACCOUNTS, { curl: true }, globals);
  expect(await curl({ customer: '1000001' })).toContain(
    '$(psd2 --profile env --customer 1000001 auth token)',
  );
  expect(await curl({})).toContain('$(psd2 --profile env auth token)');
});

it('of a header that is given twice, psd2 api sends the last value; other headers stay', async () => {
  const header = ['x-one: 1', 'X-Two: 2', 'X-ONE: 3'];
  const { headers } = JSON.parse(await shown('GET', ACCOUNTS, { dryRun: true, header }));
  expect(headers).toMatchObject({ 'x-one': '3', 'x-two': '2' });
});

it.each([
  [{ data: '{}', dryRun: true, curl: true }, '--dry-run and --curl cannot be used together'],
  [{ header: ['no colon'], dryRun: true }, '--header "no colon" is not of the form name:value'],
  [{ header: ['a b: c'], dryRun: true }, '--header "a b: c" is not of the form name:value'],
  [{ header: ['x: tab\there'], dryRun: true }, '--header "x: tab\\there" is not of the form name:value'],
])('psd2 api with %j sends nothing, and says %s', async (options, message) => {
  await expect(shown('GET', ACCOUNTS, options)).rejects.toMatchObject({ code: 'usage', message });
});

it('{customerId} is the customer of the option, at each place in the path', async () => {
  const path = '/private/customers/{customerId}/x/{customerId}';
  const { url } = JSON.parse(await shown('GET', path, { dryRun: true }, { customer: '1000002' }));
  expect(url).toBe('https://psd2.bank.example/private/customers/1000002/x/1000002');
  await expect(shown('GET', path, { dryRun: true })).rejects.toMatchObject({ code: 'not_logged_in' });
});
