import { object, orNull, text, time } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb } from '../declare.ts';
import { refuseWithoutTokens } from './stored-login.ts';

const shape = object({
  accessToken: text('a secret: anyone who has it can read the accounts'),
  expiresAt: orNull(time('null if the bank did not say')),
});

/** `psd2 auth token`: a valid access token. psd2 renews it first if it is about to end. */
export const token = bareVerb(
  { what: 'an access token', shape },
  '\nThe token is a secret: anyone who has it can read the accounts.\n\nExample:\n  $ TOKEN=$(psd2 auth token)',
  printToken,
);

async function printToken(context: Context): Promise<void> {
  await refuseWithoutTokens(context);
  const bank = await context.bank();
  const accessToken = await bank.accessTokens.current();
  const login = await bank.tokens.login(bank.holder);
  const expiresAt = login?.accessTokenExpiresAt ?? null;
  if (context.output.format === 'table') context.output.text(accessToken);
  else context.output.record({ accessToken, expiresAt }, shape);
}
