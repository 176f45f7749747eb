import { requestTokens } from '../bank/oauth.ts';
import { Psd2Error } from '../errors.ts';
import { logIn } from '../flows/login.ts';
import { toStoredTokens } from '../flows/session.ts';
import { describeLogin, printLogin } from './auth.ts';
import type { Context } from './context.ts';
import { customerPortsOf } from './customer-ports.ts';
import { openBankOf } from './open-bank.ts';
import { openProfileOf } from './open-profile.ts';

export interface LoginOptions {
  clientCredentials: boolean;
  /** Ask for the address that the browser ended at, instead of listening for it. */
  paste: boolean;
}

/** `psd2 auth login`: a customer through the browser, or the application by itself. */
export async function authLogin(context: Context, options: LoginOptions): Promise<void> {
  const { terminal, world } = context;
  const opened = openProfileOf(context);
  const { profile, tokens: store } = opened;

  if (options.clientCredentials) {
    const bank = await openBankOf(context, opened, 'client_credentials');
    const customerId = store.lastCustomer() ?? null;
    const giveBack = store.reserve();
    const granted = await requestTokens(
      bank.connect(),
      bank.client(),
      { grant_type: 'client_credentials' },
      world.newId(),
    );
    const tokens = toStoredTokens(granted, world.now());
    giveBack();
    await store.locked(null, () => store.write(null, { ...tokens, apiTrackId: bank.session.apiTrackId }));
    printLogin(context, describeLogin(context, opened, 'client_credentials', customerId, tokens));
    return;
  }

  if (options.paste && !terminal.canAsk) {
    throw new Psd2Error('usage', '--paste asks for an address, and there is no terminal to ask at', {
      hint: 'Use a redirect URI on this machine instead (PSD2_REDIRECT_URI).',
    });
  }
  const bank = await openBankOf(context, opened, 'authorization_code');
  // The customer is not to be troubled for a login that can't be kept.
  const giveBack = store.reserve();
  const { customerId, tokens } = await logIn({
    bank: bank.connect(),
    bankWith: (accessToken) =>
      bank.connect({ current: async () => accessToken, renewed: async () => accessToken }),
    client: bank.client(),
    customer: customerPortsOf(context, profile),
    world,
    // It carries the code: what is pasted is not shown.
    askForReturnAddress: options.paste
      ? () => terminal.askSecret('The address that the browser ended at')
      : undefined,
  });
  giveBack();
  // A renewal of the login from before that is under way must not be stored over this one.
  await store.locked(customerId, () =>
    store.write(customerId, { ...tokens, apiTrackId: bank.session.apiTrackId }),
  );
  await store.rememberCustomer(customerId);
  printLogin(context, describeLogin(context, opened, 'authorization_code', customerId, tokens));
}
