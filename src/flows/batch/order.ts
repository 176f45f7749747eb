import type { PlannedPayment } from '../../bank/ports/bank.ts';
import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { bankDay } from '../../domain/calendar.ts';
import { readOrder } from '../../domain/order/read-order.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { referenceOf } from './known-lines.ts';
import type { Payer } from './ports.ts';

/**
 * What a line orders, by the rules of a transfer.
 *
 * @throws Psd2Error `usage` and the `invalid_…` codes for what psd2 does not pay, and if it cannot read the accounts
 */
export async function orderOfLine(payer: Payer, batch: Batch, line: BatchLine): Promise<TransferOrder> {
  const { bank, bankInterface, customerId, world } = payer;
  const { creditorReference, batchBooking } = line;
  const isNamed = bank.payments.initiation !== undefined;
  const now = world.now();
  const order = readOrder(
    {
      from: await accountIn(payer, line, isNamed),
      to: line.iban,
      name: line.name,
      amount: line.amount,
      currency: line.currency,
      description: line.description,
      instant: line.instant,
      urgent: line.urgent,
      date: line.executionDate ?? undefined,
      reference: referenceOf(batch, line),
      fromIban: isNamed ? undefined : (line.fromIban ?? undefined),
      ...(bankInterface.has.has('addresses of payees') && addressIn(line)),
    },
    now,
    bankInterface,
  );
  // An interface without a place for it would pay without it.
  if (creditorReference) bankInterface.refusePayment?.(plannedOf(line), bankDay(now));
  payer.refuseAboveLimit(order);
  return payer.withDebtor({
    ...order,
    ...(creditorReference && { creditorReference }),
    ...(batchBooking !== undefined && { batchBooking }),
    customerId,
    batch: { batch: batch.batch, line: line.line },
  });
}

/**
 * The account to debit: its id, or its IBAN at a bank whose payments name that.
 *
 * @throws Psd2Error `usage` if the customer has no account with the IBAN
 */
async function accountIn(
  { accounts, customerId }: Payer,
  { from, fromIban }: BatchLine,
  isNamed: boolean,
): Promise<string | undefined> {
  if (from !== null) return from;
  if (fromIban === null) return undefined;
  if (isNamed) return fromIban;
  const account = (await accounts()).find(({ iban }) => iban === fromIban);
  if (account) return account.productId;
  throw new Psd2Error('usage', `The account ${fromIban} is not one of customer ${customerId}`);
}

/** The payee's address, at a bank that takes one. */
function addressIn({ address }: BatchLine) {
  if (!address) return {};
  const { street, building, postcode, town, country } = addressParts(address);
  return {
    payeeStreet: street,
    payeeBuilding: building,
    payeePostcode: postcode,
    payeeTown: town,
    payeeCountry: country,
  };
}

/** What the bank decides about, before there is an order. */
export function plannedOf(line: BatchLine): PlannedPayment {
  const { instant, urgent, executionDate, address, description, creditorReference, from, fromIban } = line;
  const planned = { instant, urgent, executionDate, description, address: address && addressParts(address) };
  return { ...planned, from, fromIban, ...(creditorReference && { creditorReference }) };
}

function addressParts({ country, townName, ...rest }: NonNullable<BatchLine['address']>) {
  const { streetName, buildingNumber, postCode } = rest;
  return {
    country,
    town: townName,
    ...(streetName !== null && { street: streetName }),
    ...(buildingNumber !== null && { building: buildingNumber }),
    ...(postCode !== null && { postcode: postCode }),
  };
}
