import * as z from 'zod/mini';
import { text, wholeNumber } from './fields.ts';

/** A token that a header can carry: visible ASCII, at least one character. */
const token = z.pipe(text, z.string().check(z.regex(/^[\x21-\x7e]+$/, 'expected a token')));

/** A lifetime in seconds. More than about 300 years is an error. */
const lifetime = z.pipe(wholeNumber, z.number().check(z.minimum(0), z.maximum(10_000_000_000)));

/** `data` of a token answer (interface specification, "OAuth"). Lifetimes are in seconds. */
export const tokenAnswer = z.object({
  access_token: token,
  token_type: z.nullish(text),
  expires_in: z.nullish(lifetime),
  refresh_token: z.nullish(text),
  rt_expires_in: z.nullish(lifetime),
  scope: z.nullish(text),
});

export const revokeAnswer = z.object({ tokenType: z.nullish(text), operationOutcome: z.nullish(text) });
