import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { object, orNull, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { forFlow } from '../flow/customer.ts';
import { knownOperation, parseOperationName, withAccount } from './name.ts';

/** The bank's status of an operation. */
const shape = object({
  operation: text('name of the operation'),
  resourceId: text("the bank's id").as('Resource'),
  authorizationStatus: text("the bank's word: AUTHORIZED, NOT_AUTHORIZED, EXPIRED, or a pending value").as(
    'Authorisation',
  ),
  executionStatus: orNull(text("the bank's word")).as('Execution'),
});

/** `psd2 operation status <operationName>` */
export const status = verb(
  {
    prints: { what: "the bank's status of an operation", shape },
    help: examples('psd2 operation status standingOrder --account 0010482620 --resource op-0mwq9zj41'),
    kind: 'inquiry',
  },
  (command) =>
    withAccount(command).argument('<operationName>').requiredOption('--resource <id>', 'flow or resource id'),
  (context, name, { resource }) => showOperation(context, name, resource),
);

async function showOperation(context: Context, name: string, resource: string): Promise<void> {
  const operation = parseOperationName(name);
  const ours = await knownOperation(context, resource);
  const resourceId = ours ? resourceIdOf(ours) : resource;
  const { bank } = await (ours ? await forFlow(context, ours) : context).bank();
  const { authorizationStatus, executionStatus } = await bank.sca.status(
    resourceId,
    ours?.transactionId ?? context.world.newId(),
  );
  context.output.record({ operation, resourceId, authorizationStatus, executionStatus }, shape);
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
