import type { Bank } from '../../bank/call/bank.ts';
import {
  executeOperation,
  fetchOperationStatus,
  fetchReceipt,
  prepareOperation,
  verifyFurther,
  verifyOperation,
} from '../../bank/endpoints/operations.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import { nextOperationStep, type OperationStep } from '../../domain/operation.ts';
import { isMoneyTransfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { type OperationCalls, runOperation } from '../../flows/operation.ts';
import type { GenericOperation } from '../../store/flow-kinds.ts';
import type { OpenOperation } from '../../store/journal.ts';
import type { Column } from '../../terminal/output.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { RESOLUTION_CSV, resolutionField } from '../flow/resolution-field.ts';
import {
  actingFor,
  refuseClientCredentials,
  refuseUnconfirmable,
  warnOfDamaged,
  withWayOn,
} from '../flow/rules.ts';
import { type CustomerBank, openCustomerBank } from '../open/bank.ts';
import { openProfileOf } from '../open/profile.ts';
import { printBankData } from '../shared/bank-data.ts';
import { writeMoney } from '../shared/money.ts';
import { readFurtherData, readJsonOption } from '../shared/read-data.ts';
import { requireFile, saveDocument } from '../shared/save-document.ts';

interface RunOptions {
  verifyData: string[];
  /** Where the bank's document is saved after execution. */
  receipt?: string | undefined;
}

/** `psd2 operation run <name>`: the generic operation flow, whole. */
export async function operationRun(
  context: Context,
  name: string,
  options: RunOptions & { product: string; data: string },
): Promise<void> {
  const operation = parseOperationName(name);
  const from = parseProductId(options.product);
  const data = await readJsonOption(context, '--data', options.data);
  const furtherData = await readFurtherData(context, options.verifyData);
  const receipt = options.receipt === undefined ? undefined : requireFile(context, options.receipt);
  refuseClientCredentials(context);
  refuseUnconfirmable(context, 'An operation');

  const opened = await openCustomerBank(context);
  const { customerId, journal } = opened;
  const open = journal.createOperation({
    transactionId: context.world.newId(),
    order: { customerId, from, operation, data },
    furtherData,
  });
  await journal.claimed(open.current.flow, () => run(context, opened, open, { receipt }));
}

/** `psd2 operation resume <flow>`: goes on from what is on disk; never executes twice. */
export async function operationResume(context: Context, flow: string, options: RunOptions): Promise<void> {
  const { current } = openProfileOf(context, flow).journal.openOperation(flow);
  const furtherData = await readFurtherData(context, options.verifyData);
  const receipt = options.receipt === undefined ? undefined : requireFile(context, options.receipt);
  refuseMoneyTransfer(current);
  if (!current.accepted) refuseUnconfirmable(context, 'An operation');
  const opened = await openCustomerBank(actingFor(context, current.order.customerId));
  await opened.journal.claimed(current.flow, async () => {
    const open = opened.journal.openOperation(current.flow);
    refuseMoneyTransfer(open.current);
    if (furtherData.length > 0) open.record({ type: 'further-data', data: furtherData });
    await run(context, opened, open, { receipt });
  });
}

/**
 * A bank transfer that an older psd2 began as an operation is not gone on with: only what became of an `execute` that
 * was sent is asked for.
 *
 * @throws Psd2Error `usage`
 */
function refuseMoneyTransfer(operation: GenericOperation): void {
  const { order, flow, state } = operation;
  const step = nextOperationStep(operation, false);
  if (!isMoneyTransfer(order.operation) || step === 'ask-outcome' || step === 'done') return;
  throw new Psd2Error(
    'usage',
    `${flow} is a bank transfer that an older psd2 began, and it is ${state}: psd2 operation does not go on with it`,
    {
      hint: `End it with: psd2 operation resolve ${flow} --not-executed. Make the payment with psd2 transfer.`,
    },
  );
}

/** `psd2 operation show <flow>`: what is on disk, without asking the bank. */
export async function operationShow(context: Context, flow: string): Promise<void> {
  printOperation(context, openProfileOf(context).journal.openOperation(flow).current);
}

const OPERATION_COLUMNS: Column<GenericOperation>[] = [
  { title: 'FLOW', value: ({ flow }) => flow, whole: true },
  { title: 'STATE', value: ({ state }) => state, whole: true },
  { title: 'NAME', value: ({ order }) => order.operation },
  { title: 'PRODUCT', value: ({ order }) => order.from, whole: true },
  { title: 'CREATED', value: ({ createdAt }) => createdAt, kind: 'time' },
];

const OPERATION_CSV = [
  ...['flow', 'kind', 'state', 'operation', 'product', 'resourceId', 'nextStep', 'transactionId'],
  ...['totalAmount.amount', 'totalAmount.currency', 'commissions.amount', 'commissions.currency'],
  ...[
    'authorizationStatus',
    'executionStatus',
    'executionStatusDescription',
    'cro',
    ...RESOLUTION_CSV,
    'createdAt',
    'updatedAt',
  ],
];

/** `psd2 operation list`: newest first. */
export async function operationList(context: Context): Promise<void> {
  const operations = [...openProfileOf(context).journal.operations(warnOfDamaged(context))];
  if (context.output.format === 'table')
    await context.output.table(operations, OPERATION_COLUMNS, 'No operation was made with this profile.');
  else await context.output.table(operations.map(toData), [], '', OPERATION_CSV);
}

/** `psd2 operation prepare <name>` */
export async function operationPrepare(context: Context, name: string, product: string): Promise<void> {
  const target = { operation: parseOperationName(name), from: parseProductId(product) };
  const { bank, customerId } = await openCustomerBank(context);
  printBankData(context, await prepareOperation(bank, { ...target, customerId }, context.world.newId()));
}

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
    const opened = await openCustomerBank(context);
    const { customerId, journal } = opened;
    const order = { customerId, from, operation, data };
    const open = journal.createOperation({ transactionId: context.world.newId(), order });
    return journal.claimed(open.current.flow, () =>
      run(context, opened, open, { until: ['verify-further', 'accept'] }),
    );
  }
  const { current } = findOperation(context, operation, from, options.resource);
  const assertFollows = (operation: GenericOperation) => {
    if (nextOperationStep(operation, false) !== 'verify-further') throw notAt(operation, 'verify');
  };
  assertFollows(current);
  const opened = await openCustomerBank(actingFor(context, current.order.customerId));
  await opened.journal.claimed(current.flow, async () => {
    const open = opened.journal.openOperation(current.flow);
    assertFollows(open.current);
    open.record({
      type: 'further-data',
      data: [...open.current.furtherData.slice(0, open.current.furtherSteps), data],
    });
    await run(context, opened, open, { until: ['verify-further', 'accept'] });
  });
}

/** `psd2 operation sca|execute <name>`: the steps that the operator asks for one by one. */
export async function operationStep(
  context: Context,
  step: 'sca' | 'execute',
  name: string,
  options: { product: string; resource: string },
): Promise<void> {
  const { current } = findOperation(
    context,
    parseOperationName(name),
    parseProductId(options.product),
    options.resource,
  );
  const wanted =
    step === 'sca' ? ['verified', 'authorizing'] : ['authorizing', 'authorized', 'executing', 'unknown'];
  const assertFollows = (operation: GenericOperation) => {
    const isFurtherFirst = nextOperationStep(operation, false) === 'verify-further';
    if (isFurtherFirst || !wanted.includes(operation.state)) throw notAt(operation, step);
  };
  assertFollows(current);
  const opened = await openCustomerBank(actingFor(context, current.order.customerId));
  await opened.journal.claimed(current.flow, async () => {
    const open = opened.journal.openOperation(current.flow);
    assertFollows(open.current);
    // Asking for the step is the operator's yes.
    if (!open.current.accepted) open.record({ type: 'accepted' });
    await run(context, opened, open, { until: [step === 'sca' ? 'execute' : 'authorize'] });
    // The bank says that the customer has still to decide.
    if (step === 'execute') assertDone(open.current);
  });
}

/** `psd2 operation status <name>` */
export async function operationStatus(
  context: Context,
  name: string,
  options: { product: string; resource: string },
): Promise<void> {
  const operation = parseOperationName(name);
  const known = knownOperation(context, options.resource);
  const resourceId = known?.verification?.resourceId ?? options.resource;
  const { bank } = await openCustomerBank(context);
  const status = await fetchOperationStatus(bank, resourceId, known?.transactionId ?? context.world.newId());
  context.output.record({ operation, resourceId, ...status }, [
    { title: 'Resource', value: (data) => data.resourceId },
    { title: 'Authorization', value: ({ authorizationStatus }) => authorizationStatus },
    { title: 'Execution', value: ({ executionStatus }) => executionStatus },
  ]);
}

async function run(
  context: Context,
  opened: CustomerBank,
  open: OpenOperation,
  how: { receipt?: string | undefined; until?: OperationStep[] },
): Promise<void> {
  const { bank, profile } = opened;
  const { terminal, world, globals } = context;
  terminal.say(`Operation ${open.current.flow}`);
  try {
    await runOperation(
      open,
      genericCalls(bank, open.current),
      {
        bank,
        world,
        customer: customerPortsOf(context, profile),
        accept: async ({ order }) =>
          globals.yes || terminal.confirm(`Send the customer to authorise the ${order.operation}?`),
      },
      how.until,
    );
  } catch (error) {
    printOperation(context, open.current);
    throw withWayOn(error, open.current, globals.yes && !open.current.accepted ? ['--yes'] : []);
  }
  printOperation(context, open.current);
  const { verification, order, transactionId, state } = open.current;
  if (how.receipt !== undefined && verification && state === 'executed') {
    try {
      const receipt = await fetchReceipt(bank, order, verification.resourceId, transactionId);
      await saveDocument(context, how.receipt, receipt);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      const hint = `The ${order.operation} is executed, do not make it again: only its receipt could not be had.`;
      throw error.with({ hint: [hint, error.hint].filter(Boolean).join(' ') });
    }
  }
}

function genericCalls(bank: Bank, { order, transactionId }: GenericOperation): OperationCalls {
  return {
    name: order.operation,
    verify: (beforeSend) => verifyOperation(bank, order, { data: order.data, transactionId, beforeSend }),
    verifyFurther: (resourceId, step, data, beforeSend) =>
      verifyFurther(bank, order, { resourceId, step, data, transactionId, beforeSend }),
    execute: (resourceId, beforeSend) =>
      executeOperation(bank, order, { resourceId, transactionId, beforeSend }),
    executionStatus: null,
  };
}

/** The operation of this profile that a reference fits; a resource that was made elsewhere fits none. */
function knownOperation(context: Context, reference: string): GenericOperation | undefined {
  try {
    return openProfileOf(context, reference).journal.openOperation(reference).current;
  } catch (error) {
    if (error instanceof Psd2Error && error.code === 'flow_not_found') return undefined;
    throw error;
  }
}

function findOperation(context: Context, operation: string, from: string, reference: string): OpenOperation {
  const open = openProfileOf(context, reference).journal.openOperation(reference);
  const { order, flow } = open.current;
  if (order.operation === operation && order.from === from) return open;
  throw new Psd2Error('usage', `${flow} is a ${order.operation} of the product ${order.from}`, {
    hint: isMoneyTransfer(order.operation)
      ? `An older psd2 began it. See it with: psd2 operation show ${flow}`
      : 'Give that name and product, or another resource.',
  });
}

/** @throws Psd2Error `usage` for an operation that was to be executed and still waits for the customer */
function assertDone(operation: GenericOperation): void {
  if (nextOperationStep(operation, false) !== 'done') throw notAt(operation, 'execute');
}

function notAt({ flow, state, verification }: GenericOperation, step: string): Psd2Error {
  const next = verification && verification.nextStep !== 'execute' ? verification.nextStep : 'sca';
  const hint =
    state === 'verified'
      ? { hint: `Its next step is ${next === 'sca' ? 'sca' : `verify, for ${next}`}.` }
      : {};
  return new Psd2Error('usage', `${flow} is ${state}, and ${step} does not follow from that`, hint);
}

/** @throws Psd2Error `usage`, also for a bank transfer (command contract, "One set of rules") */
function parseOperationName(name: string): string {
  if (isMoneyTransfer(name)) {
    throw new Psd2Error('usage', `${name} is a bank transfer, and psd2 operation makes none`, {
      hint: 'Use psd2 transfer, which checks the payee, the amount and the reference: psd2 transfer --help',
    });
  }
  if (/^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name)) return name;
  throw new Psd2Error(
    'usage',
    `The operation name ${JSON.stringify(name)} is not a word of letters and digits`,
    {
      hint: 'For example standingOrder.',
    },
  );
}

function toData({ order, verification, ...operation }: GenericOperation) {
  return {
    flow: operation.flow,
    kind: operation.kind,
    state: operation.state,
    operation: order.operation,
    product: order.from,
    resourceId: verification?.resourceId ?? null,
    nextStep: operation.state === 'verified' ? (verification?.nextStep ?? null) : null,
    transactionId: operation.transactionId,
    totalAmount: verification?.totalAmount ?? null,
    commissions: verification?.commissions ?? null,
    authorizationStatus: operation.authorizationStatus,
    executionStatus: operation.executionStatus,
    executionStatusDescription: operation.executionStatusDescription,
    cro: operation.cro,
    resolution: operation.resolution,
    createdAt: operation.createdAt,
    updatedAt: operation.updatedAt,
  };
}

/** Prints an operation, on stdout. */
export function printOperation({ output }: Context, operation: GenericOperation): void {
  output.record(toData(operation), [
    { title: 'Operation', value: ({ flow }) => flow },
    { title: 'Name', value: (shown) => shown.operation },
    { title: 'State', value: ({ state }) => state },
    { title: 'Product', value: ({ product }) => product },
    { title: 'Next step', value: ({ nextStep }) => nextStep },
    { title: 'Total', value: ({ totalAmount }) => writeMoney(totalAmount) },
    { title: 'Commission', value: ({ commissions }) => writeMoney(commissions) },
    { title: 'Authorization', value: ({ authorizationStatus }) => authorizationStatus },
    { title: 'CRO', value: ({ cro }) => cro },
    resolutionField,
    { title: 'Resource', value: ({ resourceId }) => resourceId },
    { title: 'Transaction', value: ({ transactionId }) => transactionId },
  ]);
}
