import type { Context } from '../context.ts';
import { accessToken } from './shape.ts';

/** `psd2 auth token`: a valid access token. psd2 renews it first if it is about to end. */
export async function authToken(context: Context): Promise<void> {
  const bank = await context.bank();
  const token = await bank.accessTokens.current();
  const login = await bank.tokens.login(bank.holder);
  const expiresAt = login?.accessTokenExpiresAt ?? null;
  if (context.output.format === 'table') context.output.text(token);
  else context.output.record({ accessToken: token, expiresAt }, [], accessToken);
}
