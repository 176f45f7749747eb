import type { BatchLine } from '../domain/batch/line.ts';
import type { IsoDate } from '../domain/calendar.ts';
import { Psd2Error } from '../errors.ts';
import type { Batches } from '../store/ports/batches.ts';
import { isInterruption, isOvertaken } from './refusals.ts';

/** What the run of a batch needs of a line. */
export interface LineWork {
  /** Whether there is still something to do for a line. Reads it again. */
  isOpen(line: BatchLine): Promise<boolean>;
  /** Pays a line as far as possible now. It throws what stopped it; the line's transfer has its state. */
  pay(line: BatchLine): Promise<void>;
  /** Called after each line, with what stopped it. @returns false to stop the run */
  ended(line: BatchLine, problem: Psd2Error | null): Promise<boolean>;
}

/** The run stops after this many consecutive failures that no line caused. */
const MAX_FAILURES = 3;
/** These stop the run at once: the next line would meet them too. */
const STOPPING = ['certificate', 'callback_port_busy', 'no_profile'];
/** These say that the bank or the store is away. One of them may be about one line. */
const AWAY = ['bank_unreachable', 'bank_failing', 'too_many_calls', 'bank_answer', 'config'];

/** The lines in the order in which a run pays them: by execution date, then as in the file. */
export function inOrder(lines: readonly BatchLine[], today: IsoDate): BatchLine[] {
  const day = ({ executionDate }: BatchLine) => executionDate ?? today;
  return lines.toSorted((one, other) =>
    day(one) === day(other) ? one.line - other.line : day(one) < day(other) ? -1 : 1,
  );
}

/**
 * Pays the lines of a batch, one after the other (batch page, `run`). A line that fails stops no other line. Other runs of the same
 * batch may work on it at the same time: each takes the lines that no other has, and waits for the others at the end.
 *
 * @throws Psd2Error that stops the run: the operator's Ctrl-C, a store or certificate that cannot be used, or a bank that is away.
 *   Run the batch again to go on
 */
export async function runLines(
  batches: Batches,
  batch: string,
  lines: readonly BatchLine[],
  work: LineWork,
): Promise<void> {
  let failures = 0;
  /** @returns `taken` if another run has the line */
  const runLine = async (line: BatchLine, waits: boolean): Promise<'taken' | 'go on' | 'stop'> => {
    let problem: Psd2Error | null = null;
    const result = await batches.onLine(batch, line.line, waits, async () => {
      // Another run may have ended it since.
      if (!(await work.isOpen(line))) return 'go on';
      try {
        await work.pay(line);
      } catch (error) {
        if (isOvertaken(error)) return 'taken';
        if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
        problem = error;
      }
      return (await work.ended(line, problem)) ? 'go on' : 'stop';
    });
    if (result !== 'taken') failures = failureCount(problem, failures);
    return result;
  };

  for (let left = [...lines], isFirst = true; left.length > 0; isFirst = false) {
    const taken: BatchLine[] = [];
    for (const line of left) {
      if (isFirst && !(await work.isOpen(line))) continue;
      const result = await runLine(line, !isFirst);
      if (result === 'stop') return;
      if (result === 'taken') taken.push(line);
    }
    left = [];
    // Another run ends them, or stops: then this one takes them over.
    for (const line of taken) if (await work.isOpen(line)) left.push(line);
  }
}

/** @returns how many lines in a row failed because of the bank or the store. @throws Psd2Error if the run must stop */
function failureCount(problem: Psd2Error | null, before: number): number {
  if (problem === null) return 0;
  if (STOPPING.includes(problem.code)) throw problem;
  if (!AWAY.includes(problem.code)) return 0;
  if (before + 1 >= MAX_FAILURES) throw problem;
  return before + 1;
}
