import * as z from 'zod/mini';
import { because } from '../../../domain/bank-reason.ts';
import type { OrderTarget, SettlementStatus, Verification } from '../../../domain/operation.ts';
import { needsSettlement, type TransferOrder } from '../../../domain/transfer.ts';
import { Psd2Error } from '../../../errors.ts';
import type { BankCall } from '../../call/call.ts';
import type { Payments, TransferTerms } from '../../ports/bank.ts';
import type { BeforeSend } from '../../ports/call.ts';
import type { ExecutionStatus, PaymentCalls } from '../../ports/payment-calls.ts';
import { factsOf, get, pathSegment, productPath } from './accounts.ts';
import { ask, type CbCaller, type Envelope, readDocument } from './answer.ts';
import { assertAbout, assertDone } from './consents.ts';
import { bankDate, money, optionalText, text, words, writeBankDate } from './wire/fields.ts';

const flag = z.pipe(
  z.nullish(z.boolean()),
  z.transform((value) => value ?? null),
);
const textOrNull = z.pipe(
  z.nullish(text),
  z.transform((value) => value || null),
);
const wordsOrNull = z.pipe(
  z.nullish(words),
  z.transform((value) => value || null),
);
const list = <T extends z.ZodMiniType>(item: T) =>
  z.pipe(
    z.nullish(z.array(item)),
    z.transform((items) => items ?? []),
  );

/** `data` of `moneyTransfer/prepare`. All of it is optional. */
export const prepareAnswer = z.object({
  abi: textOrNull,
  ABI: textOrNull,
  sepa: flag,
  SEPA: flag,
  swift: flag,
  SWIFT: flag,
  today: bankDate,
  executionDateMinimumWireTransferAtBank: bankDate,
  executionDateMinimumWireTransferInternal: bankDate,
  executionDateLimit: bankDate,
  holidays: list(bankDate),
  flagUrgency: flag,
  addBeneficiary: flag,
  editBeneficiary: flag,
  currency: z.nullish(
    z.object({
      currencyList: list(z.object({ label: optionalText, value: text, rate: optionalText })),
      selected: textOrNull,
    }),
  ),
  countries: list(z.object({ label: optionalText, value: text })),
});

/** The fee. The field with its amount is called `commissions` too. */
const commissions = z.pipe(
  z.pipe(
    z.nullish(z.object({ commissions: z.nullish(text), amount: z.nullish(text), currency: optionalText })),
    z.transform(
      (fee): z.input<typeof money> =>
        fee && { amount: fee.commissions ?? fee.amount ?? '', currency: fee.currency },
    ),
  ),
  money,
);

/** `data` of the answer to a verify step. */
export const verifyAnswer = z.object({
  totalAmount: money,
  commissions,
  /** The bank has made a resource. A name that cannot be read must not make it unusable, unlike an amount. */
  bankName: z.catch(wordsOrNull, null),
});

/** `data` of the request `moneyTransfer/verify`. */
export interface VerifyOrder {
  moneyTransferAmount: { currency: string; amount: string };
  flagUrgency: boolean;
  type?: string;
  /** `DD/MM/YYYY` */
  moneyTransferExecutionDate: string;
  ibanBeneficiary: string;
  beneficiaryName: string;
  description: string;
}

/** `data` of an execute answer. The money has moved, so an invalid `cro` must not look like a failure. */
export const executeAnswer = z.catch(z.object({ cro: z.catch(wordsOrNull, null) }), { cro: null });

/** `data` of the execution status of an instant transfer. */
export const executionStatusAnswer = z.object({
  executionStatus: words,
  executionStatusDescription: wordsOrNull,
});

/** The name of a bank transfer among the operations. */
const TRANSFER = 'moneyTransfer';

/** A product and the name of its operation (interface specification, "Generic operation flow"). */
interface OperationTarget extends OrderTarget {
  operation: string;
}

/** The payments of `cb` (interface specification, "Bank transfer endpoints" and "Generic operation flow"). */
export function paymentsOf(bank: CbCaller): Payments {
  return {
    commits: 'on execute',
    transfer: ({ order, transactionId }) => ({
      ...operationCalls(bank, { ...order, operation: TRANSFER }, transactionId, () => transferData(order)),
      name: 'transfer',
      executionStatus: needsSettlement(order)
        ? (resourceId) => fetchExecutionStatus(bank, order, resourceId, transactionId)
        : null,
    }),
    operation: ({ order, transactionId }) => operationCalls(bank, order, transactionId, () => order.data),
    terms: async (target, transactionId) =>
      toTerms(await prepare(bank, { ...target, operation: TRANSFER }, transactionId, prepareAnswer)),
    operationTerms: (target, transactionId) =>
      prepare(bank, target, transactionId, z.record(z.string(), z.unknown())),
    receipt: async (target, resourceId, transactionId) => {
      const path = `${targetPath(target)}/common/printer/${pathSegment(resourceId)}/retrieve`;
      return readDocument(await bank.send(get(path, transactionId)));
    },
  };
}

/** @param data the JSON text for `data` of the verify request */
function operationCalls(
  bank: CbCaller,
  target: OperationTarget,
  transactionId: string,
  data: () => string,
): PaymentCalls {
  return {
    name: target.operation,
    verify: (beforeSend) => verify(bank, target, { data: data(), transactionId, beforeSend }),
    verifyFurther: (resourceId, step, data, beforeSend) =>
      verifyFurther(bank, target, { resourceId, step, data, transactionId, beforeSend }),
    execute: (resourceId, beforeSend) => executeOnce(bank, target, { resourceId, transactionId, beforeSend }),
    executionStatus: null,
  };
}

/** The path of an operation. The paths of its steps begin with it. */
function operationPath({ operation, ...target }: OperationTarget): string {
  return `${targetPath(target)}/${pathSegment(operation)}`;
}

function targetPath({ customerId, from }: OrderTarget): string {
  if (from === null) throw new TypeError('An operation of this bank names its product');
  return productPath(customerId, from);
}

/** A call that changes something. */
function change(
  call: Pick<BankCall, 'method' | 'path' | 'body' | 'transactionId' | 'beforeSend' | 'irrevocable'>,
): BankCall {
  return { ...call, facts: factsOf(call.method, call.path) };
}

/** The bank's general information for an operation. */
async function prepare<T>(
  bank: CbCaller,
  target: OperationTarget,
  transactionId: string,
  schema: z.ZodMiniType<T>,
): Promise<T> {
  return (await ask(bank, get(`${operationPath(target)}/prepare`, transactionId), schema)).data;
}

function toTerms(terms: z.infer<typeof prepareAnswer>): TransferTerms {
  return {
    bankCode: terms.abi ?? terms.ABI,
    sepa: terms.sepa ?? terms.SEPA,
    swift: terms.swift ?? terms.SWIFT,
    urgent: terms.flagUrgency,
    today: terms.today,
    earliestDate: terms.executionDateMinimumWireTransferAtBank,
    earliestDateInternal: terms.executionDateMinimumWireTransferInternal,
    latestDate: terms.executionDateLimit,
    holidays: terms.holidays.filter((day) => day !== null).sort(),
    currency: terms.currency?.selected ?? null,
    currencies: (terms.currency?.currencyList ?? []).map(({ value, label, rate }) => ({
      code: value,
      label,
      rate: rate || null,
    })),
    countries: terms.countries.map(({ value, label }) => ({ code: value, label })),
  };
}

/** `data` of the request that verifies a transfer. */
function transferData(order: TransferOrder): string {
  const data: VerifyOrder = {
    moneyTransferAmount: { currency: order.currency, amount: order.amount },
    flagUrgency: order.urgent,
    ...(order.type !== null && { type: order.type }),
    moneyTransferExecutionDate: writeBankDate(order.executionDate),
    ibanBeneficiary: order.to,
    beneficiaryName: order.name,
    description: order.description,
  };
  return JSON.stringify(data);
}

/** Asks the bank to verify an operation. The bank creates the resource but executes nothing. */
async function verify(
  bank: CbCaller,
  target: OperationTarget,
  { data, transactionId, beforeSend }: { data: string; transactionId: string; beforeSend: BeforeSend },
): Promise<Verification> {
  const path = `${operationPath(target)}/verify`;
  const { data: verified, envelope } = await ask(
    bank,
    change({ method: 'POST', path, body: `{"data":${data}}`, transactionId, beforeSend }),
    verifyAnswer,
  );
  if (!envelope.resourceId)
    throw new Psd2Error('bank_answer', "The bank's answer to verify has no resources.resourceId", {
      transactionId,
    });
  return { resourceId: envelope.resourceId, ...verified, nextStep: nextStepOf(envelope) };
}

/** Sends the data for a further step `verify<N>` that the bank's last answer named. */
async function verifyFurther(
  bank: CbCaller,
  target: OperationTarget,
  further: { resourceId: string; step: string; data: string; transactionId: string; beforeSend: BeforeSend },
): Promise<Verification> {
  const { resourceId, step, data, transactionId, beforeSend } = further;
  const path = `${operationPath(target)}/${pathSegment(resourceId)}/${pathSegment(step)}`;
  const { data: verified, envelope } = await ask(
    bank,
    change({ method: 'PUT', path, body: `{"data":${data}}`, transactionId, beforeSend }),
    verifyAnswer,
  );
  assertAbout(envelope, { name: step, resourceId, transactionId });
  return { resourceId, ...verified, nextStep: nextStepOf(envelope) };
}

/** The last part of the next link's path: `execute` or `verify<N>`. Without a link, `execute`. */
function nextStepOf({ next }: Envelope): string {
  const path = next?.href.trim().split(/[?#]/, 1)[0] ?? '';
  return path.split('/').findLast((part) => part !== '') ?? 'execute';
}

/** Executes an operation that the customer has authorised. The body is `{}`. */
async function executeOnce(
  bank: CbCaller,
  target: OperationTarget,
  {
    resourceId,
    transactionId,
    beforeSend,
  }: { resourceId: string; transactionId: string; beforeSend: BeforeSend },
): Promise<{ cro: string | null }> {
  const path = `${operationPath(target)}/${pathSegment(resourceId)}/execute`;
  const { data, envelope } = await ask(
    bank,
    change({ method: 'PUT', path, body: {}, transactionId, beforeSend, irrevocable: true }),
    executeAnswer,
  );
  assertDone(envelope, { name: 'execute', resourceId, transactionId });
  return data;
}

/** Asks for the execution status of an executed instant transfer. */
async function fetchExecutionStatus(
  bank: CbCaller,
  order: OrderTarget,
  resourceId: string,
  transactionId: string,
): Promise<ExecutionStatus> {
  const target = operationPath({ ...order, operation: TRANSFER });
  const path = `${target}/${pathSegment(resourceId)}/execution/status`;
  const call = { ...get(path, transactionId), decides: true };
  const { data, envelope } = await ask(bank, call, executionStatusAnswer);
  assertAbout(envelope, { name: 'the execution status call', resourceId, transactionId });
  const status = settlementOf(data.executionStatus);
  const { executionStatusDescription: text } = data;
  const { reasons } = because(
    status === 'KO' && text !== null ? [{ level: 'payment', code: null, proprietary: null, text }] : [],
  );
  return { ...data, status, ...(reasons && { reasons }) };
}

/** What an execution status of an instant transfer means. Any status that is not final means pending. */
export function settlementOf(bankStatus: string): SettlementStatus {
  return bankStatus === 'OK' || bankStatus === 'KO' ? bankStatus : 'PENDING';
}
