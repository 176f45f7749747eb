import { Hono } from 'hono';
import * as z from 'zod/mini';
import { payingProductOf, transferOf } from '../access/access.ts';
import { operationPlace, successEnvelope } from '../answers/envelope.ts';
import { answerJson } from '../answers/outgoing.ts';
import { Refusal } from '../answers/refusal.ts';
import { BANK_ABI } from '../customers/account-iban.ts';
import { sepaCountries } from '../customers/sepa-countries.ts';
import { bankDay, bankHour, targetHolidays, writeBankDate } from '../ledger/bank-time.ts';
import { euros, threeDecimals } from '../ledger/cents.ts';
import { passStep } from '../operations/steps.ts';
import {
  executionDateLimit,
  readTransferOrder,
  requireFunds,
  totalOf,
  verifyBody,
} from '../operations/transfer-order.ts';
import { executeTransfer } from '../operations/transfers.ts';
import type { Bank } from '../server/bank.ts';
import type { BankEnv } from '../server/bank-env.ts';
import { readJsonBody, requireEmptyBody } from '../strict/body.ts';
import { printerLink } from './printer.ts';

const root = '/private/customers/:customerId/products/:productId/moneyTransfer';
/** The payer saw the verification of the payee, and accepts it: the sandbox's own form of that step. */
const payeeAcceptedBody = z.strictObject({ data: z.strictObject({ payeeAccepted: z.literal(true) }) });

const verifyWarning = {
  code: 'BENEFICIARY_NEW',
  message: 'No transfer went to this beneficiary before',
  type: 'WARNING',
  detail: 'The name of the beneficiary plans this warning.',
} as const;

/** Bank transfers, SCT and SCT Instant (interface specification, "Bank transfer endpoints"). */
export function moneyTransferRoutes(bank: Bank): Hono<BankEnv> {
  const routes = new Hono<BankEnv>();

  routes.get(`${root}/prepare`, (c) => {
    const { customer, product } = payingProductOf(c, bank);
    return answerJson(
      c,
      successEnvelope(bank, {
        data: preparation(bank.now()),
        place: {
          ...operationPlace('moneyTransfer', customer, product),
          self: { href: 'prepare', method: 'GET' },
          next: { href: 'verify', method: 'POST' },
        },
      }),
    );
  });

  routes.post(`${root}/verify`, (c) => {
    const { customer, product } = payingProductOf(c, bank);
    const { data } = readJsonBody(c.var.request, verifyBody);
    const order = readTransferOrder(data, product, bank.now());
    requireFunds(order, bank.ledger.balance(product, bank.now()).available);
    const transfer = bank.resources.addTransfer(customer, product, order);
    return answerJson(
      c,
      successEnvelope(bank, {
        data: {
          totalAmount: euros(totalOf(order)),
          commissions: { commissions: threeDecimals(order.commissions), currency: 'EUR' },
          equivalentAmount: { amount: '', currency: '' },
          ...beneficiaryBank(order.beneficiaryIban),
          moneyTransferOffline: false,
          holdersEnabled: true,
          additionalChecks: transfer.plan.verify === 'warning' ? [verifyWarning.message] : [],
        },
        resourceId: transfer.id,
        place: {
          ...operationPlace('moneyTransfer', customer, product),
          self: { href: 'verify', method: 'POST' },
          next: { href: `${transfer.id}/${transfer.nextStep}`, method: 'PUT' },
        },
        ...(transfer.plan.verify === 'warning' && { messages: [verifyWarning] }),
      }),
    );
  });

  routes.put(`${root}/:resourceId/verify2`, (c) => {
    const transfer = transferOf(c, bank);
    readJsonBody(c.var.request, payeeAcceptedBody);
    passStep(transfer, 'verify2');
    return answerJson(
      c,
      successEnvelope(bank, {
        data: {},
        resourceId: transfer.id,
        place: {
          ...operationPlace('moneyTransfer', transfer.customer, transfer.product),
          self: { href: `${transfer.id}/verify2`, method: 'PUT' },
          next: { href: `${transfer.id}/execute`, method: 'PUT' },
        },
      }),
    );
  });

  routes.put(`${root}/:resourceId/execute`, (c) => {
    const transfer = transferOf(c, bank);
    requireEmptyBody(c.var.request);
    const { cro, settlement } = executeTransfer(bank, transfer);
    const place = operationPlace('moneyTransfer', transfer.customer, transfer.product);
    const polling = {
      href: `${bank.baseUrl}${place.base}/${transfer.id}/execution/status`,
      method: 'GET',
    } as const;
    return answerJson(
      c,
      successEnvelope(bank, {
        data: { cro, moneyTransferOffline: false, sendEmailEnabled: false },
        resourceId: transfer.id,
        place: { ...place, self: { href: `${transfer.id}/execute`, method: 'PUT' } },
        embedded: { ...(settlement && { polling }), printer: printerLink(bank, transfer) },
        messages: [
          {
            code: 'TRANSFER_ACCEPTED',
            message: 'The bank took the transfer',
            type: 'SUCCESS',
            detail: `CRO ${cro}`,
          },
        ],
      }),
    );
  });

  routes.get(`${root}/:resourceId/execution/status`, (c) => {
    const transfer = transferOf(c, bank);
    const { execution } = transfer;
    if (!execution) throw new Refusal('NOT_EXECUTED', 'The transfer was not executed yet');
    const { settlement } = execution;
    if (!settlement) throw new Refusal('NOT_INSTANT', 'Only an instant transfer has an execution status');
    const executionStatus = bank.now() < settlement.at ? 'PENDING' : settlement.status;
    return answerJson(
      c,
      successEnvelope(bank, {
        data: {
          executionStatus,
          executionStatusDescription:
            executionStatus === 'KO' ? 'The bank of the beneficiary refused the instant transfer' : '',
        },
        resourceId: transfer.id,
        place: {
          ...operationPlace('moneyTransfer', transfer.customer, transfer.product),
          self: { href: `${transfer.id}/execution/status`, method: 'GET' },
        },
      }),
    );
  });

  return routes;
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
    // In no order, as the bank sends them.
    holidays: [...targetHolidays(year + 1), ...targetHolidays(year).toReversed()].map(writeBankDate),
    currency: {
      currencyList: [{ label: 'EURO', value: 'EUR', rate: '' }],
      updated: { date: today, hour: bankHour(now) },
      selected: 'EUR',
    },
    countries: sepaCountries(),
  };
}

/** What the bank says of the beneficiary's; in an Italian IBAN stand bank and branch. */
function beneficiaryBank(iban: string): { bankName: string; branchName: string; address: string } {
  return iban.startsWith('IT')
    ? {
        bankName: `BANCA ABI ${iban.slice(5, 10)}`,
        branchName: `FILIALE CAB ${iban.slice(10, 15)}`,
        address: 'ITALIA',
      }
    : { bankName: `BANK ${iban.slice(0, 2)} ${iban.slice(4, 8)}`, branchName: '', address: '' };
}
