import * as z from 'zod/mini';
import type { Description } from '../../../src/bank-file/description.ts';

/** A bank file of the toy interface has nothing but the head. */
const schema = z.strictObject({
  interface: z.literal('toy'),
  name: z.optional(z.string()),
  extends: z.optional(z.string()),
  source: z.optional(z.string()),
  platform: z.optional(z.string()),
  verifiedOn: z._default(z.nullable(z.string()), null),
  api: z._default(z.strictObject({ baseUrl: z.optional(z.string()) }), {}),
  headers: z._default(z.record(z.string(), z.string()), {}),
  oauth: z._default(z.strictObject({ mode: z.string(), clientAuth: z.string() }), {
    mode: 'none',
    clientAuth: 'mtls',
  }),
  signing: z._default(z.strictObject({ when: z.string() }), { when: 'never' }),
});

export const toyDescription: Description<z.output<typeof schema>, z.input<typeof schema>> = {
  schema,
  inconsistencies: () => [],
  login: () => 'with a link',
  whyNotPossible: () => undefined,
};
