import type { IsoDate } from '../calendar.ts';
import { comparableReference } from '../order/sepa-text.ts';
import type { BatchLine } from './line.ts';
import type { PaymentProblem } from './read-line.ts';

/** Looks for payments that a batch has twice. It remembers one number for each reference and each payment. */
export interface Repeats {
  /** What is wrong with the next line because of the lines before it. */
  add(line: BatchLine): PaymentProblem[];
}

/** @param today the day at the bank, for lines without a date */
export function findRepeats(today: IsoDate): Repeats {
  const references = new Map<string, number>();
  const payments = new Map<string, number>();
  return {
    add(line) {
      const problems: PaymentProblem[] = [];
      const note = (severity: PaymentProblem['severity'], message: string) =>
        problems.push({ severity, line: line.line, place: line.place, message });
      if (line.reference !== null) {
        const first = remember(references, comparableReference(line.reference), line.line);
        if (first !== null)
          note('error', `The reference ${JSON.stringify(line.reference)} is that of payment ${first} too`);
      }
      const first = remember(payments, samePayment(line, today), line.line);
      if (first !== null) note('warning', `Payment ${first} has the same payee, amount and day`);
      return problems;
    },
  };
}

/** The same text for payments of one amount to one account on one day. */
export function samePayment(
  { iban, amount, executionDate }: Pick<BatchLine, 'iban' | 'amount' | 'executionDate'>,
  today: IsoDate,
): string {
  return `${iban} ${amount} ${executionDate ?? today}`;
}

/** Keeps the first line with a key. @returns that line if it is an earlier one; otherwise null */
function remember(lines: Map<string, number>, key: string, line: number): number | null {
  const first = lines.get(key);
  if (first !== undefined) return first;
  lines.set(key, line);
  return null;
}
