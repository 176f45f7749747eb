import { documentAnswer } from '../answers/outgoing.ts';
import { Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import { textPdf } from '../documents/pdf.ts';
import { bankTimestamp, writeBankDate } from '../ledger/bank-time.ts';
import { decimal } from '../ledger/cents.ts';
import type { Calls } from './bank-call.ts';
import type { Link } from './envelope.ts';
import { operationOf } from './from-path.ts';
import type { OperationResource } from './orders/resource.ts';
import { scheduleText } from './orders/standing-order.ts';

const path = '/private/customers/{customerId}/products/{productId}/common/printer/{resourceId}/retrieve';

/** The printable document of an executed operation (interface specification, "Generic operation flow", rule 3). */
export const printerCalls: Calls = {
  [`GET ${path}`]: (bank, call) => {
    const operation = operationOf(bank, call);
    const receipt = receiptPdf(operation);
    const failed = operation.kind === 'moneyTransfer' && operation.execution?.settlement?.status === 'KO';
    if (receipt && !failed) return documentAnswer('pdf', `receipt-${operation.id}`, receipt);
    throw new Refusal('NOT_EXECUTED', 'The operation was not executed, so it has no document');
  },
};

/** The `_embedded.printer` of an execute answer. */
export function printerLink({ baseUrl }: Bank, { customer, product, id }: OperationResource): Link {
  const base = `/private/customers/${customer.customerId}/products/${product.productId}`;
  return { href: `${baseUrl}${base}/common/printer/${id}/retrieve`, method: 'GET' };
}

/** The receipt of an operation as a PDF. Undefined before its execution. */
function receiptPdf(operation: OperationResource): Buffer | undefined {
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
