import * as z from 'zod/mini';
import { orNull, text } from '../shared/fields.ts';

/** The bank's JSON, whatever it is. */
export const bankAnswer = () => z.unknown().check(z.describe("the body of the bank's answer, as it came"));

/** A request that was not sent; secrets are left out. */
export const composedRequest = () =>
  z.object({
    method: text('GET, POST, PUT or DELETE'),
    url: text('whole'),
    headers: z.record(z.string(), z.string()).check(z.describe('in the order in which they would be sent')),
    body: orNull(text('as it would be sent')),
    signingString: text('what was signed'),
  });
