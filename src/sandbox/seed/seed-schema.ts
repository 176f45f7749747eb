import * as z from 'zod/mini';

const text = (says: string, example: RegExp, rule: string) =>
  z.string().check(z.regex(example, rule), z.describe(says));

const amount = (says: string) =>
  text(says, /^-?\d{1,10}\.\d{2}$/, 'must be an amount with two decimals, for example "12.50"');

const day = (says: string) => z.iso.date('must be a day, for example "2026-11-23"').check(z.describe(says));

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

const productId = (says: string) => text(says, /^[0-9A-Za-z]{10}$/, 'must be 10 letters and digits');

const account = z.strictObject({
  kind: z.enum(['current', 'savings', 'card']),
  productId: z.optional(productId('default: made from the id of the customer')),
  name: z.optional(z.string().check(z.describe("the customer's own name for it"))),
  opening: z.optional(amount('balance before the transactions; default: 0.00')),
  creditLimit: z.optional(amount('of a card; default: 0.00')),
  transactions: z.optional(z.array(transaction)),
});

const consent = z.strictObject({
  category: z.enum(['ACCOUNT_INFO', 'PAYMENTS', 'FUNDS_AVAILABILITY']),
  products: z.optional(z.array(productId('an account of the customer'))),
  givenOn: z.optional(day('it ends 180 days later; default: today')),
});

const doorConsent = z.strictObject({
  consentId: z.uuid('must be a UUID').check(z.describe('what a client sends as Consent-ID')),
  validUntil: day('its last day'),
  frequencyPerDay: z.optional(z.int().check(z.minimum(1, 'must be at least 1'), z.describe('default: 4'))),
});

/** A customer of a seed file, and of `POST /control/customers`. */
export const seedCustomer = z.strictObject({
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
  consents: z.optional(z.array(consent).check(z.describe('consents at the interface of the bank'))),
  nextgenpsd2Consents: z.optional(
    z.array(doorConsent).check(z.describe('consents at the second door, for all accounts of the customer')),
  ),
});

export type SeedCustomer = z.infer<typeof seedCustomer>;

/** The file of `sandbox start --seed`. */
export const seedFile = z.strictObject({
  $schema: z.optional(z.string()),
  customers: z.array(seedCustomer),
});
