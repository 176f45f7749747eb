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
  check(record, customer, path) {
    for (const [index, { products = [] }] of consentsIn(record).entries())
      for (const [place, id] of products.entries())
        if (!customer.products.some(({ productId: own }) => own === id))
          throw new BadSeed(
            `${path}.consents[${index}].products[${place}]: the customer has no account ${id}`,
          );
  },
  give({ consents }, { customerId, products: all }, record) {
    for (const { category, products, givenOn } of consentsIn(record)) {
      const givenAt = givenOn === undefined ? undefined : bookingInstant(givenOn);
      for (const id of products ?? all.map(({ productId: each }) => each))
        consents.give({ customerId, category, productId: id }, givenAt);
    }
  },
};

function consentsIn(record: object): z.infer<typeof consent>[] {
  return z.object(fields).parse(record).consents ?? [];
}
