import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { Holder, StoredTokens } from '../ports/tokens.ts';
import { type Place, sealed } from '../secrets/sealed.ts';

// The content of a token file.

/** A text that a header may carry. */
const headerText = z.string().check(z.regex(/^[\t\x20-\x7e\x80-\xff]*$/));

const lifetimes = {
  /** The bank that granted them. */
  baseUrl: z.string(),
  /** ISO 8601 with zone. */
  accessTokenExpiresAt: z.nullable(z.string()),
  refreshTokenExpiresAt: z.nullable(z.string()),
  scope: z.nullable(z.string()),
  /** The bank's session id. psd2 sends it as `cb-apitrack-id` with all calls that use these tokens. */
  apiTrackId: z.optional(headerText),
  /**
   * The generation in which the bank gave the refresh token. Set if this generation only changes how that token is stored:
   * marked as refused, or encrypted in another way.
   */
  origin: z.optional(z.int()),
};
const secrets = {
  accessToken: z.nullable(headerText),
  refreshToken: z.nullable(z.string()),
  unproven: z.optional(z.literal(true)),
};
export const tokenSecrets = z.object(secrets);
/** If the profile is protected, the tokens themselves are encrypted. */
export const tokenFile = z.union([
  z.object({ ...lifetimes, ...secrets }),
  z.object({ ...lifetimes, sealed }),
]);
export type TokenFile = z.infer<typeof tokenFile>;
/** Null after a logout. */
export const tokenGeneration = z.nullable(tokenFile);

/** Tokens with the bank that granted them and, if set, the generation that they repeat. */
export type GrantedTokens = StoredTokens & Pick<TokenFile, 'baseUrl' | 'origin'>;

/** The place that tokens are sealed for: this customer, at the bank that granted them. */
export function placeOf(customerId: Holder, baseUrl: string): Place {
  return ['tokens', customerId === null ? 'client-credentials' : `customer-${customerId}`, baseUrl];
}

export function keyIsGone(path: string): Psd2Error {
  return new Psd2Error('config', `${path} is encrypted, and the profile's key is gone`, {
    hint: `Restore the folder protection, or remove the file (rm ${path}) and log in again:`,
    next: [['auth', 'login']],
  });
}
