import { spacedIban } from '../../domain/iban.ts';
import { describePayeeCheck } from '../../domain/payee-check.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Column } from '../../terminal/output.ts';
import type { Context } from '../context.ts';
import { executionData, flowData } from '../flow/flow-data.ts';
import { resolutionField } from '../flow/resolution-field.ts';
import { writeMoney } from '../shared/money.ts';
import { transfer as transferShape } from './shape.ts';

/** A row of `psd2 transfer list`. */
export const TRANSFER_COLUMNS: Column<Transfer>[] = [
  { title: 'FLOW', value: ({ flow }) => flow, whole: true },
  { title: 'STATE', value: ({ state }) => state, whole: true },
  { title: 'AMOUNT', value: ({ order }) => writeMoney(order), right: true },
  { title: 'TO', value: ({ order }) => order.name },
  { title: 'IBAN', value: ({ order }) => order.to, whole: true },
  { title: 'CREATED', value: ({ createdAt }) => createdAt, kind: 'time' },
];

/** Prints a transfer in the shape of the command contract. */
export function printTransfer({ output }: Context, transfer: Transfer): void {
  const fields: Column<ReturnType<typeof toTransferData>>[] = [
    { title: 'Transfer', value: ({ flow }) => flow },
    { title: 'State', value: ({ state }) => state },
    { title: 'To', value: ({ name }) => name },
    { title: 'IBAN', value: ({ to }) => to, whole: true },
    { title: 'Amount', value: writeMoney },
    { title: 'Commission', value: ({ commissions }) => writeMoney(commissions) },
    { title: 'Total', value: ({ totalAmount }) => writeMoney(totalAmount) },
    { title: 'Description', value: ({ description }) => description },
    { title: 'Execution date', value: ({ executionDate }) => executionDate },
    { title: 'Instant', value: ({ instant }) => (instant ? 'yes' : 'no') },
    {
      title: 'Payee check',
      value: ({ payeeCheck }) => payeeCheck && describePayeeCheck(payeeCheck),
    },
    { title: 'Reference', value: ({ reference }) => reference },
    { title: 'Authorization', value: ({ authorizationStatus }) => authorizationStatus },
    {
      title: 'Execution',
      value: ({ executionStatus, executionStatusDescription }) =>
        [executionStatus, executionStatusDescription].filter(Boolean).join(': '),
    },
    { title: 'CRO', value: ({ cro }) => cro },
    resolutionField,
    { title: 'Resource', value: ({ resourceId }) => resourceId },
    { title: 'Transaction', value: ({ transactionId }) => transactionId },
  ];
  output.record(toTransferData(transfer), fields, transferShape);
}

/** What is paid to whom, for a question about it. */
export function describeTransfer({ order }: Transfer): [title: string, value: string | null][] {
  return [
    ['Beneficiary', order.name],
    ['IBAN', spacedIban(order.to)],
    ['Amount', writeMoney(order)],
    ['Execution', `${order.executionDate}${order.instant ? ', instant' : ''}`],
    ['Reference', order.reference],
  ];
}

/** What the bank verified, for the operator to say yes to. */
export function showVerified({ order, verification, payeeCheck }: Transfer): string {
  const lines: [string, string | null][] = [
    ['Beneficiary', order.name],
    ['IBAN', spacedIban(order.to)],
    ['Payee check', payeeCheck && describePayeeCheck(payeeCheck)],
    ['Bank', verification?.bankName ?? null],
    ['Amount', writeMoney(order)],
    ['Commission', writeMoney(verification?.commissions ?? null)],
    ['Total', writeMoney(verification?.totalAmount ?? null)],
    ['Description', order.description || null],
    ['Execution', `${order.executionDate}${order.instant ? ', instant' : ''}`],
  ];
  return ['The bank has verified this transfer:']
    .concat(lines.flatMap(([title, value]) => (value ? [`  ${title.padEnd(12)} ${cleanText(value)}`] : [])))
    .join('\n');
}

/** A transfer in the shape of the command contract. */
export function toTransferData(transfer: Transfer) {
  const { order, verification, payeeCheck } = transfer;
  return {
    ...flowData({ ...transfer, kind: 'transfer' }, verification?.resourceId),
    instant: order.instant,
    reference: order.reference,
    from: order.from,
    to: order.to,
    name: order.name,
    amount: order.amount,
    currency: order.currency,
    description: order.description,
    executionDate: order.executionDate,
    totalAmount: verification?.totalAmount ?? null,
    commissions: verification?.commissions ?? null,
    bankName: verification?.bankName ?? null,
    payeeCheck,
    ...executionData(transfer),
  };
}
