import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { readDocument } from '../support/psd2.ts';
import { accounts, consent, login, useSecondDoor } from './second-door-customer.ts';

const logins = z.array(login);
/** The door puts its own address there. */
const METADATA = 'https://bank.example/.well-known/oauth-authorization-server';

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
  const { json } = operator;

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
