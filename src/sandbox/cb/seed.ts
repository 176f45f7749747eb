import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import { bookingInstant } from '../ledger/bank-time.ts';
import { BadSeed, type DoorSeed, day, productId } from '../seed/seed-fields.ts';

const consent = z.strictObject({
  category: z.enum(['ACCOUNT_INFO', 'PAYMENTS', 'FUNDS_AVAILABILITY']),
  products: z.optional(z.array(productId('an account of the customer'))),
  givenOn: z.optional(day('it ends 180 days later; default: today')),
});

const fields = {
  consents: z.optional(z.array(consent).check(z.describe('consents at the interface of the bank'))),
};

/** The consents of a seed at the first door. */
export const cbSeed: DoorSeed<Pick<Bank, 'consents'>> = {
  fields,
  check(given, customer, path) {
    for (const [index, { products = [] }] of consentsIn(given).entries())
      for (const [place, id] of products.entries())
        if (!customer.products.some(({ productId: known }) => known === id))
          throw new BadSeed(
            `${path}.consents[${index}].products[${place}]: the customer has no account ${id}`,
          );
  },
  give({ consents }, { customerId, products: all }, given) {
    for (const { category, products, givenOn } of consentsIn(given)) {
      const givenAt = givenOn === undefined ? undefined : bookingInstant(givenOn);
      for (const id of products ?? all.map(({ productId: each }) => each))
        consents.give({ customerId, category, productId: id }, givenAt);
    }
  },
};

function consentsIn(given: object): z.infer<typeof consent>[] {
  return z.object(fields).parse(given).consents ?? [];
}
