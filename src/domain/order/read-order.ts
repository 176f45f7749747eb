import { Psd2Error } from '../../errors.ts';
import { bankDay, type IsoDate, parseDate } from '../calendar.ts';
import type { AccountId } from '../identifiers.ts';
import type { TransferOrder } from '../transfer.ts';
import { parseAddressPart, parseCountry } from './address.ts';
import { parseSepaIban } from './iban.ts';
import type { PayeeSource } from './payee-check.ts';
import { parsePaymentAmount } from './payment-amount.ts';
import { parseDescription, parsePayeeName, parseReference } from './sepa-text.ts';
import { type FREQUENCIES, IN_WEEKS, parseExecutionDate, parseSepaCurrency, takesNoDebtor } from './terms.ts';

/** How a bank names accounts. @throws Psd2Error `invalid_product_id` and others */
interface Accounts {
  readAccountId(text: string): AccountId;
  /** Whether a payment may name the account to debit. If it does not, the customer chooses it at the bank. Absent: it must. */
  debtorAccount?: 'optional' | 'never';
}

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
  payeeStreet?: string | undefined;
  payeeBuilding?: string | undefined;
  payeePostcode?: string | undefined;
  payeeTown?: string | undefined;
  payeeCountry?: string | undefined;
  /** For a standing order. Its first day is `date`. */
  standing?: { frequency: (typeof FREQUENCIES)[number]; end: string | undefined; day: number | null };
}

/** @throws Psd2Error `usage` and the `invalid_…` codes, before anything is sent */
export function readOrder(
  options: OrderOptions,
  now: Date,
  { readAccountId, debtorAccount }: Accounts,
): Omit<TransferOrder, 'customerId'> {
  const { from, to, name, amount } = options;
  const needed = { to, name, amount };
  const isChosen = from === undefined && debtorAccount !== undefined;
  if (!isComplete(needed) || (from === undefined && !isChosen))
    throw optionsMissing(isChosen ? needed : { from, ...needed });
  if (from !== undefined && debtorAccount === 'never') throw takesNoDebtor();
  return {
    from: from === undefined ? null : readAccountId(from),
    ...readPayee(needed.to),
    name: parsePayeeName(needed.name),
    amount: parsePaymentAmount(needed.amount),
    ...readTerms(options, now),
  };
}

/** Checks the given parts of an incomplete order. @throws as {@link readOrder} */
export function checkGiven(
  { from, to, name, amount, ...terms }: OrderOptions,
  now: Date,
  { readAccountId }: Accounts,
): void {
  if (from !== undefined) readAccountId(from);
  if (to !== undefined) readPayee(to);
  if (name !== undefined) parsePayeeName(name);
  if (amount !== undefined) parsePaymentAmount(amount);
  readTerms(terms, now);
}

/** The payee's account: its IBAN, and at some banks `<IBAN>:<currency>`. @throws Psd2Error `invalid_iban`, `usage` */
function readPayee(text: string): Pick<TransferOrder, 'to' | 'toCurrency'> {
  const [, iban = text, currency] = /^(.*):([A-Za-z]{3})$/s.exec(text.trim()) ?? [];
  return { to: parseSepaIban(iban), ...(currency && { toCurrency: currency.toUpperCase() }) };
}

/** The parts of an order that have a default. */
function readTerms(options: OrderOptions, now: Date) {
  const today = bankDay(now);
  const currency = parseSepaCurrency(options.currency);
  const description = parseDescription(options.description ?? '');
  const called = options.standing ? '--start' : '--date';
  const executionDate = options.date === undefined ? today : parseExecutionDate(options.date, today, called);
  if (options.instant && options.type !== undefined && options.type !== 'INSTANT')
    throw new Psd2Error('usage', `--instant and --type ${options.type} contradict each other`, {
      hint: 'Give one of them.',
    });
  const type = options.instant ? 'INSTANT' : (options.type ?? null);
  if (type !== null && !/^[A-Za-z0-9_-]{1,35}$/.test(type))
    throw new Psd2Error('usage', `--type ${JSON.stringify(type)} may have only letters, digits, - and _`);
  return {
    currency,
    description,
    instant: type === 'INSTANT',
    type,
    executionDate,
    futureDated: executionDate > today,
    urgent: options.urgent,
    reference: options.reference === undefined ? null : parseReference(options.reference),
    fromIban: options.fromIban,
    payeeSource: options.payeeSource,
    ...readAddress(options),
    ...(options.standing && { standing: readStanding(options.standing, executionDate) }),
  };
}

/** @throws Psd2Error `invalid_date` for a last day before the first; `usage` for a day of the month in weeks */
function readStanding(
  { frequency, end, day }: NonNullable<OrderOptions['standing']>,
  start: IsoDate,
): NonNullable<TransferOrder['standing']> {
  const last = end === undefined ? null : parseDate('--end', end);
  if (last !== null && last < start)
    throw new Psd2Error('invalid_date', `--end ${last} is before --start ${start}`);
  if (day !== null && IN_WEEKS.includes(frequency))
    throw new Psd2Error(
      'usage',
      `--day is a day of the month, and a standing order with ${frequency} has none`,
      {
        hint: 'The day of the week follows from --start.',
      },
    );
  return { frequency, end: last, day };
}

/** The payee's address in parts, with town and country; or a country alone, which few banks take. @throws Psd2Error `usage`, `invalid_text` */
function readAddress(options: OrderOptions): Pick<TransferOrder, 'payeeAddress'> {
  const { payeeStreet, payeeBuilding, payeePostcode, payeeTown: town, payeeCountry: country } = options;
  if ([payeeStreet, payeeBuilding, payeePostcode, town, country].every((part) => part === undefined))
    return {};
  const isCountryAlone = [payeeStreet, payeeBuilding, payeePostcode].every((part) => part === undefined);
  if (country === undefined || (town === undefined && !isCountryAlone))
    throw new Psd2Error('usage', `The payee's address has no ${town === undefined ? 'town' : 'country'}`, {
      hint: 'SEPA allows only addresses with both: --payee-town and --payee-country.',
    });
  const part = (option: string, text: string | undefined, longest: number) =>
    text === undefined ? undefined : parseAddressPart(option, text, longest);
  const street = part('--payee-street', payeeStreet, 70);
  const building = part('--payee-building', payeeBuilding, 16);
  const postcode = part('--payee-postcode', payeePostcode, 16);
  const payeeAddress = {
    ...(street !== undefined && { street }),
    ...(building !== undefined && { building }),
    ...(postcode !== undefined && { postcode }),
    ...(town !== undefined && { town: parseAddressPart('--payee-town', town, 35) }),
    country: parseCountry('--payee-country', country),
  };
  return { payeeAddress };
}

/** Whether all required options are there. */
type Needed<Value> = Record<'to' | 'name' | 'amount', Value>;

export function isComplete(needed: Needed<string | undefined>): needed is Needed<string> {
  return Object.values(needed).every((value) => value !== undefined);
}

/** An error that names all missing options. */
function optionsMissing(needed: Readonly<Record<string, string | undefined>>): Psd2Error {
  const missing = Object.entries(needed).flatMap(([name, value]) =>
    value === undefined ? [`--${name}`] : [],
  );
  const what =
    missing.length === 1
      ? `The option ${missing[0]} is missing`
      : `Options are missing: ${missing.join(', ')}`;
  return new Psd2Error('usage', what, { hint: 'Add --help to see how the command is used.' });
}
