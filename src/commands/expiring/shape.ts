import * as z from 'zod/mini';
import { list, oneOf, orNull, text, time } from '../shared/fields.ts';

/** Something that ends. */
export const ending = () =>
  z.object({
    kind: oneOf(['certificate', 'login', 'consent'], 'what ends'),
    name: text('QWAC, QSealC, ...; refresh token; or the category of the consent'),
    customerId: orNull(text('customer of the login or consent; null for a certificate')),
    endsAt: time('its end; in the past if it has already ended'),
    next: list(z.string(), 'words of the command that renews it'),
  });

export const endings = () => list(ending());
