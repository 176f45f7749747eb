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
        name: oneOf(CONSENT_CATEGORIES, 'category of the consent'),
        products: list(z.string(), 'their productIds'),
        outcome: orNull(flag('true if the bank accepts it; null until the bank has answered')),
      }),
      'requested categories',
    ),
    ...flowEnds(),
  });

/** A consent in the list, with its end. */
export const listedConsent = () =>
  z.extend(consent(), {
    expiresAt: orNull(time('when the bank may ask for SCA again; null if the consent is not confirmed')),
    daysLeft: orNull(whole('days until then, including the last one; 0 after the end')),
  });

export const consents = () => list(listedConsent());
