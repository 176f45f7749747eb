import { standingOf } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { forFlow, refuseOtherCustomer } from '../flow/customer.ts';
import { requireFile, SAVED, saveResult } from '../shared/save-document.ts';

/** `psd2 transfer receipt <flow>`: the bank's printable document. */
export const receipt = verb(
  { prints: SAVED, help: examples('psd2 transfer receipt tr-0mwq9zj41 --file receipt.pdf') },
  (command) => command.argument('<flow>').option('--file <path>', 'file to save the document in'),
  (context, flow, { file }) => saveReceipt(context, flow, file),
);

async function saveReceipt(context: Context, flow: string, fileOption: string | undefined): Promise<void> {
  const file = requireFile(context, fileOption);
  const { flows } = await context.store();
  const current = await flows.find('transfer', flow);
  refuseOtherCustomer(context, current);
  const { order, verification, transactionId, state } = current;
  if (!verification || standingOf(current) !== 'done')
    throw new Psd2Error('usage', `Transfer ${current.flow} is ${state}, so it has no receipt`);
  const { bank } = await (await forFlow(context, current)).bank();
  await saveResult(context, file, await bank.payments.receipt(order, verification.resourceId, transactionId));
}
