import type { SettlementStatus } from '../../domain/operation.ts';
import type { WorldPorts } from '../ports.ts';

/** The bank's execution status of an instant transfer. */
export interface ExecutionStatus {
  executionStatus: string;
  executionStatusDescription: string | null;
}

/** The meaning of an execution status. */
export interface Settlement {
  status: SettlementStatus;
  description: string | null;
}

/**
 * When psd2 asks for an instant transfer's status, in milliseconds after `execute` ended: first after 1 s, then every 3 to
 * 5 s, last at 15 s (interface specification, "Limits"). The pauses are equal, so a call that starts late on a busy machine
 * is not too close to the next one.
 */
const POLLS_MS = [1_000, 4_500, 8_000, 11_500, 15_000];

/**
 * Asks for the status of an instant transfer until it is final or the time is over. If a transfer is resumed after that
 * time, psd2 asks once, immediately.
 *
 * @param executeEnded milliseconds since 1970
 * @returns the last answer. `PENDING` is not final
 * @throws what `ask` throws, and Psd2Error `interrupted`
 */
export function pollSettlement(
  world: Pick<WorldPorts, 'now' | 'sleep'>,
  ask: () => Promise<ExecutionStatus>,
  executeEnded: number,
): Promise<Settlement> {
  return poll(world, ask, executeEnded, POLLS_MS);
}

/** As {@link pollSettlement}, but asks only once, not earlier than at the first poll. */
export function askSettlementOnce(
  world: Pick<WorldPorts, 'now' | 'sleep'>,
  ask: () => Promise<ExecutionStatus>,
  executeEnded: number,
): Promise<Settlement> {
  return poll(world, ask, executeEnded, POLLS_MS.slice(0, 1));
}

async function poll(
  world: Pick<WorldPorts, 'now' | 'sleep'>,
  ask: () => Promise<ExecutionStatus>,
  executeEnded: number,
  times: readonly number[],
): Promise<Settlement> {
  // The clock may have been set back in the meantime.
  const begun = Math.min(executeEnded, world.now().getTime());
  const late = world.now().getTime() - begun;
  const polls = times.filter((after) => after > late);
  let description: string | null = null;
  for (const [index, after] of (polls.length > 0 ? polls : [late]).entries()) {
    const wait = Math.min(begun + after - world.now().getTime(), after);
    // Skip a call if the previous answer took so long that its time has passed.
    if (wait < 0 && index > 0) continue;
    await world.sleep(Math.max(0, wait));
    const answer = await ask();
    const status = readSettlementStatus(answer.executionStatus);
    description = answer.executionStatusDescription;
    if (status !== 'PENDING') return { status, description };
  }
  return { status: 'PENDING', description };
}

/** Interprets a bank's execution status of an instant transfer. Any status that is not final means pending. */
export function readSettlementStatus(bankStatus: string): SettlementStatus {
  return bankStatus === 'OK' || bankStatus === 'KO' ? bankStatus : 'PENDING';
}
