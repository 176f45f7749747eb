import { isRefusal } from '../../bank/call/failure.ts';
import { fetchOperationStatus, fetchReceipt } from '../../bank/endpoints/operations.ts';
import { prepareTransfer, type TransferTerms } from '../../bank/endpoints/transfers.ts';
import { bankLocalTime, type IsoDate, parseDate } from '../../domain/calendar.ts';
import { parseProductId } from '../../domain/identifiers.ts';
import { OPERATION_STATES, type OperationState } from '../../domain/operation.ts';
import { describePayeeCheck } from '../../domain/payee-check.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { transferCalls } from '../../flows/transfer.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Column } from '../../terminal/output.ts';
import type { Context } from '../context.ts';
import { RESOLUTION_CSV, resolutionField } from '../flow/resolution-field.ts';
import { actingFor, warnOfDamaged } from '../flow/rules.ts';
import { openCustomerBank } from '../open/bank.ts';
import { openProfileOf } from '../open/profile.ts';
import { writeMoney } from '../shared/money.ts';
import { readLimit } from '../shared/read-limit.ts';
import { requireFile, saveResult } from '../shared/save-document.ts';

/** `psd2 transfer show <flow>`: what is on disk, without asking the bank. */
export async function transferShow(context: Context, flow: string): Promise<void> {
  printTransfer(context, openProfileOf(context).journal.openTransfer(flow).current);
}

const TRANSFER_COLUMNS: Column<Transfer>[] = [
  { title: 'FLOW', value: ({ flow }) => flow, whole: true },
  { title: 'STATE', value: ({ state }) => state, whole: true },
  { title: 'AMOUNT', value: ({ order }) => writeMoney(order), right: true },
  { title: 'TO', value: ({ order }) => order.name },
  { title: 'IBAN', value: ({ order }) => order.to, whole: true },
  { title: 'CREATED', value: ({ createdAt }) => createdAt, kind: 'time' },
];

const TRANSFER_CSV = [
  ...['flow', 'kind', 'state', 'resourceId', 'transactionId', 'instant', 'reference', 'from', 'to', 'name'],
  ...['amount', 'currency', 'description', 'executionDate', 'totalAmount.amount', 'totalAmount.currency'],
  ...['commissions.amount', 'commissions.currency', 'bankName', 'authorizationStatus', 'executionStatus'],
  ...['executionStatusDescription', 'cro', ...RESOLUTION_CSV, 'createdAt', 'updatedAt'],
];

export interface TransferListOptions {
  /** How many at most; without it a table on a terminal is kept short, and everything else is whole. */
  limit: string | undefined;
  /** Those in one of these states. */
  state: string[];
  /** Those created on this day in the bank's time zone, or later. */
  since: string | undefined;
}

/** As many as fit a terminal. */
const TABLE_LIMIT = 30;

/** `psd2 transfer list`: newest first, each read when it is its turn. */
export async function transferList(context: Context, options: TransferListOptions): Promise<void> {
  const { output, stdoutIsTerminal, terminal } = context;
  const states = options.state.map(parseState);
  const since = options.since === undefined ? undefined : dayBegins(parseDate('--since', options.since));
  const isShort = options.limit === undefined && output.format === 'table' && stdoutIsTerminal;
  const limit = readLimit(options.limit, isShort ? TABLE_LIMIT : undefined);
  const { journal } = openProfileOf(context);

  let shown = 0;
  let isCut = false;
  const pages = async function* (): AsyncGenerator<Transfer[]> {
    for (const transfer of journal.transfers(warnOfDamaged(context), since)) {
      if (states.length > 0 && !states.includes(transfer.state)) continue;
      if (since && Date.parse(transfer.createdAt) < since.getTime()) continue;
      isCut = shown === limit;
      if (isCut) return;
      shown += 1;
      yield [transfer];
    }
  };
  const isChosen = states.length > 0 || since !== undefined;
  const whenEmpty = isChosen ? 'There is no such transfer.' : 'No transfer was made with this profile.';
  if (output.format === 'table') await output.pages(pages(), TRANSFER_COLUMNS, whenEmpty);
  else await output.pages(mapPages(pages(), toData), [], '', TRANSFER_CSV);
  if (isShort && isCut)
    terminal.say(`These are the newest ${shown}: --limit <n> shows more, --state and --since choose.`);
}

async function* mapPages<From, To>(
  pages: AsyncIterable<From[]>,
  map: (from: From) => To,
): AsyncGenerator<To[]> {
  for await (const page of pages) yield page.map(map);
}

/** @throws Psd2Error `usage` */
function parseState(text: string): OperationState {
  const state = OPERATION_STATES.find((known) => known === text);
  if (state) return state;
  throw new Psd2Error('usage', `The state ${JSON.stringify(text)} is not known`, {
    hint: `Use one of ${OPERATION_STATES.join(', ')}.`,
  });
}

/** The first instant of a day at the bank. */
function dayBegins(day: IsoDate): Date {
  return new Date(bankLocalTime(day, '00:00'));
}

/** `psd2 transfer prepare <productId>`: what the bank allows, before an order is made. */
export async function transferPrepare(context: Context, product: string): Promise<void> {
  const productId = parseProductId(product);
  const { bank, customerId } = await openCustomerBank(context);
  const terms = await prepareTransfer(bank, { customerId, from: productId }, context.world.newId());
  context.output.record(toTerms(terms), [
    { title: 'Today at the bank', value: ({ today }) => today },
    { title: 'Earliest date', value: ({ earliestDate }) => earliestDate },
    { title: 'Latest date', value: ({ latestDate }) => latestDate },
    { title: 'Bank holidays', value: ({ holidays }) => holidays.join(' ') },
    { title: 'Currencies', value: ({ currencies }) => currencies.map(({ code }) => code).join(' ') },
    { title: 'Countries', value: ({ countries }) => countries.map(({ code }) => code).join(' ') },
    { title: 'Urgent transfers', value: ({ urgent }) => (urgent === null ? null : urgent ? 'yes' : 'no') },
  ]);
}

/** `psd2 transfer status <flow>`: how far the bank says it is; changes nothing. */
export async function transferStatus(context: Context, flow: string): Promise<void> {
  const { current } = openProfileOf(context).journal.openTransfer(flow);
  const resourceId = current.verification?.resourceId ?? null;
  if (resourceId === null) return printTransfer(context, current);
  const { bank } = await openCustomerBank(actingFor(context, current.order.customerId));
  const { executionStatus } = transferCalls(bank, current);
  try {
    const status = await fetchOperationStatus(bank, resourceId, current.transactionId);
    const wasSent = ['executing', 'executed', 'unknown'].includes(current.state);
    printTransfer(context, {
      ...current,
      authorizationStatus: status.authorizationStatus,
      executionStatus: current.executionStatus ?? status.executionStatus,
      ...(wasSent && executionStatus && (await executionStatus(resourceId))),
    });
  } catch (error) {
    // The bank keeps a resource until its operation is finished.
    if (!isRefusal(error) || !ENDED.includes(current.state)) throw error;
    context.terminal.warn(
      `The bank tells no more of it, and this is what is known: ${cleanText(error.message)}`,
    );
    printTransfer(context, current);
  }
}

const ENDED = ['executed', 'settled', 'failed', 'rejected', 'expired'];

/** `psd2 transfer receipt <flow>`: the bank's printable document. */
export async function transferReceipt(
  context: Context,
  flow: string,
  fileOption: string | undefined,
): Promise<void> {
  const file = requireFile(context, fileOption);
  const { current } = openProfileOf(context).journal.openTransfer(flow);
  const { order, verification, transactionId, state } = current;
  if (!verification || !['executed', 'settled'].includes(state)) {
    throw new Psd2Error('usage', `Transfer ${current.flow} is ${state}, so there is no receipt`);
  }
  const { bank } = await openCustomerBank(actingFor(context, order.customerId));
  await saveResult(context, file, await fetchReceipt(bank, order, verification.resourceId, transactionId));
}

/** Prints a transfer in the shape of the command contract. */
export function printTransfer({ output }: Context, transfer: Transfer): void {
  const fields: Column<ReturnType<typeof toData>>[] = [
    { title: 'Transfer', value: ({ flow }) => flow },
    { title: 'State', value: ({ state }) => state },
    { title: 'To', value: ({ name }) => name },
    { title: 'IBAN', value: ({ to }) => to, whole: true },
    { title: 'Amount', value: writeMoney },
    { title: 'Commission', value: ({ commissions }) => writeMoney(commissions) },
    { title: 'Total', value: ({ totalAmount }) => writeMoney(totalAmount) },
    { title: 'Description', value: ({ description }) => description },
    { title: 'Execution date', value: ({ executionDate }) => executionDate },
    { title: 'Instant', value: ({ instant }) => (instant ? 'yes' : 'no') },
    {
      title: 'Payee check',
      value: ({ payeeCheck }) => payeeCheck && describePayeeCheck(payeeCheck),
    },
    { title: 'Reference', value: ({ reference }) => reference },
    { title: 'Authorization', value: ({ authorizationStatus }) => authorizationStatus },
    {
      title: 'Execution',
      value: ({ executionStatus, executionStatusDescription }) =>
        [executionStatus, executionStatusDescription].filter(Boolean).join(': '),
    },
    { title: 'CRO', value: ({ cro }) => cro },
    resolutionField,
    { title: 'Resource', value: ({ resourceId }) => resourceId },
    { title: 'Transaction', value: ({ transactionId }) => transactionId },
  ];
  output.record(toData(transfer), fields, TRANSFER_CSV);
}

/** What the bank verified, for the operator to say yes to. */
export function showVerified({ order, verification, payeeCheck }: Transfer): string {
  const lines: [string, string | null][] = [
    ['Beneficiary', order.name],
    ['IBAN', order.to.replace(/(.{4})(?=.)/g, '$1 ')],
    ['Payee check', payeeCheck && describePayeeCheck(payeeCheck)],
    ['Bank', verification?.bankName ?? null],
    ['Amount', writeMoney(order)],
    ['Commission', writeMoney(verification?.commissions ?? null)],
    ['Total', writeMoney(verification?.totalAmount ?? null)],
    ['Description', order.description || null],
    ['Execution', `${order.executionDate}${order.instant ? ', instant' : ''}`],
  ];
  return ['The bank has verified this transfer:']
    .concat(lines.flatMap(([title, value]) => (value ? [`  ${title.padEnd(12)} ${cleanText(value)}`] : [])))
    .join('\n');
}

function toData({ order, verification, ...transfer }: Transfer) {
  return {
    flow: transfer.flow,
    kind: transfer.kind,
    state: transfer.state,
    resourceId: verification?.resourceId ?? null,
    transactionId: transfer.transactionId,
    instant: order.instant,
    reference: order.reference,
    from: order.from,
    to: order.to,
    name: order.name,
    amount: order.amount,
    currency: order.currency,
    description: order.description,
    executionDate: order.executionDate,
    totalAmount: verification?.totalAmount ?? null,
    commissions: verification?.commissions ?? null,
    bankName: verification?.bankName ?? null,
    payeeCheck: transfer.payeeCheck,
    authorizationStatus: transfer.authorizationStatus,
    executionStatus: transfer.executionStatus,
    executionStatusDescription: transfer.executionStatusDescription,
    cro: transfer.cro,
    resolution: transfer.resolution,
    createdAt: transfer.createdAt,
    updatedAt: transfer.updatedAt,
  };
}

function toTerms(terms: TransferTerms) {
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
