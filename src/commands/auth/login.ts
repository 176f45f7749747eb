import { writeCommands } from '../../advice.ts';
import { requestTokens } from '../../bank/endpoints/oauth.ts';
import { Psd2Error } from '../../errors.ts';
import { logIn } from '../../flows/login.ts';
import { toStoredTokens } from '../../flows/session.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { openAccessNotes } from '../open/access-notes.ts';
import { describeLogin, type LoginStatus, printLogin } from './stored-login.ts';

export interface LoginOptions {
  clientCredentials: boolean;
  /** Ask for the address that the browser ended at, instead of waiting for the callback. */
  paste: boolean;
}

/** psd2 stores a granted login even if the operator interrupts. */
const NEVER = new AbortController().signal;

/** `psd2 auth login`: logs in a customer through the browser, or the application alone. */
export async function authLogin(context: Context, options: LoginOptions): Promise<void> {
  printLogin(
    context,
    await (options.clientCredentials ? logApplicationIn(context) : logCustomerIn(context, options.paste)),
  );
  if (context.isForPerson) sayNext(context, options);
}

/** Prints the next commands, for a person only. */
function sayNext(context: Context, { clientCredentials }: LoginOptions): void {
  const next = [['accounts', 'list', ...(clientCredentials ? ['--grant', 'client_credentials'] : [])]];
  // Balances and transactions need the customer's consent, which only the customer's own login can ask for.
  if (!clientCredentials) next.push(['consent', 'request', '--category', 'ACCOUNT_INFO', '--all-products']);
  // From now on the default is the customer who has just logged in.
  const { profile } = context.repeated;
  const commands = next.map((words) => `  ${writeCommands([words], { profile })}`);
  context.terminal.say(['Next:', ...commands].join('\n'));
}

async function logApplicationIn(context: Context): Promise<LoginStatus> {
  const { world } = context;
  const { tokens: store } = await context.store();
  const bank = await context.applicationBank('client_credentials');
  const customerId = (await store.last()) ?? null;
  const tokens = await world.finish('The new login', async () => {
    const giveBack = await store.ready();
    const granted = await requestTokens(
      bank.connect(),
      bank.client(),
      { grant_type: 'client_credentials' },
      world.newId(),
    );
    await giveBack();
    const kept = { ...toStoredTokens(granted, world.now()), apiTrackId: bank.session.apiTrackId };
    await store.change(null, (slot) => slot.write(kept), NEVER);
    await (await openAccessNotes(context)).forget(null);
    return kept;
  });
  return describeLogin(context, 'client_credentials', customerId, tokens);
}

/** @param paste whether the operator pastes the address that the browser ended at */
async function logCustomerIn(context: Context, paste: boolean): Promise<LoginStatus> {
  const { terminal, world } = context;
  const { tokens: store } = await context.store();
  if (paste && !terminal.canAsk) {
    throw new Psd2Error('usage', '--paste asks for an address, and there is no terminal to ask at', {
      hint: 'Use a redirect URI on this machine instead (PSD2_REDIRECT_URI).',
    });
  }
  const bank = await context.applicationBank('authorization_code');
  // Check this first, so that no customer logs in for nothing.
  const giveBack = await store.ready();
  const { customerId, tokens } = await logIn({
    bank: bank.connect(),
    bankWith: (accessToken) =>
      bank.connect({ current: async () => accessToken, renewed: async () => accessToken }),
    client: bank.client(),
    customer: customerPortsOf(context, context.profile()),
    world,
    // The address carries the code, so psd2 does not show it.
    askForReturnAddress: paste
      ? (check) => terminal.askSecret('The address that the browser ended at', check)
      : undefined,
    async keep(customerId, tokens) {
      await giveBack();
      // If a renewal of the earlier login is running, wait for it, even after Ctrl-C.
      const kept = { ...tokens, apiTrackId: bank.session.apiTrackId };
      await store.change(customerId, (slot) => slot.write(kept), NEVER);
      await store.remember(customerId);
      await (await openAccessNotes(context)).forget(customerId);
    },
  });
  return describeLogin(context, 'authorization_code', customerId, tokens);
}
