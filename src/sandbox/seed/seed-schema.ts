import * as z from 'zod/mini';
import { DOORS } from '../doors.ts';
import { amount, day, productId, text } from './seed-fields.ts';

const transaction = z.strictObject({
  day: day('the day on which it was booked; for a pending one, the day on which it was made'),
  amount: amount('negative if the money leaves the account'),
  description: z.string().check(z.minLength(1, 'must not be empty'), z.describe('what it is about')),
  valueDay: z.optional(day('default: the day')),
  code: z.optional(
    text("the bank's code of its kind; default: 43", /^[0-9A-Z]{2}$/, 'must be two characters'),
  ),
  pending: z.optional(z.boolean().check(z.describe('whether it is not booked yet'))),
});

const account = z.strictObject({
  kind: z.enum(['current', 'savings', 'card']),
  productId: z.optional(productId('default: made from the id of the customer')),
  name: z.optional(z.string().check(z.describe("the customer's own name for it"))),
  opening: z.optional(amount('balance before the transactions; default: 0.00')),
  creditLimit: z.optional(amount('of a card; default: 0.00')),
  transactions: z.optional(z.array(transaction)),
});

const customer = z.strictObject({
  user: text(
    'name to log in with; the password is this name and "-sandbox"',
    /^[a-z][a-z0-9-]{0,39}$/,
    'must be 1 to 40 small letters, digits and hyphens, and begin with a letter',
  ),
  customerId: z.optional(text('default: the next free one from 6000001', /^\d{7}$/, 'must be 7 digits')),
  firstName: z.optional(z.string().check(z.minLength(1, 'must not be empty'))),
  lastName: z.optional(z.string().check(z.minLength(1, 'must not be empty'))),
  accounts: z.optional(
    z.array(account).check(z.describe('default: a current account with 1000.00 and no transactions')),
  ),
});

/** A customer of a seed file, and of `POST /control/customers`: with what each door knows of them. */
export function seedCustomer(): z.ZodMiniType<SeedCustomer> {
  const ofDoors: Readonly<Record<string, z.ZodMiniType>> = Object.fromEntries(
    [...DOORS.values()].flatMap(({ seed }) => Object.entries(seed?.fields ?? {})),
  );
  return z.strictObject({ ...customer.shape, ...ofDoors });
}

export type SeedCustomer = z.infer<typeof customer>;

/** The file of `sandbox start --seed`. */
export function seedFile() {
  return z.strictObject({ $schema: z.optional(z.string()), customers: z.array(seedCustomer()) });
}
