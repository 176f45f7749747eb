import { describe, expect, it } from 'vitest';
import type { Login } from '../../src/bank/ports/customer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { type LoginPorts, logIn } from '../../src/flows/login.ts';
import { refusal, success, tokens } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { customerElsewhere, errorOf, type FakeCustomer, fakeCustomer, fakeWorld } from './doubles.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const STATE = 'state-of-this-login';
const LOCAL = 'http%3A%2F%2F127.0.0.1%3A8910%2Fcallback';
const LOGIN_PAGE = 'https://customers.example/login?request=1';

function portsWith(customer: FakeCustomer, pasted?: string) {
  const ids = [transactionId, STATE];
  const world = { ...fakeWorld(), newId: () => ids.shift() ?? '' };
  const client = openClient({ now: world.now, signal: world.signal });
  return {
    login: client.bankWith().login,
    loginWith: (accessToken: string) =>
      client.bankWith({ current: async () => accessToken, renewed: async () => accessToken }).login,
    client: { clientId: 'client-1', clientSecret: 'secret-1' },
    customer,
    world,
    askForReturnAddress: pasted === undefined ? undefined : async () => pasted,
    keep: async () => {},
  } satisfies LoginPorts;
}

function expectAuthorize(redirectUri: string): void {
  const query = `response_type=code&client_id=client-1&redirect_uri=${redirectUri}&state=${STATE}`;
  recorded.expect('GET', `/auth/oauth/v2/authorize?${query}`, {
    status: 302,
    headers: { location: LOGIN_PAGE },
  });
}

function expectTokens(): void {
  recorded.expect('POST', '/auth/oauth/v2/token', tokens('access-1', 'refresh-1'));
  recorded.expect('GET', '/private/customers/customerid-info', success('{"customerid":"1234567"}'));
}

describe('a login', () => {
  it('a login goes through the browser and the callback to tokens, and psd2 learns whose they are', async () => {
    expectAuthorize(LOCAL);
    expectTokens();
    const customer = fakeCustomer({}, { code: 'code-1' });
    const ports = portsWith(customer);
    const { customerId, tokens: granted } = await logIn(ports);
    expect(customerId).toBe('1234567');
    expect(granted).toMatchObject({
      accessToken: 'access-1',
      accessTokenExpiresAt: new Date(ports.world.now().getTime() + 3_500_000).toISOString(),
      refreshToken: 'refresh-1',
    });
    expect(customer.visited).toEqual([LOGIN_PAGE]);
    expect(customer.listeners).toEqual([{ state: STATE, purpose: 'login', closed: true }]);
    expect(JSON.parse(recorded.received[1]?.body.toString() ?? '')).toEqual({
      grant_type: 'authorization_code',
      code: 'code-1',
      redirect_uri: 'http://127.0.0.1:8910/callback',
      client_id: 'client-1',
      client_secret: 'secret-1',
    });
    expect(recorded.last.headers.authorization).toBe('Bearer access-1');
    expect(new Set(recorded.received.map(({ headers }) => headers['tpp-transaction-id'])).size).toBe(1);
  });

  it('at a bank that ties codes, a login has a secret of its own, and who sent the browser is checked before the code is used', async () => {
    const secrets: (string | undefined)[] = [];
    for (let round = 0; round < 2; round += 1) {
      recorded.expect('GET', '/private/customers/customerid-info', success('{"customerid":"1234567"}'));
      const ports = portsWith(fakeCustomer({}, { code: 'code-1', iss: 'https://bank.example' }));
      const asked: string[] = [];
      const login: Login = {
        ...ports.login,
        tiesCodes: true,
        authorize: async ({ codeVerifier }) => {
          secrets.push(codeVerifier);
          return LOGIN_PAGE;
        },
        assertIssuer: async (iss) => void asked.push(`from ${iss}`),
        tokens: async (_, grant) => {
          asked.push('tokens');
          expect(grant).toEqual({
            grant_type: 'authorization_code',
            code: 'code-1',
            redirect_uri: 'http://127.0.0.1:8910/callback',
            code_verifier: secrets.at(-1),
          });
          return {
            ...{ accessToken: 'access-1', expiresIn: 60, scope: null },
            ...{ refreshToken: null, refreshExpiresIn: null },
          };
        },
      };
      await logIn({ ...ports, login });
      expect(asked).toEqual(['from https://bank.example', 'tokens']);
    }
    // RFC 7636, section 4.1: from 43 characters.
    expect(secrets).toEqual([expect.stringMatching(/^[\w-]{43}$/), expect.stringMatching(/^[\w-]{43}$/)]);
    expect(secrets[0]).not.toBe(secrets[1]);
  });

  it('after the code was sent, Ctrl-C does not stop the login, because the bank accepts a code only once', async () => {
    expectAuthorize(LOCAL);
    expectTokens();
    const ports = portsWith(fakeCustomer({}, { code: 'code-1' }));
    const [kept, finished]: [string[], string[]] = [[], []];
    const login = logIn({
      ...ports,
      keep: async (customerId) => void kept.push(customerId),
      world: {
        ...ports.world,
        finish(atStake, work) {
          finished.push(atStake);
          return work();
        },
      },
    });
    for (let requests = 0; requests < 2; requests += 1) await recorded.nextRequest();
    ports.world.interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
    expect(await login).toMatchObject({ customerId: '1234567' });
    expect(kept).toEqual(['1234567']);
    expect(finished).toEqual(['The new login']);
  });

  const HINTS: Record<string, string> = {
    login_refused: 'When the customer is ready to try again:',
    bank_failing: 'Try again later with:',
  };
  const SAID_NO = { error: 'access_denied', error_description: 'The customer said no' };
  it.each<[Record<string, string>, string, string | RegExp]>([
    [SAID_NO, 'login_refused', 'The customer refused the login: The customer said no'],
    [{ error: 'access_denied' }, 'login_refused', 'The customer refused the login: access_denied'],
    [{ error: 'invalid_scope' }, 'login_refused', 'The bank refused the login: invalid_scope'],
    [{ error: '', code: 'code-1' }, 'login_refused', 'The bank refused the login: '],
    [{ error: 'server_error' }, 'bank_failing', 'The bank could not log the customer in: server_error'],
    [{ error: 'temporarily_unavailable' }, 'bank_failing', /^The bank could not log the customer in/],
    [{}, 'bank_answer', 'The bank sent the customer back without exactly one code'],
    [{ code: '' }, 'bank_answer', 'The bank sent the customer back without exactly one code'],
  ])('a login whose callback brings %j fails', async (comesBack, code, message) => {
    expectAuthorize(LOCAL);
    const customer = fakeCustomer({}, { ...comesBack });
    expect(await errorOf(logIn(portsWith(customer)))).toMatchObject({
      code,
      message: expect.stringMatching(message),
      hint: HINTS[code],
      next: [['auth', 'login']],
    });
    expect(customer.listeners).toMatchObject([{ closed: true }]);
  });

  it('psd2 waits for a login as long as the customer may take', async () => {
    expectAuthorize(LOCAL);
    const customer = fakeCustomer({ scaTimeoutMs: 20 }, null);
    expect(await errorOf(logIn(portsWith(customer)))).toMatchObject({
      code: 'authorisation_timeout',
      message: 'The customer did not log in and come back within 0.02 s',
      hint: '--sca-timeout gives the customer more time. Try again with:',
      next: [['auth', 'login']],
      transactionId,
    });
    expect(customer.listeners).toMatchObject([{ closed: true }]);
  });

  it('if the bank does not accept the code, psd2 says so and does not print the code', async () => {
    expectAuthorize(LOCAL);
    recorded.expect('POST', '/auth/oauth/v2/token', { status: 400, body: '{"error":"invalid_grant"}' });
    await expect(logIn(portsWith(fakeCustomer({}, { code: 'hush' })))).rejects.toThrow(
      expect.objectContaining({ code: 'bank_refused', message: expect.not.stringContaining('hush') }),
    );
  });

  it('if the bank does not say whose tokens it has granted, psd2 asks again for some seconds', async () => {
    expectAuthorize(LOCAL);
    recorded.expect('POST', '/auth/oauth/v2/token', tokens('access-1', 'refresh-1'));
    for (let times = 0; times < 9; times += 1)
      recorded.expect('GET', '/private/customers/customerid-info', { status: 503 });
    recorded.expect('GET', '/private/customers/customerid-info', success('{"customerid":"1234567"}'));
    const ports = portsWith(fakeCustomer({}, { code: 'code-1' }));
    expect(await logIn(ports)).toMatchObject({ customerId: '1234567' });
    expect(ports.world.sleeps).toEqual([1_000, 2_000]);
  });

  it('if the bank never says whose tokens it has granted, psd2 says that it could not store them', async () => {
    expectAuthorize(LOCAL);
    recorded.expect('POST', '/auth/oauth/v2/token', tokens('access-1', 'refresh-1'));
    for (let times = 0; times < 16; times += 1)
      recorded.expect('GET', '/private/customers/customerid-info', { status: 503 });
    expect(await errorOf(logIn(portsWith(fakeCustomer({}, { code: 'code-1' }))))).toMatchObject({
      code: 'bank_failing',
      hint: 'The bank has granted the login, but did not say whose it is. psd2 could not store its tokens.',
      next: [['auth', 'login']],
    });
    expect(recorded.received).toHaveLength(18);
  });

  it('a refusal to say whose tokens it has granted is final, and so is Ctrl-C while psd2 waits', async () => {
    expectAuthorize(LOCAL);
    recorded.expect('POST', '/auth/oauth/v2/token', tokens('access-1', 'refresh-1'));
    recorded.expect('GET', '/private/customers/customerid-info', refusal(403));
    const refused = portsWith(fakeCustomer({}, { code: 'code-1' }));
    expect(await errorOf(logIn(refused))).toMatchObject({
      code: 'forbidden',
      hint: 'The bank has granted the login, but did not say whose it is. psd2 could not store its tokens. The application may lack the PSD2 role for this call, or the customer has not consented. Ask for it with:',
    });
    expect(refused.world.sleeps).toEqual([]);
    expectAuthorize(LOCAL);
    recorded.expect('POST', '/auth/oauth/v2/token', tokens('access-1', 'refresh-1'));
    for (let times = 0; times < 4; times += 1)
      recorded.expect('GET', '/private/customers/customerid-info', { status: 503 });
    const { world, ...ports } = portsWith(fakeCustomer({}, { code: 'code-1' }));
    const sleep = () => Promise.reject(new Psd2Error('interrupted', 'Interrupted'));
    expect(await errorOf(logIn({ ...ports, world: { ...world, sleep } }))).toMatchObject({
      code: 'bank_failing',
      hint: 'The bank has granted the login, but did not say whose it is. psd2 could not store its tokens.',
    });
  });

  it('what the bank did not revoke after the login of another customer is in the advice, and no token is', async () => {
    const ends: unknown[] = [];
    for (const away of [[], ['refresh_token'], ['refresh_token', 'access_token']]) {
      expectAuthorize(LOCAL);
      expectTokens();
      const ports = portsWith(fakeCustomer({}, { code: 'code-1' }));
      const revoked: string[] = [];
      const login: LoginPorts['login'] = {
        ...ports.login,
        async revoke(_client, token, kind) {
          if (away.includes(kind)) throw new Psd2Error('bank_failing', 'The bank is failing');
          revoked.push(token);
          return true;
        },
      };
      const { code, message, hint, next } = await errorOf(logIn({ ...ports, login, expected: '7654321' }));
      ends.push({ code, message, hint, next, revoked });
    }
    expect(ends).toMatchInlineSnapshot(`
      [{ code: "login_refused",
         hint: "psd2 has stored nothing, and has revoked the tokens. Let the other customer log out at the bank, then try again:",
         message: "Customer 1234567 has logged in, not customer 7654321",
         next: [["auth", "login", "--customer", "7654321"]], revoked: ["refresh-1", "access-1"] },
       { code: "login_refused",
         hint: "psd2 has stored nothing. The bank did not revoke the refresh token: The bank is failing. Let the other customer log out at the bank, then try again:",
         message: "Customer 1234567 has logged in, not customer 7654321",
         next: [["auth", "login", "--customer", "7654321"]], revoked: ["access-1"] },
       { code: "login_refused",
         hint: "psd2 has stored nothing. The bank did not revoke the refresh token: The bank is failing. The bank did not revoke the access token: The bank is failing. Let the other customer log out at the bank, then try again:",
         message: "Customer 1234567 has logged in, not customer 7654321",
         next: [["auth", "login", "--customer", "7654321"]], revoked: [] }]
    `);
  });

  it('a login that the bank does not begin opens no browser', async () => {
    const query = `response_type=code&client_id=client-1&redirect_uri=${LOCAL}&state=${STATE}`;
    recorded.expect('GET', `/auth/oauth/v2/authorize?${query}`, refusal(403));
    const customer = fakeCustomer();
    await expect(logIn(portsWith(customer))).rejects.toMatchObject({ code: 'forbidden' });
    expect(customer).toMatchObject({ visited: [], listeners: [{ closed: true }] });
  });

  it('a login whose port is busy sends nothing', async () => {
    const busy = new Psd2Error('callback_port_busy', 'Port 8910 is taken');
    const customer = fakeCustomer({
      listen: async () => {
        throw busy;
      },
    });
    await expect(logIn(portsWith(customer))).rejects.toBe(busy);
    expect(recorded.received).toEqual([]);
  });
});

describe('a redirect URI on another machine', () => {
  const ELSEWHERE = 'https%3A%2F%2Ftpp.example%2Fback%3Fto%3Dpsd2';

  it('a login with a redirect URI on another machine needs --paste', async () => {
    expect(await errorOf(logIn(portsWith(customerElsewhere())))).toMatchObject({
      code: 'usage',
      message:
        'The redirect URI https://tpp.example/back?to=psd2 is not on this machine, so psd2 cannot wait there for the customer',
      hint: 'Paste the final address of the browser:',
      next: [['auth', 'login', '--paste']],
    });
    expect(recorded.received).toEqual([]);
  });

  it('a login with a redirect URI on another machine takes the pasted address', async () => {
    expectAuthorize(ELSEWHERE);
    expectTokens();
    const pasted = ` https://tpp.example/back?to=psd2&code=code-1&state=${STATE}\n`;
    expect(await logIn(portsWith(customerElsewhere(), pasted))).toMatchObject({ customerId: '1234567' });
  });

  it('spaces around the pasted address, also those of a web page, make no difference', async () => {
    expectAuthorize(ELSEWHERE);
    expectTokens();
    const pasted = `\u00a0https://tpp.example/back?to=psd2&code=code-1&state=${STATE}\u00a0`;
    expect(await logIn(portsWith(customerElsewhere(), pasted))).toMatchObject({ customerId: '1234567' });
  });

  it('the operator can correct a pasted address that is wrong', async () => {
    expectAuthorize(ELSEWHERE);
    expectTokens();
    const right = `https://tpp.example/back?code=code-1&state=${STATE}`;
    const askForReturnAddress = async (check: (pasted: string) => void) => {
      expect(() => check('https://tpp.example/back?code=code-1')).toThrow(
        'The pasted address does not have the state of this login',
      );
      check(right);
      return right;
    };
    const login = logIn({ ...portsWith(customerElsewhere()), askForReturnAddress });
    expect(await login).toMatchObject({ customerId: '1234567' });
  });

  it.each([
    ['code-1', 'is not a URL'],
    ['', 'is not a URL'],
    [`https://thief.example/back?code=c&state=${STATE}`, 'is not at https://tpp.example/back?to=psd2'],
    [`https://tpp.example/other?code=c&state=${STATE}`, 'is not at https://tpp.example/back?to=psd2'],
    ['https://tpp.example/back?code=c', 'does not have the state of this login'],
    ['https://tpp.example/back?code=c&state=other', 'does not have the state of this login'],
    [`https://tpp.example/back?code=c&state=${STATE.slice(0, -1)}x`, 'does not have the state of this login'],
    [`https://tpp.example/back?code=c&state=${STATE}&state=other`, 'does not have the state of this login'],
  ])('pasting %j is refused', async (pasted, what) => {
    expectAuthorize(ELSEWHERE);
    await expect(logIn(portsWith(customerElsewhere(), pasted))).rejects.toMatchObject({
      code: 'usage',
      message: `The pasted address ${what}`,
      hint: 'Paste the whole final address of the browser.',
    });
  });

  it.each([
    [`code=a&code=b&state=${STATE}`, 'bank_answer'],
    [`state=${STATE}`, 'bank_answer'],
    [`error=access_denied&code=a&state=${STATE}`, 'login_refused'],
    [`code=a&error=access_denied&error=&state=${STATE}`, 'login_refused'],
  ])('pasting an address with ?%s is refused', async (query, code) => {
    expectAuthorize(ELSEWHERE);
    await expect(
      logIn(portsWith(customerElsewhere(), `https://tpp.example/back?${query}`)),
    ).rejects.toMatchObject({ code });
  });
});
