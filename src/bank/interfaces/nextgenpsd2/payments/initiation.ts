import { addDays, bankDay, type IsoDate } from '../../../../domain/calendar.ts';
import type { Initiation } from '../../../../domain/operation.ts';
import { accountReferenceOf } from '../../../../domain/order/account-reference.ts';
import { IN_WEEKS } from '../../../../domain/order/terms.ts';
import type { TransferOrder } from '../../../../domain/transfer.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { PlannedPayment } from '../../../ports/bank.ts';
import type { Debited } from '../../../ports/bulk.ts';
import type { BankDescription } from '../description/schema.ts';
import type { Calls } from '../wire/calls.ts';
import { type FieldRules, namesReference, refuseUntakenFields, takesField } from './taken-fields.ts';

/**
 * The initiation of an order in JSON, as the bank file allows it (NextGenPSD2, section 1, `payments`): exactly the fields of the standard
 * that the order has and the bank takes, and those that the bank demands.
 *
 * @throws Psd2Error `usage`, `invalid_date` and `invalid_text` for an order that this bank does not take
 */
export function initiationOf(
  calls: Pick<Calls, 'description' | 'settings'>,
  order: TransferOrder,
  back: { address: string; state: string },
  newId: () => string,
): Initiation {
  const { payments } = calls.description;
  const { endToEndId, ...initiation } = singleInitiation(calls, order, back, newId);
  if (order.creditorReference && !namesReference(payments))
    throw new Psd2Error('usage', 'This bank takes the reference of a payee only in its bulk payments', {
      hint: 'Pay it with --as bulk.',
    });
  return {
    ...initiation,
    endToEndId: takesField(payments, 'endToEndIdentification') ? endToEndId : '',
    body: JSON.stringify(orderFields(order, endToEndId, payments)),
  };
}

/** The initiation of a payment that is sent alone, but for its body. @throws Psd2Error as {@link refuseUntakenOrder} */
export function singleInitiation(
  { description, settings }: Pick<Calls, 'description' | 'settings'>,
  order: TransferOrder,
  back: { address: string; state: string },
  newId: () => string,
): Omit<Initiation, 'body'> {
  const { payments } = description;
  refuseUntakenOrder(payments, order, bankDay(settings.now()));
  return {
    service: serviceOf(order),
    product: productOfPayment(payments, order, serviceOf(order)),
    endToEndId: order.reference ?? newId().replaceAll('-', '').slice(0, 35),
    ...termsOf(description, back),
  };
}

/** The service of a payment that is sent alone. */
export function serviceOf({ standing }: Pick<TransferOrder, 'standing'>): 'payments' | 'periodic-payments' {
  return standing ? 'periodic-payments' : 'payments';
}

/** What the bank file says of every payment, as a flow keeps it. */
export function termsOf(
  { payments, sca }: BankDescription,
  back: { address: string; state: string },
): Omit<Initiation, 'service' | 'product' | 'endToEndId' | 'body'> {
  return {
    returnAddress: back.address,
    returnState: back.state,
    repeatMinutes: payments.repeat === 'same-answer' ? (payments.repeatMinutes ?? null) : null,
    needsLink: !sca.approaches.includes('decoupled'),
    executesWithoutSca: payments.executesWithoutSca,
  };
}

/** @throws Psd2Error `usage` and `invalid_date` for an order that this bank does not take */
export function refuseUntakenOrder(
  payments: BankDescription['payments'],
  { standing, executionDate, payeeAddress, ...order }: TransferOrder,
  today: IsoDate,
): void {
  if (standing) refuseLackingRule(payments, standing);
  const planned = { executionDate: standing ? null : executionDate, address: payeeAddress ?? null };
  refuseUntaken(payments, { ...order, ...planned }, today);
}

/** @throws Psd2Error `usage` for a standing order without a day that the bank demands */
function refuseLackingRule({ required }: FieldRules, standing: NonNullable<TransferOrder['standing']>): void {
  const { frequency, day, end } = standing;
  if (day === null && mayHaveDay(frequency) && required.includes('dayOfExecution'))
    throw new Psd2Error('usage', 'This bank wants to know the day of the month of a standing order', {
      hint: 'Give it with --day, 1 to 31.',
    });
  if (end === null && required.includes('endDate'))
    throw new Psd2Error('usage', 'This bank takes only standing orders with a last day', {
      hint: 'Give it with --end.',
    });
}

/** Whether a standing order can have a day of the month. */
export function mayHaveDay(frequency: string): boolean {
  return !IN_WEEKS.includes(frequency);
}

/** As {@link refuseUntakenOrder}, for what is known before there is an order. */
export function refuseUntaken(
  payments: Pick<BankDescription['payments'], 'futureDays' | 'bulk' | 'products' | keyof FieldRules>,
  { urgent, executionDate, ...texts }: Omit<PlannedPayment, keyof Debited>,
  today: IsoDate,
): void {
  if (urgent) throw new Psd2Error('usage', "This bank's interface has no urgent execution");
  if (executionDate !== null && executionDate > today)
    refuseUntakenDate(executionDate, payments.futureDays, today);
  if (payments.address !== 'optional' && texts.address === null)
    throw new Psd2Error('usage', "This bank wants the payee's address", {
      hint: 'Give it with --payee-town and --payee-country, and --payee-street, --payee-building and --payee-postcode.',
    });
  if (payments.address !== 'country' && texts.address?.country && !texts.address.town)
    throw new Psd2Error('usage', "The payee's address has no town", {
      hint: 'SEPA allows only addresses with both: --payee-town and --payee-country.',
    });
  refuseUntakenFields(payments, texts);
}

/** The IBAN of the debited account. Null: the customer chooses it at the bank. */
export function debtorOf({ fromIban, from }: Debited): string | null {
  const named = fromIban ?? from;
  return named === null ? null : accountReferenceOf(named).id;
}

/** The product of a payment that is sent alone: one in JSON if the bank has it. @throws Psd2Error `usage` if the bank file has none */
export function productOfPayment(
  { products }: Pick<BankDescription['payments'], 'products'>,
  { instant, type = null }: Pick<TransferOrder, 'instant'> & { type?: string | null },
  service: 'payments' | 'periodic-payments' = 'payments',
): string {
  const preferred = products[service].toSorted(
    (one, other) => Number(isXmlProduct(one)) - Number(isXmlProduct(other)),
  );
  return productOf({ instant, type }, preferred, service);
}

/** Whether the bank takes a product in XML (NextGenPSD2 1.3, "payment-product"). */
export function isXmlProduct(product: string): boolean {
  return product.startsWith('pain.001');
}

/** The product of an order. @throws Psd2Error `usage` if the bank file has none */
export function productOf(
  { instant, type }: Pick<TransferOrder, 'instant' | 'type'>,
  products: readonly string[],
  service: Initiation['service'],
): string {
  const isInstant = (product: string) => /inst/i.test(product);
  const named = type === null || type === 'INSTANT' ? undefined : type;
  const product =
    named === undefined
      ? products.find((each) => isInstant(each) === instant)
      : products.find((each) => each === named);
  if (product !== undefined) return product;
  const what = named === undefined ? `${instant ? 'instant ' : ''}product` : `product ${named}`;
  throw new Psd2Error('usage', `The bank file has no ${what} in payments.products.${service}`, {
    hint:
      products.length === 0
        ? 'psd2 bank show prints what it has.'
        : `It has: ${products.join(', ')}. Choose one with --type.`,
  });
}

/** @throws Psd2Error `invalid_date` */
function refuseUntakenDate(executionDate: IsoDate, futureDays: number, today: IsoDate) {
  if (futureDays === 0)
    throw new Psd2Error(
      'invalid_date',
      `This bank takes no execution date, so ${executionDate} is not possible`,
      { hint: 'Leave out --date. payments.futureDays of the bank file says how far ahead a date may be.' },
    );
  const latest = addDays(today, futureDays);
  if (executionDate > latest)
    throw new Psd2Error('invalid_date', `This bank takes no execution date after ${latest}`);
}

/** The fields of a payment in JSON, in the order of the standard. @throws Psd2Error `usage` if the bank demands another one */
export function orderFields(order: TransferOrder, endToEndId: string, rules: FieldRules) {
  const { amount, currency, to, name, description, payeeAddress, standing, executionDate } = order;
  const { creditorReference, fromCurrency, toCurrency } = order;
  const debtor = debtorOf(order);
  const body = {
    ...(takesField(rules, 'endToEndIdentification') && { endToEndIdentification: endToEndId }),
    ...(debtor !== null && { debtorAccount: { iban: debtor, ...inCurrency(fromCurrency) } }),
    instructedAmount: { currency, amount },
    creditorAccount: { iban: to, ...inCurrency(toCurrency) },
    creditorName: name,
    ...(payeeAddress && { creditorAddress: addressIn(payeeAddress) }),
    ...(description !== '' && { remittanceInformationUnstructured: description }),
    ...(creditorReference && { remittanceInformationStructured: referenceIn(creditorReference) }),
    ...(order.futureDated && !standing && { requestedExecutionDate: executionDate }),
    ...(standing && ruleOf(order, standing, rules)),
  };
  // Nothing of an account that the customer chooses is known.
  const isKnown = (path: string) => debtor !== null || path.split('.')[0] !== 'debtorAccount';
  const constant = Object.entries(rules.constant)
    .filter(([path]) => isKnown(path))
    .reduce((filled, [path, value]) => fill(filled, path.split('.'), () => value), body);
  return (
    rules.required
      .filter((path) => isKnown(path) && (standing !== undefined || !OF_STANDING.includes(path)))
      // Days in weeks follow from the first one.
      .filter((path) => path !== 'dayOfExecution' || !standing || mayHaveDay(standing.frequency))
      .reduce(
        (filled, path) => fill(filled, path.split('.'), () => demanded(path, order, endToEndId)),
        constant,
      )
  );
}

/** What only standing orders have. */
const OF_STANDING: readonly string[] = [
  'startDate',
  'endDate',
  'frequency',
  'dayOfExecution',
  'executionRule',
];

/** The part of an account reference that names one of several accounts with an IBAN. */
function inCurrency(currency: string | undefined): { currency?: string } {
  return currency === undefined ? {} : { currency };
}

/** When a standing order pays. */
export function ruleOf(
  { executionDate }: Pick<TransferOrder, 'executionDate'>,
  { end, frequency, day }: NonNullable<TransferOrder['standing']>,
  { days, frequencies }: Pick<FieldRules, 'days' | 'frequencies'>,
) {
  return {
    startDate: executionDate,
    ...(end !== null && { endDate: end }),
    frequency: frequencies[frequency] ?? frequency,
    ...(day !== null && { dayOfExecution: String(day).padStart(days === 'two-digits' ? 2 : 1, '0') }),
  };
}

function referenceIn({ reference, type, issuer }: NonNullable<TransferOrder['creditorReference']>) {
  return { reference, referenceType: type, ...(issuer !== null && { referenceIssuer: issuer }) };
}

function addressIn({
  street,
  building,
  postcode,
  town,
  country,
}: NonNullable<TransferOrder['payeeAddress']>) {
  // JSON has no parts that are missing.
  return {
    streetName: street,
    buildingNumber: building,
    postCode: postcode,
    townName: town,
    country,
  };
}

const KNOWN: Readonly<Record<string, (order: TransferOrder, endToEndId: string) => string>> = {
  'debtorAccount.currency': ({ currency }) => currency,
  'creditorAccount.currency': ({ currency }) => currency,
  chargeBearer: () => 'SLEV',
  instructionIdentification: (_, endToEndId) => endToEndId,
  requestedExecutionDate: ({ executionDate }) => executionDate,
  remittanceInformationUnstructured: ({ description }, endToEndId) => description || endToEndId,
};
/** The fields that psd2 fills if a bank demands them. */
export const KNOWN_FIELDS: string[] = Object.keys(KNOWN);

/** What psd2 knows for fields that some banks demand. SEPA shares the charges. */
function knownFor(path: string, order: TransferOrder, endToEndId: string): string | undefined {
  return Object.hasOwn(KNOWN, path) ? KNOWN[path]?.(order, endToEndId) : undefined;
}

/** Fills a field of a body, unless the body has it. */
function fill<Part extends object>(
  part: Part,
  [name = '', ...rest]: readonly string[],
  make: () => string,
): Part {
  const held: unknown = Object.entries(part).find(([key]) => key === name)?.[1];
  if (rest.length > 0) {
    const inner = typeof held === 'object' && held !== null ? held : {};
    return { ...part, [name]: fill(inner, rest, make) };
  }
  return held === undefined ? { ...part, [name]: make() } : part;
}

/** The value of a field that the bank demands. @throws Psd2Error `usage` for one that psd2 does not know */
function demanded(path: string, order: TransferOrder, endToEndId: string): string {
  const value = knownFor(path, order, endToEndId);
  if (value !== undefined) return value;
  throw new Psd2Error('usage', `This bank demands ${path} in a payment, and psd2 has no value for it`, {
    hint: path.startsWith('creditorAddress')
      ? "Give the payee's address with --payee-town, --payee-country and the options beside them."
      : 'payments.required of the bank file names it.',
  });
}
