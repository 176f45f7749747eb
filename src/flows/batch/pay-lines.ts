import { isAuthorised } from '../../domain/authorisations.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { standingOf } from '../../domain/flow-states.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { mayExecuteUnseen } from '../payment/initiation.ts';
import { isTrouble } from '../refusals.ts';
import { basketWithoutLink } from './basket.ts';
import { canGoOn, type KnownLine, type LineOutcome, readLine } from './known-lines.ts';
import { ProblemsOfLines } from './lines.ts';
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
  /** Called once if the bank turns out to have no signing baskets, so that each payment is authorised alone. */
  withoutBaskets(why: Psd2Error): void;
}

/**
 * Pays the shares of a batch. The run stops by itself if its initiations end unknown alike: the others would, too;
 * and at the first PIN that the bank does not accept.
 *
 * @param stopAfter the run stops after as many refused or unknown payments
 * @returns how it leaves the lines, in the order of the file, and what stopped it; null if nothing did
 */
export async function payLines(
  run: BatchRun,
  { shares, choice }: { shares: readonly Share[]; choice: Choice },
  stopAfter: number,
  { ended, stopped, withoutBaskets }: Told,
): Promise<{ ends: LeftLine[]; stop: unknown }> {
  const { batches, flows, batch } = run;
  const problems = new Map<number, Psd2Error>();
  const read = async (line: BatchLine): Promise<LeftLine> => {
    const current = await readLine(flows, await batches.find(batch), line);
    const problem = problems.get(line.line);
    return { ...current, outcome: outcomeAfter(current, problem), problem: problem?.message };
  };
  const reported = new Set<number>();
  let failures = 0;
  const finish = async (line: BatchLine) => {
    const end = await read(line);
    reported.add(line.line);
    ended(end);
    return end;
  };
  let isToldOfBaskets = false;
  const withoutBasket = (why: Psd2Error) => {
    if (!isToldOfBaskets) withoutBaskets(why);
    isToldOfBaskets = true;
  };
  let stop: unknown = null;
  try {
    await runLines(batches, batch, shares, {
      isOpen: async (line) => {
        const { transfer, outcome } = await read(line);
        return transfer ? canGoOn(transfer) && outcome !== 'not paid' : outcome === 'unfinished';
      },
      pay: (share) => payShare(run, share, choice, withoutBasket),
      ended: async (share, problem) => {
        for (const line of share) {
          const its = problem instanceof ProblemsOfLines ? problem.of(line) : problem;
          if (its) problems.set(line.line, its);
          const { outcome, transfer } = await finish(line);
          const isLeft = its?.isDeadEnd && line === share[0] && outcome !== 'paid' && outcome !== 'not paid';
          if (its && (outcome === 'unfinished' || isLeft)) stopped(line, isLeft ? withNext(batch, its) : its);
          if (outcome === 'unknown' || outcome === 'not paid' || outcome === 'refused') failures += 1;
          else if (isScaRefused(transfer, its)) failures += 1;
        }
        return failures < stopAfter && run.initiations.alike === null && !run.pins.isRefused;
      },
    });
  } catch (error) {
    stop = error instanceof Psd2Error ? withNext(batch, error) : error;
  }
  const ends: LeftLine[] = [];
  for (const line of shares.flat().sort((one, other) => one.line - other.line))
    ends.push(reported.has(line.line) ? await read(line) : await finish(line));
  return { ends, stop };
}

/**
 * What a payment counts as: nobody knows whether it still awaits its customer if the bank could not be asked, or did not say.
 */
function outcomeAfter(line: KnownLine, problem: Psd2Error | undefined): LineOutcome {
  const isUnsaid = problem?.code === 'outcome_unknown' || isTrouble(problem);
  return isUnsaid && isOpenElsewhere(line) ? 'unknown' : line.outcome;
}

/** Whether the bank has a payment, and its authorisation did not begin, or the bank has refused what psd2 did for it. */
function isScaRefused(transfer: Transfer | undefined, problem: Psd2Error | null): boolean {
  if (problem?.code !== 'still_open') return false;
  return transfer?.state === 'verified' || problem.httpStatus !== undefined;
}

/** Adds how to go on to what stopped a run or a payment, unless it says something better. */
function withNext(batch: string, stop: Psd2Error): Psd2Error {
  // Ctrl-C at a question about one payment ends the batch.
  if (stop.code === 'interrupted' && stop.next !== undefined)
    return stop.with({
      next: [['batch', 'run', batch], ...stop.next.filter(([, verb]) => verb === 'cancel')],
    });
  if (stop.next !== undefined) return stop;
  // What the bank has not cancelled has no command of its own if it is many payments.
  if (stop.hint !== undefined && !stop.isDeadEnd) return stop;
  return stop.with({
    hint: `${stop.hint ?? 'Do not pay these payments in another way.'} psd2 goes on, and pays nothing twice, with:`,
    next: [['batch', 'run', batch]],
  });
}

// How a run ends: whether all is paid, and what to do if not.

/** Whether the outcome of a payment is unknown because the bank may have its signing basket, which only a person can give up. */
export async function isAnyStuck(flows: Flows, ends: readonly KnownLine[]): Promise<boolean> {
  for (const { outcome, transfer } of ends) {
    const basket = outcome === 'unknown' && transfer ? await basketWithoutLink(flows, transfer) : null;
    if (basket && mayExecuteUnseen(basket)) return true;
  }
  return false;
}

/** Whether somebody has authorised a payment, or what it goes with, and another person must, too. */
export async function waitsForOthers(flows: Flows, ends: readonly KnownLine[]): Promise<boolean> {
  const looked = new Set<string>();
  for (const { outcome, transfer } of ends) {
    if (outcome !== 'awaited' || !transfer || looked.has(transfer.bulk ?? '')) continue;
    const operation = transfer.bulk === null ? transfer : await flows.find('operation', transfer.bulk);
    if (operation.authorisations.some(isAuthorised)) return true;
    if (transfer.bulk !== null) looked.add(transfer.bulk);
  }
  return false;
}

/** @throws Psd2Error `outcome_unknown` (9), `payment_failed` (8), `still_open` (13), `not_authorised` (6) unless all are paid */
export function refuseUnpaid(
  batch: string,
  ends: readonly KnownLine[],
  {
    isBasket,
    isStuck,
    alike,
    isForOthers = false,
  }: Pick<Choice, 'isBasket'> & { isStuck: boolean; alike: string | null; isForOthers?: boolean },
): void {
  const count = (...outcomes: string[]) => ends.filter(({ outcome }) => outcomes.includes(outcome)).length;
  // The bank has said what it has of these, and nobody has a link.
  const unasked = isBasket ? ends.filter(lacksBasket) : [];
  const unknown = ends.filter((each) => each.outcome === 'unknown' && !unasked.includes(each)).length;
  const open = count('unfinished');
  if (unknown > 0) {
    const what = `The outcome of ${unknown} of ${ends.length} payments is not known`;
    throw alike === null
      ? new Psd2Error('outcome_unknown', what, whileUnknown(batch, isStuck))
      : new Psd2Error('outcome_unknown', `${what}. ${STOPPED}: ${alike}`, afterStop(batch, open));
  }
  const refused = count('refused');
  const linked = count('kept');
  const unpaid = count('not paid');
  const own = ends.filter(({ row: { state, flow } }) => state === 'failed' && flow === null).length;
  const unmade = unpaid + refused + linked + open;
  if (unmade > 0)
    throw new Psd2Error(
      'payment_failed',
      `${unmade} of ${ends.length} payments ${unmade === 1 ? 'was' : 'were'} not made`,
      open > 0
        ? { hint: 'Go on with:', next: [['batch', 'run', batch]] }
        : afterRefusals(batch, { unpaid, refused, kept: linked, own }),
    );
  const awaited = count('awaited');
  if (unasked.length > 0)
    throw new Psd2Error(
      'still_open',
      `The customer could not be asked for ${unasked.length} of ${ends.length} payments. ${notOver(unasked.length)}`,
      {
        hint: 'The bank has the payments, but not the signing basket. Have each payment authorised alone, or cancel them:',
        next: [
          ['batch', 'run', batch, '--as', 'single'],
          ['batch', 'cancel', batch],
        ],
      },
    );
  if (awaited > 0) throw awaiting(batch, ends, { awaited, isForOthers });
}

/** The error if payments wait for somebody, and nothing is worse. */
function awaiting(
  batch: string,
  ends: readonly KnownLine[],
  { awaited, isForOthers }: { awaited: number; isForOthers: boolean },
): Psd2Error {
  const awaits = `${awaited} of ${ends.length} payments ${awaited === 1 ? 'awaits its' : 'await their'} customer`;
  if (ends.some(isAtBank))
    return new Psd2Error(
      'still_open',
      // Of what nobody has a link for, the bank is to be asked all the same.
      `${awaits}. ${notOver(awaited)}${ends.some(isOpenElsewhere) ? `: somebody can still authorise ${awaited === 1 ? 'it' : 'them'}` : ''}`,
      {
        hint: 'Ask the bank for their decisions, or cancel what is not paid:',
        next: [
          ['batch', 'run', batch],
          ...(isForOthers ? [['batch', 'run', batch, '--psu-id', 'ID']] : []),
          ['batch', 'cancel', batch],
        ],
      },
    );
  return new Psd2Error('not_authorised', awaits, {
    hint: 'psd2 asks the bank for their decisions with:',
    next: [['batch', 'run', batch]],
  });
}

/** Whether the bank has a payment, and has refused its signing basket. */
function lacksBasket({ transfer }: KnownLine): boolean {
  return transfer?.state === 'verified' && transfer.bulk === null;
}

function notOver(count: number): string {
  return count === 1 ? 'The payment is not over' : 'These payments are not over';
}

/** Whether the bank has the payment of a line, and it waits for its customer. Where psd2 commits, that is nothing yet. */
function isAtBank({ outcome, transfer }: KnownLine): boolean {
  return outcome === 'awaited' && transfer?.commits === 'by the customer';
}

/** Whether somebody can authorise the payment of a line at the bank, without psd2. */
export function isOpenElsewhere(line: KnownLine): boolean {
  return isAtBank(line) && line.transfer !== undefined && standingOf(line.transfer) === 'sent';
}

const STOPPED = 'psd2 has stopped, because three initiations in a row ended in the same way';

/** What to do if a run has stopped by itself. @param open how many payments have not begun */
function afterStop(batch: string, open: number): { hint: string; next: string[][] } {
  const left =
    open === 0 ? '' : ` psd2 has sent nothing of the other ${open}, and goes on with them with run.`;
  return {
    hint: `Find out first what is wrong.${left} Do not make the unknown ones again. Look at the account statement, and record with resolve that they were not executed:`,
    next: [
      ['batch', 'run', batch],
      ['batch', 'resolve', batch, '--not-executed'],
    ],
  };
}

/** What to do about payments of which nobody knows what became. @param isStuck as {@link isAnyStuck} says */
function whileUnknown(batch: string, isStuck: boolean): { hint: string; next: string[][] } {
  const run = ['batch', 'run', batch];
  if (!isStuck)
    return {
      hint: 'Do not make them again. psd2 asks the bank with run. If their outcome stays unknown, look at the account statement, and record with resolve that they were not executed:',
      next: [run, ['batch', 'resolve', batch, '--not-executed']],
    };
  return {
    hint: 'Do not make them again. The bank may have their signing basket, and nobody has its link. Ask the bank again, have each payment authorised alone, or cancel them at the bank, with:',
    next: [run, [...run, '--as', 'single'], ['batch', 'cancel', batch]],
  };
}

/**
 * What to do about payments that were not made.
 *
 * @param refused how many of them the bank has refused by one answer alone
 * @param linked how many can still be paid by a link, although the bank has cancelled them
 * @param own how many of the unpaid psd2 has refused before they had a transfer
 */
function afterRefusals(
  batch: string,
  { unpaid, refused, kept: linked, own }: Record<'unpaid' | 'refused' | 'kept' | 'own', number>,
): { hint: string; next: string[][] } {
  if (refused + linked === 0 && own === unpaid)
    return {
      hint: 'psd2 refused them and sent nothing: their reasons say what to correct. See them with:',
      next: [['batch', 'report', batch]],
    };
  const retry = 'Make a new batch of those that are known not to be paid with:';
  if (refused + linked === 0) return { hint: retry, next: [['batch', 'retry', batch]] };
  const reserved = [
    refused > 0 &&
      `The bank refused ${refused} without confirming that no money moved. Each reference stays reserved until you run psd2 transfer resolve.`,
    linked > 0 &&
      `The bank has cancelled ${linked} whose customer has a link that may work. Each reference stays reserved until its time is over.`,
  ]
    .filter(Boolean)
    .join(' ');
  return unpaid > 0
    ? { hint: `${reserved} ${retry}`, next: [['batch', 'retry', batch]] }
    : {
        hint: `${reserved} psd2 asks the bank again with:`,
        next: [['batch', refused > 0 ? 'run' : 'status', batch]],
      };
}
