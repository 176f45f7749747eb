import type { BeforeSend } from '../../bank/ports/call.ts';
import { Psd2Error } from '../../errors.ts';
import type { FlowPorts, Payment, Run } from '../ports.ts';
import { isInterruption } from '../refusals.ts';

// Some banks promise, for some minutes, the same answer to the same request. Whether that time is over, two clocks must say.

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
  { initiation }: Payment,
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

/** The computers of a bank may differ by so much. */
const MARGIN_MS = 30_000;

/**
 * Whether the bank still gives the same answer. The bank's clock says so, and that of this machine must agree: the initiation may
 * have left another machine, and either clock may have been set since.
 */
export function isRepeatable(
  { initiation, initiatedAt, initiatedAtBank }: Payment,
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
export function assertRepeatable(operation: Payment, clock: BankClock | null, now: Date): void {
  if (isRepeatable(operation, clock, now)) return;
  throw new Psd2Error(
    'outcome_unknown',
    'The time in which the bank gives the same answer again may be over, so psd2 has not repeated the initiation',
    { flow: operation.flow, transactionId: operation.transactionId },
  );
}

/**
 * Announces an initiation, last in the log of calls of this machine. A repetition may leave only as long as the bank gives the same
 * answer.
 */
export function initiating(
  { open, ports }: Run,
  beforeSend: BeforeSend,
  clock: BankClock | null,
): BeforeSend {
  return async (intent) => {
    const isRepetition = open.current.executeRequestId === intent.requestId;
    const announced = await beforeSend(intent);
    const { transactionId } = open.current;
    return {
      ...announced,
      async beforeFirstByte() {
        await announced?.beforeFirstByte?.();
        if (isRepetition) assertRepeatable(open.current, clock, ports.world.now());
        else await ports.announces?.({ requestId: intent.requestId, transactionId });
      },
    };
  };
}
