import { Hono } from 'hono';
import { operationOf } from '../access/from-path.ts';
import { sendDocument } from '../answers/document.ts';
import type { Link } from '../answers/envelope.ts';
import { Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import { receiptPdf } from '../documents/receipt.ts';
import type { OperationResource } from '../operations/resource.ts';
import type { BankEnv } from '../server/bank-env.ts';

const path = '/private/customers/:customerId/products/:productId/common/printer/:resourceId/retrieve';

/** The printable document of an executed operation (interface specification, "Generic operation flow", rule 3). */
export function printerRoutes(bank: Bank): Hono<BankEnv> {
  return new Hono<BankEnv>().get(path, (c) => {
    const operation = operationOf(c, bank);
    const receipt = receiptPdf(operation);
    const failed = operation.kind === 'moneyTransfer' && operation.execution?.settlement?.status === 'KO';
    if (receipt && !failed) return sendDocument('pdf', `receipt-${operation.id}`, receipt);
    throw new Refusal('NOT_EXECUTED', 'The operation was not executed, so it has no document');
  });
}

/** The `_embedded.printer` of an execute answer. */
export function printerLink({ baseUrl }: Bank, { customer, product, id }: OperationResource): Link {
  const base = `/private/customers/${customer.customerId}/products/${product.productId}`;
  return { href: `${baseUrl}${base}/common/printer/${id}/retrieve`, method: 'GET' };
}
