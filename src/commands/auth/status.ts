import type { Context } from '../context.ts';
import { printStoredLogin, storedLogin } from './stored-login.ts';

/** `psd2 auth status`: what is stored, without asking the bank. @throws Psd2Error `not_logged_in` */
export async function authStatus(context: Context): Promise<void> {
  await printStoredLogin(context, await storedLogin(context));
}
