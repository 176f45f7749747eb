import type { Baskets } from '../../bank/ports/basket.ts';
import type { BulkPayments } from '../../bank/ports/bulk.ts';
import { isUntouched } from '../../domain/flow-states.ts';
import { nextOperationStep } from '../../domain/next-step.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { needsSettlement } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Flows, GenericOperation } from '../../store/ports/flows.ts';
import { isInterruption } from '../refusals.ts';
import { isWithoutLink, SIGNING_BASKET } from './follow-basket.ts';
import { BULK_PAYMENT } from './follow-bulk.ts';
import { type GroupKind, purposeOf } from './group.ts';
import type { Payer } from './ports.ts';
import { followInBasket } from './settle-basket.ts';
import { followAll } from './settle-bulk.ts';

/** One payment at the bank for all. */
export const BULK: GroupKind = {
  operation: BULK_PAYMENT,
  calls(payer, operation) {
    const { transactionId } = operation;
    const bulk = bulkOf(payer, operation);
    return bulk.calls({ order: purposeOf(operation), transactionId, initiation: initiationOf(operation) });
  },
  async refuseOther(payer, operation, transfers) {
    const orders = transfers.map(({ order }) => order);
    await bulkOf(payer, operation).refuseOther(orders, initiationOf(operation));
  },
  mayJoin: (transfer) => isUntouched(transfer) && transfer.initiation === null,
  follow: followAll,
};

/** A payment of its own for each, and one authorisation for all. */
export const BASKET: GroupKind = {
  operation: SIGNING_BASKET,
  calls(payer, operation) {
    const { transactionId } = operation;
    return basketsOf(payer, operation).calls({ transactionId, initiation: initiationOf(operation) });
  },
  async refuseOther(payer, operation, transfers) {
    basketsOf(payer, operation).refuseOther(paymentIdsOf(transfers), initiationOf(operation));
  },
  mayJoin: waitsForBasket,
  follow: followInBasket,
};

/** @throws Psd2Error `config` */
function bulkOf({ bank }: Payer, { flow }: GenericOperation): BulkPayments {
  const { bulk } = bank.payments;
  if (bulk) return bulk;
  throw new Psd2Error('config', 'The bank file has no bulk payments any more', { flow });
}

/** @throws Psd2Error `config` */
function basketsOf({ bank }: Payer, { flow }: GenericOperation): Baskets {
  const { baskets } = bank.payments;
  if (baskets) return baskets;
  throw new Psd2Error('config', 'The bank has no signing baskets any more', { flow });
}

/** The bank's ids of the payments that go into a basket. */
export function paymentIdsOf(transfers: readonly Transfer[]): string[] {
  return transfers.flatMap(({ verification }) => verification?.resourceId ?? []);
}

/** What kind of operation an earlier run began. */
export function kindOf({ order }: GenericOperation): GroupKind {
  return order.operation === SIGNING_BASKET ? BASKET : BULK;
}

/** Whether a transfer of an earlier run is at the bank, or on its way there, and psd2 has not begun to authorise it. */
export function mayGoIntoBasket(transfer: Transfer): boolean {
  const { bulk, initiation, verification, state, authorisations, links } = transfer;
  // A bank may begin one with the initiation. Nobody has its link.
  const begunByBank = links?.redirect === undefined && links?.oauth === undefined ? 0 : 1;
  const isOnItsWay = state === 'executing' && verification === null;
  const isAtStart = state === 'created' || isOnItsWay || state === 'verified';
  return bulk === null && initiation !== null && isAtStart && authorisations.length <= begunByBank;
}

/** Whether the bank has a payment that psd2 has not begun to authorise. */
function waitsForBasket(transfer: Transfer): boolean {
  const step = nextOperationStep(transfer, needsSettlement(transfer.order));
  return mayGoIntoBasket(transfer) && step === 'authorize';
}

/** The signing basket that a transfer is in and that nobody has the link of. Null: it is in none, or its basket cannot be read. */
export async function basketWithoutLink(
  flows: Pick<Flows, 'find'>,
  { bulk, initiation }: Transfer,
): Promise<GenericOperation | null> {
  if (bulk === null || !initiation) return null;
  try {
    const basket = await flows.find('operation', bulk);
    return isWithoutLink(basket) ? basket : null;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return null;
  }
}

function initiationOf({ flow, initiation }: GenericOperation) {
  if (!initiation) throw new TypeError(`The operation ${flow} has no initiation`);
  return initiation;
}
