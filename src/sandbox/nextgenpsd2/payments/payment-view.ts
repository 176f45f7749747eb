import type { Bank } from '../../bank.ts';
import type { PaymentShown } from '../../customer-site/access-side.ts';
import { type Cents, decimal, money } from '../../ledger/cents.ts';
import { doorOf } from '../door-state.ts';
import type { DoorPayment } from './payment.ts';
import { orderStatus, transactionStatus } from './payment-status.ts';
import { referenceOf } from './run-payments.ts';

/** A payment as its customer sees it. */
export function paymentShown(payment: DoorPayment): PaymentShown {
  const { orders, debtor, product } = payment;
  const sum = (of: (order: DoorPayment['orders'][number]) => Cents) =>
    orders.reduce((total, order) => total + of(order), 0);
  const fee = sum(({ commissions }) => commissions);
  return {
    kind: product,
    debitIban: debtor?.product.iban,
    orders: orders.map(({ beneficiaryName, beneficiaryIban, amount, description }) => ({
      name: beneficiaryName,
      iban: beneficiaryIban,
      amount: money(amount),
      description,
    })),
    fee: money(fee),
    total: money(sum(({ amount }) => amount) + fee),
    when: whenOf(payment),
  };
}

function whenOf({ standing, executionDay, orders }: DoorPayment): string {
  if (standing) {
    const { frequency, startDate, endDate } = standing;
    return `${frequency}, from ${startDate}${endDate === undefined ? '' : ` until ${endDate}`}`;
  }
  if (executionDay !== undefined) return executionDay;
  return orders.some(({ instant }) => instant) ? 'immediately' : 'today';
}

/** All payments, oldest first, with how often the ledger has the debit of each order. For scripts and the console. */
export function listPayments(bank: Bank) {
  return doorOf(bank)
    .payments.list()
    .map((payment) => ({
      paymentId: payment.id,
      requestId: payment.requestId,
      service: payment.service,
      product: payment.product,
      customer: payment.debtor?.customer.user ?? null,
      createdAt: payment.createdAt.toISOString(),
      authorised: payment.authorisedAt !== undefined,
      transactionStatus: transactionStatus(bank, payment),
      orders: payment.orders.map((order, index) => ({
        endToEndId: order.endToEndId ?? null,
        amount: decimal(order.amount),
        creditorName: order.beneficiaryName,
        creditorIban: order.beneficiaryIban,
        transactionStatus: orderStatus(bank, payment, index),
        /** How often this payment moved the money. */
        paid: payment.executions.filter((one) => one.order === order && one.paid).length,
        /** How often the account was debited with this reference, by all payments together. */
        debits: payment.debtor ? bank.ledger.debits(payment.debtor.product, referenceOf(order)) : 0,
      })),
    }));
}
