import * as z from 'zod/mini';
import { bankLocalTime, type IsoDate } from '../../../domain/calendar.ts';
import { isRecord } from '../../../domain/json.ts';
import { decimalIn, eachOnce, plainIban, textOf } from '../../../domain/odd-values.ts';
import { Psd2Error } from '../../../errors.ts';
import type { BankCall, CallFacts } from '../../call/call.ts';
import type {
  Account,
  Accounts,
  Balance,
  Details,
  Transaction,
  TransactionPage,
  TransactionQuery,
} from '../../ports/bank.ts';
import { ask, type CbCaller, readDocument } from './answer.ts';
import { linkedPath } from './links.ts';
import {
  balanceMoney,
  currency,
  currencyIn,
  flagIn,
  listOf,
  optionalWords,
  rowDayIn,
  text,
  wholeNumber,
  writeBankDate,
} from './wire/fields.ts';

/** `data` of the accounts call (interface specification, "Account record"). */
export const accountsAnswer = z.object({
  accounts: listOf(
    z.object({
      accountId: z.pipe(
        text,
        z.transform((id) => id.trim()),
      ),
      product: z.catch(z.nullish(z.object({ code: optionalWords, description: optionalWords })), null),
      currency,
      iban: optionalWords,
      name: optionalWords,
    }),
  ),
});

/** An amount beside the booked balance. One that cannot be read hides no other. */
const beside = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => {
    const { success, data } = balanceMoney.safeParse(value);
    return success ? data : ('unreadable' as const);
  }),
);

/** `data` of the balance call, with at least one amount. `hour` is `hh:mm` on the bank's clock. */
export const balanceAnswer = z
  .object({
    accountBalance: balanceMoney,
    availableBalance: beside,
    accountAvailability: beside,
    accountAvailableCredit: beside,
    date: z.pipe(
      z.nullish(z.unknown()),
      z.transform((value) => rowDayIn(value ?? '') ?? null),
    ),
    hour: optionalWords,
  })
  .check(
    z.refine(
      ({ date: _date, hour: _hour, ...amounts }) =>
        Object.values(amounts).some((amount) => amount !== null && amount !== 'unreadable'),
      'expected a balance',
    ),
  );

/** A paging cursor. 0, null and missing mean that the list has ended. */
const cursor = z.pipe(
  z.nullish(z.union([wholeNumber, z.literal('')])),
  z.transform((value) => (value ? value : null)),
);

/**
 * Only the amount is required, and for a booked transaction a day. What else cannot be read counts as missing. Without a schema for each
 * field, because a list may have a million rows.
 */
const rowSchema = (isBooked: boolean) =>
  z.pipe(
    z.unknown(),
    z.transform((value, context) => {
      const row: Readonly<Record<string, unknown>> = isRecord(value) ? value : {};
      let unread: string[] | undefined;
      const read = <T>(name: string, missing: T, readIn: (value: unknown) => T | undefined): T => {
        const value = row[name];
        if (value === undefined || value === null) return missing;
        const content = readIn(value);
        if (content === undefined) unread = [...(unread ?? []), name];
        return content ?? missing;
      };
      const refuse = (message: string, path: PropertyKey[]) => {
        context.issues.push({ code: 'custom', message, input: value, path });
        return z.NEVER;
      };
      const money = row.amountTransaction;
      const { amount: bare, currency = '' } = isRecord(money) ? money : { amount: money };
      const amount = decimalIn(bare);
      if (amount === null) {
        const path = ['amountTransaction', ...(isRecord(money) ? ['amount'] : [])];
        return refuse('expected a decimal number', path);
      }
      const dateAccountingCurrency = read('dateAccountingCurrency', null, rowDayIn);
      const dateLiquidationValue = read('dateLiquidationValue', null, rowDayIn);
      if (
        isBooked &&
        !dateAccountingCurrency &&
        !dateLiquidationValue &&
        unread?.includes('dateAccountingCurrency')
      )
        return refuse('expected a date', ['dateAccountingCurrency']);
      return {
        amountTransaction: { amount, currency: currencyIn(currency) },
        index: read('index', '', textOf),
        shortDescription: read('shortDescription', '', textOf),
        extendedDescription: read('extendedDescription', '', textOf),
        dateAccountingCurrency,
        dateLiquidationValue,
        codeDescription: read('codeDescription', '', textOf),
        idMoneyTransfer: read('idMoneyTransfer', '', textOf),
        isFeeCharge: read('isFeeCharge', null, flagIn),
        unread,
      };
    }),
  );

const booked = rowSchema(true);
const pending = rowSchema(false);
export type WireTransaction = z.infer<typeof booked>;

/** The positions of the next page of the two lists. */
export const cursors = { nextAccounting: cursor, nextNotAccounting: cursor };

/** The number of rows of a list on all pages. Null if the answer does not say. */
const total = z.catch(
  z.pipe(
    z.nullish(wholeNumber),
    z.transform((value) => value ?? null),
  ),
  null,
);

/**
 * `data` of the transactions call: a page of the booked list and a page of the pending list. It has at least one list or one
 * total: an answer that says nothing is not an account without transactions.
 */
export const transactionsAnswer = z
  .object({
    transactionsAccounting: z.nullish(listOf(booked)),
    transactionsNotAccounting: z.nullish(listOf(pending)),
    numberTransactionsAccounting: total,
    numberTransactionsNotAccounting: total,
    ...cursors,
  })
  .check(
    z.refine(
      (page) =>
        (page.transactionsAccounting ??
          page.transactionsNotAccounting ??
          page.numberTransactionsAccounting ??
          page.numberTransactionsNotAccounting ??
          null) !== null,
      'expected transactions',
    ),
  );

/** The accounts of `cb` (interface specification, "Accounts"). */
export function accountsOf(
  bank: CbCaller,
  unread: Map<string, number>,
  today: () => IsoDate | undefined,
): Accounts {
  return {
    // Today's bank has ten. The store could keep more.
    isId: (text) => /^[A-Za-z0-9]{1,35}$/.test(text),
    list: (customerId, transactionId) => fetchAccounts(bank, customerId, transactionId),
    balance: (customerId, productId, transactionId) =>
      fetchBalance(bank, { customerId, productId, transactionId }, { unread, today }),
    pages: (query) => fetchPages(bank, query, unread),
    document: (query, format) => fetchDocument(bank, query, format),
    details: async (of, transactionId) =>
      (await ask(bank, get(pathOfDetails(of), transactionId), z.record(z.string(), z.unknown()))).data,
  };
}

/** A call that reads. */
export function get(path: string, transactionId: string): BankCall {
  return { method: 'GET', path, facts: factsOf('GET', path), transactionId };
}

function pathOfDetails(of: Details): string {
  if (of.what === 'product') return productPath(of.customerId, of.productId);
  return of.what === 'customer' ? customerPath(of.customerId) : `${customerPath(of.customerId)}/products`;
}

/** The customer's accounts (interface specification, "Account record"). @throws Psd2Error */
async function fetchAccounts(bank: CbCaller, customerId: string, transactionId: string): Promise<Account[]> {
  const { data } = await ask(
    bank,
    get(`${customerPath(customerId)}/accounts`, transactionId),
    accountsAnswer,
  );
  return eachOnce(data.accounts, ({ accountId }) => accountId).map((account) => ({
    accountId: account.accountId,
    productId: account.accountId,
    iban: plainIban(account.iban) || null,
    currency: account.currency,
    name: account.name || null,
    productCode: account.product?.code || null,
    productDescription: account.product?.description || null,
  }));
}

/** The balance of one product. @throws Psd2Error */
async function fetchBalance(
  bank: CbCaller,
  { customerId, productId, transactionId }: Record<'customerId' | 'productId' | 'transactionId', string>,
  { unread, today }: { unread: Map<string, number>; today: () => IsoDate | undefined },
): Promise<Balance> {
  const { data } = await ask(
    bank,
    get(`${productPath(customerId, productId)}/balance/retrieve`, transactionId),
    balanceAnswer,
  );
  const { date, hour, accountBalance, ...others } = data;
  const amount = (name: keyof typeof others) => {
    const balance = others[name];
    if (balance !== 'unreadable') return balance;
    countUnread(unread, name);
    return null;
  };
  return {
    accountId: productId,
    productId,
    accountBalance,
    availableBalance: amount('availableBalance'),
    accountAvailability: amount('accountAvailability'),
    accountAvailableCredit: amount('accountAvailableCredit'),
    ...(date && date < (today() ?? date) && { bookedDay: date }),
    asOf: date && (/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(hour) ? bankLocalTime(date, hour) : date),
  };
}

/**
 * Reads the transactions of one product page by page, in the bank's order. Transactions that are booked between two pages
 * move the rows. `flows/reading` handles that.
 *
 * The bank has two lists, each with a cursor. A missing cursor means "from the start", so the bank sends a finished list
 * again while the other list continues. psd2 drops those rows. Some answers name the next page by `_links.next` instead.
 *
 * @throws Psd2Error `bank_answer` if a cursor does not advance, or there are too many empty pages
 */
async function* fetchPages(
  bank: CbCaller,
  query: TransactionQuery,
  unread: Map<string, number>,
): AsyncGenerator<TransactionPage> {
  const base = `${productPath(query.customerId, query.productId)}/transactions/retrieve`;
  const range = new URLSearchParams(rangeParameters(query));
  let booked = new ListCursor('nextAccounting', query.status !== 'pending');
  let pending = new ListCursor('nextNotAccounting', query.status !== 'booked');
  let path = withQuery(base, range);
  const linkedPages = new Set<string>();
  let emptyPages = 0;

  for (;;) {
    const { data, envelope } = await ask(bank, get(path, query.transactionId), transactionsAnswer);
    const { transactionsAccounting, transactionsNotAccounting } = data;
    if (booked.open) requireRows(data, 'Accounting', query);
    if (pending.open) requireRows(data, 'NotAccounting', query);
    const { next: link } = envelope;
    const hasLink = link?.method === 'GET' && link.href.trim() !== '';
    const isLinked = hasLink && data.nextAccounting === null && data.nextNotAccounting === null;
    const page: TransactionPage = {
      ...(booked.open && withUnreadDays(transactionsAccounting ?? [])),
      ...(!(booked.open || query.status === 'pending') &&
        data.numberTransactionsAccounting && { endedBookedTotal: data.numberTransactionsAccounting }),
      ...(booked.open && {
        booked: {
          rows: (transactionsAccounting ?? []).map((row) => taken(row, 'booked', unread)),
          total: data.numberTransactionsAccounting || null,
          hasMore: isLinked || data.nextAccounting !== null,
        },
      }),
      ...(pending.open && {
        pending: {
          rows: (transactionsNotAccounting ?? []).map((row) => taken(row, 'pending', unread)),
          total: data.numberTransactionsNotAccounting || null,
          hasMore: isLinked || data.nextNotAccounting !== null,
        },
      }),
    };
    yield page;
    emptyPages = page.booked?.rows.length || page.pending?.rows.length ? 0 : emptyPages + 1;
    if (emptyPages > MAX_EMPTY_PAGES) throw stuck(query);

    const linked = hasLink
      ? linkedPath(path, link.href, `transactions of ${query.productId}`, query.transactionId)
      : null;
    if (linked && isLinked) {
      if (linkedPages.has(linked)) throw stuck(query);
      linkedPages.add(linked);
      path = linked;
      continue;
    }
    booked = booked.advance(data.nextAccounting, query);
    pending = pending.advance(data.nextNotAccounting, query);
    if (!booked.open && !pending.open) return;
    path = withQuery(base, new URLSearchParams([...range, ...booked.parameter(), ...pending.parameter()]));
  }
}

/** How many rows have a booking day that cannot be read, if some have. */
function withUnreadDays(rows: readonly WireTransaction[]): Pick<TransactionPage, 'unreadDays'> {
  const { length } = rows.filter(({ unread }) => unread?.includes('dateAccountingCurrency'));
  return length > 0 ? { unreadDays: length } : {};
}

/** A row, whose fields that nobody can read are counted in `unread`. */
function taken(
  row: WireTransaction,
  status: Transaction['status'],
  unread: Map<string, number>,
): Transaction {
  for (const field of row.unread ?? []) countUnread(unread, field);
  return toTransaction(row, status);
}

function countUnread(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/**
 * The bank's own document of the transactions in a range.
 *
 * @returns its bytes
 * @throws Psd2Error `bank_answer` if the answer is not a document
 */
async function fetchDocument(
  bank: CbCaller,
  query: Omit<TransactionQuery, 'status'>,
  format: 'xls' | 'pdf',
): Promise<Buffer> {
  const path = withQuery(
    `${productPath(query.customerId, query.productId)}/transactions/retrieve`,
    new URLSearchParams({ ...rangeParameters(query), exportType: format }),
  );
  return readDocument(await bank.send(get(path, query.transactionId)));
}

/** Requires a list that the bank says has rows. An empty list may be missing. @throws Psd2Error `bank_answer` */
function requireRows(
  data: z.infer<typeof transactionsAnswer>,
  which: 'Accounting' | 'NotAccounting',
  { productId, transactionId }: TransactionQuery,
): void {
  if (data[`transactions${which}`] || (data[`numberTransactions${which}`] ?? 0) === 0) return;
  throw new Psd2Error(
    'bank_answer',
    `The bank's answer to the transactions of ${productId} counts rows of data.transactions${which} but has none`,
    { transactionId },
  );
}

/** The maximum number of consecutive empty pages. With more, psd2 assumes a list that never ends. */
const MAX_EMPTY_PAGES = 100;

/** The cursor of one of the two lists. */
class ListCursor {
  readonly open: boolean;
  readonly #name: string;
  readonly #position: number;

  /** @param position the position of the next page. A list starts at 1 */
  constructor(name: string, open: boolean, position = 1) {
    this.#name = name;
    this.open = open;
    this.#position = position;
  }

  advance(next: number | null, query: TransactionQuery): ListCursor {
    if (!this.open || next === null) return new ListCursor(this.#name, false);
    if (next <= this.#position) throw stuck(query);
    return new ListCursor(this.#name, true, next);
  }

  parameter(): [string, string][] {
    return this.open ? [[this.#name, String(this.#position)]] : [];
  }
}

function stuck({ productId, transactionId }: TransactionQuery): Psd2Error {
  return new Psd2Error('bank_answer', `The bank's transaction pages of ${productId} do not advance`, {
    hint: 'Narrow the range with --from and --to.',
    transactionId,
  });
}

function rangeParameters({ from, to }: Pick<TransactionQuery, 'from' | 'to'>): Record<string, string> {
  return { ...(from && { dateFrom: writeBankDate(from) }), ...(to && { dateTo: writeBankDate(to) }) };
}

function withQuery(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

function toTransaction(row: WireTransaction, status: Transaction['status']): Transaction {
  return {
    index: row.index,
    status,
    bookingDate: row.dateAccountingCurrency,
    valueDate: row.dateLiquidationValue,
    amount: row.amountTransaction.amount,
    currency: row.amountTransaction.currency || null,
    description: row.shortDescription,
    details: row.extendedDescription,
    code: row.codeDescription || null,
    transferReference: row.idMoneyTransfer || null,
    feeCharge: row.isFeeCharge,
  };
}

/** Encodes any text as one segment of a path. An unpaired surrogate cannot be encoded and becomes U+FFFD. */
export function pathSegment(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\u{FFFD}'));
}

/** The path of a customer's resources. */
export function customerPath(customerId: string): string {
  return `/private/customers/${pathSegment(customerId)}`;
}

/** The path of a product's resources. */
export function productPath(customerId: string, productId: string): string {
  return `${customerPath(customerId)}/products/${pathSegment(productId)}`;
}

const OTHER: CallFacts = { reads: null, needsConsent: false, login: false };

/**
 * What a call does, read from its path. A call that the operator has put together (`psd2 api`) is judged as psd2's own are.
 *
 * @param path relative to the base URL; its query does not matter
 */
export function factsOf(method: string, path: string): CallFacts {
  const pathname = path.split('?', 1)[0] ?? '';
  if (pathname.startsWith('/auth/oauth/')) return { ...OTHER, login: true };
  if (method !== 'GET') return OTHER;
  // Calls about a product need a consent.
  const needsConsent = pathname.includes('/products/');
  if (/\/private\/customers\/[^/]+\/(?:accounts|products)$/.test(pathname))
    return { ...OTHER, reads: 'list' };
  const account = PRODUCT.exec(pathname)?.[1];
  return { ...OTHER, needsConsent, ...(account !== undefined && { reads: { account } }) };
}

const PRODUCT = /\/private\/customers\/[^/]+\/products\/([A-Za-z0-9]{1,35})(?:\/[A-Za-z]+\/retrieve)?$/;
