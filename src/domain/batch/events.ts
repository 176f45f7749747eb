import * as z from 'zod/mini';
import { creditorReference, decimal, iban, isoDate, productId } from '../events.ts';
import { PAYEE_RESULTS } from '../order/payee-check.ts';
import { BATCH_FORMATS } from './line.ts';

// What can happen to a batch: its journal. As with flows, you may add a field, and never change what one means. Only the store
// imports these values.

const textOrNull = z.nullable(z.string());

/** Who did it: the name that the person gave (else that of the system user), the system user, and the host's name. */
const person = { by: z.string(), user: z.string(), machine: z.string() };

/** The result of the payee check of a line. */
const payee = z.object({
  line: z.number(),
  result: z.enum(PAYEE_RESULTS),
  name: textOrNull,
  problem: textOrNull,
});

/** The first event of a batch. Its lines are stored beside it, and never change. */
export const batchAdded = z.lazy(() =>
  z.object({
    type: z.literal('added'),
    /** SHA-256 of the lines in canonical form, in lower-case hex. */
    sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    /** SHA-256 of what the lines order, in compared form. */
    ordered: z.string(),
    count: z.number(),
    /** How many other people must approve it, by the settings of whoever added it. */
    approvalsNeeded: z.number(),
    format: z.enum(BATCH_FORMATS),
    messageId: textOrNull,
    note: textOrNull,
    /** The batch whose unpaid lines these are. */
    retryOf: textOrNull,
    /** The results of the payee check, if it ran. */
    payees: z.array(payee),
    ...person,
  }),
);

/** All events of a batch after the first. */
export const batchEvent = z.lazy(() =>
  z.discriminatedUnion('type', [
    /** An approval counts for the content with this hash, and for nothing else. */
    z.object({ type: z.literal('approved'), sha256: z.string(), ...person }),
    z.object({ type: z.literal('rejected'), sha256: z.string(), note: z.string(), ...person }),
    /** A transfer pays this line from now on. The transfer exists, and nothing of it was sent. */
    z.object({ type: z.literal('line-begun'), line: z.number(), flow: z.string() }),
    /** The transfers of these lines go to the bank in one bulk payment, which is the operation `flow`. Nothing of it was sent. */
    z.object({ type: z.literal('bulk-begun'), flow: z.string(), lines: z.array(z.number()) }),
    /** psd2 refused a line before a transfer began, or before anybody confirmed it. */
    z.object({ type: z.literal('line-refused'), line: z.number(), reason: z.string() }),
    /** The customer's link of this transfer was written out. */
    z.object({ type: z.literal('link-given'), line: z.number(), flow: z.string() }),
    z.object({ type: z.literal('lines-cancelled'), lines: z.array(z.number()), ...person }),
    /** psd2 has forgotten a customer, and their lines have pseudonyms. The hash of the lines after it. */
    z.object({ type: z.literal('pseudonymised'), sha256: z.string() }),
  ]),
);

/** A line, as it is stored. */
export const batchLine = z.lazy(() =>
  z.object({
    line: z.number(),
    place: z.string(),
    customer: textOrNull,
    from: z.nullable(productId),
    fromIban: z.nullable(iban),
    name: z.string(),
    iban,
    amount: decimal,
    currency: z.string(),
    description: z.string(),
    creditorReference: z.exactOptional(creditorReference),
    reference: textOrNull,
    executionDate: z.nullable(isoDate),
    instant: z.boolean(),
    urgent: z.boolean(),
    batchBooking: z.exactOptional(z.boolean()),
    payeeVerified: z.boolean(),
    address: z.nullable(
      z.object({
        country: z.string(),
        townName: z.string(),
        postCode: textOrNull,
        streetName: textOrNull,
        buildingNumber: textOrNull,
        lines: z.array(z.string()),
      }),
    ),
    ids: z.object({ paymentInformationId: textOrNull, instructionId: textOrNull, endToEndId: textOrNull }),
  }),
);
