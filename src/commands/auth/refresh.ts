import type { Context } from '../context.ts';
import { printStoredLogin, storedLogin } from './stored-login.ts';

/** `psd2 auth refresh`: a new access token now, even if the old one is still valid. */
export async function authRefresh(context: Context): Promise<void> {
  const { tokens: store, holder, login } = await storedLogin(context);
  const bank = await context.bank();
  const tokens = await store.read(holder);
  await bank.accessTokens.renewed(tokens?.accessToken ?? '');
  await printStoredLogin(context, { tokens: store, holder, login: (await store.login(holder)) ?? login });
}
