import { Psd2Error } from '../../errors.ts';
import { logIn } from '../../flows/login.ts';
import { toStoredTokens } from '../../flows/session.ts';
import type { StoredTokens } from '../../store/ports/tokens.ts';
import type { Context } from '../context.ts';
import { verb } from '../declare.ts';
import { customerPortsOf } from '../flow/ports.ts';
import { openAccessNotes } from '../open/call-records.ts';
import { customerOf } from '../open/customer.ts';
import { keepPsu, type PsuOptions, refusePsu, withPsuOptions } from '../shared/psu.ts';
import { sayNext } from '../shared/say-next.ts';
import { describeLogin, LOGIN, type LoginStatus, NO_TOKENS, printLogin } from './stored-login.ts';

interface LoginOptions extends PsuOptions {
  clientCredentials: boolean;
  /** Ask for the address that the browser ended at, instead of waiting for the callback. */
  paste: boolean;
  /** The login is for payments, at a bank with another one for readings. */
  payments?: boolean;
  /** Told of new tokens before psd2 stores them. */
  keeping?: (customerId: string, tokens: StoredTokens) => void;
}

export const login = verb(
  {
    prints: LOGIN,
    help: `
psd2 opens the system's browser, or runs the command in PSD2_BROWSER ("none" opens nothing, like --no-browser).

With --customer, only that customer's login counts. If another customer logs in, psd2 revokes the tokens, stores nothing and
ends with exit code 6.

Examples:
  $ psd2 auth login
  $ PSD2_BROWSER=firefox psd2 --profile mybank auth login
  $ psd2 auth login --json | jq -r .customerId`,
  },
  (command) =>
    withPsuOptions(command)
      .option('--client-credentials', 'log in the client_credentials application instead; needs no customer')
      .option(
        '--paste',
        'prompt for the address in the browser after the customer has finished, instead of waiting for the callback',
      )
      .option(
        '--payments',
        'log in for payments, at a bank with another login for readings (oauth.scope.preStep of its bank file)',
      ),
  (context, { clientCredentials = false, paste = false, payments = false, ...psu }) =>
    authLogin(context, { clientCredentials, paste, payments, ...psu }),
);

/** psd2 stores a granted login even if the operator interrupts. */
const NEVER = new AbortController().signal;

/** Logs in a customer through the browser, or the application alone. */
export async function authLogin(context: Context, options: LoginOptions): Promise<void> {
  printLogin(context, await logInBy(context, options));
  sayNext(context, await nextOf(context, options), {
    // From now on the default is the customer who has just logged in.
    profile: context.repeated.profile,
  });
}

/** Logs in who logs in at this bank. A bank without logins only learns nothing: psd2 notes the customer. */
export async function logInBy(context: Context, options: LoginOptions): Promise<LoginStatus> {
  const bankInterface = await context.bankInterface();
  const { customers, logsIn, hasLoginForPayments } = bankInterface;
  if (options.payments && !hasLoginForPayments)
    throw new Psd2Error('usage', 'This bank has no login for payments alone', {
      hint: 'Leave out --payments.',
    });
  const ofOperator = customers === 'named by the operator' ? await customerOf(context) : undefined;
  if (ofOperator === undefined) refusePsu(bankInterface, options);
  else await keepPsu(context, ofOperator, options);
  if (options.clientCredentials || logsIn === 'application') {
    const status = await logApplicationIn(context);
    if (ofOperator === undefined || options.clientCredentials) return status;
    await noteCustomer(context, ofOperator);
    return { ...status, customerId: ofOperator };
  }
  if (logsIn === 'customers') return logCustomerIn(context, options, ofOperator);
  return noteCustomer(context, ofOperator ?? (await customerOf(context)));
}

/** The customer is the current one from now on. */
async function noteCustomer(context: Context, customer: string): Promise<LoginStatus> {
  const { customers, tokens } = await context.store();
  // A customer about whom nothing is known yet is also in `auth list`.
  await customers.change(customer, (before) => before);
  await tokens.remember(customer);
  context.terminal.say(
    `This bank has no separate login; the customer signs in when giving consent. psd2 will use the name ${customer}.`,
  );
  return describeLogin(context, 'authorization_code', customer, NO_TOKENS);
}

/** The next commands. */
async function nextOf(context: Context, { clientCredentials }: LoginOptions): Promise<string[][]> {
  const { customers } = await context.bankInterface();
  const next = [['accounts', 'list', ...(clientCredentials ? ['--grant', 'client_credentials'] : [])]];
  // Balances and transactions need the customer's consent, which only the customer's own login can ask for.
  const ofOperator = customers === 'named by the operator';
  if (ofOperator) next.unshift(['consent', 'request']);
  else if (!clientCredentials)
    next.push(['consent', 'request', '--category', 'ACCOUNT_INFO', '--all-accounts']);
  return next;
}

/** The tokens are stored by now: a login is never lost. @throws Psd2Error `config` if the audit log cannot be written */
async function recordLogin(context: Context, customerId: string | null): Promise<void> {
  const about = customerId === null ? 'client_credentials' : 'authorization_code';
  await (await context.store()).audit.append({ action: 'logged-in', customerId, about });
}

async function logApplicationIn(context: Context): Promise<LoginStatus> {
  const { world } = context;
  const { tokens: store } = await context.store();
  const bank = await context.applicationBank('client_credentials');
  const customerId = (await store.last()) ?? null;
  const tokens = await world.finish('The new login', async () => {
    const giveBack = await store.ready();
    const granted = await bank
      .connect()
      .login.tokens(bank.client(), { grant_type: 'client_credentials' }, world.newId());
    await giveBack();
    const stored = { ...toStoredTokens(granted, world.now()), apiTrackId: bank.session.apiTrackId };
    await store.change(null, (slot) => slot.write(stored), NEVER);
    await (await openAccessNotes(context)).forget(null);
    await recordLogin(context, null);
    return stored;
  });
  return describeLogin(context, 'client_credentials', customerId, tokens);
}

/** The customer of `--customer`. PSD2_CUSTOMER is only a default for commands. @throws Psd2Error `usage` */
async function expectedCustomer(context: Context): Promise<string | undefined> {
  const { customer } = context.globals;
  if (customer === undefined || context.sourceOf('customer') !== 'option') return undefined;
  return (await context.bankInterface()).readCustomerId(customer);
}

/**
 * @param named the customer, at a bank that tells nobody whose a token is
 */
async function logCustomerIn(
  context: Context,
  { paste, payments, keeping }: Pick<LoginOptions, 'paste' | 'payments' | 'keeping'>,
  named: string | undefined,
): Promise<LoginStatus> {
  const { terminal, world } = context;
  const { tokens: store } = await context.store();
  if (paste && !terminal.canAsk)
    throw new Psd2Error('usage', '--paste asks for an address, and psd2 cannot ask without a terminal', {
      hint: 'Use a redirect URI on this machine instead (PSD2_REDIRECT_URI).',
    });
  const bank = await context.applicationBank('authorization_code');
  const expected = named === undefined ? await expectedCustomer(context) : undefined;
  // Check this first, so that no customer logs in for nothing.
  const giveBack = await store.ready();
  const { customerId, tokens } = await logIn({
    login: bank.connect().login,
    loginWith: (accessToken) =>
      bank.connect({ current: async () => accessToken, renewed: async () => accessToken }).login,
    client: bank.client(),
    ...(payments && { isForPayments: true }),
    ...(named !== undefined && { customerId: named }),
    ...(expected !== undefined && { expected }),
    customer: customerPortsOf(context, context.profile()),
    world,
    // The address carries the code, so psd2 does not show it.
    askForReturnAddress: paste
      ? (check) => terminal.askSecret('The address that the browser ended at', check)
      : undefined,
    async keep(customerId, tokens) {
      await giveBack();
      // If a renewal of the earlier login is running, wait for it, even after Ctrl-C.
      const stored = { ...tokens, apiTrackId: bank.session.apiTrackId };
      keeping?.(customerId, stored);
      await store.change(customerId, (slot) => slot.write(stored), NEVER);
      await store.remember(customerId);
      await (await openAccessNotes(context)).forget(customerId);
      await recordLogin(context, customerId);
    },
  });
  return describeLogin(context, 'authorization_code', customerId, tokens);
}
