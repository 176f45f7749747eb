import type { Operation, OrderTarget } from '../domain/operation.ts';
import { Psd2Error } from '../errors.ts';
import type { FlowPorts } from './ports.ts';

/**
 * What psd2 does about an initiation whose answer was lost, by what the bank file said when the flow began (NextGenPSD2,
 * section 4, "Nothing twice"):
 *
 * - `repeat`: the same bytes with the same id give the same payment
 * - `begin again`: the bank runs nothing without SCA, and nobody holds the link that the customer would need
 *
 * @returns null if nothing can tell: a person must
 */
export async function wayOn(
  operation: Operation<OrderTarget>,
  { world, initiated }: Pick<FlowPorts, 'world' | 'initiated'>,
): Promise<'repeat' | 'begin again' | null> {
  const { initiation, executeRequestId, verification, transactionId } = operation;
  if (!initiation || executeRequestId === null || verification) return null;
  if (isRepeatable(operation, world.now())) return 'repeat';
  if (mayRunUnseen(operation)) return null;
  // If there was an answer, the journal is older than it, and the customer may hold the link.
  return (await initiated?.(transactionId))?.answer === 'answered' ? null : 'begin again';
}

/**
 * Whether a payment whose initiation had no usable answer may run all the same: the bank executes it without SCA, or asks the
 * customer in its app. Elsewhere only a link starts SCA, and nobody has it.
 */
export function mayRunUnseen({ initiation }: Pick<Operation<OrderTarget>, 'initiation'>): boolean {
  return initiation !== null && (!initiation.needsLink || initiation.executesWithoutSca !== 'never');
}

/** Whether the bank still gives the same answer. A clock that was set back does not extend the time. */
export function isRepeatable({ initiation, initiatedAt }: Operation<OrderTarget>, now: Date): boolean {
  if (!initiation || initiation.repeatMinutes === null || initiatedAt === null) return false;
  const passed = now.getTime() - Date.parse(initiatedAt);
  return passed >= 0 && passed < initiation.repeatMinutes * 60_000;
}

/** @throws Psd2Error `outcome_unknown` if the time of a repetition is over: the process may have stood still */
export function assertRepeatable(operation: Operation<OrderTarget>, now: Date): void {
  if (isRepeatable(operation, now)) return;
  throw new Psd2Error(
    'outcome_unknown',
    'The time in which the bank gives the same answer again is over, so psd2 has not repeated the initiation',
    { flow: operation.flow, transactionId: operation.transactionId },
  );
}
