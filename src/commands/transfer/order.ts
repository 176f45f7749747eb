import Big from 'big.js';
import type { Account, BankInterface } from '../../bank/ports/bank.ts';
import { bankDay, type IsoDate, parseDate } from '../../domain/calendar.ts';
import { parseAddressPart, parseCountry } from '../../domain/order/address.ts';
import { parseSepaIban, spacedIban } from '../../domain/order/iban.ts';
import type { PayeeSource } from '../../domain/order/payee-check.ts';
import { parsePaymentAmount } from '../../domain/order/payment-amount.ts';
import { parseDescription, parsePayeeName, parseReference } from '../../domain/order/sepa-text.ts';
import { type FREQUENCIES, parseExecutionDate, parseSepaCurrency } from '../../domain/order/terms.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { isRefusal } from '../../flows/refusals.ts';
import { maxAmountOf, type Profile } from '../../store/machine/settings.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { refuseClientCredentials } from '../flow/drive.ts';
import { writeMoney } from '../shared/money.ts';

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
  { readAccountId }: BankInterface,
): Omit<TransferOrder, 'customerId'> {
  const needed = { from: options.from, to: options.to, name: options.name, amount: options.amount };
  if (!isComplete(needed)) throw optionsMissing(needed);
  return {
    from: readAccountId(needed.from),
    to: parseSepaIban(needed.to),
    name: parsePayeeName(needed.name),
    amount: parsePaymentAmount(needed.amount),
    ...readTerms(options, now),
  };
}

/** Checks the given parts of an incomplete order. @throws as {@link readOrder} */
function checkGiven(
  { from, to, name, amount, ...terms }: OrderOptions,
  now: Date,
  { readAccountId }: BankInterface,
): void {
  if (from !== undefined) readAccountId(from);
  if (to !== undefined) parseSepaIban(to);
  if (name !== undefined) parsePayeeName(name);
  if (amount !== undefined) parsePaymentAmount(amount);
  readTerms(terms, now);
}

/** The parts of an order that have a default. */
function readTerms(options: OrderOptions, now: Date) {
  const today = bankDay(now);
  const currency = parseSepaCurrency(options.currency);
  const description = parseDescription(options.description ?? '');
  const called = options.standing ? '--start' : '--date';
  const executionDate = options.date === undefined ? today : parseExecutionDate(options.date, today, called);
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

/** @throws Psd2Error `invalid_date` for a last day before the first */
function readStanding(
  { frequency, end, day }: NonNullable<OrderOptions['standing']>,
  start: IsoDate,
): NonNullable<TransferOrder['standing']> {
  const last = end === undefined ? null : parseDate('--end', end);
  if (last !== null && last < start)
    throw new Psd2Error('invalid_date', `--end ${last} is before --start ${start}`);
  return { frequency, end: last, day };
}

/** The payee's address in parts, with town and country; or a country alone, which few banks take. @throws Psd2Error `usage`, `invalid_text` */
function readAddress(options: OrderOptions): Pick<TransferOrder, 'payeeAddress'> {
  const { payeeStreet, payeeBuilding, payeePostcode, payeeTown: town, payeeCountry: country } = options;
  if ([payeeStreet, payeeBuilding, payeePostcode, town, country].every((part) => part === undefined))
    return {};
  const isCountryAlone = [payeeStreet, payeeBuilding, payeePostcode].every((part) => part === undefined);
  if (country === undefined || (town === undefined && !isCountryAlone)) {
    throw new Psd2Error('usage', `The payee's address has no ${town === undefined ? 'town' : 'country'}`, {
      hint: 'SEPA allows only addresses with both: --payee-town and --payee-country.',
    });
  }
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

// The rules that refuse a transfer before psd2 sends anything that moves money (command contract, "One set of rules").

/** @throws Psd2Error `confirmation_needed` if no check, option or person can verify the payee of an instant transfer */
export function refuseUncheckedPayee(
  { terminal }: Context,
  { settings }: Profile,
  { instant, payeeVerified }: { instant: boolean; payeeVerified: boolean },
): void {
  if (!instant || payeeVerified || settings.payeeCheck !== undefined || terminal.canAsk) return;
  throw new Psd2Error(
    'confirmation_needed',
    'An instant transfer needs a verified payee, and there is no terminal to ask at',
    {
      hint: 'Verify that the name belongs to the IBAN, then add --payee-verified; or set PSD2_PAYEE_CHECK. psd2 has sent nothing.',
    },
  );
}

/** @throws Psd2Error `invalid_amount` if the amount is above the profile's limit */
export function refuseAboveLimit(
  profile: Profile,
  { amount, currency }: Pick<TransferOrder, 'amount' | 'currency'>,
): void {
  const limit = maxAmountOf(profile);
  if (limit === null || new Big(amount).lte(limit)) return;
  throw new Psd2Error(
    'invalid_amount',
    `The amount ${amount} ${currency} is more than the ${limit} ${currency} that the profile ${profile.name} allows`,
    {
      hint: 'psd2 has sent nothing. The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT.',
    },
  );
}

/**
 * Asks the person at the terminal for the missing parts of an order: the account from a list with balances, the payee, the
 * IBAN and the amount. Checks each answer as it is typed, and the given options first.
 *
 * @returns the options with the answers; unchanged if nothing is missing or psd2 cannot ask
 * @throws Psd2Error for a wrong option, and if psd2 cannot get the accounts
 */
export async function askForMissing<Options extends OrderOptions>(
  context: Context,
  options: Options,
): Promise<Options> {
  const { terminal, world } = context;
  const { from, to, name, amount, currency } = options;
  if (isComplete({ from, to, name, amount }) || !terminal.canAsk) return options;
  checkGiven(options, world.now(), await context.bankInterface());
  refuseClientCredentials(context);
  const profile = context.profile();

  const account = from === undefined ? await chooseAccount(context) : { productId: from, iban: null };
  const asked = {
    name: name ?? (await terminal.ask("Payee's name:", { check: (text) => void parsePayeeName(text) })),
    to: to ?? (await terminal.ask("Payee's IBAN:", { check: (text) => void parseSepaIban(text) })),
    amount:
      amount ??
      (await terminal.ask(`Amount in ${currency}, for example 12.50:`, {
        check: (text) => refuseAboveLimit(profile, { amount: parsePaymentAmount(text), currency }),
      })),
    description:
      options.description ??
      (await terminal.ask('Description for the payee (Enter for none):', {
        check: (text) => void parseDescription(text),
      })),
  };
  return { ...options, ...asked, from: account.productId, fromIban: account.iban ?? undefined };
}

/** Asks for the account to debit: from a list with balances, or by its product id if the bank gives no list. */
async function chooseAccount(context: Context): Promise<Pick<Account, 'productId' | 'iban'>> {
  const { terminal } = context;
  let choices: Awaited<ReturnType<typeof accountsWithBalances>>;
  try {
    choices = await terminal.whileWaiting('Asking the bank for the accounts', accountsWithBalances(context));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    terminal.warn(cleanText(`The bank does not list the accounts: ${error.message}`));
    const { readAccountId } = await context.bankInterface();
    const check = (text: string) => void readAccountId(text);
    return { productId: await terminal.ask('Product id of the account to debit:', { check }), iban: null };
  }
  if (choices.length === 0) throw new Psd2Error('usage', 'The customer has no account to debit');
  return terminal.choose('Which account do you want to debit?', choices);
}

async function accountsWithBalances(
  context: Context,
): Promise<{ value: Account; name: string; short: string }[]> {
  const { bank, customerId } = await context.bank();
  const transactionId = context.world.newId();
  const accounts = await bank.accounts.list(customerId, transactionId);
  const balances = await Promise.all(
    accounts.map(async ({ productId }) => {
      try {
        const { availableBalance, accountBalance } = await bank.accounts.balance(
          customerId,
          productId,
          transactionId,
        );
        return writeMoney(availableBalance ?? accountBalance);
      } catch (error) {
        // The operator can also choose an account without a balance.
        if (!isRefusal(error)) throw error;
        return null;
      }
    }),
  );
  const { default: stringWidth } = await import('string-width');
  const cells = accounts.map(({ productId, name, productDescription, iban }, index) =>
    [
      productId,
      name ?? productDescription ?? '',
      balances[index] ?? 'no balance',
      iban ? spacedIban(iban) : '',
    ].map(cleanText),
  );
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(0, ...cells.map((row) => stringWidth(row[column] ?? ''))),
  );
  const hasRoom = widths.reduce((sum, width) => sum + width + 2, 0) < (context.terminal.size.columns || 80);
  return accounts.map((value, index) => {
    const [productId = '', name = '', balance = '', iban = ''] = cells[index] ?? [];
    const [, nameWidth = 0, balanceWidth = 0] = widths;
    const blanks = (text: string, width: number) => ' '.repeat(Math.max(0, width - stringWidth(text)));
    const line = `${productId}  ${name}${blanks(name, nameWidth)}  ${blanks(balance, balanceWidth)}${balance}`;
    return { value, name: (hasRoom ? `${line}  ${iban}` : line).trimEnd(), short: `${productId} ${name}` };
  });
}
