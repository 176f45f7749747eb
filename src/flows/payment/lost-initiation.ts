import type { Operation, OrderTarget } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import type { FlowPorts } from '../ports.ts';
import { isInterruption } from '../refusals.ts';

/**
 * What psd2 does about an initiation whose answer was lost, by what the bank file said when the flow began (NextGenPSD2,
 * section 4, "Nothing twice"):
 *
 * - `repeat`: the same bytes with the same id give the same payment
 * - `begin again`: the bank runs nothing without SCA, and nobody holds the link that the customer would need
 *
 * @returns null if nothing can tell: a person must
 */
export async function recoveryOf(
  operation: Operation<OrderTarget>,
  { world, initiated }: Pick<FlowPorts, 'world' | 'initiated'>,
  clock: BankClock | null,
): Promise<'repeat' | 'begin again' | null> {
  const { initiation, executeRequestId, verification, transactionId } = operation;
  if (!initiation || executeRequestId === null || verification) return null;
  if (isRepeatable(operation, clock, world.now())) return 'repeat';
  if (mayExecuteUnseen(operation)) return null;
  // If there was an answer, the journal is older than it, and the customer may hold the link.
  return (await initiated?.(transactionId))?.answer === 'answered' ? null : 'begin again';
}

/** The bank's time, and when this machine asked for it. */
export interface BankClock {
  bank: Date;
  askedAt: Date;
}

/**
 * The bank's time, if it matters: for a bank that gives the same answer again for some minutes. Null if it does not, or the bank
 * does not say.
 */
export async function readClock(
  { bank, world }: Pick<FlowPorts, 'bank' | 'world'>,
  { initiation }: Operation<OrderTarget>,
): Promise<BankClock | null> {
  if (!initiation || initiation.repeatMinutes === null) return null;
  const askedAt = world.now();
  try {
    const time = await bank.clock?.();
    return time ? { bank: time, askedAt } : null;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

/**
 * Whether a payment whose initiation had no usable answer may run all the same: the bank executes it without SCA, or asks the
 * customer in its app. Elsewhere only a link starts SCA, and nobody has it.
 */
export function mayExecuteUnseen({ initiation }: Pick<Operation<OrderTarget>, 'initiation'>): boolean {
  return initiation !== null && (!initiation.needsLink || initiation.executesWithoutSca !== 'never');
}

/** The computers of a bank may differ by so much. */
const MARGIN_MS = 30_000;

/**
 * Whether the bank still gives the same answer. The bank's clock says so, and that of this machine must agree: the initiation may
 * have left another machine, and either clock may have been set since.
 */
export function isRepeatable(
  { initiation, initiatedAt, initiatedAtBank }: Operation<OrderTarget>,
  clock: BankClock | null,
  now: Date,
): boolean {
  if (!initiation || initiation.repeatMinutes === null || initiatedAt === null) return false;
  if (initiatedAtBank === null || clock === null) return false;
  const sinceAsked = now.getTime() - clock.askedAt.getTime();
  const there = clock.bank.getTime() - Date.parse(initiatedAtBank) + sinceAsked;
  const here = now.getTime() - Date.parse(initiatedAt);
  const passed = Math.max(there, here);
  if (sinceAsked < 0 || here < 0 || Math.abs(there - here) > MARGIN_MS) return false;
  return passed + MARGIN_MS <= initiation.repeatMinutes * 60_000;
}

/** @throws Psd2Error `outcome_unknown` if the time of a repetition is over: the process may have stood still */
export function assertRepeatable(
  operation: Operation<OrderTarget>,
  clock: BankClock | null,
  now: Date,
): void {
  if (isRepeatable(operation, clock, now)) return;
  throw new Psd2Error(
    'outcome_unknown',
    'The time in which the bank gives the same answer again may be over, so psd2 has not repeated the initiation',
    { flow: operation.flow, transactionId: operation.transactionId },
  );
}
