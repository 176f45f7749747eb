import { bankTimestamp, writeBankDate } from '../ledger/bank-time.ts';
import { decimal } from '../ledger/cents.ts';
import type { OperationResource } from '../operations/resource.ts';
import { scheduleText } from '../operations/standing-order.ts';
import { textPdf } from './pdf.ts';

/** The receipt of an operation as a PDF. Undefined before its execution. */
export function receiptPdf(operation: OperationResource): Buffer | undefined {
  const { customer, product, order } = operation;
  const details = operation.kind === 'moneyTransfer' ? transfer(operation) : standingOrder(operation);
  if (!details) return undefined;
  const rows: [string, string][] = [
    ['Operation', operation.kind],
    ...details,
    ['Ordered by', `${customer.firstName} ${customer.lastName}`],
    ['From', product.iban],
    ['Payee', order.beneficiaryName],
    ['IBAN', order.beneficiaryIban],
    ['Amount', `${decimal(order.amount)} EUR`],
    ['Commissions', `${decimal(order.commissions)} EUR`],
    ['Description', order.description],
  ];
  return textPdf('Receipt', [
    'SANDBOX BANK',
    'Receipt. No real money was moved.',
    '',
    ...rows.flatMap(([label, value]) => wrapped(label, value)),
  ]);
}

type Details = [string, string][] | undefined;

function transfer({ order, execution }: Extract<OperationResource, { kind: 'moneyTransfer' }>): Details {
  if (!execution) return undefined;
  return [
    ['CRO', execution.cro],
    ['Executed at', bankTimestamp(execution.at)],
    ['Execution date', writeBankDate(order.executionDay)],
    ['Type', order.instant ? 'SCT Instant' : 'SCT'],
  ];
}

function standingOrder({ order, execution }: Extract<OperationResource, { kind: 'standingOrder' }>): Details {
  if (!execution) return undefined;
  return [
    ['Standing order', execution.standingOrderId],
    ['Executed at', bankTimestamp(execution.at)],
    ['First payment', writeBankDate(order.firstDay)],
    ['Schedule', scheduleText(order)],
  ];
}

function wrapped(label: string, value: string): string[] {
  const parts = value.match(/.{1,74}/g) ?? [''];
  return parts.map((part, index) => `${(index === 0 ? `${label}:` : '').padEnd(18)}${part}`);
}
