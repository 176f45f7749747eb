import { hash } from 'node:crypto';
import type { IsoDate } from '../../../../domain/calendar.ts';
import { type Decimal, isDecimal, isZero } from '../../../../domain/decimal.ts';
import type { PaymentOfEntry } from '../../../../domain/transaction-facts.ts';
import { type ErrorCode, Psd2Error } from '../../../../errors.ts';
import { type BankCall, usingAnswer } from '../../../call/call.ts';
import type { ListPage, Transaction, TransactionPage, TransactionQuery } from '../../../ports/bank.ts';
import { readLink, shownLink } from '../access/links.ts';
import type { BankDescription } from '../description/schema.ts';
import { askAnyReport, askForDocument, askForReport } from '../reports/format.ts';
import type { ReportReading } from '../reports/report.ts';
import type { TransactionsAnswer, WireParty, WireTransaction } from '../wire/accounts.ts';
import type { NextGenReading } from '../wire/answer.ts';
import { atAccountOrCard, type Calls, earliestDay, reading, resourceIdOf } from '../wire/calls.ts';
import { refuseCountedPages } from './paged.ts';
import { listedCurrency, ownIban, refuseOtherCurrency, refuseOtherNumber, sameIban } from './whose.ts';

/** The list of an account's or a card's transactions: how it was asked for first. */
interface List {
  operation: 'getTransactionList' | 'getCardAccountTransactionList';
  call: BankCall;
}

type Status = Transaction['status'];
type Report = ReturnType<typeof reportOf>;

/** One run through the pages: the status that the bank is asked for, and the lists that the reader wants of it. */
interface Run {
  bookingStatus: Status | 'both';
  lists: readonly Status[];
}

/** More consecutive empty pages are a list that never ends. */
const MAX_EMPTY_PAGES = 100;
/** After as many pages in a row that were there before, the list goes in a circle. */
const MAX_REPEATED_PAGES = 3;
/** A list with more pages is not one. */
const MAX_PAGES = 10_000;
/** What psd2 asks for, where the bank pages by number. */
const ITEMS_PER_PAGE = 100;

/**
 * Reads the transactions of an account or a card page by page, in the bank's order, as the bank pages (`accounts.paging`). The
 * bank is not asked for days before its history.
 *
 * @throws Psd2Error `bank_answer` if the pages do not advance, and for a link to anything but these transactions
 */
export async function* pagesOf(calls: Calls, query: TransactionQuery): AsyncGenerator<TransactionPage> {
  const { consents } = calls.settings;
  const consent =
    consents?.tookLists && (await consents.for({ account: query.productId, of: 'transactions' }));
  const learnt = consent ? consents?.listsOf?.(consent.consentId) : undefined;
  const offered = learnt ?? calls.description.accounts.bookingStatuses;
  const took = (lists: readonly Status[]) => consent && consents?.tookLists?.(consent.consentId, lists);
  // Who asks for pending ones alone is told each time that there is no list of them.
  if (query.status === 'pending' && learnt && !learnt.includes('pending')) await took(learnt);
  yield* pagesOfLists(calls, query, offered, took);
}

/** The lists one by one, for a bank that refuses to give both at once. */
const EACH: readonly Status[] = ['booked', 'pending'];

/**
 * The pages of the lists that a bank offers. What it refuses is noted.
 *
 * @returns whether it has refused none
 */
async function* pagesOfLists(
  calls: Calls,
  query: TransactionQuery,
  offered: readonly (Status | 'both')[],
  took: (lists: readonly Status[]) => Promise<void> | undefined,
): AsyncGenerator<TransactionPage, boolean> {
  let isWhole = true;
  const oneByOne = async function* () {
    if (yield* pagesOfLists(calls, query, EACH, took)) await took(EACH);
  };
  const withoutPending = async function* () {
    isWhole = false;
    await took(['booked']);
    yield emptyPage('pending');
  };
  for (const run of runsOf(query.status, offered)) {
    const range = run === 'none' ? null : rangeParameters(calls, query, run);
    if (run === 'none' || range === null) {
      yield emptyPage(query.status);
      continue;
    }
    const pages = pagesOfRun(calls, query, run, range);
    if (run.bookingStatus === 'both') yield* unlessRefused(pages, 'both', query, oneByOne);
    else if (run.bookingStatus === 'pending') yield* unlessRefused(pages, 'pending', query, withoutPending);
    else yield* pages;
  }
  return isWhole;
}

/** The pages, or what stands for them if the bank refuses the first because of its `bookingStatus`. */
async function* unlessRefused(
  pages: AsyncGenerator<TransactionPage>,
  bookingStatus: 'both' | 'pending',
  query: TransactionQuery,
  instead: () => AsyncGenerator<TransactionPage>,
): AsyncGenerator<TransactionPage> {
  let first: IteratorResult<TransactionPage, void>;
  try {
    first = await pages.next();
  } catch (error) {
    if (bookingStatus === 'pending' && isNothing(error)) {
      yield emptyPage('pending');
      return;
    }
    if (!refusesStatus(error, bookingStatus, query)) throw error;
    yield* instead();
    return;
  }
  if (first.done) return;
  yield first.value;
  yield* pages;
}

/** Whether the bank answers that there is nothing, without a list. */
function isNothing(error: unknown): boolean {
  return error instanceof Psd2Error && error.httpStatus === 204;
}

/** The statuses of an answer that refuses what is asked for, and not the customer or the consent. */
const REFUSES_CONTENT = new Set([400, 404, 405, 422, 501]);

/**
 * Whether the bank says that it has no list of this status: in its words, or in the path of its error. Of pending rows, an answer says it that
 * there is no such service; and 404, once the bank has given the booked rows of the same account.
 */
function refusesStatus(
  error: unknown,
  bookingStatus: 'both' | 'pending',
  { status: queryStatus }: TransactionQuery,
): boolean {
  if (!(error instanceof Psd2Error)) return false;
  const { httpStatus = 0, bankCode, message, hint } = error;
  const hasNone =
    [405, 501].includes(httpStatus) ||
    (httpStatus === 404 && queryStatus === undefined) ||
    (httpStatus === 403 && bankCode === 'SERVICE_INVALID') ||
    (httpStatus === 400 && bankCode === 'PARAMETER_NOT_SUPPORTED');
  if (bookingStatus === 'pending' && hasNone) return true;
  if (!REFUSES_CONTENT.has(httpStatus)) return false;
  const words = `${message} ${hint}`;
  return /booking[\s_-]?status/i.test(words) || new RegExp(`\\b${bookingStatus}\\b`, 'i').test(words);
}

/** The bank is asked for both lists at once if it can, else for each. A bank without pending ones has none to give. */
function runsOf(status: Status | undefined, offered: readonly (Status | 'both')[]): (Run | 'none')[] {
  if (status !== undefined) {
    const bookingStatus = offered.includes(status) ? status : offered.includes('both') ? 'both' : undefined;
    return [bookingStatus === undefined ? 'none' : { bookingStatus, lists: [status] }];
  }
  if (offered.includes('both')) return [{ bookingStatus: 'both', lists: ['booked', 'pending'] }];
  return (['booked', 'pending'] as const)
    .filter((each) => offered.includes(each))
    .map((each) => ({ bookingStatus: each, lists: [each] }));
}

function emptyPage(status: Status | undefined): TransactionPage {
  const none: ListPage = { rows: [], total: null, hasMore: false };
  return status === undefined ? { booked: none, pending: none } : { [status]: none };
}

/** The part of the query that says which transactions. Null: all of the range is before the bank's history. */
function rangeParameters(
  calls: Calls,
  query: TransactionQuery,
  { lists }: Run,
): Record<string, string> | null {
  const { delta } = calls.description.accounts;
  // What is pending has no reference.
  if (query.after !== undefined && delta === 'entryReferenceFrom' && lists.includes('booked'))
    return { entryReferenceFrom: query.after };
  const earliest = earliestDay(calls);
  const { from, to } = query;
  if (to !== undefined && to < earliest) return null;
  const dateFrom: IsoDate = from === undefined || from < earliest ? earliest : from;
  return { dateFrom, ...(to !== undefined && { dateTo: to }) };
}

async function* pagesOfRun(
  calls: Calls,
  query: TransactionQuery,
  { bookingStatus, lists }: Run,
  range: Record<string, string>,
): AsyncGenerator<TransactionPage> {
  const parameters = Object.entries({ bookingStatus, ...range });
  const account = { account: query.productId, of: 'transactions' } as const;
  const first = await atAccountOrCard(calls, query.productId, async (kind) => {
    const operation: List['operation'] =
      kind === 'card' ? 'getCardAccountTransactionList' : 'getTransactionList';
    const search = `${asBank(calls.description, [...parameters, ...firstPage(calls.description)])}`;
    const call = await reading(calls, operation, account, query.transactionId, search);
    return { operation, ...(await askForReport(calls, call, listedCurrency(calls, query.productId))) };
  });
  let { call, answer } = first;
  const ways = waysOn(calls, query, first);
  let index = 0;
  for (;;) {
    const document =
      calls.description.accounts.download === 'never' ? null : documentLink(answer.data, index);
    if (document !== null) {
      const here = call;
      const linkedTo = async () => linked(calls, query, first, here, document, 'download');
      answer = await documentAt(calls, query, await usingAnswer(answer, linkedTo));
    }
    const at = { answer, call, index };
    const { page, next } = await usingAnswer(answer, () => pageIn(calls, query, lists, ways, at));
    for (const list of lists) index += page[list]?.rows.length ?? 0;
    yield page;
    if (next === null) return;
    call = next;
    answer = await askAnyReport(calls, call, listedCurrency(calls, query.productId));
  }
}

/** A page of the list, and the call of the next one. @param index how many rows came before. @throws Psd2Error `bank_answer` */
async function pageIn(
  calls: Calls,
  query: TransactionQuery,
  lists: readonly Status[],
  ways: WaysOn,
  { answer, call, index }: { answer: ReportReading; call: BankCall; index: number },
): Promise<{ page: TransactionPage; next: BankCall | null }> {
  const { iban = null, bban = null, currency = null } = answer.data.account ?? {};
  const own = await ownIban(calls, query, iban);
  await refuseOtherNumber(calls, query, bban);
  refuseOtherCurrency(calls, query, currency, own);
  const report = reportOf(answer, lists, query, calls.description);
  const next = ways.after(answer, report, call);
  if (next === null && answer.isPart) throw cut(query);
  const { contradictions = [] } = answer;
  const unreadDays = lists.includes('booked')
    ? (report.booked ?? []).filter(({ unread }) => unread?.includes('bookingDate')).length
    : 0;
  const page: TransactionPage = {
    ...(contradictions.length > 0 && { contradictions }),
    ...(unreadDays > 0 && { unreadDays }),
  };
  let before = index;
  for (const list of lists) {
    const rows = (report[list] ?? []).map((row, at) => {
      for (const field of row.unread ?? []) countUnread(calls.odd.unread, field);
      // Other reports than JSON always say the direction.
      const read = answer.isPart === undefined ? rowWithSign(row, calls.description, own) : row;
      return toTransaction(read, list, before + at + 1, own);
    });
    before += rows.length;
    page[list] = { rows, total: null, hasMore: next !== null };
  }
  return { page, next };
}

/** @throws Psd2Error `bank_answer` for a document that is no account report, with the field that turns it off */
async function documentAt(
  calls: Calls,
  { productId }: TransactionQuery,
  call: BankCall,
): Promise<ReportReading> {
  const named = (error: unknown) => {
    const isNone = error instanceof Psd2Error && !OTHER_FAULTS.includes(error.code);
    return isNone ? error.with({ hint: [error.hint, NO_DOCUMENT].filter(Boolean).join(' ') }) : error;
  };
  try {
    const answer = await askForDocument(calls, call, listedCurrency(calls, productId));
    return await usingAnswer(answer, async () => withReport(answer, call));
  } catch (error) {
    throw named(error);
  }
}

function withReport(answer: ReportReading, { transactionId }: BankCall): ReportReading {
  const report = answer.data.transactions ?? answer.data.cardTransactions;
  if (report?.booked ?? report?.pending) return answer;
  const says = "The document behind the bank's link download is no account report";
  throw new Psd2Error('bank_answer', says, { transactionId });
}

/** The codes of errors that say nothing of what the document is. */
const OTHER_FAULTS: readonly ErrorCode[] = ['interrupted', 'not_logged_in', 'bank_unreachable'];

const NO_DOCUMENT =
  'The list had no transactions, and a link to a document. If that document is never a report, write accounts.download "never" into the bank file.';

/** The link to a document, if it has the transactions, and not the answer: a list without rows, and without a page that follows. */
function documentLink(data: TransactionsAnswer, before: number): string | null {
  const report = data.transactions ?? data.cardTransactions;
  if (before > 0 || report?.booked?.length || report?.pending?.length) return null;
  if (report?._links?.next ?? data._links?.next) return null;
  return report?._links?.download ?? data._links?.download ?? null;
}

function countUnread(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Parameters of a query by the bank's names. */
function asBank({ accounts }: BankDescription, parameters: [string, string][]): URLSearchParams {
  const own = new Map(Object.entries(accounts.parameters));
  const renamed = parameters.map(([name, value]): [string, string] => [own.get(name) ?? name, value]);
  return new URLSearchParams(renamed);
}

/** What the first page is asked with, besides the range. */
function firstPage({ accounts }: BankDescription): [string, string][] {
  return accounts.paging === 'page-index' ? pageNumbered(0) : [];
}

function pageNumbered(index: number): [string, string][] {
  return [
    ['pageIndex', String(index)],
    ['itemsPerPage', String(ITEMS_PER_PAGE)],
  ];
}

/** @throws Psd2Error `bank_answer` for an answer that says nothing: that is not an account without transactions */
function reportOf(
  { data }: NextGenReading<TransactionsAnswer>,
  lists: readonly Status[],
  query: TransactionQuery,
  { accounts }: BankDescription,
) {
  const report = data.transactions ?? data.cardTransactions;
  if (report && (report.booked || report.pending || !lists.includes('booked'))) return report;
  // Such a bank leaves out the list of a quiet account.
  if (accounts.download === 'never' && documentLink(data, 0) !== null) return { ...report, booked: [] };
  throw new Psd2Error('bank_answer', `The bank's answer to the transactions of ${query.productId} has none`, {
    transactionId: query.transactionId,
  });
}

/** Finds the call of the next page. */
interface WaysOn {
  /** @returns null after the last page */
  after(answer: NextGenReading<TransactionsAnswer>, report: Report, call: BankCall): BankCall | null;
}

function waysOn(calls: Calls, query: TransactionQuery, list: List): WaysOn {
  const { paging } = calls.description.accounts;
  const { call: firstCall } = list;
  const seen = new Set([pageIdentity(firstCall)]);
  const contents = new Set<string>();
  let [pages, emptyPages, repeatedPages, firstRows] = [0, 0, 0, 0];
  let hasLinks = false;
  const numbered = (parameters: [string, string][]) => {
    const [path = '', search = ''] = firstCall.path.split('?', 2);
    const changed = new URLSearchParams(search);
    for (const [name, value] of asBank(calls.description, parameters)) changed.set(name, value);
    return { ...firstCall, path: `${path}?${changed}` };
  };
  const nextOf = ({ data, headers }: NextGenReading<TransactionsAnswer>, report: Report, call: BankCall) => {
    const href = report._links?.next ?? data._links?.next;
    hasLinks ||= Boolean(href);
    if (href) return linked(calls, query, list, call, href);
    // A bank that links to its pages has no link on the last one.
    if (paging === 'page-index' && hasLinks) return null;
    if (paging === 'link') {
      refuseCountedPages(headers, pages, `transactions of ${query.productId}`, query.transactionId);
      return null;
    }
    if (paging === 'page-index') {
      // A bank can have smaller pages than it was asked for, so only a page that is shorter than the first is the last.
      const rows = rowCount(report);
      if (pages === 1) firstRows = rows;
      return rows === 0 || rows < firstRows ? null : numbered(pageNumbered(pages));
    }
    const total = totalPages(headers, paging.totalPagesHeader, query, rowCount(report));
    return pages < total ? numbered([[paging.pageParameter, String(pages + 1)]]) : null;
  };
  return {
    after(answer, report, call) {
      pages += 1;
      const isEmpty = rowCount(report) === 0;
      emptyPages = isEmpty ? emptyPages + 1 : 0;
      // A list that moved can repeat a page. It does not repeat many.
      const content = printOf(JSON.stringify([report.booked, report.pending]));
      repeatedPages = !isEmpty && contents.has(content) ? repeatedPages + 1 : 0;
      contents.add(content);
      const next = nextOf(answer, report, call);
      if (next === null) {
        // The bank has not looked at the number of the page.
        if (repeatedPages > 0 && contents.size === 1 && typeof paging === 'object') throw stuck(query);
        return null;
      }
      const print = pageIdentity(next);
      if (
        seen.has(print) ||
        repeatedPages >= MAX_REPEATED_PAGES ||
        emptyPages > MAX_EMPTY_PAGES ||
        pages >= MAX_PAGES
      )
        throw stuck(query);
      seen.add(print);
      return next;
    },
  };
}

/** Short, because a list can have many pages. */
function pageIdentity({ path }: BankCall): string {
  return printOf(path);
}

function printOf(text: string): string {
  return hash('sha256', text, 'base64').slice(0, 22);
}

/**
 * The call of the next page, or of a document: what the link says of this account's transactions, at their own address. It is read with the same
 * consent, and is the same reading for all who count.
 *
 * @throws Psd2Error `bank_answer` for a link to anything else: it could bring the rows of another account
 */
function linked(
  { paths, base, odd }: Calls,
  { productId, transactionId }: TransactionQuery,
  { operation, call: first }: List,
  { path: calledPath }: BankCall,
  href: string,
  name: 'next' | 'download' = 'next',
): BankCall {
  const values = { 'account-id': resourceIdOf(productId) };
  const offer = readLink(href, { paths, base }, { operation, values, calledPath, orBelow: true });
  if (!offer)
    throw new Psd2Error(
      'bank_answer',
      `The bank's link ${name} does not lead to the transactions of ${productId}: ${shownLink(href)}`,
      { hint: 'psd2 did not follow it. Narrow the range with --from and --to.', transactionId },
    );
  if (offer.isElsewhere) odd.rewritten.add(name);
  const [list = ''] = first.path.split('?', 1);
  const path = `${list}${offer.below}${offer.query && `?${offer.query}`}`;
  const { facts, headers } = first;
  return { method: 'GET', path, facts, transactionId, ...(headers && { headers }) };
}

/** The number of pages in a header. An account without rows needs none. @throws Psd2Error `bank_answer` */
function totalPages(
  headers: Readonly<Record<string, string>>,
  name: string,
  { productId, transactionId }: TransactionQuery,
  rows: number,
): number {
  const header = headers[name.toLowerCase()];
  if (header === undefined && rows === 0) return 0;
  if (header !== undefined && /^\s*\d{1,6}\s*$/.test(header)) return Number(header);
  const what = header === undefined ? `has no header ${name}` : `has a header ${name} that is not a number`;
  throw new Psd2Error('bank_answer', `The bank's answer to the transactions of ${productId} ${what}`, {
    hint: 'accounts.paging of the bank file says that this header counts the pages.',
    transactionId,
  });
}

function rowCount(report: Report): number {
  return (report.booked?.length ?? 0) + (report.pending?.length ?? 0);
}

function cut({ productId, transactionId }: TransactionQuery): Psd2Error {
  const what = `The bank's account report of ${productId} says that more pages follow, and the bank gives no way to them`;
  return new Psd2Error('bank_answer', what, {
    hint: 'Narrow the range with --from and --to.',
    transactionId,
  });
}

function stuck({ productId, transactionId }: TransactionQuery): Psd2Error {
  return new Psd2Error('bank_answer', `The bank's transaction pages of ${productId} do not advance`, {
    hint: 'Narrow the range with --from and --to.',
    transactionId,
  });
}

/** @param own the IBAN of the account, if psd2 knows it */
function toTransaction(row: WireTransaction, status: Status, index: number, own: string | null): Transaction {
  const { amount, currency } = row.transactionAmount;
  const remittance = row.remittance ?? row.facts.remittanceStructured ?? row.transactionDetails;
  const other = otherSideOf(row, amount.startsWith('-'), own);
  const description = other.name ?? row.facts.additionalInformation ?? remittance ?? '';
  return {
    index: String(index),
    status,
    bookingDate: row.bookingDate,
    valueDate: row.valueDate,
    amount,
    currency,
    description,
    details: remittance === null || remittance === description ? '' : remittance,
    code: row.proprietaryBankTransactionCode ?? row.bankTransactionCode,
    transferReference: endToEndOf(row),
    feeCharge: null,
    transactionId: row.transactionId,
    entryReference: row.entryReference,
    ...(row.internalTransactionId !== null && { internalTransactionId: row.internalTransactionId }),
    endToEndId: row.endToEndId,
    counterpartyName: other.name,
    counterpartyIban: other.iban,
    remittance,
    bankTransactionCode: row.bankTransactionCode,
    ...(other.account !== null && { counterpartyAccount: other.account }),
    ...row.facts,
    ...(row.payments.length > 0 && { entryDetails: toPayments(row, own) }),
  };
}

/** The payments of a batch. Those of what was paid may have no sign. */
function toPayments(
  { payments, transactionAmount }: WireTransaction,
  own: string | null,
): readonly PaymentOfEntry[] {
  const isPaid = transactionAmount.amount.startsWith('-');
  const isUnsigned = isPaid && payments.every(({ amount }) => !amount?.amount.startsWith('-'));
  return payments.map(({ amount: money, endToEndId, remittance, facts, ...sides }) => {
    const other = otherSideOf(sides, isPaid, own);
    const payment = {
      amount: money && (isUnsigned ? negative(money.amount) : money.amount),
      currency: money?.currency,
      endToEndId,
      counterpartyName: other.name,
      counterpartyIban: other.iban,
      counterpartyAccount: other.account,
      remittance,
      ...facts,
    };
    return Object.fromEntries(
      Object.entries(payment).filter(([, value]) => value !== null && value !== undefined),
    );
  });
}

function negative(amount: Decimal): Decimal {
  const text = isZero(amount) ? amount : `-${amount}`;
  if (!isDecimal(text)) throw new TypeError(`${text} is not a decimal`);
  return text;
}

/**
 * The row with a sign, at a bank whose amounts have none: what the account paid as the debtor is negative.
 *
 * @throws Psd2Error `bank_answer` if the row does not say the direction: a guess would change the sign of money
 */
function rowWithSign(
  row: WireTransaction,
  { accounts }: BankDescription,
  own: string | null,
): WireTransaction {
  const { amount, currency } = row.transactionAmount;
  if (accounts.amounts === 'signed' || amount.startsWith('-')) return row;
  const isNamed = ({ name, iban, account }: WireParty) => (name ?? iban ?? account) !== null;
  const isPayer =
    isOwnAccount(row.debtor, own) ||
    (isNamed(row.creditor) && !isNamed(row.debtor) && !isOwnAccount(row.creditor, own));
  const isPayee =
    isOwnAccount(row.creditor, own) ||
    (isNamed(row.debtor) && !isNamed(row.creditor) && !isOwnAccount(row.debtor, own));
  if (isPayer === isPayee)
    throw new Psd2Error(
      'bank_answer',
      `A transaction of ${amount} ${currency} names neither its debtor nor its creditor, so it does not say whether money came in or went out`,
      { hint: 'accounts.amounts of the bank file says that amounts have no sign.' },
    );
  return isPayee ? row : { ...row, transactionAmount: { amount: negative(amount), currency } };
}

/** What a bank says of a payment that has no reference (ISO 20022). */
const NO_REFERENCE = 'NOTPROVIDED';

function endToEndOf({ endToEndId }: WireTransaction): string | null {
  return endToEndId === NO_REFERENCE ? null : endToEndId;
}

/**
 * The other side: of what was paid, the creditor; of what was received, the debtor. Banks may name only one side, and some name the
 * account itself.
 */
function otherSideOf(
  { creditor, debtor }: Pick<WireTransaction, 'creditor' | 'debtor'>,
  isPaid: boolean,
  own: string | null,
): WireParty {
  const sides = isPaid ? [creditor, debtor] : [debtor, creditor];
  const named = sides.filter(
    (side) => (side.name ?? side.iban ?? side.account) !== null && !isOwnAccount(side, own),
  );
  return named[0] ?? { name: null, iban: null, account: null };
}

/**
 * Whether a side is the account itself, by its IBAN or the number in it. A name alone does not say so: a bank may write the other side
 * at the place of the holder, and a row must read the same whenever it is read.
 */
function isOwnAccount({ iban, account }: WireParty, own: string | null): boolean {
  if (own === null) return false;
  if (iban !== null) return sameIban(iban, own);
  return account !== null && sameIban(account, own.replace(/\s/g, '').slice(4));
}
