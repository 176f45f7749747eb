import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import { type DoorSeed, day } from '../seed/seed-fields.ts';
import { doorOf } from './door-state.ts';

const consent = z.strictObject({
  consentId: z.uuid('must be a UUID').check(z.describe('what a client sends as Consent-ID')),
  validUntil: day('its last day'),
  frequencyPerDay: z.optional(z.int().check(z.minimum(1, 'must be at least 1'), z.describe('default: 4'))),
});

const fields = {
  nextgenpsd2Consents: z.optional(
    z.array(consent).check(z.describe('consents at the second door, for all accounts of the customer')),
  ),
};

/** The consents of a seed at the second door, for all accounts of their customer. */
export const doorSeed: DoorSeed<Pick<Bank, 'parts'>> = {
  fields,
  give(bank, customer, seed) {
    const { consents } = doorOf(bank);
    const { nextgenpsd2Consents = [] } = z.object(fields).parse(seed);
    for (const { consentId, validUntil, frequencyPerDay = 4 } of nextgenpsd2Consents) {
      const order = {
        type: 'all-accounts',
        access: {},
        recurring: true,
        validUntil,
        frequencyPerDay,
      } as const;
      consents.give(consents.add(order, consentId), customer, undefined);
    }
  },
};
