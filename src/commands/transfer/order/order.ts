import { bankDay, parseDate } from '../../../domain/calendar.ts';
import { parseProductId } from '../../../domain/identifiers.ts';
import { parseSepaIban } from '../../../domain/order/iban.ts';
import type { PayeeSource } from '../../../domain/order/payee-check.ts';
import { parsePaymentAmount } from '../../../domain/order/payment-amount.ts';
import { parseDescription, parsePayeeName, parseReference } from '../../../domain/order/sepa-text.ts';
import type { TransferOrder } from '../../../domain/transfer.ts';
import { Psd2Error } from '../../../errors.ts';

/** The options of an order, as given. */
export interface OrderOptions {
  from?: string | undefined;
  to?: string | undefined;
  name?: string | undefined;
  amount?: string | undefined;
  currency: string;
  description?: string | undefined;
  instant: boolean;
  date?: string | undefined;
  urgent: boolean;
  type?: string | undefined;
  reference?: string | undefined;
  /** The IBAN of the debited account, if it is known. */
  fromIban?: string | undefined;
  payeeSource?: PayeeSource | undefined;
}

/** @throws Psd2Error `usage` and the `invalid_…` codes, before anything is sent */
export function readOrder(options: OrderOptions, now: Date): Omit<TransferOrder, 'customerId'> {
  const needed = { from: options.from, to: options.to, name: options.name, amount: options.amount };
  if (!isComplete(needed)) throw optionsMissing(needed);
  return {
    from: parseProductId(needed.from),
    to: parseSepaIban(needed.to),
    name: parsePayeeName(needed.name),
    amount: parsePaymentAmount(needed.amount),
    ...readTerms(options, now),
  };
}

/** Checks the given parts of an incomplete order. @throws as {@link readOrder} */
export function checkGiven({ from, to, name, amount, ...terms }: OrderOptions, now: Date): void {
  if (from !== undefined) parseProductId(from);
  if (to !== undefined) parseSepaIban(to);
  if (name !== undefined) parsePayeeName(name);
  if (amount !== undefined) parsePaymentAmount(amount);
  readTerms(terms, now);
}

/** The parts of an order that have a default. */
function readTerms(options: OrderOptions, now: Date) {
  const today = bankDay(now);
  if (options.currency !== 'EUR') {
    throw new Psd2Error(
      'usage',
      `The currency ${JSON.stringify(options.currency)} is not possible: SEPA transfers are in EUR`,
    );
  }
  const description = parseDescription(options.description ?? '');
  const executionDate = options.date === undefined ? today : parseDate('--date', options.date);
  if (executionDate < today) {
    throw new Psd2Error('invalid_date', `--date ${executionDate} is in the past: at the bank it is ${today}`);
  }
  if (options.instant && options.type !== undefined && options.type !== 'INSTANT') {
    throw new Psd2Error('usage', `--instant and --type ${options.type} contradict each other`, {
      hint: 'Give one of them.',
    });
  }
  const type = options.instant ? 'INSTANT' : (options.type ?? null);
  if (type !== null && !/^[A-Za-z0-9_-]{1,35}$/.test(type)) {
    throw new Psd2Error('usage', `--type ${JSON.stringify(type)} may have only letters, digits, - and _`);
  }
  return {
    currency: options.currency,
    description,
    instant: type === 'INSTANT',
    type,
    executionDate,
    futureDated: executionDate > today,
    urgent: options.urgent,
    reference: options.reference === undefined ? null : parseReference(options.reference),
    fromIban: options.fromIban,
    payeeSource: options.payeeSource,
  };
}

/** Whether all required options are there. */
type Needed<Value> = Record<'from' | 'to' | 'name' | 'amount', Value>;

function isComplete(needed: Needed<string | undefined>): needed is Needed<string> {
  return Object.values(needed).every((value) => value !== undefined);
}

/** An error that names all missing options. */
function optionsMissing(needed: Needed<string | undefined>): Psd2Error {
  const missing = Object.entries(needed).flatMap(([name, value]) =>
    value === undefined ? [`--${name}`] : [],
  );
  const what =
    missing.length === 1
      ? `The option ${missing[0]} is missing`
      : `Options are missing: ${missing.join(', ')}`;
  return new Psd2Error('usage', what, { hint: 'Add --help to see how the command is used.' });
}
