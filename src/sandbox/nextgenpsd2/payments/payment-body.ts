import * as z from 'zod/mini';

// The bodies of the standard in JSON ("Generic Body for a payment initiation via JSON"). They are loose: `checkFields` knows which
// fields the bank has beyond these.

const text = (longest: number) => z.string().check(z.minLength(1), z.maxLength(longest));

const account = z.looseObject({ iban: z.string(), currency: z.optional(z.literal('EUR')) });

const address = z.looseObject({
  streetName: z.optional(text(70)),
  buildingNumber: z.optional(text(16)),
  // SEPA forbids unstructured addresses since 15 November 2026: an address has a town and a country, unless the bank says otherwise.
  townName: z.optional(text(35)),
  postCode: z.optional(text(16)),
  country: z.string().check(z.regex(/^[A-Z]{2}$/)),
});

const transfer = {
  endToEndIdentification: z.optional(text(35)),
  instructedAmount: z.looseObject({ currency: z.string(), amount: z.string() }),
  creditorAccount: account,
  creditorName: text(70),
  creditorAgent: z.optional(z.string().check(z.regex(/^[A-Z]{6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3})?$/))),
  creditorAddress: z.optional(address),
  remittanceInformationUnstructured: z.optional(text(140)),
};

const single = {
  debtorAccount: z.optional(account),
  ...transfer,
};

export const transferBody = z.looseObject(transfer);

export type TransferBody = z.infer<typeof transferBody>;

export const singleBody = z.looseObject({ ...single, requestedExecutionDate: z.optional(z.iso.date()) });

export const periodicBody = z.looseObject({
  ...single,
  startDate: z.iso.date(),
  endDate: z.optional(z.iso.date()),
  frequency: z.string(),
  dayOfExecution: z.optional(z.string().check(z.regex(/^(0?[1-9]|[12]\d|3[01])$/))),
  executionRule: z.optional(z.enum(['following', 'preceding'])),
});

export const bulkBody = z.looseObject({
  debtorAccount: z.optional(account),
  payments: z.array(transferBody).check(z.minLength(1)),
  batchBookingPreferred: z.optional(z.boolean()),
  requestedExecutionDate: z.optional(z.iso.date()),
});
