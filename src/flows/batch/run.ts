import type { BatchLine } from '../../domain/batch/line.ts';
import type { IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import type { Batches } from '../../store/ports/batches.ts';
import { isInterruption, isOvertaken } from '../refusals.ts';

/** What is paid at once: one line, or the lines of a bulk payment. */
export type Share = readonly [BatchLine, ...BatchLine[]];

/** What the run of a batch needs of its lines. */
export interface LineWork {
  /** Whether there is still something to do for a line. Reads it again. */
  isOpen(line: BatchLine): Promise<boolean>;
  /** Pays lines as far as possible now. It throws what stopped it; the lines' transfers have their states. */
  pay(share: Share): Promise<void>;
  /** Called after each share, with what stopped it. @returns false to stop the run */
  ended(share: Share, problem: Psd2Error | null): Promise<boolean>;
}

/** After so many shares in a row that no line is to blame for, the run stops. */
const MAX_FAILURES = 3;
/** These stop the run at once: the next line would meet them too. */
const STOPPING = ['certificate', 'callback_port_busy', 'no_profile'];
/** These say that the bank or the store is away. One of them may be about one line. */
const AWAY = ['bank_unreachable', 'bank_failing', 'too_many_calls', 'bank_answer', 'config'];

/** Whether an error is about one line, so that the next ones may well be paid. */
export function isAboutLine({ code }: Psd2Error): boolean {
  return !STOPPING.includes(code) && !AWAY.includes(code);
}

/** The lines in the order in which a run pays them: by execution date, then as in the file. */
export function inOrder(lines: readonly BatchLine[], today: IsoDate): BatchLine[] {
  const day = ({ executionDate }: BatchLine) => executionDate ?? today;
  return lines.toSorted((one, other) =>
    day(one) === day(other) ? one.line - other.line : day(one) < day(other) ? -1 : 1,
  );
}

/**
 * The shares of a batch: bulk payments of one account, day, product and way of booking, and single lines.
 *
 * @param lines in the order in which they are paid
 * @param mayJoin whether a line may go into a bulk payment
 * @param most the most lines of a bulk payment; null for no limit
 */
export function sharesOf(
  lines: readonly BatchLine[],
  mayJoin: (line: BatchLine) => boolean,
  most: number | null,
): Share[] {
  const shares: [BatchLine, ...BatchLine[]][] = [];
  const open = new Map<string, [BatchLine, ...BatchLine[]]>();
  for (const line of lines) {
    const { customer, from, fromIban, executionDate, instant, urgent, currency, batchBooking } = line;
    const own = [executionDate, instant, urgent, currency, batchBooking];
    const key = JSON.stringify([customer, from, fromIban, ...own]);
    const share = mayJoin(line) ? open.get(key) : undefined;
    if (share && share.length < (most ?? Infinity)) {
      share.push(line);
      continue;
    }
    const begun: [BatchLine] = [line];
    shares.push(begun);
    if (mayJoin(line)) open.set(key, begun);
  }
  return shares;
}

/**
 * Pays the shares of a batch, one after the other (batch page, `run`). A line that fails stops no other line. Other runs of the same
 * batch may work on it at the same time: each takes the lines that no other has, and waits for the others at the end.
 *
 * @throws Psd2Error that stops the run: the operator's Ctrl-C, a store or certificate that cannot be used, or a bank that is away.
 *   Run the batch again to go on
 */
export async function runLines(
  batches: Pick<Batches, 'onLine'>,
  batch: string,
  shares: readonly Share[],
  work: LineWork,
): Promise<void> {
  const isOpen = async (share: Share) => {
    for (const line of share) if (await work.isOpen(line)) return true;
    return false;
  };
  let failures = 0;
  /** @returns `taken` if another run has the share */
  const runShare = async (share: Share, waits: boolean): Promise<'taken' | 'go on' | 'stop'> => {
    let problem: Psd2Error | null = null;
    const result = await batches.onLine(batch, share[0].line, waits, async () => {
      // Another run may have ended it since.
      if (!(await isOpen(share))) return 'go on';
      try {
        await work.pay(share);
      } catch (error) {
        if (isOvertaken(error)) return 'taken';
        if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
        problem = error;
      }
      return (await work.ended(share, problem)) ? 'go on' : 'stop';
    });
    if (result !== 'taken') failures = failureCount(problem, failures);
    return result;
  };

  for (let left = [...shares], isFirst = true; left.length > 0; isFirst = false) {
    const others: Share[] = [];
    for (const share of left) {
      if (isFirst && !(await isOpen(share))) continue;
      const result = await runShare(share, !isFirst);
      if (result === 'stop') return;
      if (result === 'taken') others.push(share);
    }
    left = [];
    // Another run ends them, or stops: then this one takes them over.
    for (const share of others) if (await isOpen(share)) left.push(share);
  }
}

/** @returns how many shares in a row failed because of the bank or the store. @throws Psd2Error if the run must stop */
function failureCount(problem: Psd2Error | null, before: number): number {
  if (problem === null) return 0;
  // A payment is open, and what stopped psd2 may stop the next one, too.
  const { code } =
    problem.code === 'still_open' && problem.cause instanceof Psd2Error ? problem.cause : problem;
  if (STOPPING.includes(code)) throw problem;
  if (!AWAY.includes(code)) return 0;
  if (before + 1 >= MAX_FAILURES) throw problem;
  return before + 1;
}
