import * as z from 'zod/mini';
import { text, wholeNumber } from './fields.ts';

/** `data` of a token answer (interface specification, "OAuth"); lifetimes are seconds. */
export const tokenAnswer = z.object({
  access_token: text,
  token_type: z.nullish(text),
  expires_in: wholeNumber,
  refresh_token: z.nullish(text),
  rt_expires_in: z.nullish(wholeNumber),
  scope: z.nullish(text),
});

export const revokeAnswer = z.object({ tokenType: z.nullish(text), operationOutcome: z.nullish(text) });
