import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Bank } from '../../bank.ts';
import { doorOf } from '../door-state.ts';
import { lifetimeMs } from '../sca/authorisations.ts';
import { type DoorPayment, type PaymentExecution, subjectOf } from './payment.ts';
import { dayOfPayment } from './standing-rule.ts';

/** The states of a payment (NextGenPSD2, `transactionStatus`) that the sandbox has. */
export type TransactionStatus =
  | 'RCVD'
  | 'PATC'
  | 'ACTC'
  | 'PART'
  | 'RJCT'
  | 'CANC'
  | BankDescription['payments']['final'][number];

/** Whether the customer can still authorise a payment. */
export function isReceived(bank: Bank, payment: DoorPayment): boolean {
  return ['RCVD', 'PATC'].includes(transactionStatus(bank, payment));
}

/** Whether the bank has not begun to execute a payment, or has a standing order to go on with. */
export function isCancellable(bank: Bank, payment: DoorPayment): boolean {
  const status = transactionStatus(bank, payment);
  if (['RCVD', 'PATC', 'ACTC'].includes(status)) return true;
  return payment.standing !== undefined && status === 'ACSP';
}

/**
 * The state of a payment now. A payment that nobody authorised in time is `RJCT` ("Body of the response for a successful payment
 * initiation status request").
 */
export function transactionStatus(bank: Bank, payment: DoorPayment): TransactionStatus {
  if (payment.cancelled) return 'CANC';
  if (payment.authorisedAt === undefined) return waitingStatus(bank, payment);
  if (payment.standing) return standingStatus(payment);
  if (payment.executions.length === 0) return 'ACTC';
  const statuses = payment.executions.map((one) => executionStatus(bank, one));
  const [first = 'ACTC'] = statuses;
  if (statuses.every((status) => status === first)) return first;
  if (statuses.includes('RJCT')) return 'PART';
  return 'ACSP';
}

/** Of a company account, one holder may have authorised already. */
function waitingStatus(bank: Bank, payment: DoorPayment): TransactionStatus {
  if (isLapsed(bank, payment)) return 'RJCT';
  return doorOf(bank).authorisations.approvedBy(subjectOf(payment, 'payment')).length > 0 ? 'PATC' : 'RCVD';
}

/** The state of one order of a payment. */
export function orderStatus(bank: Bank, payment: DoorPayment, index: number): TransactionStatus {
  const execution = payment.executions.find(({ order }) => order === payment.orders[index]);
  return execution && !payment.standing ? executionStatus(bank, execution) : transactionStatus(bank, payment);
}

function executionStatus(
  { rules, now }: Bank,
  { paid, order, settledAt }: PaymentExecution,
): TransactionStatus {
  if (now() < settledAt) return 'ACSP';
  if (!paid) return 'RJCT';
  const [final = 'ACSC'] = rules.description.payments.final;
  return order.instant ? final : 'ACSC';
}

/** A standing order goes on after a payment that failed. */
function standingStatus({ standing, executions }: DoorPayment): TransactionStatus {
  if (executions.length === 0) return 'ACTC';
  const isOver = standing !== undefined && dayOfPayment(standing, executions.length) === undefined;
  return isOver ? 'ACSC' : 'ACSP';
}

function isLapsed(bank: Bank, payment: DoorPayment): boolean {
  const { authorisations, baskets } = doorOf(bank);
  const subject = subjectOf(payment, 'payment');
  if (authorisations.of(subject).length > 0) return authorisations.haveFailed(subject);
  const most = lifetimeMs(bank.rules.description.sca.authorisationMinutes, 'payment');
  return (
    baskets.withPayment(payment.id) === undefined && bank.now().getTime() - payment.createdAt.getTime() > most
  );
}

/** The status of a bulk payment in XML: a pain.002.001.03 with the status of all, and of each (ISO 20022). */
export function pain002Of(bank: Bank, payment: DoorPayment): string {
  const entries = payment.orders.map(
    ({ endToEndId }, index) =>
      `<TxInfAndSts><OrgnlEndToEndId>${xmlText(endToEndId ?? 'NOTPROVIDED')}</OrgnlEndToEndId><TxSts>${orderStatus(bank, payment, index)}</TxSts></TxInfAndSts>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.03"><CstmrPmtStsRpt>
<GrpHdr><MsgId>${payment.id.slice(0, 35)}</MsgId><CreDtTm>${bank.now().toISOString()}</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>${payment.file?.message ?? 'NOTPROVIDED'}</OrgnlMsgId><OrgnlMsgNmId>pain.001</OrgnlMsgNmId><GrpSts>${transactionStatus(bank, payment)}</GrpSts></OrgnlGrpInfAndSts>
<OrgnlPmtInfAndSts><OrgnlPmtInfId>${payment.file?.information ?? 'NOTPROVIDED'}</OrgnlPmtInfId>${entries.join('\n')}</OrgnlPmtInfAndSts>
</CstmrPmtStsRpt></Document>
`;
}

function xmlText(text: string): string {
  return text.replace(/[<>&]/g, (one) => `&#${one.charCodeAt(0)};`);
}
