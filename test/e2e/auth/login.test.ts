import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { useChromium } from '../support/customer.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, PROGRAM, readDocument, useSandbox } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useSandbox());
const newCustomer = useChromium();
operator.env.PSD2_BROWSER = 'none';

const login = () => operator.start(['auth', 'login', '--json', '--verbose']);

describe('psd2 auth login with a browser', () => {
  it('psd2 auth login logs in the customer who types user and password and allows the access', async () => {
    const psd2 = await login();
    const customer = await newCustomer();
    await customer.follow(psd2);
    await customer.logInAs('Anna Esposito');
    expect(await customer.heading()).toBe('Sandbox TPP asks for access to your accounts');
    expect(await customer.page.getByText('You are logged in as').textContent()).toContain('Anna Esposito');
    await customer.press('Allow access');
    expect(await customer.heading()).toBe('Thank you, your answer has arrived');
    expect(await customer.page.textContent('main')).toContain('You can close this window');

    const ended = await psd2.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const told = readDocument(shapes.login, ended.stdout);
    expect(told).toMatchObject({
      profile: 'sandbox',
      grantType: 'authorization_code',
      customerId: '1048262',
    });
    expect(Date.parse(told.accessTokenExpiresAt ?? '')).toBeGreaterThan(Date.now());
    const code = new URL(customer.page.url()).searchParams.get('code') ?? '';
    expect(code).not.toBe('');
    expect(ended.stdout + ended.stderr).not.toContain(code);
    expect(await operator.json(shapes.customer, ['customer', 'id'])).toEqual({ customerId: '1048262' });
  });

  it('psd2 auth login exits with 6 if the customer refuses', async () => {
    const psd2 = await login();
    const customer = await newCustomer();
    await customer.follow(psd2);
    await customer.logInAs('Anna Esposito');
    await customer.press('Refuse');
    expect(await customer.heading()).toBe('You did not allow the access');

    const ended = await psd2.ended;
    expect(readError(ended)).toMatchObject({ code: 'login_refused', exitCode: 6 });
    expect(ended.stdout).toBe('');
  });

  it.each(['http', 'https'])(
    'with few files, idle connections of other programs do not keep the customer from %s',
    async (scheme) => {
      const port = await freePort();
      const psd2 = await operator.startProgram(
        'bash',
        ['-c', 'ulimit -n 64; exec "$@"', 'few', process.execPath, PROGRAM, 'auth', 'login'],
        { PSD2_REDIRECT_URI: `${scheme}://127.0.0.1:${port}/callback` },
      );
      const customer = await newCustomer({ ignoreHTTPSErrors: true });
      await customer.follow(psd2);
      const idle = await Promise.all(Array.from({ length: 100 }, () => openIdle(port)));
      await customer.press('Continue as Anna Esposito');
      await customer.press('Allow access');
      expect(await customer.heading()).toBe('Thank you, your answer has arrived');
      const ended = await psd2.ended;
      expect(ended.code, ended.stderr).toBe(0);
      for (const socket of idle) socket.destroy();
    },
  );
});

/** Opens a connection that sends nothing. */
async function openIdle(port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
