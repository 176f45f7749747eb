import {
  type GenericOrder,
  isOutcomeOpen,
  nextOperationStep,
  type OperationEvent,
} from '../../domain/operation.ts';
import { isMoneyTransfer } from '../../domain/transfer.ts';
import { askOfOperation } from '../../flows/resolve.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { type ResolveOptions, resolve } from '../flow/resolve.ts';
import { describeOperation, printOperation } from './output.ts';

/** `psd2 operation resolve <flow>`: like `transfer resolve`. Also ends a moneyTransfer of an older psd2. */
export function operationResolve(context: Context, flow: string, options: ResolveOptions): Promise<void> {
  return resolve<GenericOperation, OperationEvent<GenericOrder>>(context, flow, options, {
    find: (flows, reference) => flows.find('operation', reference),
    resume: (flows, flow, work) => flows.resume('operation', flow, work),
    isOpen: (operation) =>
      isOutcomeOpen(operation, false) ||
      // Nothing else ends it, since psd2 does not continue it.
      (isMoneyTransfer(operation.order.operation) && nextOperationStep(operation, false) !== 'done'),
    isEnded: (operation) => nextOperationStep(operation, false) === 'done',
    askBank: (bank, operation) => askOfOperation(bank, operation, () => null),
    describe: describeOperation,
    print: printOperation,
    done: 'executed',
    referenceOf: () => null,
  });
}
