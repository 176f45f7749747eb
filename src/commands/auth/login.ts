import { requestTokens } from '../../bank/endpoints/oauth.ts';
import { Psd2Error } from '../../errors.ts';
import { logIn } from '../../flows/login.ts';
import { toStoredTokens } from '../../flows/session.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { openBankOf } from '../open/bank.ts';
import { type OpenProfile, openProfileOf } from '../open/profile.ts';
import { describeLogin, type LoginStatus, printLogin } from './stored-login.ts';

export interface LoginOptions {
  clientCredentials: boolean;
  /** Ask for the address that the browser ended at, instead of listening for it. */
  paste: boolean;
}

/** A login that the bank has granted is stored, whatever the operator interrupts. */
const NEVER = new AbortController().signal;

/** `psd2 auth login`: a customer through the browser, or the application by itself. */
export async function authLogin(context: Context, options: LoginOptions): Promise<void> {
  const opened = openProfileOf(context);
  printLogin(
    context,
    await (options.clientCredentials
      ? logApplicationIn(context, opened)
      : logCustomerIn(context, opened, options.paste)),
  );
}

async function logApplicationIn(context: Context, opened: OpenProfile): Promise<LoginStatus> {
  const { world } = context;
  const { tokens: store } = opened;
  const bank = await openBankOf(context, opened, 'client_credentials');
  const customerId = store.lastCustomer() ?? null;
  const tokens = await world.finish('The new login', async () => {
    const giveBack = store.reserve();
    const granted = await requestTokens(
      bank.connect(),
      bank.client(),
      { grant_type: 'client_credentials' },
      world.newId(),
    );
    giveBack();
    const kept = { ...toStoredTokens(granted, world.now()), apiTrackId: bank.session.apiTrackId };
    await store.locked(null, () => store.write(null, kept), NEVER);
    return kept;
  });
  return describeLogin(context, opened, 'client_credentials', customerId, tokens);
}

/** @param paste whether the operator pastes the address that the browser ended at */
async function logCustomerIn(context: Context, opened: OpenProfile, paste: boolean): Promise<LoginStatus> {
  const { terminal, world } = context;
  const { profile, tokens: store } = opened;
  if (paste && !terminal.canAsk) {
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
    askForReturnAddress: paste
      ? (check) => terminal.askSecret('The address that the browser ended at', check)
      : undefined,
    async keep(customerId, tokens) {
      giveBack();
      // A renewal of the login from before that is under way is waited for, also after Ctrl-C.
      await store.locked(
        customerId,
        () => store.write(customerId, { ...tokens, apiTrackId: bank.session.apiTrackId }),
        NEVER,
      );
      await store.rememberCustomer(customerId);
    },
  });
  return describeLogin(context, opened, 'authorization_code', customerId, tokens);
}
