import type { Account } from '../../bank/ports/bank.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { AskedOfBulk } from '../../flows/batch/bulk.ts';
import { groupKindOf } from '../../flows/batch/pay-share.ts';
import type { BatchStore, Payer } from '../../flows/batch/ports.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import type { Context } from '../context.ts';
import { withWaysOfBatch } from '../flow/next-command.ts';
import { flowPortsOf } from '../flow/ports.ts';
import { endPaymentTokens } from '../open/payment-tokens.ts';
import { returnPortsOf } from '../open/returns.ts';
import { browserOf } from '../shared/browser.ts';
import { withDebtor } from '../transfer/debtor.ts';
import { refuseAboveLimit } from '../transfer/order.ts';
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
    batches,
    flows,
    batch,
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
  return oncePerCustomer((customer) => openPayer(context, customer));
}

/** As {@link payers}, while the customers are not there: psd2 only asks the bank. */
export function unattendedPayers(
  context: Context,
): (line: Pick<BatchLine, 'customer'>) => Promise<AskedOfBulk> {
  return oncePerCustomer(async (customer) => {
    const acting = customer === null ? context : context.forCustomer(customer);
    const { bank, customerId } = await acting.unattendedBank();
    const { world } = context;
    return { bank, world, accounts: () => bank.accounts.list(customerId, world.newId()) };
  });
}

function oncePerCustomer<T>(open: (customer: string | null) => Promise<T>) {
  const byCustomer = new Map<string | null, Promise<T>>();
  return ({ customer }: Pick<BatchLine, 'customer'>): Promise<T> => {
    const opened = byCustomer.get(customer) ?? open(customer);
    byCustomer.set(customer, opened);
    return opened;
  };
}

/** Who has a program for the links does not need to read one for each payment. A program that reads events does. */
function opensQuietly(context: Context): Context {
  const { output, terminal } = context;
  if (output.format !== 'table' || (browserOf(context) ?? 'none') === 'none') return context;
  const tell: typeof terminal.tell = (event, text) => {
    if (event.event !== 'open') terminal.tell(event, text);
  };
  return { ...context, terminal: { ...terminal, tell } };
}

async function openPayer(root: Context, customer: string | null): Promise<Payer> {
  const context = customer === null ? root : root.forCustomer(customer);
  const opened = await context.bank();
  const { bank, customerId } = opened;
  let accountList: Promise<Account[]> | undefined;
  const accounts = () => {
    accountList ??= bank.accounts.list(customerId, context.world.newId());
    return accountList;
  };
  const command = context.profile().settings.payeeCheck;
  return {
    bank,
    customerId,
    accounts,
    world: context.world,
    bankInterface: await context.bankInterface(),
    refuseAboveLimit: (order) => refuseAboveLimit(context.profile(), order),
    withDebtor: (order) => withDebtor(context, opened, order, context.world.newId(), accounts),
    checkPayee: command === undefined ? null : payeeCheckOf(context, command),
    cancelAtBank: async (open) => TRANSFERS.cancelAtBank?.(context, opened, open, { paste: false }),
    cancelGroupAtBank: async (open, person) => {
      const { cancelHere } = await import('../open/cancel-at-bank.ts');
      const calls = groupKindOf(open.current).calls({ bank }, open.current);
      try {
        await cancelHere(context, opened, open, calls, { paste: false, person });
      } catch (error) {
        throw withWaysOfBatch(error, open.current, 'with the batch');
      }
    },
    ports: () => flowPortsOf(opensQuietly(context), opened),
    returns: (transactionId, person) =>
      returnPortsOf(opensQuietly(context), opened, false, transactionId, person),
  };
}
