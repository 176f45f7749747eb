import type { Context } from '../context.ts';
import { openCustomerBank } from '../open/bank.ts';
import { printStoredLogin, storedLogin } from './stored-login.ts';

/** `psd2 auth refresh`: a new access token now, whatever time the old one has left. */
export async function authRefresh(context: Context): Promise<void> {
  const { opened, holder, login } = storedLogin(context);
  const bank = await openCustomerBank(context);
  const tokens = await opened.tokens.read(holder);
  await bank.accessTokens.renewed(tokens?.accessToken ?? '');
  printStoredLogin(context, { opened, holder, login: opened.tokens.readLogin(holder) ?? login });
}
