import Big from 'big.js';
import { written } from '../../domain/account-history.ts';
import type { Money } from '../../domain/decimal.ts';
import type { Verification } from '../../domain/operation.ts';
import { spacedIban } from '../../domain/order/iban.ts';
import { describePayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { writeMoney } from '../../terminal/output/fields.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Described } from '../flow/describe.ts';
import { writeDescribed } from '../flow/fields.ts';
import { wasSaid } from '../shared/once.ts';
import { describeStanding, writeDebited } from './transfers.ts';

// What an operator sees of a transfer before they confirm it.

/** What the payment costs, and what else the bank says. */
function costsOf(terminal: Terminal, { order, verification }: Transfer) {
  const unsaid = verification?.messages?.filter((text) => !wasSaid(terminal, text));
  return {
    costs: [
      ['Amount', writeMoney(order)],
      ['Commission', writeMoney(verification?.commissions ?? null)],
      ['Unread fees', verification?.unreadFees ?? null],
      ['Total', writeMoney(verification && totalOf(order, verification))],
    ],
    says: ['Bank says', unsaid?.join(' ') ?? null],
  } satisfies { costs: Described; says: Described[number] };
}

/** What the payment takes from the account: as the bank says, else the amount and its fees. Null: nobody can say. */
function totalOf(
  { amount, currency }: Pick<TransferOrder, 'amount' | 'currency'>,
  { totalAmount, commissions, unreadFees }: Verification,
): Money | null {
  if (totalAmount || unreadFees !== undefined || commissions?.currency !== currency) return totalAmount;
  const total = new Big(amount).plus(new Big(commissions.amount).abs());
  return { amount: written(total), currency };
}

/** The fees alone, for an operator who has seen the payment. */
export function showFees(terminal: Terminal, transfer: Transfer): string {
  const { costs, says } = costsOf(terminal, transfer);
  return writeDescribed('The bank takes fees:', [...costs, says], LABELS);
}

/** The width of the names of lines. */
const LABELS = 13;

/** What the bank verified and the operator must confirm. */
export function showVerified(terminal: Terminal, transfer: Transfer): string {
  const { order, verification, payeeCheck, initiation } = transfer;
  const { costs, says } = costsOf(terminal, transfer);
  const lines: Described = [
    ['From', writeDebited(transfer)],
    ['Payee', order.name],
    ['IBAN', spacedIban(order.to)],
    ['Name given by', order.payeeSource ? `the ${order.payeeSource}` : null],
    ['Payee check', payeeCheck && describePayeeCheck(payeeCheck)],
    ['Bank', verification?.bankName ?? null],
    ...costs,
    ['Description', order.description || null],
    ['Execution', `${order.executionDate}${order.instant ? ', instant' : ''}`],
    ['Repeated', order.standing ? describeStanding(order.standing) : null],
    ['Payment product', initiation?.product ?? null],
    ['Reference', order.reference],
    says,
  ];
  const title =
    verification || !initiation ? 'The bank has verified this transfer:' : 'You are about to pay:';
  return writeDescribed(title, lines, LABELS);
}
