import type { BatchLine } from '../../domain/batch/line.ts';
import type { PaymentProblem } from '../../domain/batch/read-line.ts';
import {
  describePayeeCheck,
  PAYEE_RESULTS,
  type PayeeCheck,
  type PayeeResult,
} from '../../domain/order/payee-check.ts';

/** How many payee checks run at once. Each is a program of the operator's. */
const AT_ONCE = 8;

/** Checks the payees of a batch, side by side. */
export interface PayeeChecks {
  /** Begins the check of a line. Waits if too many run. */
  add(line: BatchLine): Promise<void>;
  /** The results, once all checks have ended. */
  end(): Promise<{
    counts: Record<PayeeResult, number>;
    problems: PaymentProblem[];
    results: (PayeeCheck & { line: number })[];
  }>;
}

/** @param ask the operator's payee check */
export function checkPayees(ask: (line: BatchLine) => Promise<PayeeCheck>): PayeeChecks {
  const running = new Set<Promise<void>>();
  const counts: Record<PayeeResult, number> = { match: 0, close: 0, none: 0, unavailable: 0 };
  const problems: PaymentProblem[] = [];
  const results: (PayeeCheck & { line: number })[] = [];
  const check = async (line: BatchLine) => {
    const checked = await ask(line);
    counts[checked.result] += 1;
    results.push({ line: line.line, ...checked });
    problems.push(...problemOf(line, checked));
  };
  return {
    async add(line) {
      while (running.size >= AT_ONCE) await Promise.race(running);
      const work: Promise<void> = check(line).finally(() => running.delete(work));
      // The race or the end throws it.
      work.catch(() => {});
      running.add(work);
    },
    async end() {
      await Promise.all(running);
      return { counts, problems, results };
    },
  };
}

/** `none` is refused. A person who has verified the payee may be right against `close` and `unavailable`. */
function problemOf({ line, place, name, payeeVerified }: BatchLine, checked: PayeeCheck): PaymentProblem[] {
  if (checked.result === 'match') return [];
  const isAccepted = payeeVerified && checked.result !== 'none';
  const message = `The payee check of ${name} says: ${describePayeeCheck(checked)}`;
  const severity = checked.result === 'none' ? 'error' : 'warning';
  return isAccepted ? [] : [{ severity, line, place, message }];
}

/** The results in words, for people. */
export function describeCounts(counts: Record<PayeeResult, number>): string {
  return PAYEE_RESULTS.map((result) => `${counts[result]} ${result}`).join(', ');
}
