import { fetchOperationStatus } from '../../bank/endpoints/operations.ts';
import type { Context } from '../context.ts';
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
  const resourceId = known?.verification?.resourceId ?? options.resource;
  const { bank } = await context.bank();
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
