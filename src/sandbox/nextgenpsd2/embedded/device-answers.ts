import * as z from 'zod/mini';

/** What a customer's device shows. */
export const deviceAnswer = z.object({
  user: z.string(),
  at: z.string(),
  method: z.string(),
  text: z.string(),
  tan: z.string(),
  /** A PNG in base64. */
  image: z.nullable(z.string()),
  /** Whether the TAN is still valid. */
  isOpen: z.boolean(),
});
