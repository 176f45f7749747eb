import { maySend } from '../../domain/flow-states.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import { nextOperationStep, type OperationStep } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { forFlow } from '../flow/customer.ts';
import { refuseClientCredentials } from '../flow/rules.ts';
import { readJsonOption } from '../shared/read-data.ts';
import { driveOperation } from './drive.ts';
import { findOperation, parseOperationName } from './name.ts';

/** `psd2 operation verify <name>`: the first step, or with a resource a further one that the bank asked for. */
export async function operationVerify(
  context: Context,
  name: string,
  options: { product: string; data: string; resource?: string | undefined },
): Promise<void> {
  const operation = parseOperationName(name);
  const from = parseProductId(options.product);
  const data = await readJsonOption(context, '--data', options.data);
  refuseClientCredentials(context);
  if (options.resource === undefined) {
    const opened = await context.bank();
    const { customerId, flows } = opened;
    const order = { customerId, from, operation, data };
    const begin = { transactionId: context.world.newId(), order };
    return flows.begin('operation', begin, (open) =>
      driveOperation(context, opened, open, { until: ['verify-further', 'accept'] }),
    );
  }
  const current = await findOperation(context, operation, from, options.resource);
  const assertFollows = (operation: GenericOperation) => {
    if (nextOperationStep(operation, false) !== 'verify-further') throw notAt(operation, 'verify');
  };
  assertFollows(current);
  const opened = await (await forFlow(context, current)).bank();
  await opened.flows.resume('operation', current.flow, async (open) => {
    assertFollows(open.current);
    await open.record({
      type: 'further-data',
      data: [...open.current.furtherData.slice(0, open.current.furtherSteps), data],
    });
    await driveOperation(context, opened, open, { until: ['verify-further', 'accept'] });
  });
}

/** `psd2 operation sca|execute <name>`: a single step. */
export async function operationStep(
  context: Context,
  step: 'sca' | 'execute',
  name: string,
  options: { product: string; resource: string },
): Promise<void> {
  const current = await findOperation(
    context,
    parseOperationName(name),
    parseProductId(options.product),
    options.resource,
  );
  const assertFollows = (operation: GenericOperation) => {
    if (!BEGINS_WITH[step].includes(nextOperationStep(operation, false))) throw notAt(operation, step);
  };
  assertFollows(current);
  if (maySend(current)) refuseClientCredentials(context);
  const opened = await (await forFlow(context, current)).bank();
  await opened.flows.resume('operation', current.flow, async (open) => {
    assertFollows(open.current);
    // By running the step, the operator has confirmed it.
    if (!open.current.accepted) await open.record({ type: 'accepted' });
    await driveOperation(context, opened, open, { until: [step === 'sca' ? 'execute' : 'authorize'] });
    // The bank says that the customer has not decided yet.
    if (step === 'execute') assertDone(open.current);
  });
}

/** The state that each step needs. */
const BEGINS_WITH: Record<'sca' | 'execute', OperationStep[]> = {
  sca: ['accept', 'authorize', 'await-authorization'],
  execute: ['await-authorization', 'execute', 'ask-outcome'],
};

/** @throws Psd2Error `usage` if the operation still waits for the customer and cannot be executed */
function assertDone(operation: GenericOperation): void {
  if (nextOperationStep(operation, false) !== 'done') throw notAt(operation, 'execute');
}

function notAt({ flow, state, verification }: GenericOperation, step: string): Psd2Error {
  const next = verification && verification.nextStep !== 'execute' ? verification.nextStep : 'sca';
  const hint =
    state === 'verified'
      ? { hint: `Its next step is ${next === 'sca' ? 'sca' : `verify, for ${next}`}.` }
      : {};
  return new Psd2Error('usage', `${flow} is ${state}, so its next step is not ${step}`, hint);
}
