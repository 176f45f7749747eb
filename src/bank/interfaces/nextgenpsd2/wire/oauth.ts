import * as z from 'zod/mini';
import { textOf } from '../../../../domain/odd-values.ts';

/** The metadata of an OAuth server (RFC 8414), as far as psd2 needs it. */
export const metadataAnswer = z.object({
  issuer: z.nullish(z.string()),
  authorization_endpoint: z.nullish(z.string()),
  token_endpoint: z.nullish(z.string()),
  revocation_endpoint: z.nullish(z.string()),
  authorization_response_iss_parameter_supported: z.nullish(z.boolean()),
  grant_types_supported: z.catch(z.nullish(z.array(z.string())), null),
  token_endpoint_auth_methods_supported: z.catch(z.nullish(z.array(z.string())), null),
  // The addresses for clients with a certificate (RFC 8705, section 5).
  mtls_endpoint_aliases: z.catch(
    z.nullish(
      z.object({ token_endpoint: z.nullish(z.string()), revocation_endpoint: z.nullish(z.string()) }),
    ),
    null,
  ),
});
export type Metadata = z.infer<typeof metadataAnswer>;

/** About 300 years. A longer lifetime is not one. */
const LONGEST_LIFETIME = 10_000_000_000;

/** A lifetime in whole seconds. What cannot be used counts as absent: the bank answers a code only once. */
const lifetime = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => {
    const text = textOf(value)?.trim() ?? '';
    if (!/^\d{1,20}(?:\.\d{1,20})?$/.test(text)) return null;
    const seconds = Math.floor(Number(text));
    return seconds <= LONGEST_LIFETIME ? seconds : null;
  }),
);

/** Text that every store can keep, else null. */
const line = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) =>
    typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,8000}$/u.test(value) && /\S/.test(value) ? value : null,
  ),
);

/** An answer with tokens (RFC 6749, section 5.1). Only the access token is required. */
export const tokenAnswer = z.object({
  access_token: z.string().check(z.regex(/^[\x21-\x7e]+$/, 'expected a token')),
  expires_in: lifetime,
  refresh_token: line,
  refresh_expires_in: lifetime,
  refresh_token_expires_in: lifetime,
  scope: line,
});
