import type { IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { transactionsAnswer, type WireTransaction } from '../../wire/customers.ts';
import { writeBankDate } from '../../wire/fields.ts';
import { readDocument } from '../call/answer.ts';
import type { Bank } from '../call/bank.ts';
import { productPath, type Transaction } from './customers.ts';

export interface TransactionQuery {
  customerId: string;
  productId: string;
  from: IsoDate | undefined;
  to: IsoDate | undefined;
  /** The list to read. Undefined means both. */
  status: Transaction['status'] | undefined;
  transactionId: string;
}

/** The part of a list in one answer. */
export interface ListPage {
  /** In the bank's order. */
  rows: Transaction[];
  /** The total number of rows on all pages, according to this answer. Null if the answer does not say. */
  total: number | null;
  /** The list continues on another page. */
  hasMore: boolean;
}

/** A page of each list. A list that has ended or is not requested is missing. */
export interface TransactionPage {
  booked?: ListPage;
  pending?: ListPage;
}

/**
 * Reads the transactions of one product page by page, in the bank's order. Transactions that are booked between two pages
 * move the rows. `transaction-reading.ts` handles that.
 *
 * The bank has two lists, each with a cursor. A missing cursor means "from the start", so the bank sends a finished list
 * again while the other list continues. psd2 drops those rows. Some answers name the next page by `_links.next` instead.
 *
 * @throws Psd2Error `bank_answer` if a cursor does not advance, or there are too many empty pages
 */
export async function* fetchPages(bank: Bank, query: TransactionQuery): AsyncGenerator<TransactionPage> {
  const base = `${productPath(query.customerId, query.productId)}/transactions/retrieve`;
  const range = new URLSearchParams(rangeOf(query));
  let booked = new ListCursor('nextAccounting', query.status !== 'pending');
  let pending = new ListCursor('nextNotAccounting', query.status !== 'booked');
  let path = withQuery(base, range);
  const linkedPages = new Set<string>();
  let emptyPages = 0;

  for (;;) {
    const { data, envelope } = await bank.call(
      { method: 'GET', path, transactionId: query.transactionId },
      transactionsAnswer,
    );
    const { transactionsAccounting, transactionsNotAccounting } = data;
    if (booked.open && (data.numberTransactionsAccounting ?? 0) > 0)
      requireList(transactionsAccounting, 'transactionsAccounting', query);
    if (pending.open && (data.numberTransactionsNotAccounting ?? 0) > 0)
      requireList(transactionsNotAccounting, 'transactionsNotAccounting', query);
    const link = envelope.next;
    const hasLink = link?.method === 'GET' && link.href.trim() !== '';
    const isLinked = hasLink && data.nextAccounting === null && data.nextNotAccounting === null;
    const page: TransactionPage = {
      ...(booked.open && {
        booked: {
          rows: (transactionsAccounting ?? []).map((row) => toTransaction(row, 'booked')),
          total: data.numberTransactionsAccounting || null,
          hasMore: isLinked || data.nextAccounting !== null,
        },
      }),
      ...(pending.open && {
        pending: {
          rows: (transactionsNotAccounting ?? []).map((row) => toTransaction(row, 'pending')),
          total: data.numberTransactionsNotAccounting || null,
          hasMore: isLinked || data.nextNotAccounting !== null,
        },
      }),
    };
    yield page;
    const isEmpty = !page.booked?.rows.length && !page.pending?.rows.length;
    emptyPages = isEmpty ? emptyPages + 1 : 0;
    if (emptyPages > MOST_EMPTY_PAGES) throw stuck(query);

    const linked = hasLink ? linkedPath(path, link.href, query) : null;
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

/**
 * The bank's own document of the transactions in a range.
 *
 * @returns its bytes
 * @throws Psd2Error `bank_answer` if the answer is not a document
 */
export async function fetchTransactionsDocument(
  bank: Bank,
  query: Omit<TransactionQuery, 'status'>,
  format: 'xls' | 'pdf',
): Promise<Buffer> {
  const path = withQuery(
    `${productPath(query.customerId, query.productId)}/transactions/retrieve`,
    new URLSearchParams({ ...rangeOf(query), exportType: format }),
  );
  return readDocument(await bank.exchange({ method: 'GET', path, transactionId: query.transactionId }));
}

/** Requires a list that the bank says has rows. An empty list may be missing. @throws Psd2Error `bank_answer` */
function requireList(list: unknown, name: string, { productId, transactionId }: TransactionQuery): void {
  if (list) return;
  throw new Psd2Error(
    'bank_answer',
    `The bank's answer to the transactions of ${productId} counts rows of data.${name} but has none`,
    { transactionId },
  );
}

/** The maximum number of consecutive empty pages. With more, psd2 assumes a list that never ends. */
const MOST_EMPTY_PAGES = 100;

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

function rangeOf({ from, to }: Pick<TransactionQuery, 'from' | 'to'>): Record<string, string> {
  return { ...(from && { dateFrom: writeBankDate(from) }), ...(to && { dateTo: writeBankDate(to) }) };
}

function withQuery(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

/**
 * Resolves a link of an answer against the called path. The link's host is ignored, because links must never choose where a
 * token goes.
 *
 * @throws Psd2Error `bank_answer` if the link is not a valid address
 */
function linkedPath(
  calledPath: string,
  href: string,
  { productId, transactionId }: TransactionQuery,
): string {
  const called = new URL(calledPath, 'https://bank.invalid').href;
  const linked = URL.canParse(href, called) ? new URL(href, called) : null;
  if (linked?.pathname.startsWith('/')) {
    // Remove the path prefix of the base URL, because psd2 adds it to every path.
    const path = linked.pathname.slice(Math.max(0, linked.pathname.indexOf('/private/')));
    return `${path}${linked.search}`;
  }
  throw new Psd2Error(
    'bank_answer',
    `The bank's link to the next page of the transactions of ${productId} is not a valid address`,
    { transactionId },
  );
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
    feeCharge: row.isFeeCharge ?? null,
  };
}
