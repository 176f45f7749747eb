const PAYMENT = 'payment:';

/** The holder of the tokens of one payment. No customer has such an id. */
export function paymentHolder(transactionId: string): string {
  return `${PAYMENT}${transactionId}`;
}

/** Whether the tokens of a holder are those of a payment. */
export function isPaymentHolder(holder: string): boolean {
  return holder.startsWith(PAYMENT);
}
