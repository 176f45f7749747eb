import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { grantOf } from '../open/bank.ts';
import { LOGIN, printStoredLogin, storedLogin } from './stored-login.ts';

/** `psd2 auth refresh`: a new access token now, even if the old one is still valid. */
export const refresh = bareVerb(LOGIN, examples('psd2 auth refresh'), renewLogin);

async function renewLogin(context: Context): Promise<void> {
  // Where the application alone logs in, its token is renewed, whoever the customer is.
  const own = (await grantOf(context)) === 'client_credentials' ? null : undefined;
  const { tokens: store, holder, login } = await storedLogin(context, own);
  const bank = await context.bank();
  const tokens = await store.read(holder);
  await bank.accessTokens.renewed(tokens?.accessToken ?? '');
  await printStoredLogin(context, { tokens: store, holder, login: (await store.login(holder)) ?? login });
}
