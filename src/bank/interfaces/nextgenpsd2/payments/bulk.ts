import { contradictionIn } from '../../../../batch-file/pain002/contradiction.ts';
import { bankDay } from '../../../../domain/calendar.ts';
import type { Initiation } from '../../../../domain/operation.ts';
import type { TransferOrder } from '../../../../domain/transfer.ts';
import type { BankReason } from '../../../../errors.ts';
import type { BulkPayments, BulkTerms, EntryState } from '../../../ports/bulk.ts';
import type { Decides } from '../../../ports/customer.ts';
import type { OAuth } from '../access/oauth.ts';
import type { BankDescription } from '../description/schema.ts';
import { whyNoAnswer } from '../judge/status.ts';
import { ask, contradictsItself } from '../wire/answer.ts';
import type { Calls } from '../wire/calls.ts';
import { callOf } from '../wire/paths.ts';
import { bulkAnswer } from '../wire/payment.ts';
import { reasonsIn } from '../wire/reasons.ts';
import { debtorOf, isXmlProduct, orderFields, productOf, refuseUntakenOrder, termsOf } from './initiation.ts';
import { assertAllOrdered } from './ordered.ts';
import { endToEndIdOf, isInXml, writeXml } from './pain001.ts';
import { paymentCalls } from './payment-calls.ts';
import { entryState } from './payment-status.ts';
import { takesField } from './taken-fields.ts';

/**
 * The bulk payments of a bank (NextGenPSD2 1.3, `bulk-payments`): many transfers of one account, day and product in one resource,
 * which the customer authorises once.
 *
 * @returns null if the bank file has no product of them
 */
export function bulkOf(calls: Calls, oauth: OAuth): BulkPayments | null {
  const { payments } = calls.description;
  const terms = bulkTermsOf(calls.description);
  if (!terms) return null;
  const { format = 'json' } = payments.bulk ?? {};
  const offered = productsOf(calls.description);
  return {
    ...terms,
    async initiation(orders, back, newId) {
      const today = bankDay(calls.settings.now());
      for (const order of orders) refuseUntakenOrder(payments, order, today);
      const [first] = orders;
      if (!first) throw new TypeError('A bulk payment has at least one transfer');
      const id = newId().replaceAll('-', '');
      return {
        service: 'bulk-payments',
        product: productOf(first, offered, 'bulk-payments'),
        endToEndId: id,
        body:
          format === 'json'
            ? JSON.stringify(jsonBody(orders, first, payments))
            : await writeXml(calls.settings, {
                format,
                messageId: id,
                orders,
                batchBooking: bookingOf(first, payments),
              }),
        ...termsOf(calls.description, back),
      };
    },
    refuseOther: (orders, initiation) =>
      assertAllOrdered(
        orders,
        initiation,
        (format) => {
          // What a later bank file says of it changes nothing of this payment.
          const isBooking = initiation.body.includes('<BtchBookg>');
          const batchBooking = isBooking ? orders[0]?.batchBooking : undefined;
          return writeXml(calls.settings, { format, messageId: initiation.endToEndId, orders, batchBooking });
        },
        payments,
      ),
    calls: ({ order, transactionId, initiation }) =>
      paymentCalls({ ...calls, oauth, order, transactionId, initiation, isBulk: true }),
    entries: (initiation, paymentId, transactionId) =>
      askEntriesTwice(calls, initiation, paymentId, transactionId),
  };
}

/** What a bank takes as bulk payments, by its file. Null: none. */
export function bulkTermsOf(description: BankDescription): BulkTerms | null {
  const offered = productsOf(description);
  const isJson = (description.payments.bulk?.format ?? 'json') === 'json';
  // In JSON, nothing else tells the transfers of a bulk payment apart.
  const isTold = !isJson || takesField(description.payments, 'endToEndIdentification');
  if (offered.length === 0 || !isTold) return null;
  return {
    maxEntries: description.payments.bulk?.maxEntries ?? null,
    batchBooking: description.payments.bulk?.batchBooking ?? 'optional',
    takes: (order) =>
      offered.some((product) => /inst/i.test(product) === order.instant) &&
      (isJson || description.payments.debtorAccount === 'required' || debtorOf(order) !== null),
  };
}

/** The products whose bodies have the form that the bank file says. */
function productsOf({ payments }: BankDescription): string[] {
  const isXml = (payments.bulk?.format ?? 'json') !== 'json';
  const offered = payments.products['bulk-payments'];
  const named = offered.filter((product) => isXmlProduct(product) === isXml);
  // A bank may have names of its own for what it takes in XML.
  return isXml && named.length === 0 ? [...offered] : named;
}

/** The body in JSON. What is the same for all is there once, and in no entry. */
function jsonBody(
  orders: readonly TransferOrder[],
  first: TransferOrder,
  rules: BankDescription['payments'],
): object {
  const { required } = rules;
  const isOfAll = (path: string) => path.startsWith('debtorAccount.') || path === 'requestedExecutionDate';
  const { debtorAccount, requestedExecutionDate } = orderFields(first, endToEndIdOf(first), {
    ...rules,
    required: required.filter(isOfAll),
  });
  return {
    debtorAccount,
    batchBookingPreferred: bookingOf(first, rules),
    ...(requestedExecutionDate !== undefined && { requestedExecutionDate }),
    payments: orders.map((order) => {
      const {
        debtorAccount: _,
        requestedExecutionDate: __,
        ...entry
      } = orderFields(order, endToEndIdOf(order), {
        ...rules,
        required: required.filter((path) => !isOfAll(path)),
      });
      return entry;
    }),
  };
}

/** How the bank shall book a bulk payment, if somebody said it and the bank is told. */
function bookingOf({ batchBooking }: TransferOrder, { bulk }: BankDescription['payments']) {
  return bulk?.batchBooking === 'never' ? undefined : batchBooking;
}

/** As {@link askEntries}. What frees a reference counts only if the bank says it twice: a gateway may mix up answers. */
async function askEntriesTwice(...question: EntriesAsked): Promise<ReadonlyMap<string, EntryState>> {
  const first = await askEntries(...question);
  const isRefused = (entry: EntryState | undefined) => entry?.means === 'refused';
  if (![...first.values()].some(isRefused)) return first;
  const again = await askEntries(...question, 'an end');
  return new Map([...again].filter(([id, entry]) => isRefused(entry) === isRefused(first.get(id))));
}
type EntriesAsked = [calls: Calls, initiation: Initiation, paymentId: string, transactionId: string];

/** What the bank says of each transfer of a bulk, by its end-to-end id. What it does not say is missing. */
async function askEntries(
  { bank, paths, description }: Calls,
  initiation: Initiation,
  paymentId: string,
  transactionId: string,
  decides: Decides = true,
): Promise<ReadonlyMap<string, EntryState>> {
  const { service, product } = initiation;
  const { final } = description.payments;
  const values = { 'payment-service': service, 'payment-product': product, paymentId };
  if (isInXml(initiation)) {
    const { idsIn, reportOf } = await import('./status-report.ts');
    const call = callOf(paths, 'getPaymentInitiationStatus', values, transactionId);
    const { statuses } = await bank.ask(
      { ...call, headers: { accept: 'application/xml' }, decides },
      (answer) => {
        const report = whyNoAnswer(answer) === null ? reportOf(answer.body, idsIn(initiation)) : null;
        return { statuses: report?.entries ?? null, notices: [] };
      },
    );
    return entriesFrom(
      [...(statuses ?? [])].map(([id, { status, reasons }]) => ({ id, status, reasons })),
      final,
    );
  }
  const call = callOf(paths, 'getPaymentInformation', values, transactionId);
  const { data } = await ask(bank, { ...call, decides }, bulkAnswer);
  const payments = data.payments ?? [];
  const contradiction = contradictionIn([
    ['transactionStatus', statusesIn([data])],
    ['transactionStatus of a payment', statusesIn(payments)],
  ]);
  if (contradiction !== null) throw contradictsItself(contradiction);
  return entriesFrom(
    payments.map((entry) => ({
      id: entry.endToEndIdentification,
      status: entry.transactionStatus,
      reasons: reasonsIn(entry, 'payment'),
    })),
    final,
  );
}

function statusesIn(entries: readonly { transactionStatus: string | null }[]): Set<string> {
  return new Set(entries.flatMap(({ transactionStatus }) => transactionStatus ?? []));
}

/** The states by their ids. Two different statuses of one id decide nothing. */
function entriesFrom(
  entries: readonly { id: string | null; status: string | null; reasons: BankReason[] }[],
  final: readonly string[],
): ReadonlyMap<string, EntryState> {
  const statuses = new Map<string, Set<string | null>>();
  for (const { id, status } of entries)
    if (id !== null) statuses.set(id, (statuses.get(id) ?? new Set()).add(status));
  const states = new Map<string, EntryState>();
  for (const { id, status, reasons } of entries)
    if (id !== null && status !== null && statuses.get(id)?.size === 1)
      states.set(id, entryState({ status, reasons }, final));
  return states;
}
