import { maySend } from '../../domain/flow-states.ts';
import { nextOperationStep, type OperationStep } from '../../domain/next-step.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { examples, type Verb, verb } from '../declare.ts';
import { forFlow } from '../flow/customer.ts';
import { printsOne } from '../flow/describe.ts';
import { refuseClientCredentials } from '../flow/drive.ts';
import { readJsonOption } from '../shared/read-data.ts';
import { beginOperation, driveOperation } from './drive.ts';
import { findOperation, parseOperationName, withAccount } from './name.ts';
import { OPERATIONS } from './operations.ts';

/** `psd2 operation verify <operationName>`: the first step, or with a resource a further one that the bank asked for. */
export const verify = verb(
  {
    prints: printsOne(OPERATIONS),
    help: examples(
      'psd2 operation verify standingOrder --account 0010482620 --data @order.json',
      'psd2 operation verify standingOrder --account 0010482620 --resource op-0mwq9zj41 --data @more.json',
    ),
  },
  (command) =>
    withAccount(command)
      .argument('<operationName>')
      .option('--data <json>', 'data of the operation: JSON, @file, or - for standard input', '{}')
      .option('--resource <id>', 'flow or resource id of a verified operation'),
  (context, name, options) => verifyOrder(context, name, options),
);

/** `psd2 operation sca <operationName>` */
export const sca = stepVerb('sca');

/** `psd2 operation execute <operationName>` */
export const execute = stepVerb('execute');

function stepVerb(step: Step): Verb {
  return verb(
    {
      prints: printsOne(OPERATIONS),
      help: examples(`psd2 operation ${step} standingOrder --account 0010482620 --resource op-0mwq9zj41`),
    },
    (command) =>
      withAccount(command)
        .argument('<operationName>')
        .requiredOption('--resource <id>', 'flow or resource id'),
    (context, name, options) => takeStep(context, step, name, options),
  );
}

async function verifyOrder(
  context: Context,
  name: string,
  options: { account: string; data: string; resource?: string | undefined },
): Promise<void> {
  const operation = parseOperationName(name);
  const { readAccountId } = await context.bankInterface();
  const from = readAccountId(options.account);
  const data = await readJsonOption(context, '--data', options.data);
  refuseClientCredentials(context);
  const until: OperationStep[] = ['verify-further', 'accept'];
  if (options.resource === undefined) return beginOperation(context, { from, operation, data }, { until });
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
    await driveOperation(context, opened, open, { until });
  });
}

/** A single step after `verify`. */
async function takeStep(
  context: Context,
  step: Step,
  name: string,
  options: { account: string; resource: string },
): Promise<void> {
  const { readAccountId } = await context.bankInterface();
  const operation = parseOperationName(name);
  const from = readAccountId(options.account);
  const current = await findOperation(context, operation, from, options.resource);
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

type Step = 'sca' | 'execute';

/** The state that each step needs. */
const BEGINS_WITH: Record<Step, OperationStep[]> = {
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
