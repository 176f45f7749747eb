import { fetchOperationStatus } from '../../bank/endpoints/operations.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { forFlow } from '../flow/customer.ts';
import { knownOperation, parseOperationName } from './name.ts';
import { operationStatus as statusShape } from './shape.ts';

/** `psd2 operation status <name>` */
export async function operationStatus(
  context: Context,
  name: string,
  options: { product: string; resource: string },
): Promise<void> {
  const operation = parseOperationName(name);
  const known = await knownOperation(context, options.resource);
  const resourceId = known ? resourceIdOf(known) : options.resource;
  const { bank } = await (known ? await forFlow(context, known) : context).bank();
  const status = await fetchOperationStatus(bank, resourceId, known?.transactionId ?? context.world.newId());
  context.output.record(
    { operation, resourceId, ...status },
    [
      { title: 'Resource', value: (data) => data.resourceId },
      { title: 'Authorization', value: ({ authorizationStatus }) => authorizationStatus },
      { title: 'Execution', value: ({ executionStatus }) => executionStatus },
    ],
    statusShape,
  );
}

/** @throws Psd2Error `usage` if the bank has not verified the operation, so that it has no status there */
function resourceIdOf({ flow, state, verification }: GenericOperation): string {
  if (verification) return verification.resourceId;
  throw new Psd2Error('usage', `${flow} is ${state} and has no resource at the bank`, {
    hint: 'See it with:',
    next: [['operation', 'show', flow]],
    flow,
  });
}
