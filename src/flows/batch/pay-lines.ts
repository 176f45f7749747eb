import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import { type KnownLine, readLine } from './known-lines.ts';
import { ProblemsOfLines } from './lines.ts';
import { canGoOn } from './outcome.ts';
import { type Choice, payShare } from './pay-share.ts';
import type { BatchRun } from './ports.ts';
import { runLines, type Share } from './run.ts';

/** A line as the run leaves it. */
export interface LeftLine extends KnownLine {
  /** What stopped it in this run. */
  problem: string | undefined;
}

/** What a run says of its lines. */
interface Told {
  /** Called with each line once, as it is when its work has ended. */
  ended(line: LeftLine): void;
  /** Called if a payment goes no further in this run. */
  stopped(line: BatchLine, why: Psd2Error): void;
}

/**
 * Pays the shares of a batch.
 *
 * @param stopAfter the run stops after as many refused or unknown payments
 * @returns how it leaves the lines, in the order of the file, and what stopped it; null if nothing did
 */
export async function payLines(
  run: BatchRun,
  { shares, choice }: { shares: readonly Share[]; choice: Choice },
  stopAfter: number,
  { ended, stopped }: Told,
): Promise<{ ends: LeftLine[]; stop: unknown }> {
  const { batches, flows, batch } = run;
  const problems = new Map<number, string>();
  const read = async (line: BatchLine): Promise<LeftLine> => {
    const known = await readLine(flows, await batches.find(batch), line);
    return { ...known, problem: problems.get(line.line) };
  };
  const told = new Set<number>();
  let failures = 0;
  const finish = async (line: BatchLine) => {
    const end = await read(line);
    told.add(line.line);
    ended(end);
    return end;
  };
  let stop: unknown = null;
  try {
    await runLines(batches, batch, shares, {
      isOpen: async (line) => {
        const { transfer, outcome } = await read(line);
        return transfer ? canGoOn(transfer) && outcome !== 'not paid' : outcome === 'unfinished';
      },
      pay: (share) => payShare(run, share, choice),
      ended: async (share, problem) => {
        for (const line of share) {
          const its = problem instanceof ProblemsOfLines ? problem.of(line) : problem;
          if (its) problems.set(line.line, its.message);
          const { outcome } = await finish(line);
          const isLeft = its?.isDeadEnd && line === share[0] && outcome !== 'paid' && outcome !== 'not paid';
          if (its && (outcome === 'unfinished' || isLeft)) stopped(line, isLeft ? withNext(batch, its) : its);
          if (outcome === 'unknown' || outcome === 'not paid' || outcome === 'refused') failures += 1;
        }
        return failures < stopAfter;
      },
    });
  } catch (error) {
    stop = error instanceof Psd2Error ? withNext(batch, error) : error;
  }
  const ends: LeftLine[] = [];
  for (const line of shares.flat().sort((one, other) => one.line - other.line))
    ends.push(told.has(line.line) ? await read(line) : await finish(line));
  return { ends, stop };
}

/** Adds how to go on to what stopped a run or a payment, unless it says something better. */
function withNext(batch: string, stop: Psd2Error): Psd2Error {
  if (stop.next !== undefined) return stop;
  // What the bank has not cancelled has no command of its own if it is many payments.
  if (stop.hint !== undefined && !stop.isDeadEnd) return stop;
  return stop.with({
    hint: `${stop.hint ?? 'Do not pay these payments in another way.'} psd2 goes on, and pays nothing twice, with:`,
    next: [['batch', 'run', batch]],
  });
}
