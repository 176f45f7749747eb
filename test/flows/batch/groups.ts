import { applyOperationEvent } from '../../../src/domain/operation.ts';
import { applyTransferEvent, type Transfer, type TransferEvent } from '../../../src/domain/transfer.ts';
import type { GenericOperation } from '../../../src/store/ports/flows.ts';
import { transferOrder } from '../../domain/orders.ts';

const AT = '2026-11-24T10:00:00Z';

/** The bulk payment or signing basket that a transfer goes with. */
export const GROUP = 'op-1';

export function groupOf(operation: string, state: Partial<GenericOperation>): GenericOperation {
  const order = { customerId: 'default', from: transferOrder().from, operation, data: '{}' };
  const begun = applyOperationEvent<GenericOperation['order']>(
    'operation',
    undefined,
    { type: 'created', flow: GROUP, transactionId: 'x', commits: 'by the customer', order },
    AT,
  );
  return { ...begun, reached: true, ...state };
}

/** The transfer after these events. */
export function fold(transfer: Transfer | undefined, events: readonly TransferEvent[]): Transfer {
  const apply = (now: Transfer | undefined, event: TransferEvent) => applyTransferEvent(now, event, AT);
  const end = events.reduce<Transfer | undefined>(apply, transfer);
  if (!end) throw new Error('There is no event');
  return end;
}
