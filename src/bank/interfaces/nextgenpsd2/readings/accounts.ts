import type * as z from 'zod/mini';
import { addDays, bankDay, type IsoDate } from '../../../../domain/calendar.ts';
import type { CreditLimits } from '../../../../domain/credit-limits.ts';
import type { Money } from '../../../../domain/decimal.ts';
import { isAccountId } from '../../../../domain/identifiers.ts';
import { eachOnce } from '../../../../domain/odd-values.ts';
import { Psd2Error } from '../../../../errors.ts';
import { usingAnswer } from '../../../call/call.ts';
import type { Account, Accounts, Balance, Details, TypedBalance } from '../../../ports/bank.ts';
import {
  accountAnswer,
  accountsAnswer,
  balancesAnswer,
  cardAccountsAnswer,
  type UnreadBalance,
  type WireAccount,
  type WireBalance,
} from '../wire/accounts.ts';
import { aboutAnother, ask } from '../wire/answer.ts';
import {
  atAccountOrCard,
  CARD,
  type Calls,
  earliestDay,
  lackingService,
  reading,
  resourceIdOf,
} from '../wire/calls.ts';
import { pagesOf } from './transactions.ts';
import { listedCurrency, ownIban, refuseOtherCurrency } from './whose.ts';

/** The accounts and cards of a customer (NextGenPSD2, section 2, "Reading"). */
export function accountsOf(calls: Calls): Accounts {
  return {
    isId: isAccountId,
    namesAccounts: true,
    identifiesRows: true,
    rowNaming: calls.description.transactions.id,
    ...(calls.description.accounts.bookingStatuses.every((each) => each === 'booked') && {
      lacksPending: true,
    }),
    ...(calls.description.accounts.delta === 'entryReferenceFrom' && { readsOn: true }),
    earliestDay: () => earliestDay(calls),
    list: (_customerId, transactionId) => fetchAccounts(calls, transactionId),
    balance: (_customerId, accountId, transactionId) => fetchBalance(calls, accountId, transactionId),
    pages: (query) => pagesOf(calls, query),
    document: () => Promise.reject(lackingService('documents of accounts')),
    details: (of, transactionId) => fetchDetails(calls, of, transactionId),
  };
}

/** Accounts and card accounts in one list. A consent for accounts by IBAN has no cards: then the bank is asked once. @throws Psd2Error */
export async function fetchAccounts(calls: Calls, transactionId: string): Promise<Account[]> {
  const call = await reading(calls, 'getAccountList', 'list', transactionId);
  const { data } = await ask(calls.bank, call, accountsAnswer);
  const accounts = toAccounts(data.accounts);
  const consent = await calls.settings.consents?.for('list');
  const mayAskCards = consent?.cards !== 'none' && calls.description.accounts.cards !== 'never';
  const listedCards = mayAskCards ? await fetchCards(calls, transactionId) : [];
  const ids = new Set(accounts.map(({ accountId }) => accountId));
  const cards = (listedCards ?? []).map((card) =>
    ids.has(card.accountId) ? named(card, `${CARD}${card.accountId}`) : card,
  );
  for (const { accountId } of cards) calls.cards.add(accountId);
  for (const { accountId, iban, currency } of [...cards, ...accounts]) {
    calls.ibans.set(accountId, iban);
    calls.currencies.set(accountId, currency);
  }
  const ofKind = [...accounts, ...cards.map((card) => ({ ...card, kind: 'card' as const }))];
  const listed = ofKind.map((each) => ({ ...each, name: each.name ?? each.productDescription }));
  const notes = calls.settings.consents;
  if (consent && listedCards === null) await notes?.listed?.(consent.consentId, listed, 'none');
  else if (consent) await notes?.listed?.(consent.consentId, listed);
  return [...accounts, ...cards.map((card) => ({ ...card, card: true as const }))];
}

function named(account: Account, accountId: string): Account {
  return { ...account, accountId, productId: accountId };
}

/** @returns null if the bank has no cards, or refuses them to this consent */
async function fetchCards(calls: Calls, transactionId: string): Promise<Account[] | null> {
  try {
    const call = await reading(calls, 'getCardAccountList', 'list', transactionId);
    return toAccounts((await ask(calls.bank, call, cardAccountsAnswer)).data.cardAccounts);
  } catch (error) {
    if (hasNoCards(error)) return null;
    throw error;
  }
}

/** The same consent has just opened the list of accounts, so a refusal is about cards. */
function hasNoCards(error: unknown): boolean {
  if (!(error instanceof Psd2Error)) return false;
  const { httpStatus, bankCode } = error;
  return (
    [403, 404, 405, 501].includes(httpStatus ?? 0) ||
    ['CONSENT_INVALID', 'SERVICE_INVALID'].includes(bankCode ?? '')
  );
}

/** Accounts in several currencies may share an IBAN, so only a `resourceId` says that two are the same. */
function toAccounts(all: readonly WireAccount[]): Account[] {
  return eachOnce(all, ({ resourceId }) => resourceId).map(toAccount);
}

function toAccount(account: WireAccount): Account {
  const accountId =
    account.resourceId ?? account.iban ?? account.bban ?? account.maskedPan ?? account.msisdn ?? '';
  return {
    accountId,
    productId: accountId,
    iban: account.iban,
    // `XXX` stands for many currencies (ISO 4217).
    currency: account.currency === 'XXX' ? '' : (account.currency ?? ''),
    name: account.displayName ?? account.name ?? account.maskedPan,
    productCode: account.cashAccountType,
    productDescription: account.product,
    ...(account.bban !== null && { bban: account.bban }),
    ...(account.maskedPan !== null && { maskedPan: account.maskedPan }),
    ...(account.status !== null && { status: account.status }),
  };
}

async function fetchBalance(calls: Calls, accountId: string, transactionId: string): Promise<Balance> {
  const read = await atAccountOrCard(calls, accountId, async (kind) => {
    const operation = kind === 'card' ? 'getCardAccountBalances' : 'getBalances';
    return ask(
      calls.bank,
      await reading(calls, operation, { account: accountId, of: 'balances' }, transactionId),
      balancesAnswer,
    );
  });
  return usingAnswer(read, () => balanceIn(calls, { accountId, transactionId }, read.data));
}

/** @throws Psd2Error `bank_answer` for the balances of another account, and for a booked balance that cannot be read */
async function balanceIn(
  calls: Calls,
  { accountId, transactionId }: { accountId: string; transactionId: string },
  data: z.infer<typeof balancesAnswer>,
): Promise<Balance> {
  const about = { productId: accountId, transactionId };
  const own = await ownIban(calls, about, data.account?.iban ?? null);
  refuseOtherCurrency(calls, about, data.account?.currency ?? null, own);
  const { booked, available } = calls.description.accounts.balances;
  const currency = data.account?.currency || listedCurrency(calls, accountId) || null;
  const today = bankDay(calls.settings.now());
  const { read, unread } = data.balances;
  const accountBalance = newest(read, booked, currency, today);
  const availableBalance = newest(read, available, currency, today);
  const counts = calls.odd.unread;
  if (unread.length > 0) counts.set('balances', (counts.get('balances') ?? 0) + unread.length);
  const mayBeNewest = (each: UnreadBalance) =>
    accountBalance
      ? isSameAmount(each, accountBalance) && isBefore(each, accountBalance, booked, today)
      : each.balanceType === null || orderIn(booked, each) !== -1;
  if (unread.some(mayBeNewest))
    throw new Psd2Error(
      'bank_answer',
      `The bank's answer to the balances of ${accountId} has a booked balance that cannot be read`,
      { transactionId },
    );
  const shown = accountBalance ?? availableBalance;
  return {
    accountId,
    productId: accountId,
    accountBalance: moneyOf(accountBalance),
    availableBalance: moneyOf(availableBalance),
    accountAvailability: null,
    accountAvailableCredit: null,
    asOf: shown?.lastChangeDateTime ?? shown?.referenceDate ?? null,
    ...(accountBalance && { bookedDay: lastDayOf(accountBalance, today) }),
    ...limitsIn({ accountBalance, availableBalance }),
    balances: read.map(toTyped),
  };
}

/**
 * The newest balance with one of these types in the account's currency; of equally new ones, the first in their order, without a credit line if
 * one is without. If nobody says the currency, all of them must have one.
 */
function newest(
  balances: readonly WireBalance[],
  types: readonly string[],
  currency: string | null,
  today: IsoDate,
): WireBalance | undefined {
  const hasLine = ({ creditLimitIncluded }: WireBalance) => Number(creditLimitIncluded === true);
  const named = types.flatMap((type) =>
    balances.filter(({ balanceType }) => balanceType === type).toSorted((a, b) => hasLine(a) - hasLine(b)),
  );
  const all = new Set(named.map(({ balanceAmount }) => balanceAmount.currency));
  const [only] = all;
  const own = named.filter(
    ({ balanceAmount }) => balanceAmount.currency === (currency ?? (all.size === 1 ? only : null)),
  );
  const age = (balance: WireBalance) => ageOf(balance, today);
  // The sort is stable.
  return own.toSorted((a, b) => (age(a) < age(b) ? 1 : age(a) > age(b) ? -1 : 0))[0];
}

/** What says when a balance is of. */
type Dated = Pick<WireBalance, 'balanceType' | 'referenceDate' | 'lastChangeDateTime'>;

/** A text that is greater for a newer balance. */
function ageOf(balance: Dated, today: IsoDate): string {
  const { lastChangeDateTime: at } = balance;
  return `${lastDayOf(balance, today) ?? ''} ${at ? new Date(at).toISOString() : ''}`;
}

/** The place of a balance among the types. -1: it is not one of them. */
function orderIn(types: readonly string[], { balanceType }: Dated): number {
  return balanceType === null ? -1 : types.indexOf(balanceType);
}

/** Whether a balance would count rather than another one, if it could be read. */
function isBefore(one: Dated, other: Dated, types: readonly string[], today: IsoDate): boolean {
  const order = orderIn(types, one);
  const [age, otherAge] = [ageOf(one, today), ageOf(other, today)];
  return order !== -1 && (age === otherAge ? order <= orderIn(types, other) : age > otherAge);
}

/** Whether a balance that cannot be read may be in the account's currency. */
function isSameAmount({ balanceAmount }: UnreadBalance, { balanceAmount: own }: WireBalance): boolean {
  const currency = balanceAmount?.currency?.toUpperCase();
  return !/^[A-Z]{3}$/.test(currency ?? '') || currency === own.currency;
}

/** The last day whose rows a balance has. Null if the bank does not say. */
function lastDayOf(
  { balanceType, referenceDate, lastChangeDateTime }: Dated,
  today: IsoDate,
): IsoDate | null {
  const changed = lastChangeDateTime ? bankDay(new Date(lastChangeDateTime)) : null;
  const day = referenceDate ?? changed;
  if (balanceType === 'openingBooked') return day && addDays(day, -1);
  if (balanceType === 'closingBooked') return day;
  // A balance of the day has not changed since it last did.
  return referenceDate !== null && referenceDate < today ? referenceDate : today;
}

function moneyOf(balance: WireBalance | undefined): Money | null {
  return balance ? balance.balanceAmount : null;
}

/** Whether a credit line is in the balances, as far as the bank says it. */
function limitsIn(
  balances: Record<keyof CreditLimits, WireBalance | undefined>,
): Pick<Balance, 'creditLimitIncluded'> {
  const { accountBalance, availableBalance } = balances;
  const isStated = [accountBalance, availableBalance].some(
    (each) => typeof each?.creditLimitIncluded === 'boolean',
  );
  if (!isStated) return {};
  return {
    creditLimitIncluded: {
      ...(accountBalance && isSaid('accountBalance', accountBalance)),
      ...(availableBalance && isSaid('availableBalance', availableBalance)),
    },
  };
}

function isSaid(name: keyof CreditLimits, { creditLimitIncluded }: WireBalance): CreditLimits {
  return creditLimitIncluded === null ? {} : { [name]: creditLimitIncluded };
}

function toTyped(balance: WireBalance): TypedBalance {
  return {
    type: balance.balanceType ?? '',
    ...balance.balanceAmount,
    date: balance.referenceDate,
    at: balance.lastChangeDateTime,
    ...(balance.creditLimitIncluded !== null && { creditLimitIncluded: balance.creditLimitIncluded }),
  };
}

async function fetchDetails(calls: Calls, of: Details, transactionId: string): Promise<object> {
  if (of.what === 'customer') throw lackingService('data of the customer');
  if (of.what !== 'product') {
    const call = await reading(calls, 'getAccountList', 'list', transactionId);
    const { data } = await ask(calls.bank, call, accountsAnswer);
    return data;
  }
  const { productId } = of;
  const read = await atAccountOrCard(calls, productId, async (kind) => {
    const operation = kind === 'card' ? 'readCardAccountDetails' : 'readAccountDetails';
    const query = kind === 'account' && (await mayAskBalance(calls, productId)) ? 'withBalance=true' : '';
    const call = await reading(calls, operation, { account: productId }, transactionId, query);
    return ask(calls.bank, call, accountAnswer);
  });
  return usingAnswer(read, () => detailsIn(calls, { productId, transactionId }, read.data));
}

/** @throws Psd2Error `bank_answer` for the details of another account */
async function detailsIn(
  calls: Calls,
  about: { productId: string; transactionId: string },
  data: z.infer<typeof accountAnswer>,
): Promise<object> {
  const { productId, transactionId } = about;
  const { resourceId } = data.account ?? data.cardAccount ?? {};
  if (typeof resourceId === 'string' && resourceId !== resourceIdOf(productId))
    throw aboutAnother('account', resourceId, resourceIdOf(productId), transactionId);
  const iban = data.account?.iban;
  const own = await ownIban(calls, about, typeof iban === 'string' ? iban : null, false);
  const currency = data.account?.currency;
  refuseOtherCurrency(calls, about, typeof currency === 'string' ? currency : null, own);
  return data.account ?? data.cardAccount ?? data;
}

/** Whether the details of an account can have its balances: the bank takes `withBalance`, and the consent is for balances. */
async function mayAskBalance({ description, settings }: Calls, account: string): Promise<boolean> {
  const consent = await settings.consents?.for({ account });
  return description.accounts.withBalance && (consent?.reads.includes('balances') ?? false);
}
