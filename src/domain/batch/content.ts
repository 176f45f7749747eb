import { createHash } from 'node:crypto';
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
  const { address } = line;
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
  ]);
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
