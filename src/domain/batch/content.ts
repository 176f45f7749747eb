import { createHash } from 'node:crypto';
import Big from 'big.js';
import type { CreditorReference } from '../order/creditor-reference.ts';
import { comparableReference } from '../order/sepa-text.ts';
import type { BatchLine } from './line.ts';

/** Goes into every hash. A change of the form needs another one, so that an old hash never fits a new form. */
const FORM = 'psd2 batch 1\n';

/**
 * A line in canonical form: all that decides what is paid, and nothing else. Two files have the same form of a line if they
 * order the same payment, whatever their format, their columns, their blanks and their own ids are.
 *
 * @returns one line of JSON, without a line break
 */
export function canonicalLine(line: BatchLine): string {
  const { address, creditorReference, batchBooking } = line;
  return JSON.stringify([
    line.customer,
    line.from,
    line.fromIban,
    line.name,
    line.iban,
    line.amount,
    line.currency,
    line.description,
    line.reference,
    line.executionDate,
    line.instant,
    line.urgent,
    line.payeeVerified,
    address && [
      address.country,
      address.townName,
      address.postCode,
      address.streetName,
      address.buildingNumber,
      ...address.lines,
    ],
    // A line that has none keeps the form that it had before there were any.
    ...(creditorReference ? [creditorReferenceForm(creditorReference)] : []),
    ...(batchBooking === undefined ? [] : [{ batchBooking }]),
  ]);
}

function creditorReferenceForm({ reference, type, issuer }: CreditorReference): unknown[] {
  return [reference, type, issuer];
}

/** The hash of a batch's content, line by line, in the order of the file. */
export interface ContentHash {
  add(line: BatchLine): void;
  /** The SHA-256 in lower-case hex. Nothing can be added after it. */
  digest(): string;
}

/** Begins the hash of a batch's content: SHA-256 over the canonical form of its lines. */
export function contentHash(): ContentHash {
  const hash = createHash('sha256').update(FORM);
  return {
    add: (line) => void hash.update(`${canonicalLine(line)}\n`),
    digest: () => hash.digest('hex'),
  };
}

/** What orders a payment: a line of a batch, or the order of its transfer. */
type Ordered = Pick<
  BatchLine,
  'name' | 'iban' | 'amount' | 'currency' | 'description' | 'reference' | 'creditorReference'
>;

/**
 * What a line orders, in compared form: payee, amount, text and reference (batch page, "add"). The account, the customer, the day and
 * the product are not in it: whoever pays it and however, the payee would get the same money twice.
 */
export function orderedForm({
  name,
  iban,
  amount,
  currency,
  description,
  reference,
  creditorReference,
}: Ordered): string {
  const own = reference !== null && GIVEN_REFERENCE.test(reference) ? null : reference;
  return JSON.stringify([
    comparableReference(name),
    iban,
    new Big(amount).toFixed(),
    currency,
    comparableReference(description),
    comparableReference(own ?? ''),
    ...(creditorReference ? [comparableReference(creditorReference.reference)] : []),
  ]);
}

/** A reference that psd2 gave to a line that has none (`referenceOfLine`). */
const GIVEN_REFERENCE = /^B[0-9a-f]{20}-\d+-\d+$/;

/** Begins the hash of what lines order, in any sequence: the sum of their hashes, so that no line has to be kept. */
export function orderedHash(): { add(line: Ordered): void; digest(): string } {
  let sum = 0n;
  return {
    add(line) {
      sum += BigInt(`0x${createHash('sha256').update(orderedForm(line)).digest('hex')}`);
    },
    digest: () => createHash('sha256').update(`${sum}`).digest('hex'),
  };
}
