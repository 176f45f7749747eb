import type { OperationStep } from '../../domain/next-step.ts';
import { Psd2Error } from '../../errors.ts';
import { runOperation } from '../../flows/payment/loop.ts';
import type { GenericOperation, Open } from '../../store/ports/flows.ts';
import type { Context, CustomerBank } from '../context.ts';
import { driveFlow } from '../flow/drive.ts';
import { requireFile, saveDocument } from '../shared/save-document.ts';
import { OPERATIONS } from './operations.ts';

/** Reads `--receipt`, the file for the bank's document after execution. @throws Psd2Error `usage` */
export async function readReceipt(context: Context, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  await context.needs('receipts');
  return requireFile(context, path);
}

/**
 * Continues an operation from its journal to its end, or to the step that the operator wanted, and prints the outcome.
 *
 * @param how `receipt`: the file for the bank's document after execution; `until`: steps before which psd2 stops
 * @throws what {@link runOperation} throws, with the commands to run next
 */
export async function driveOperation(
  context: Context,
  opened: CustomerBank,
  open: Open<'operation'>,
  how: { receipt?: string | undefined; until?: OperationStep[] },
): Promise<void> {
  const { bank } = opened;
  const { terminal, globals } = context;
  const accept = async ({ order }: GenericOperation) =>
    globals.yes || terminal.confirm(`Ask the customer to authorise the ${order.operation}?`);
  await driveFlow(
    context,
    OPERATIONS,
    opened,
    open,
    (ports) => runOperation(open, bank.payments.operation(open.current), { ...ports, accept }, how.until),
    globals.yes ? ['--yes'] : [],
  );
  const { verification, order, transactionId, state } = open.current;
  if (how.receipt !== undefined && verification && state === 'executed') {
    try {
      const receipt = await bank.payments.receipt(order, verification.resourceId, transactionId);
      await saveDocument(context, how.receipt, receipt);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      const hint = `The ${order.operation} is executed. Do not make it again: only its receipt is missing.`;
      throw error.with({ hint: [hint, error.hint].filter(Boolean).join(' ') });
    }
  }
}

/** Begins an operation, and runs it as {@link driveOperation} does. */
export async function beginOperation(
  context: Context,
  order: Pick<GenericOperation['order'], 'operation' | 'from' | 'data'>,
  { furtherData, ...how }: Parameters<typeof driveOperation>[3] & { furtherData?: string[] },
): Promise<void> {
  const opened = await context.bank();
  const { customerId, flows, bank } = opened;
  const begin = {
    transactionId: context.world.newId(),
    commits: bank.payments.commits,
    order: { customerId, ...order },
    ...(furtherData && { furtherData }),
  };
  await flows.begin('operation', begin, (open) => driveOperation(context, opened, open, how));
}
