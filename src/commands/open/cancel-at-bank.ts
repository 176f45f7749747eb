import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { reservedUntil } from '../../domain/given-links.ts';
import { cancelAtBank } from '../../flows/payment/cancel.ts';
import { endLinkInTime } from '../../flows/payment/link-out.ts';
import type { OpenPayment } from '../../flows/ports.ts';
import type { Context, CustomerBank } from '../context.ts';
import type { CancelThere } from '../flow/describe.ts';
import { flowPortsOf } from '../flow/ports.ts';
import { refusePasting, returnPortsOf } from './returns.ts';

/** Cancels a payment at the bank, with the customer at this machine. @throws what {@link cancelAtBank} throws */
export async function cancelHere(
  context: Context,
  opened: CustomerBank,
  open: OpenPayment,
  calls: PaymentCalls,
  { paste, person }: CancelThere,
): Promise<void> {
  if (paste) refusePasting(context);
  const returns = await returnPortsOf(context, opened, paste, open.current.transactionId, person);
  await cancelAtBank(open, calls, flowPortsOf(context, opened), returns);
  const { linkUntil } = open.current;
  if (linkUntil !== null && context.world.now() >= reservedUntil(linkUntil))
    await endLinkInTime(open, opened.bank);
}
