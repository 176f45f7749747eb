import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClientCredentials, GrantedTokens, Login } from '../bank/ports/customer.ts';
import { urlFrom } from '../domain/url.ts';
import { Psd2Error } from '../errors.ts';
import type { StoredTokens } from '../store/ports/tokens.ts';
import type { CustomerPorts, WorldPorts } from './ports.ts';
import { awaitCallback } from './sca.ts';
import { toStoredTokens } from './session.ts';

export interface LoginPorts {
  /** Its calls have no token. */
  login: Login;
  /** Its calls have the newly granted token. */
  loginWith(accessToken: string): Login;
  client: ClientCredentials;
  customer: CustomerPorts;
  world: WorldPorts;
  /**
   * Asks the operator for the address that the customer's browser ended at. Repeats while `check` throws a Psd2Error.
   * Undefined: psd2 does not ask.
   */
  askForReturnAddress: ((check: (pasted: string) => void) => Promise<string>) | undefined;
  /** The customer, at a bank that tells nobody whose a token is. Undefined: the bank is asked. */
  customerId?: string;
  /** The login is for payments, at a bank with another one for readings. */
  isForPayments?: boolean;
  /** The customer who has to log in, if the operator has named one. */
  expected?: string;
  /** Stores the tokens of a login. */
  keep(customerId: string, tokens: StoredTokens): Promise<void>;
}

/**
 * Logs a customer in (interface specification, "OAuth" and "Authentication" 2): authorize, browser, callback with the right
 * `state`, code for tokens, customer id, store. After the code was sent, Ctrl-C does not stop the login.
 *
 * @throws Psd2Error `login_refused`, also if another customer than the expected one has logged in; `authorisation_timeout`, or what
 * the calls throw
 */
export async function logIn(ports: LoginPorts): Promise<{ customerId: string; tokens: StoredTokens }> {
  const { login, client, customer, world } = ports;
  const transactionId = world.newId();
  const state = world.newId();
  const codeVerifier = login.tiesCodes ? randomBytes(32).toString('base64url') : undefined;
  const { redirectUri } = customer;

  const listener = ports.askForReturnAddress ? null : await customer.listen(state, 'login');
  if (!listener && !ports.askForReturnAddress) throw cannotWait(redirectUri);
  let parameters: URLSearchParams;
  try {
    await customer.sendBrowser(
      await login.authorize({
        clientId: client.clientId,
        redirectUri,
        state,
        ...(codeVerifier !== undefined && { codeVerifier }),
        ...(ports.isForPayments && { isForPayments: true }),
        transactionId,
      }),
    );
    parameters = listener
      ? await awaitCallback(listener, ports, {
          doing: 'log in',
          whenLate: {
            hint: '--sca-timeout gives the customer more time. Try again with:',
            next: [['auth', 'login']],
          },
          transactionId,
        })
      : await readReturnAddress(ports, state);
  } finally {
    await listener?.close();
  }

  await login.assertIssuer?.(parameters.get('iss'), undefined, transactionId);
  const code = readCode(parameters);
  // The bank accepts a code only once.
  return world.finish('The new login', async () => {
    const granted = await login.tokens(
      client,
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        ...(codeVerifier !== undefined && { code_verifier: codeVerifier }),
      },
      transactionId,
    );
    const tokens = toStoredTokens(granted, world.now());
    // Only this call says whose tokens these are.
    const customerId =
      ports.customerId ?? (await askWhose(ports.loginWith(granted.accessToken), transactionId, world));
    if (ports.expected !== undefined && customerId !== ports.expected)
      throw await refusedOther(ports, granted, customerId, transactionId);
    await ports.keep(customerId, tokens);
    return { customerId, tokens };
  });
}

/**
 * Revokes the tokens of another customer than the expected one. Nothing is stored of them.
 *
 * @returns the error for the login
 */
async function refusedOther(
  { login, client, expected }: LoginPorts,
  granted: GrantedTokens,
  customerId: string,
  transactionId: string,
): Promise<Psd2Error> {
  const kinds = [
    ['refresh_token', granted.refreshToken],
    ['access_token', granted.accessToken],
  ] as const;
  let left = '';
  for (const [kind, token] of kinds) {
    try {
      if (token !== null) await login.revoke(client, token, kind, transactionId);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      left += ` The bank did not revoke the ${kind.replace('_', ' ')}: ${error.message}.`;
    }
  }
  return new Psd2Error('login_refused', `Customer ${customerId} has logged in, not customer ${expected}`, {
    hint: `psd2 has stored nothing${left === '' ? ', and has revoked the tokens' : ''}.${left} Let the other customer log out at the bank, then try again:`,
    next: [['auth', 'login', '--customer', expected ?? '']],
  });
}

function cannotWait(redirectUri: string): Psd2Error {
  return new Psd2Error(
    'usage',
    `The redirect URI ${redirectUri} is not on this machine, so psd2 cannot wait there for the customer`,
    { hint: 'Paste the final address of the browser:', next: [['auth', 'login', '--paste']] },
  );
}

/** Without an answer the new tokens are lost, so psd2 asks for longer than for other inquiries. */
const PAUSES_MS = [1_000, 2_000, 4_000];

async function askWhose(login: Login, transactionId: string, world: WorldPorts): Promise<string> {
  const pauses = PAUSES_MS.values();
  for (;;) {
    try {
      return await login.whose(transactionId, { interruptible: 'never' });
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      const pause = isPassing(error) ? pauses.next().value : undefined;
      const goesOn = pause !== undefined && (await sleptThrough(world, pause));
      if (!goesOn) throw nobodys(error);
    }
  }
}

/** Waits. @returns false after Ctrl-C */
function sleptThrough(world: WorldPorts, milliseconds: number): Promise<boolean> {
  return world.sleep(milliseconds).then(
    () => true,
    () => false,
  );
}

function isPassing({ code }: Psd2Error): boolean {
  return code === 'bank_unreachable' || code === 'bank_failing' || code === 'too_many_calls';
}

/** The error after the bank has granted tokens, but did not say whose they are. */
function nobodys(error: Psd2Error): Psd2Error {
  return error.with({
    hint: `The bank has granted the login, but did not say whose it is. psd2 could not store its tokens. ${error.hint ?? ''}`.trimEnd(),
    next: [['auth', 'login']],
  });
}

/** What the operator pastes: the parameters of the address that the browser ended at. */
export async function readReturnAddress(
  { askForReturnAddress, customer }: Pick<LoginPorts, 'askForReturnAddress' | 'customer'>,
  state: string,
): Promise<URLSearchParams> {
  const read = (pasted: string) => parseReturnAddress(pasted.trim(), customer.redirectUri, state);
  const pasted = await askForReturnAddress?.((text) => void read(text));
  return read(pasted ?? '');
}

/** @throws Psd2Error `usage` if the address does not belong to this login */
function parseReturnAddress(pasted: string, redirectUri: string, state: string): URLSearchParams {
  const wrong = (what: string) =>
    new Psd2Error('usage', `The pasted address ${what}`, {
      hint: 'Paste the whole final address of the browser.',
    });
  const url = urlFrom(pasted);
  if (!url) throw wrong('is not a URL');
  const expected = new URL(redirectUri);
  if (url.origin !== expected.origin || url.pathname !== expected.pathname)
    throw wrong(`is not at ${expected.href}`);
  const [returnedState, second] = url.searchParams.getAll('state');
  // As at the listener: some banks leave the state out of an error.
  if (returnedState === undefined && url.searchParams.has('error') && !url.searchParams.has('code'))
    return url.searchParams;
  if (returnedState === undefined || second !== undefined || !isSameState(returnedState, state))
    throw wrong('does not have the state of this login');
  return url.searchParams;
}

function isSameState(returned: string, expected: string): boolean {
  const [a, b] = [Buffer.from(returned), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * The code that the browser brought back.
 *
 * @param again the command that sends the customer again
 * @throws Psd2Error `login_refused`, `bank_answer`; `bank_failing` if the bank says that it cannot log anybody in now
 */
export function readCode(parameters: URLSearchParams, again = ['auth', 'login']): string {
  const error = parameters.get('error');
  if (error !== null) throw refusedWith(error, parameters.get('error_description') || error, again);
  const [code, second] = parameters.getAll('code');
  if (!code || second !== undefined)
    throw new Psd2Error('bank_answer', 'The bank sent the customer back without exactly one code', {
      next: [again],
    });
  return code;
}

/** The errors of OAuth that say that the bank is failing (RFC 6749, section 4.1.2.1). */
const FAILING = ['server_error', 'temporarily_unavailable'];

/** The error if the browser brought back an error of OAuth: who refused the login. */
function refusedWith(error: string, words: string, again: string[]): Psd2Error {
  if (FAILING.includes(error))
    return new Psd2Error('bank_failing', `The bank could not log the customer in: ${words}`, {
      hint: 'Try again later with:',
      next: [again],
    });
  const who = error === 'access_denied' ? 'customer' : 'bank';
  return new Psd2Error('login_refused', `The ${who} refused the login: ${words}`, {
    hint: 'When the customer is ready to try again:',
    next: [again],
  });
}
