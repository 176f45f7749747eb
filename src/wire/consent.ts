import * as z from 'zod/mini';
import { text, words } from './fields.ts';

/** `data` of the answer to a consent request. */
export const consentAnswer = z.object({
  categoriesOutcome: z.array(z.object({ name: text, outcome: z.boolean() })),
});

/** `data` of the SCA approach. `REDIRECT` has a `scaRedirectURL`. */
export const approachAnswer = z.object({
  chosenScaApproach: z.nullish(text),
  scaRedirectURL: z.nullish(z.string()),
});

/** `data` of the operation status. The bank has two names for the authorization status. */
export const operationStatusAnswer = z.pipe(
  z.object({
    authorizationStatus: z.nullish(words),
    authenticationState: z.nullish(words),
    executionStatus: z.nullish(words),
  }),
  z.transform((value, context) => {
    const authorizationStatus = value.authorizationStatus || value.authenticationState;
    if (authorizationStatus) return { authorizationStatus, executionStatus: value.executionStatus ?? null };
    context.issues.push({ code: 'custom', message: 'missing', input: value, path: ['authorizationStatus'] });
    return z.NEVER;
  }),
);
