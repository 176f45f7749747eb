import Big from 'big.js';
import { spacedIban } from '../../domain/order/iban.ts';
import { describePayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { cleanText } from '../../terminal/clean.ts';
import { writeMoney } from '../../terminal/output/fields.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { wasSaid } from '../shared/once.ts';
import { describeStanding, writeDebited } from './transfers.ts';

// What the operator reads of a transfer before the customer is asked to authorise it.

type Line = readonly [label: string, value: string | null];

/** The whole transfer, which the operator must confirm. */
export function showTransfer(terminal: Terminal, transfer: Transfer): string {
  const { order, verification, payeeCheck, initiation } = transfer;
  const title =
    verification || !initiation ? 'The bank has verified this transfer:' : 'You are about to pay:';
  return write(title, [
    ['From', writeDebited(transfer)],
    ['Payee', order.name],
    ['IBAN', spacedIban(order.to)],
    ['Name given by', order.payeeSource ? `the ${order.payeeSource}` : null],
    ['Payee check', payeeCheck && describePayeeCheck(payeeCheck)],
    ['Bank', verification?.bankName ?? null],
    ...costLines(transfer),
    ['Description', order.description || null],
    ['Execution', `${order.executionDate}${order.instant ? ', instant' : ''}`],
    ['Repeated', order.standing ? describeStanding(order.standing) : null],
    ['Product', initiation?.product ?? null],
    ['Reference', order.reference],
    bankWords(terminal, transfer),
  ]);
}

/** What the bank has added to a transfer that the operator has just read: its fees, and what it says. */
export function showFees(terminal: Terminal, transfer: Transfer): string {
  return write('The bank takes fees for this transfer:', [
    ...costLines(transfer),
    bankWords(terminal, transfer),
  ]);
}

function costLines({ order, verification }: Transfer): Line[] {
  return [
    ['Amount', writeMoney(order)],
    ['Commission', writeMoney(verification?.commissions ?? null)],
    ['Unread fees', verification?.unreadFees ?? null],
    ['Total', writeMoney(totalOf({ order, verification }))],
  ];
}

/** What the transfer takes from the account: as the bank says, else the amount and the fees, if psd2 can add them. */
function totalOf({ order, verification }: Pick<Transfer, 'order' | 'verification'>) {
  if (verification?.totalAmount || !verification?.commissions) return verification?.totalAmount ?? null;
  const { commissions, unreadFees } = verification;
  if (unreadFees !== undefined || commissions.currency !== order.currency) return null;
  const { currency } = order;
  return { amount: new Big(commissions.amount).abs().plus(order.amount).toFixed(2), currency };
}

/** What the bank says, unless the operator has read it already. */
function bankWords(terminal: Terminal, { verification }: Transfer): Line {
  const unsaid = verification?.messages?.filter((text) => !wasSaid(terminal, text));
  return ['Bank says', unsaid?.join(' ') ?? null];
}

function write(title: string, lines: readonly Line[]): string {
  return [title]
    .concat(lines.flatMap(([label, value]) => (value ? [`  ${label.padEnd(13)} ${cleanText(value)}`] : [])))
    .join('\n');
}
