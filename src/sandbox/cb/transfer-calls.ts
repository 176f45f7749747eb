import { randomInt } from 'node:crypto';
import * as z from 'zod/mini';
import { Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import { BANK_ABI } from '../customers/italian-iban.ts';
import {
  bankDay,
  bankHour,
  bookingInstant,
  isBusinessDay,
  nextBusinessDay,
  targetHolidays,
  writeBankDate,
} from '../ledger/bank-time.ts';
import { euros, threeDecimals } from '../ledger/cents.ts';
import { payOut, totalOf } from '../operations/transfer.ts';
import { readJsonBody } from '../strict/body.ts';
import type { Calls } from './bank-call.ts';
import { operationPlace } from './envelope.ts';
import { operationOf } from './from-path.ts';
import {
  answerStep,
  type OperationCalls,
  operationCalls,
  operationPath,
  passStep,
} from './operation-calls.ts';
import { sepaCountries } from './orders/order-fields.ts';
import type { Execution, TransferResource } from './orders/resource.ts';
import {
  executionDateLimit,
  readTransferOrder,
  requireFunds,
  type TransferOrder,
  verifyBody,
} from './orders/transfer-order.ts';

/** The payer accepts the result of the verification of payee. This step is the sandbox's own design. */
const payeeAcceptedBody = z.strictObject({ data: z.strictObject({ payeeAccepted: z.literal(true) }) });

const verifyWarning = {
  code: 'BENEFICIARY_NEW',
  message: 'This is the first transfer to this payee',
  type: 'WARNING',
  detail: "The payee's name causes this warning.",
} as const;

const calls: OperationCalls<'moneyTransfer'> = {
  name: 'moneyTransfer',
  prepare: (bank) => preparation(bank.now()),
  verify(bank, request, { customer, product }) {
    const { data } = readJsonBody(request, verifyBody);
    const order = readTransferOrder(data, product, bank.now());
    requireFunds(order, bank.ledger.balance(product, bank.now()).available);
    const resource = bank.resources.addTransfer(customer, product, order);
    const warns = resource.plan.verify === 'warning';
    return {
      resource,
      data: {
        totalAmount: euros(totalOf(order)),
        commissions: { commissions: threeDecimals(order.commissions), currency: 'EUR' },
        equivalentAmount: { amount: '', currency: '' },
        ...beneficiaryBank(order.beneficiaryIban),
        moneyTransferOffline: false,
        holdersEnabled: true,
        additionalChecks: warns ? [verifyWarning.message] : [],
      },
      ...(warns && { messages: [verifyWarning] }),
    };
  },
  verify2(request, transfer) {
    readJsonBody(request, payeeAcceptedBody);
    passStep(transfer, 'verify2');
    return {};
  },
  execute(bank, transfer) {
    const { cro, settlement } = executeTransfer(bank, transfer);
    const { base } = operationPlace(transfer.kind, transfer.customer, transfer.product);
    const href = `${bank.baseUrl}${base}/${transfer.id}/execution/status`;
    return {
      data: { cro, moneyTransferOffline: false, sendEmailEnabled: false },
      ...(settlement && { embedded: { polling: { href, method: 'GET' } } }),
      messages: [
        {
          code: 'TRANSFER_ACCEPTED',
          message: 'The bank accepted the transfer',
          type: 'SUCCESS',
          detail: `CRO ${cro}`,
        },
      ],
    };
  },
};

/** Bank transfers, SCT and SCT Instant (interface specification, "Bank transfer endpoints"). */
export const transferCalls: Calls = {
  ...operationCalls(calls),
  [`GET ${operationPath('moneyTransfer')}/{resourceId}/execution/status`]: (bank, call) => {
    const transfer = operationOf(bank, call, 'moneyTransfer');
    const self = { href: 'execution/status', method: 'GET' } as const;
    return answerStep(bank, transfer, self, { data: executionStatus(transfer, bank.now()) });
  },
};

/** @throws Refusal `NOT_EXECUTED`, `NOT_INSTANT` */
function executionStatus({ execution }: TransferResource, now: Date): Record<string, unknown> {
  if (!execution) throw new Refusal('NOT_EXECUTED', 'The transfer is not executed yet');
  const { settlement } = execution;
  if (!settlement) throw new Refusal('NOT_INSTANT', 'Only an instant transfer has an execution status');
  const status = now < settlement.at ? 'PENDING' : settlement.status;
  return {
    executionStatus: status,
    executionStatusDescription: status === 'KO' ? "The payee's bank refused the instant transfer" : '',
  };
}

function preparation(now: Date): Record<string, unknown> {
  const today = writeBankDate(bankDay(now));
  const year = Number(bankDay(now).slice(0, 4));
  return {
    abi: BANK_ABI,
    ABI: BANK_ABI,
    sepa: true,
    SEPA: true,
    swift: false,
    SWIFT: false,
    swiftcontractSigned: false,
    SWIFTContractSigned: false,
    initialData: {},
    executionDateMinimumWireTransferAtBank: today,
    executionDateMinimumWireTransferInternal: today,
    flagUrgency: false,
    addBeneficiary: false,
    editBeneficiary: false,
    today,
    executionDateLimit: writeBankDate(executionDateLimit(now)),
    // Not sorted, as the bank sends them.
    holidays: [...targetHolidays(year + 1), ...targetHolidays(year).toReversed()].map(writeBankDate),
    currency: {
      currencyList: [{ label: 'EURO', value: 'EUR', rate: '' }],
      updated: { date: today, hour: bankHour(now) },
      selected: 'EUR',
    },
    countries: sepaCountries(),
  };
}

/** The payee's bank. An Italian IBAN contains the bank and the branch. */
function beneficiaryBank(iban: string): { bankName: string; branchName: string; address: string } {
  return iban.startsWith('IT')
    ? {
        bankName: `BANCA ABI ${iban.slice(5, 10)}`,
        branchName: `FILIALE CAB ${iban.slice(10, 15)}`,
        address: 'ITALIA',
      }
    : { bankName: `BANK ${iban.slice(0, 2)} ${iban.slice(4, 8)}`, branchName: '', address: '' };
}

/**
 * Executes an authorised transfer, once. Debits the amount and the commissions, and credits the payee if the account is at
 * this bank. From now on, the money is not available any more. An instant transfer is booked when it settles.
 * Any other transfer is booked on its execution date if that is a later business day, or else on the next business day.
 *
 * An instant transfer with a planned failure moves nothing.
 *
 * @throws Refusal `ALREADY_EXECUTED`, `STEP_MISSING`, `NOT_AUTHORIZED`, `FUNDS_INSUFFICIENT`, `EXECUTION_REFUSED`
 */
function executeTransfer(bank: Bank, transfer: TransferResource): Execution {
  bank.resources.requireExecutable(transfer);
  const now = bank.now();
  const { product, order, customer } = transfer;
  requireFunds(order, bank.ledger.balance(product, now).available);

  const cro = newReference();
  const { paid, settledAt } = payOut(bank, { customer, product }, order, {
    reference: cro,
    at: now,
    bookedFrom: bookedFrom(order, now),
  });
  const settlement: Execution['settlement'] = order.instant
    ? { at: settledAt, status: paid ? 'OK' : 'KO' }
    : undefined;
  transfer.execution = { cro, at: now, settlement };
  transfer.finishedAt = settlement?.at ?? now;
  return transfer.execution;
}

/** When a transfer that is not instant is booked. */
function bookedFrom({ executionDay }: TransferOrder, now: Date): Date {
  const today = bankDay(now);
  const day =
    executionDay > today && isBusinessDay(executionDay)
      ? executionDay
      : nextBusinessDay(maximum(today, executionDay));
  return bookingInstant(day);
}

function maximum(a: string, b: string): string {
  return a > b ? a : b;
}

/** A CRO: eleven digits. */
function newReference(): string {
  return String(randomInt(10_000_000_000, 99_999_999_999));
}
