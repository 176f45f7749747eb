import * as z from 'zod/mini';
import { CONSENT_CATEGORIES, type ConsentState } from '../../domain/consent.ts';
import { flowBegins, flowEnds } from '../flow/shape.ts';
import { flag, list, oneOf, orNull, time, whole } from '../shared/fields.ts';

const STATES = [
  ...(['created', 'requested', 'authorizing', 'confirming', 'confirmed'] as const),
  ...(['failed', 'rejected', 'expired', 'cancelled', 'unknown'] as const),
] satisfies ConsentState[];

export const consent = () =>
  z.object({
    ...flowBegins('consent', STATES),
    categories: list(
      z.object({
        name: oneOf(CONSENT_CATEGORIES, 'what is consented to'),
        products: list(z.string(), 'productId of each'),
        outcome: orNull(flag('whether the bank takes it; null until it has answered')),
      }),
      'what was asked for',
    ),
    ...flowEnds(),
  });

/** The list also tells how long a consent holds. */
export const listedConsent = () =>
  z.extend(consent(), {
    expiresAt: orNull(time('when a bank may ask for SCA again; null where it is not confirmed')),
    daysLeft: orNull(whole('until then, the last one counted; 0 once they are over')),
  });

export const consents = () => list(listedConsent());
