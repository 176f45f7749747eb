import { isOutcomeOpen, nextOperationStep } from '../../domain/operation.ts';
import { needsSettlement, type Transfer, type TransferEvent } from '../../domain/transfer.ts';
import { askOfOperation } from '../../flows/resolve.ts';
import { transferCalls } from '../../flows/transfer.ts';
import type { Context } from '../context.ts';
import { type ResolveOptions, resolve } from '../flow/resolve.ts';
import { describeTransfer, printTransfer } from './output.ts';

/** `psd2 transfer resolve <flow>`: ends a transfer with an unknown outcome by a person's decision. */
export function transferResolve(context: Context, flow: string, options: ResolveOptions): Promise<void> {
  return resolve<Transfer, TransferEvent>(context, flow, options, {
    find: (flows, reference) => flows.find('transfer', reference),
    resume: (flows, flow, work) => flows.resume('transfer', flow, work),
    isOpen: (transfer) => isOutcomeOpen(transfer, needsSettlement(transfer.order)),
    isEnded: (transfer) => nextOperationStep(transfer, needsSettlement(transfer.order)) === 'done',
    askBank: (bank, transfer) =>
      askOfOperation(bank, transfer, (opened) => transferCalls(opened, transfer).executionStatus),
    describe: describeTransfer,
    print: printTransfer,
    done: 'executed',
    referenceOf: ({ order }) => order.reference,
  });
}
