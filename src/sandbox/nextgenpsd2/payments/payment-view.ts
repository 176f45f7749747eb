import type { Bank } from '../../bank.ts';
import type { PaymentShown } from '../../customer-site/payment-details.ts';
import { dateText } from '../../customer-site/texts.ts';
import { bankDay } from '../../ledger/bank-time.ts';
import { type Cents, decimal, money } from '../../ledger/cents.ts';
import { doorOf } from '../door-state.ts';
import type { DoorPayment } from './payment.ts';
import { orderStatus, transactionStatus } from './payment-status.ts';
import { endToEndReference } from './run-payments.ts';
import { dayOfPayment, type StandingRule } from './standing-rule.ts';

/** A payment as its customer sees it. */
export function paymentShown({ now }: Pick<Bank, 'now'>, payment: DoorPayment): PaymentShown {
  const { orders, debtor, standing, executionDay } = payment;
  const sum = (of: (order: DoorPayment['orders'][number]) => Cents) =>
    orders.reduce((total, order) => total + of(order), 0);
  const fee = sum(({ commissions }) => commissions);
  return {
    kind: kindOfPayment(payment),
    debit: debtor?.product,
    orders: orders.map(({ beneficiaryName, beneficiaryIban, amount, description }) => ({
      name: beneficiaryName,
      iban: beneficiaryIban,
      amount: money(amount),
      description,
    })),
    sum: money(sum(({ amount }) => amount)),
    fee: money(fee),
    total: money(sum(({ amount }) => amount) + fee),
    date: standing ? (dayOfPayment(standing, 0) ?? standing.startDate) : (executionDay ?? bankDay(now())),
    isInstant: orders.some(({ instant }) => instant),
    ...(standing && { schedule: scheduleText(standing) }),
  };
}

/** The product in words. */
function kindOfPayment({ orders, standing }: DoorPayment): string {
  if (standing) return 'Standing order';
  const transfers = orders.length === 1 ? 'bank transfer' : 'bank transfers';
  return orders.some(({ instant }) => instant) ? `Instant ${transfers}` : `B${transfers.slice(1)}`;
}

const OFTEN: Readonly<Record<StandingRule['frequency'], string>> = {
  Daily: 'Every day',
  Weekly: 'Every week',
  EveryTwoWeeks: 'Every two weeks',
  Monthly: 'Every month',
  EveryTwoMonths: 'Every two months',
  Quarterly: 'Every three months',
  SemiAnnual: 'Every six months',
  Annual: 'Every year',
};

function scheduleText({ frequency, endDate }: StandingRule): string {
  return endDate === undefined ? OFTEN[frequency] : `${OFTEN[frequency]}, until ${dateText(endDate)}`;
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
        debits: payment.debtor ? bank.ledger.debits(payment.debtor.product, endToEndReference(order)) : 0,
      })),
    }));
}
