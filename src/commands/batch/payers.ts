import type { Account } from '../../bank/ports/bank.ts';
import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { bankDay } from '../../domain/calendar.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { plannedOf } from '../../flows/batch/examine.ts';
import { referenceOf } from '../../flows/batch/outcome.ts';
import type { BatchStore, Payer } from '../../flows/batch/ports.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import type { Context, CustomerBank } from '../context.ts';
import { flowPortsOf } from '../flow/ports.ts';
import { endPaymentTokens } from '../open/payment-tokens.ts';
import { returnPortsOf } from '../open/returns.ts';
import { initiationOf } from '../transfer/create.ts';
import { withDebtor } from '../transfer/debtor.ts';
import { readOrder, refuseAboveLimit } from '../transfer/order.ts';
import { payeeCheckOf } from '../transfer/payee-check.ts';
import { TRANSFERS } from '../transfer/transfers.ts';

// What the flow of a batch asks of the command that runs it.

/** The stored batch whose payments a command follows. @param batch its id */
export function followed(
  context: Context,
  { batches, flows }: Pick<ProfileData, 'batches' | 'flows'>,
  batch: string,
): BatchStore {
  return {
    ...{ batches, flows, batch },
    tidy: async (transfer) => TRANSFERS.tidy?.(context, transfer),
    tidyGroup: (group) => endPaymentTokens(context, group, false),
  };
}

/**
 * Opens the bank for the customers of a batch, each once. The customer who cannot be acted for stops only their own lines.
 *
 * @returns a function that throws Psd2Error `not_logged_in` and others
 */
export function payers(context: Context): (line: Pick<BatchLine, 'customer'>) => Promise<Payer> {
  const known = new Map<string | null, Promise<Payer>>();
  return ({ customer }) => {
    const payer = known.get(customer) ?? openPayer(context, customer);
    known.set(customer, payer);
    return payer;
  };
}

async function openPayer(root: Context, customer: string | null): Promise<Payer> {
  const context = customer === null ? root : root.forCustomer(customer);
  const opened = await context.bank();
  const { bank, customerId } = opened;
  let asked: Promise<Account[]> | undefined;
  const accounts = () => {
    asked ??= bank.accounts.list(customerId, context.world.newId());
    return asked;
  };
  const command = context.profile().settings.payeeCheck;
  return {
    ...{ bank, accounts, world: context.world },
    orderOf: (batch, line) => orderOf(context, opened, accounts, batch, line),
    initiationOf: (order) => initiationOf(context, opened, order, { paste: false }),
    checkPayee: command === undefined ? null : payeeCheckOf(context, command),
    cancelAtBank: async (open) => TRANSFERS.cancelAtBank?.(context, opened, open, { paste: false }),
    ports: () => flowPortsOf(context, opened),
    returns: (transactionId, person) => returnPortsOf(context, opened, false, transactionId, person),
  };
}

/** The order of a line, by the rules of a transfer. */
async function orderOf(
  context: Context,
  opened: CustomerBank,
  accounts: () => Promise<Account[]>,
  batch: Batch,
  line: BatchLine,
): Promise<TransferOrder> {
  const { customerId } = opened;
  const isNamed = opened.bank.payments.initiation !== undefined;
  const bankInterface = await context.bankInterface();
  const now = context.world.now();
  const order = readOrder(
    {
      from: await accountIn(line, isNamed, accounts, customerId),
      ...{ to: line.iban, name: line.name, amount: line.amount, currency: line.currency },
      ...{ description: line.description, instant: line.instant, urgent: line.urgent },
      date: line.executionDate ?? undefined,
      reference: referenceOf(batch, line),
      fromIban: isNamed ? undefined : (line.fromIban ?? undefined),
      ...(bankInterface.has.has('addresses of payees') && addressIn(line)),
    },
    now,
    bankInterface,
  );
  // An interface without a place for it would pay without it.
  if (line.creditorReference) bankInterface.refusePayment?.(plannedOf(line), bankDay(now));
  refuseAboveLimit(context.profile(), order);
  const ordered = {
    ...order,
    ...(line.creditorReference && { creditorReference: line.creditorReference }),
    ...(line.batchBooking !== undefined && { batchBooking: line.batchBooking }),
    customerId,
    batch: { batch: batch.batch, line: line.line },
  };
  return withDebtor(context, opened, ordered, context.world.newId(), accounts);
}

/**
 * The account to debit: its id, or its IBAN at a bank whose payments name that.
 *
 * @throws Psd2Error `usage` if the customer has no account with the IBAN
 */
async function accountIn(
  { from, fromIban }: BatchLine,
  isNamed: boolean,
  accounts: () => Promise<Account[]>,
  customerId: string,
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
  return {
    payeeStreet: address.streetName ?? undefined,
    payeeBuilding: address.buildingNumber ?? undefined,
    payeePostcode: address.postCode ?? undefined,
    payeeTown: address.townName,
    payeeCountry: address.country,
  };
}
