import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { LOGIN, printStoredLogin, storedLogin } from './stored-login.ts';

/** `psd2 auth refresh`: a new access token now, even if the old one is still valid. */
export const refresh = bareVerb(LOGIN, examples('psd2 auth refresh'), renewLogin);

async function renewLogin(context: Context): Promise<void> {
  const { tokens: store, holder, login } = await storedLogin(context);
  const bank = await context.bank();
  const tokens = await store.read(holder);
  await bank.accessTokens.renewed(tokens?.accessToken ?? '');
  await printStoredLogin(context, { tokens: store, holder, login: (await store.login(holder)) ?? login });
}
