import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { ADDRESS, REFUSING_CUSTOMER, readDocument } from '../support/psd2.ts';
import { accounts, consent, login, useSecondDoor } from './second-door-customer.ts';

const logins = z.array(login);
/** The door puts its own address there. */
const METADATA = 'https://bank.example/.well-known/oauth-authorization-server';

describe('at a bank without a login', () => {
  const { psd2, json } = useSecondDoor();

  it('psd2 auth login notes the customer, and ends with 0', async () => {
    const noted = await psd2(['auth', 'login', '--customer', 'ada.1', '--json']);
    expect(noted).toMatchObject({ code: 0, stderr: expect.stringContaining('no separate login') });
    expect(await json(logins, ['auth', 'list'])).toMatchObject([
      { customerId: 'ada.1', accessTokenExpiresAt: null, consent: null },
    ]);
    // The customer is the current one from now on.
    expect(await json(login, ['auth', 'status'])).toMatchObject({ customerId: 'ada.1' });
    expect(await psd2(['auth', 'logout'])).toMatchObject({ code: 0 });
  });

  it('an unknown customer has no status', async () => {
    const ended = await psd2(['auth', 'status', '--customer', 'nobody', '--json']);
    expect(readError(ended)).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
  });
});

describe.each([
  ['mtls', {}],
  ['basic', { clientId: 'a-client', clientAuth: 'basic' }],
  ['post', { clientId: 'a-client', clientAuth: 'post' }],
])('at a bank where the customer logs in with the consent (%s)', (_, oauth) => {
  const { json, request } = useSecondDoor([], { oauth: { mode: 'integrated', ...oauth } });

  it('the tokens are kept with the customer, and readings carry them', async () => {
    const { flow, resourceId } = await request();
    expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
    const [first, ...others] = await json(logins, ['auth', 'list']);
    expect([first, others]).toMatchObject([{ customerId: 'default', consent: { flow } }, []]);
    expect(first?.accessTokenExpiresAt).not.toBeNull();
    const scope = z.object({ scope: z.string().nullable() });
    expect(await json(scope, ['auth', 'status'])).toEqual({ scope: `AIS:${resourceId}` });
    await json(login, ['auth', 'refresh']);
    expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
  });
});

describe('where the customer logs in with the consent', () => {
  // Two requests may be for the same person at the bank, so the bank must not end one consent for the other.
  const operator = useSecondDoor(['--variation', 'start-link,multiple-consents'], {
    oauth: { mode: 'integrated' },
  });
  const { psd2, json } = operator;

  it('after psd2 auth logout the consent stays, and readings say what to do', async () => {
    await operator.request();
    const out = await psd2(['auth', 'logout']);
    expect(out).toMatchObject({ code: 0, stderr: expect.stringContaining('consent delete co-') });
    const read = readError(await psd2(['accounts', 'list', '--json']));
    expect(read).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
    expect(read.next).toEqual([['psd2', 'consent', 'request', '--customer', 'default']]);
    expect(await json(logins, ['auth', 'list'])).toMatchObject([{ accessTokenExpiresAt: null }]);
  });

  it('a customer who refuses the login refuses the consent', async () => {
    const env = { PSD2_BROWSER: REFUSING_CUSTOMER };
    const ended = await psd2(['consent', 'request', '--yes', '--json'], { env });
    expect(readError(ended)).toMatchObject({ code: 'not_authorised', exitCode: 6 });
    expect(readDocument(consent, ended.stdout)).toMatchObject({ state: 'rejected' });
  });

  it('a consent without the login that belongs to it does not count, and psd2 says what to do', async () => {
    const args = ['consent', 'request', '--yes', '--sca-timeout', '1', '--json'];
    const late = await psd2(args, { env: { PSD2_BROWSER: 'none' } });
    const { flow } = readDocument(consent, late.stdout);
    const [, page = ''] = ADDRESS.exec(late.stderr) ?? [];
    await psd2(['sandbox', 'customer', page]);
    // The consent is in force, but psd2 has no tokens: it does not count yet.
    expect(await json(consent, ['consent', 'status', flow])).toMatchObject({ state: 'authorizing' });
    // This bank logs nobody in for a consent that is in force.
    const resumed = readError(await psd2(['consent', 'resume', flow, '--json']));
    expect(resumed).toMatchObject({ code: 'login_refused', exitCode: 6 });
    expect(resumed.next?.slice(0, 2)).toEqual([
      ['psd2', 'consent', 'delete', flow],
      ['psd2', 'consent', 'request', '--customer', 'default'],
    ]);
    expect(await json(consent, ['consent', 'delete', flow])).toMatchObject({ state: 'cancelled' });
  });

  it('if the browser cannot return, psd2 asks for its address before the customer does anything', async () => {
    const env = { PSD2_REDIRECT_URI: 'https://tpp.example/back', PSD2_BROWSER: 'none' };
    const ended = await psd2(['consent', 'request', '--customer', 'bob', '--json'], { env });
    const { flow } = readDocument(consent, ended.stdout);
    expect(readError(ended)).toMatchObject({
      exitCode: 2,
      next: [expect.arrayContaining(['resume', flow, '--paste'])],
    });
    expect(ended.stderr).not.toMatch(ADDRESS);
  });

  it('two requests at the same time take turns at one redirect URI', async () => {
    const started = await Promise.all(
      ['carl', 'dora'].map((name) => operator.start(['consent', 'request', '--customer', name, '--json'])),
    );
    for (const each of started) {
      const { code, stdout, stderr } = await each.ended;
      expect(code, stderr).toBe(0);
      expect(readDocument(consent, stdout)).toMatchObject({ state: 'confirmed' });
    }
    const known = await json(logins, ['auth', 'list']);
    const tokens = known.filter(({ accessTokenExpiresAt }) => accessTokenExpiresAt !== null);
    expect(tokens.map(({ customerId }) => customerId)).toEqual(['carl', 'dora']);
  });
});

describe('at a bank that names its OAuth server only with a consent', () => {
  const operator = useSecondDoor([], { oauth: { mode: 'integrated' } });
  const { json, psd2 } = operator;

  it('the tokens are renewed and revoked there', async () => {
    const file = join(operator.folder, 'bank.json');
    writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', oauth: { mode: 'integrated' } }));
    operator.env.PSD2_BANK = file;
    await operator.request();
    await json(login, ['auth', 'refresh']);
    expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
    const out = await psd2(['auth', 'logout', '--revoke', '--verbose', '--json']);
    expect(JSON.parse(out.stdout)).toMatchObject({ revoked: ['refresh_token', 'access_token'] });
    expect(out.stderr.match(/oauth\/revoke/g)).toHaveLength(2);
  });
});

describe('at a bank where the customer logs in before everything', () => {
  const { psd2, json, request } = useSecondDoor([], { oauth: { mode: 'pre-step', metadata: METADATA } });

  it('a consent needs the login, and the login needs no consent', async () => {
    const early = readError(await psd2(['consent', 'request', '--json']));
    expect(early).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
    expect(early.next).toEqual([['psd2', '--profile', 'env', 'auth', 'login']]);
    expect(await json(login, ['auth', 'login', '--customer', 'ada'])).toMatchObject({
      customerId: 'ada',
      consent: null,
    });
    expect(await request()).toMatchObject({ state: 'confirmed', customerId: 'ada' });
    expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
    await json(login, ['auth', 'refresh']);
    expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
  });
});

describe('at a bank where the application logs in', () => {
  const { json, request } = useSecondDoor([], { oauth: { mode: 'client-credentials', metadata: METADATA } });

  it('its token goes with the consent of the customer', async () => {
    const own = z.object({ grantType: z.literal('client_credentials'), customerId: z.literal('default') });
    await json(own, ['auth', 'login']);
    expect(await request()).toMatchObject({ state: 'confirmed', customerId: 'default' });
    await json(own, ['auth', 'refresh']);
    expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
  });
});
