import * as z from 'zod/mini';
import { text } from './fields.ts';

/** A token that a header can carry: visible ASCII, at least one character. */
const token = z.pipe(text, z.string().check(z.regex(/^[\x21-\x7e]+$/, 'expected a token')));

/** About 300 years. A longer lifetime is not one. */
const LONGEST_LIFETIME = 10_000_000_000;

/** A lifetime in whole seconds. A fraction is cut off: tokens end rather too early than too late. */
const lifetime = z.pipe(
  z.pipe(text, z.string().check(z.regex(/^\s*\d{1,20}(?:\.\d{1,20})?\s*$/))),
  z.transform((value, context) => {
    const seconds = Math.floor(Number(value));
    if (seconds <= LONGEST_LIFETIME) return seconds;
    context.issues.push({ code: 'custom', message: 'expected a lifetime', input: value });
    return z.NEVER;
  }),
);

/** A text that every store can keep: PostgreSQL keeps no NUL. */
const line = z.pipe(text, z.string().check(z.regex(/^[^\p{Cc}\p{Cs}]{1,1000}$/u)));

const refreshToken = z.pipe(text, z.string().check(z.regex(/\S/)));

/** A field that counts as absent if it cannot be used: the bank has carried out the call, and answers it only once. */
const ifUsable = <T>(schema: z.ZodMiniType<T>) => z.catch(z.nullable(schema), null);

/** `data` of a token answer (interface specification, "OAuth"). Only the access token is required. */
export const tokenAnswer = z.object({
  access_token: token,
  expires_in: ifUsable(lifetime),
  refresh_token: ifUsable(refreshToken),
  rt_expires_in: ifUsable(lifetime),
  scope: ifUsable(line),
});

/** The bank's answers have at most three levels. */
const DEEPEST_GRANT = 8;

/** The object with the access token in an answer to a token call, wherever the bank has put it. Undefined if there is none. */
export function findGrant(json: unknown, depth = 0): object | undefined {
  if (typeof json !== 'object' || json === null || depth > DEEPEST_GRANT) return undefined;
  if ('access_token' in json && token.safeParse(json.access_token).success) return json;
  for (const inner of Object.values(json)) {
    const grant = findGrant(inner, depth + 1);
    if (grant) return grant;
  }
  return undefined;
}

/** `data` of `customerid-info`. The id must be a number (interface specification, "Identifiers"): file names contain it. */
export const customerIdAnswer = z.object({
  customerid: z.pipe(text, z.string().check(z.regex(/^\d{1,20}$/, 'expected a number'))),
});
