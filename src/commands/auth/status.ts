import { bareVerb, examples } from '../declare.ts';
import { isNoted, LOGIN, loginHolder, NO_TOKENS, printStoredLogin, storedLogin } from './stored-login.ts';

/** `psd2 auth status`: what is stored, without asking the bank. */
export const status = bareVerb(
  LOGIN,
  examples('psd2 auth status', 'psd2 auth status --json | jq -r .refreshTokenExpiresAt'),
  // A customer who has only consented has no tokens, and is shown all the same.
  async (context) => {
    const { tokens } = await context.store();
    const holder = await loginHolder(context);
    const login = (await tokens.login(holder)) ?? ((await isNoted(context, holder)) ? NO_TOKENS : undefined);
    await printStoredLogin(context, login ? { tokens, holder, login } : await storedLogin(context));
  },
);
