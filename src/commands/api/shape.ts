import * as z from 'zod/mini';
import { orNull, text } from '../shared/fields.ts';

/** The bank's JSON, of any shape. */
export const bankAnswer = () => z.unknown().check(z.describe("the body of the bank's answer, unchanged"));

/** A request that psd2 did not send, without secrets. */
export const composedRequest = () =>
  z.object({
    method: text('GET, POST, PUT or DELETE'),
    url: text('complete URL'),
    headers: z.record(z.string(), z.string()).check(z.describe('headers, in the order of sending')),
    body: orNull(text('body, without secrets')),
    signingString: text('exact string that was signed'),
  });
