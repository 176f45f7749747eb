import Big from 'big.js';
import { written } from '../../../domain/account-history.ts';
import { bankDay } from '../../../domain/calendar.ts';
import type { Initiation } from '../../../domain/operation.ts';
import { isIban } from '../../../domain/order/iban.ts';
import type { TransferOrder } from '../../../domain/transfer.ts';
import { type BankReason, Psd2Error } from '../../../errors.ts';
import type { BulkPayments, BulkTerms, EntryState } from '../../ports/bulk.ts';
import type { Decides } from '../../ports/customer.ts';
import { ask } from './answer.ts';
import type { Calls } from './calls.ts';
import type { BankDescription } from './description/schema.ts';
import { debtorOf, fieldsOf, productOf, refuseUntakenOrder, termsOf } from './initiation.ts';
import type { OAuth } from './oauth.ts';
import { assertAllOrdered } from './ordered.ts';
import { callOf } from './paths.ts';
import { paymentCalls } from './payment-calls.ts';
import { entryState } from './payment-status.ts';
import { reasonsIn } from './reasons.ts';
import { takesField } from './taken-fields.ts';
import { bulkAnswer } from './wire/payment.ts';

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
            : await xmlBody(calls, format, id, orders, bookingOf(first, payments)),
        ...termsOf(calls.description, back),
      };
    },
    refuseOther: (orders, initiation) =>
      assertAllOrdered(
        orders,
        initiation,
        (named) => {
          // What a later bank file says of it changes nothing of this payment.
          const booking = initiation.body.includes('<BtchBookg>') ? orders[0]?.batchBooking : undefined;
          return xmlBody(calls, named, initiation.endToEndId, orders, booking);
        },
        payments.constant,
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
    takes: ({ instant }) => offered.some((product) => /inst/i.test(product) === instant),
  };
}

/** The products whose bodies have the form that the bank file says. */
function productsOf({ payments }: BankDescription): string[] {
  const isXml = (payments.bulk?.format ?? 'json') !== 'json';
  const offered = payments.products['bulk-payments'];
  const named = offered.filter((product) => product.startsWith('pain.001') === isXml);
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
  const { debtorAccount, requestedExecutionDate } = fieldsOf(first, idOf(first), {
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
      } = fieldsOf(order, idOf(order), {
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

/** @throws Psd2Error `usage`: pain.001 has no address without a town */
function townOf({ town }: NonNullable<TransferOrder['payeeAddress']>): string {
  if (town !== undefined) return town;
  throw new Psd2Error('usage', "In this bank's bulk payments, the payee's address needs a town");
}

/** In a bulk, the end-to-end id tells the transfers apart. */
function idOf({ reference }: TransferOrder): string {
  if (reference !== null) return reference;
  throw new TypeError('A transfer of a bulk payment has a reference');
}

/** The body as the bank's pain.001. */
async function xmlBody(
  { settings }: Calls,
  format: 'pain.001.001.03' | 'pain.001.001.09',
  id: string,
  orders: readonly TransferOrder[],
  batchBooking: boolean | undefined,
): Promise<string> {
  const [first] = orders;
  const iban = first && debtorOf(first);
  if (!first || iban === undefined) throw new TypeError('A pain.001 has at least one transfer');
  if (iban === null) throw xmlNamesDebtor();
  if (!isIban(iban)) throw new Psd2Error('usage', `The account ${iban} has no IBAN, so psd2 cannot debit it`);
  const sum = orders.reduce((total, { amount }) => total.plus(amount), new Big(0));
  // No other call needs XML.
  const { writePain001 } = await import('../../../batch-file/pain001/write.ts');
  const pieces: string[] = [];
  for await (const piece of writePain001({
    format,
    messageId: id,
    createdAt: settings.now().toISOString(),
    initiator: initiatorOf(settings.identity.qwacCertificate.subject),
    groups: [
      {
        paymentInformationId: id,
        // psd2 does not know the name of the account holder. The bank does.
        debtor: { name: 'NOTPROVIDED', iban },
        executionDate: first.executionDate,
        instant: first.instant,
        urgent: false,
        batchBooking,
        count: orders.length,
        sum: written(sum),
        payments: orders.map(({ to, name, amount, currency, description, payeeAddress, ...order }) => ({
          ...(order.creditorReference && { creditorReference: order.creditorReference }),
          instructionId: null,
          endToEndId: idOf({ to, name, amount, currency, description, ...order }),
          ...{ name, iban: to, amount, currency, description },
          address: payeeAddress
            ? {
                country: payeeAddress.country,
                townName: townOf(payeeAddress),
                postCode: payeeAddress.postcode ?? null,
                streetName: payeeAddress.street ?? null,
                buildingNumber: payeeAddress.building ?? null,
                lines: [],
              }
            : null,
        })),
      },
    ],
  }))
    pieces.push(piece);
  return pieces.join('');
}

/** A pain.001 has an account to debit, whatever the bank could do without. */
export function xmlNamesDebtor(): Psd2Error {
  return new Psd2Error('usage', 'The bank takes this payment as pain.001, which names the account to debit', {
    hint: 'Name it with --from.',
  });
}

/** The organisation of the certificate, as SEPA writes a name. */
function initiatorOf(subject: string): string {
  const name = /^O=(.+)$/m.exec(subject)?.[1] ?? '';
  return (
    name
      .replace(/[^A-Za-z0-9/?:().,'+ -]/g, ' ')
      .trim()
      .slice(0, 70) || 'TPP'
  );
}

/** As {@link askEntries}. What frees a reference counts only if the bank says it twice: a gateway may mix up answers. */
async function askEntriesTwice(...asked: EntriesAsked): Promise<ReadonlyMap<string, EntryState>> {
  const first = await askEntries(...asked);
  const isRefused = (entry: EntryState | undefined) => entry?.means === 'refused';
  if (![...first.values()].some(isRefused)) return first;
  const again = await askEntries(...asked, 'an end');
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
  const { service, product, body } = initiation;
  const { final } = description.payments;
  const values = { 'payment-service': service, 'payment-product': product, paymentId };
  if (body.startsWith('<')) {
    const { reportOf } = await import('./status-report.ts');
    const call = callOf(paths, 'getPaymentInitiationStatus', values, transactionId);
    const { statuses } = await bank.ask(
      { ...call, headers: { accept: 'application/xml' }, decides },
      ({ status, body: report }) => ({
        statuses: status === 200 ? (reportOf(report, initiation)?.entries ?? null) : null,
        notices: [],
      }),
    );
    return entriesFrom(
      [...(statuses ?? [])].map(([id, { status, reasons }]) => ({ id, status, reasons })),
      final,
    );
  }
  const call = callOf(paths, 'getPaymentInformation', values, transactionId);
  const { data } = await ask(bank, { ...call, decides }, bulkAnswer);
  return entriesFrom(
    (data.payments ?? []).map((entry) => ({
      id: entry.endToEndIdentification,
      status: entry.transactionStatus,
      reasons: reasonsIn(entry, 'payment'),
    })),
    final,
  );
}

/** The states by their ids. Two different statuses of one id decide nothing. */
function entriesFrom(
  said: readonly { id: string | null; status: string | null; reasons: BankReason[] }[],
  final: readonly string[],
): ReadonlyMap<string, EntryState> {
  const statuses = new Map<string, Set<string | null>>();
  for (const { id, status } of said)
    if (id !== null) statuses.set(id, (statuses.get(id) ?? new Set()).add(status));
  const found = new Map<string, EntryState>();
  for (const { id, status, reasons } of said)
    if (id !== null && status !== null && statuses.get(id)?.size === 1)
      found.set(id, { ...entryState(status, final), ...(reasons.length > 0 && { reasons }) });
  return found;
}
