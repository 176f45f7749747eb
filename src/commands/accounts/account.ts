import type { Account, Accounts } from '../../bank/ports/bank.ts';
import type { DayRange } from '../../domain/calendar.ts';
import { type AccountId, isAccountId } from '../../domain/identifiers.ts';
import { accountReferenceOf } from '../../domain/order/account-reference.ts';
import { compactIban } from '../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../errors.ts';
import type { KeptAccount } from '../../store/ports/customers.ts';
import type { Context } from '../context.ts';
import { customerOf } from '../open/customer.ts';

/**
 * Reads how the operator names an account: its id, or at some interfaces its IBAN (the standard, section 3, "Readings"). Asks
 * nobody.
 *
 * @param options `fromStore`: what is stored needs no consent
 * @throws Psd2Error `invalid_product_id` for a text that is neither, `not_logged_in` for an account that no consent of the
 *   customer covers, as far as psd2 knows
 */
export async function readAccount(
  context: Context,
  text: string,
  { fromStore = false }: { fromStore?: boolean | undefined } = {},
): Promise<AccountId> {
  const named = (await context.bankInterface()).readAccountId(text);
  if (fromStore || (await context.bankInterface()).customers !== 'named by the operator') return named;
  const customer = await customerOf(context);
  const record = await (await context.store()).customers.read(customer);
  const { covers, validOf } = await import('../open/kept-customer.ts');
  const consents = validOf(record?.consents ?? [], context.world.now());
  refuseTwo(record?.accounts ?? [], text, named);
  if (consents.length === 0 || consents.some((each) => covers(each, named, record) !== false)) return named;
  const covered = new Set(consents.flatMap(({ accounts }) => accounts ?? []));
  const listedAccount = record?.accounts?.find(({ accountId }) => accountId === named);
  throw notCovered(
    customer,
    named,
    `It covers ${[...covered].join(', ')}. `,
    listedAccount?.iban ?? undefined,
  );
}

/** @throws Psd2Error `usage` if an account and a card of the customer have this id */
function refuseTwo(accounts: readonly KeptAccount[], text: string, named: string): void {
  if (text.startsWith('account:') || !accounts.some(({ accountId }) => accountId === `card:${named}`)) return;
  throw new Psd2Error('usage', `An account and a card of the customer have the id ${named}`, {
    hint: `Name the account as account:${named}, or the card as card:${named}.`,
  });
}

/** @param iban of the account, if psd2 knows it */
function notCovered(
  customer: string,
  account: string,
  covered: string,
  iban = isIban(account) ? account : undefined,
): Psd2Error {
  const named = iban === undefined ? [] : ['--account', compactIban(iban)];
  return new Psd2Error(
    'not_logged_in',
    `No consent of the customer ${customer} covers the account ${account}`,
    {
      hint: `${covered}Ask the customer for one:`,
      next: [['consent', 'request', '--customer', customer, ...named]],
    },
  );
}

/**
 * The id of the account that the operator names. The list of accounts turns an IBAN into the id: the one that psd2 has kept with a
 * valid consent, else the bank's. An id is not looked up.
 *
 * @throws Psd2Error as {@link readAccount} and {@link findAccount}, and what the calls throw
 */
export async function openAccount(context: Context, text: string): Promise<AccountId> {
  const named = await readAccount(context, text);
  if (!isIban(accountReferenceOf(named).id)) return named;
  const listedAccount = await keptAccount(context, named);
  if (listedAccount) return listedAccount.productId;
  const { bank, customerId } = await context.forLookups().bank();
  const accounts = await bank.accounts.list(customerId, context.world.newId());
  const { productId } = findAccount(accounts, named, customerId);
  return isAccountId(productId) ? productId : named;
}

/** What psd2 has kept of an account, for its id or its IBAN. Undefined if no valid consent has listed it, or two accounts have the IBAN. */
export async function keptAccount(
  context: Context,
  named: AccountId,
): Promise<(Account & { productId: AccountId }) | undefined> {
  if ((await context.bankInterface()).customers !== 'named by the operator') return undefined;
  const record = await (await context.store()).customers.read(await customerOf(context));
  const { validOf } = await import('../open/kept-customer.ts');
  const listed = validOf(record?.consents ?? [], context.world.now()).flatMap((each) => each.listed ?? []);
  const own = listed.filter(({ accountId }) => accountId === named);
  const matching = own.length > 0 ? own : listed.filter((each) => isNamedBy(each, named));
  const [account] = matching;
  if (!account || new Set(matching.map(({ accountId }) => accountId)).size > 1) return undefined;
  const { accountId: productId, iban, currency = '', name = null, productCode = null } = account;
  if (!isAccountId(productId)) return undefined;
  const nameless = { productId, iban, currency, productCode, productDescription: null };
  return { ...nameless, accountId: productId, name };
}

/** Whether a text is the IBAN of an account, or its IBAN and currency: `<IBAN>:<currency>`. */
function isNamedBy(
  { iban, currency: own }: { iban: string | null; currency?: string | undefined },
  named: string,
): boolean {
  const { id, currency } = accountReferenceOf(named);
  return iban !== null && compactIban(iban) === compactIban(id) && (currency === null || currency === own);
}

/** What finds an account of a list, or of the store. */
interface NamedAccount extends Pick<Account, 'productId' | 'iban' | 'currency'> {
  /** The bank's id, if the account is stored under another one. */
  bankId?: string | undefined;
}

/**
 * Finds an account by its id, its IBAN, or its IBAN and currency.
 *
 * @throws Psd2Error `usage` if there is none, or more than one with this IBAN; `not_logged_in` for an IBAN that is not in the list:
 *   the customer may not have chosen it when they consented
 */
export function findAccount<Found extends NamedAccount>(
  accounts: readonly Found[],
  named: AccountId,
  customer: string,
): Found {
  const byId = accounts.filter(({ productId, bankId }) => productId === named || bankId === named);
  const byIban = accounts.filter((each) => isNamedBy(each, named));
  const [account, ...others] = byId.length > 0 ? byId : byIban;
  if (account && others.length === 0) return account;
  const all = accounts.map(describeAccount).join(', ');
  if (account && byId.length > 0)
    throw new Psd2Error('usage', `${named} is the id of one account today, and of another one in the store`, {
      hint: `Name it by its IBAN and currency. The customer has ${all}.`,
    });
  if (!account && isIban(accountReferenceOf(named).id))
    throw notCovered(customer, named, all && `It covers ${all}. `);
  const problem = account
    ? `More than one account of the customer has the IBAN ${named}`
    : `The customer has no account ${named}`;
  throw new Psd2Error('usage', problem, {
    hint: `${all && `The customer has ${all}. `}${byCurrency(byIban)}See the accounts with:`,
    next: [['accounts', 'list']],
  });
}

/**
 * The part of a range that the bank can be asked for. Tells the operator if that is less than the range.
 *
 * @throws Psd2Error `invalid_date` if the whole range is before the bank's history
 */
export function withinHistory(
  { terminal }: { terminal: { warn(text: string): void } },
  { earliestDay }: Pick<Accounts, 'earliestDay'>,
  range: DayRange,
): DayRange {
  const earliest = earliestDay?.();
  if (earliest === undefined) return range;
  if (range.to !== undefined && range.to < earliest)
    throw new Psd2Error('invalid_date', `The bank shows no transactions before ${earliest}`, {
      hint: `Choose a --to that is not before ${earliest}.`,
    });
  if (range.from === undefined || range.from >= earliest) return range;
  terminal.warn(`The bank shows no transactions before ${earliest}, so psd2 reads from that day on.`);
  return { ...range, from: earliest };
}

/** How an IBAN and a currency name each of some accounts. */
function byCurrency(accounts: readonly NamedAccount[]): string {
  const names = new Set(accounts.map(({ iban, currency }) => `${iban}:${currency}`));
  const areNamed = names.size > 1 && names.size === accounts.length;
  return areNamed ? `Name one by its currency: ${[...names].join(', ')}. ` : '';
}

/** Whether a text has the form of an IBAN. An id can have it too. */
function isIban(text: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/i.test(text);
}

function describeAccount({ productId, iban }: NamedAccount): string {
  return iban === null || iban === productId ? productId : `${productId} (${iban})`;
}
