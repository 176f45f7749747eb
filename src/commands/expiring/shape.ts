import * as z from 'zod/mini';
import { list, oneOf, orNull, text, time } from '../shared/fields.ts';

/** Something that ends. */
export const ending = () =>
  z.object({
    kind: oneOf(['certificate', 'login', 'consent'], 'what ends'),
    name: text('which: QWAC, QSealC, ...; refresh token; the category of the consent'),
    customerId: orNull(text('whose it is; null for a certificate')),
    endsAt: time('when it ends; in the past where it has'),
    next: list(z.string(), 'the command that renews it, word for word'),
  });

export const endings = () => list(ending());
