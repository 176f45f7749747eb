import * as z from 'zod/mini';

/** The bank's time. */
export const clockAnswer = z.object({
  /** ISO 8601, UTC. */
  time: z.string(),
  /** How far it is ahead of the real time. */
  aheadSeconds: z.int(),
});

/** A customer of the bank. */
export const customerAnswer = z.object({
  user: z.string(),
  password: z.string(),
  customerId: z.string(),
  name: z.string(),
  /** The product ids. */
  accounts: z.array(z.string()),
});

/** What a customer's device shows. Null: nothing that is valid and unread. */
export const tanAnswer = z.nullable(z.object({ method: z.string(), text: z.string(), tan: z.string() }));

/** How many consents ended. */
export const revokedAnswer = z.object({ revoked: z.int() });
