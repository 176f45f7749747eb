import { prepareTransfer } from '../../bank/endpoints/transfers.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { refuseClientCredentials, refuseUnconfirmable } from '../flow/rules.ts';
import type { CustomerBank } from '../open/bank.ts';
import { readFurtherData } from '../shared/read-data.ts';
import { driveTransfer } from './drive.ts';
import { askForMissing } from './order/ask.ts';
import { type OrderOptions, readOrder } from './order/order.ts';
import { refuseAboveLimit, refuseUncheckedPayee } from './rules.ts';

export interface TransferOptions extends OrderOptions {
  /** The operator has verified the payee by other means. */
  payeeVerified: boolean;
  /** Ask for the bank's dates first, and refuse a date outside them. */
  prepare: boolean;
  /** The data of the further steps `verify<N>`, in their order: JSON, `@file` or `-`. */
  verifyData: string[];
}

/**
 * `psd2 transfer create`: reads the order, records it, and runs it to its end: verify, the operator's confirmation, SCA and
 * execute.
 */
export async function transferCreate(context: Context, given: TransferOptions): Promise<void> {
  const options = await askForMissing(context, given);
  const order = readOrder(options, context.world.now());
  refuseClientCredentials(context);
  refuseUnconfirmable(context, 'A transfer');
  await context.store();
  const profile = context.profile();
  refuseUncheckedPayee(context, profile, { ...options, instant: order.instant });
  refuseAboveLimit(profile, order);

  const furtherData = await readFurtherData(context, options.verifyData);

  const opened = await context.bank();
  const begin = {
    transactionId: context.world.newId(),
    order: { ...order, customerId: opened.customerId },
    furtherData,
  };
  // The transfer begins after this. If the bank does not answer or refuses the day, there is nothing to resume.
  if (options.prepare) await checkTerms(opened, begin);
  await opened.flows.begin('transfer', begin, (open) =>
    driveTransfer(context, opened, open, options.payeeVerified),
  );
}

/** @throws Psd2Error `invalid_date` if the bank does not execute transfers on that day */
async function checkTerms(
  { bank }: CustomerBank,
  { order, transactionId }: { order: TransferOrder; transactionId: string },
): Promise<void> {
  const terms = await prepareTransfer(bank, order, transactionId);
  const [earliest, latest] = [terms.executionDateMinimumWireTransferAtBank, terms.executionDateLimit];
  const day = order.executionDate;
  if ((earliest === null || day >= earliest) && (latest === null || day <= latest)) return;
  throw new Psd2Error('invalid_date', `The bank does not execute transfers on ${day}`, {
    hint: `It accepts ${earliest ?? 'any day'} to ${latest ?? 'any day'}.`,
    transactionId,
  });
}
