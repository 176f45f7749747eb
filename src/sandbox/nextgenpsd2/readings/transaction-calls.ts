import { randomUUID } from 'node:crypto';
import type { Bank } from '../../bank.ts';
import type { Product } from '../../customers/seed-customers.ts';
import { moveList } from '../../faults/spoil.ts';
import { addDays } from '../../ledger/bank-time.ts';
import type { Entry, Rows } from '../../ledger/entry.ts';
import { header } from '../../strict/headers.ts';
import { type DoorAnswer, type DoorCall, inPath } from '../door-call.ts';
import { type Href, linkTo } from '../links.ts';
import { DoorRefusal } from '../refusal.ts';
import { DOCUMENT, TEXT, XML } from '../strict/headers.ts';
import { readQuery } from '../strict/query.ts';
import { balancesOf } from './account-calls.ts';
import { camtOf, mt940Of } from './account-report.ts';
import { referenceOf } from './account-view.ts';
import { consentedAccount, countReading, idOf, requireRight } from './consented.ts';
import { isFurtherPage, nextQuery, pagingHeaders } from './paging.ts';
import { readTransactionQuery, type TransactionQuery } from './transaction-query.ts';
import {
  asTheBankWrites,
  cardTransactionOf,
  numberOfReference,
  referenceOfNumber,
  transactionOf,
} from './transaction-view.ts';

/** How long the list of the variation `rows-cut-at-50` is. */
const CUT_ROWS = 50;

const WHOLE = { from: undefined, to: undefined };

/** The entries that a query selects, newest first. */
interface Selected {
  booked: { count: number; slice: Rows['slice'] };
  pending: readonly Entry[];
  /** The number of the newest booked one, counted from the account's first entry. */
  newest: number;
}

/** `GET /accounts/{account-id}/transactions` and `GET /card-accounts/{account-id}/transactions` */
export function listTransactions(isCard: boolean) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const query = readTransactionQuery(bank, call, isCard);
    const { consent, product } = consentedAccount(bank, call, isCard, 'transactions');
    if (query.withBalance) requireRight(consent, [product], 'balances');
    if (!isFurtherPage(query.page)) countReading(bank, call, consent);
    moveList(bank.ledger, product, call.faults, bank.now());
    const { description, variations } = bank.rules;
    const accept = header(call.request, 'accept');
    if (!isCard && variations.includes('report-links')) return linkToDocument(bank, product, call);
    if (accept === XML || accept === TEXT) return document(bank, product, query, accept);
    const selected = select(bank, product, query);
    const { paging } = description.accounts;
    return {
      status: 200,
      headers: pagingHeaders(paging, query.page, Math.max(selected.booked.count, selected.pending.length)),
      body: {
        [isCard ? 'cardAccount' : 'account']: referenceOf(product),
        [isCard ? 'cardTransactions' : 'transactions']: report(bank, call, product, query, selected),
        ...(query.withBalance && { balances: balancesOf(bank, product) }),
      },
    };
  };
}

function linkToDocument(bank: Bank, product: Product, { request }: DoorCall): DoorAnswer {
  const values = { 'account-id': idOf(bank, product), transactionId: DOCUMENT };
  const [, query = ''] = request.target.split('?', 2);
  const download = linkTo(bank, 'getTransactionDetails', values, `?${query}`);
  return { status: 200, body: { account: referenceOf(product), _links: { download } } };
}

/** All rows in one document. */
function document(bank: Bank, product: Product, query: TransactionQuery, type: string): DoorAnswer {
  const selected = select(bank, product, query);
  const { booked, pending } = rowsOf(bank, product, query, selected, Number.MAX_SAFE_INTEGER);
  const rows = { booked: query.booked ? booked : undefined, pending: query.pending ? pending : undefined };
  const body = type === XML ? camtOf(product, rows, bank.now()) : mt940Of(product, rows);
  return { status: 200, body, headers: { 'Content-Type': type === XML ? XML : `${TEXT}; charset=utf-8` } };
}

/** `GET /accounts/{account-id}/transactions/{transactionId}`. Only booked ones have an id. */
export function getTransactionDetails(bank: Bank, call: DoorCall): DoorAnswer {
  const id = inPath(call, 'transactionId');
  if (id === DOCUMENT && bank.rules.variations.includes('report-links')) {
    const query = readTransactionQuery(bank, call, false);
    const { product } = consentedAccount(bank, call, false, 'transactions');
    const { reports } = bank.rules.description.accounts;
    const isText = reports.find((format) => format !== 'json') === 'mt940';
    return document(bank, product, query, isText ? TEXT : XML);
  }
  readQuery(call.request, []);
  const { consent, product } = consentedAccount(bank, call, false, 'transactions');
  countReading(bank, call, consent);
  const number = id.startsWith('T') ? numberOfReference(id) : undefined;
  const { booked } = bank.ledger.entries(product, WHOLE, bank.now());
  const at = booked.count - (number ?? 0);
  const [entry] = number !== undefined && at >= 0 ? booked.slice(at, at + 1) : [];
  if (!entry) throw new DoorRefusal('RESOURCE_UNKNOWN', 'The account has no such transaction');
  return { status: 200, body: { transactionsDetails: transactionOf(entry, number) } };
}

function select(bank: Bank, product: Product, query: TransactionQuery): Selected {
  const { after } = query;
  const { from, to } = bank.rules.variations.includes('days-ignored') ? WHOLE : query;
  const now = bank.now();
  const { booked, pending } = bank.ledger.entries(product, { from, to }, now);
  const older =
    from === undefined
      ? 0
      : bank.ledger.entries(product, { from: undefined, to: addDays(from, -1) }, now).booked.count;
  const newest = older + booked.count;
  const count = after === undefined ? booked.count : Math.max(0, newest - after);
  return {
    booked: { count: query.booked ? count : 0, slice: (start, end) => booked.slice(start, end) },
    pending: query.pending ? pending : [],
    newest,
  };
}

/** The rows of a page in JSON. @param size how many of each kind. @param write what the bank makes of a row */
function rowsOf(
  bank: Bank,
  product: Product,
  { page }: TransactionQuery,
  { booked, pending, newest }: Selected,
  size: number,
  write: (row: Record<string, unknown>, entry: Entry) => Record<string, unknown> = (row) => row,
) {
  const isCard = product.kind === 'card';
  const { variations } = bank.rules;
  const viewOf = (entry: Entry, number: number | undefined): Record<string, unknown> =>
    isCard ? cardTransactionOf(product, entry, number) : write(transactionOf(entry, number), entry);
  const end = page.offset + size;
  const rows = page.offset < booked.count ? booked.slice(page.offset, Math.min(end, booked.count)) : [];
  return {
    booked: rows.map((entry, index) => {
      const number = newest - page.offset - index;
      return oddRow(viewOf(entry, number), { number, newest }, variations);
    }),
    pending: pending.slice(page.offset, end).map((entry) => viewOf(entry, undefined)),
  };
}

/** A page of the list (NextGenPSD2, `accountReport` and `cardAccountReport`). */
function report(
  bank: Bank,
  { operation }: DoorCall,
  product: Product,
  query: TransactionQuery,
  selected: Selected,
): Record<string, unknown> {
  const isCard = product.kind === 'card';
  const { variations, description } = bank.rules;
  const { page, sent } = query;
  const isCut = variations.includes('rows-cut-at-50');
  const size = isCut ? CUT_ROWS - page.offset : page.size;
  const rows = rowsOf(bank, product, query, selected, size, (row, entry) =>
    asTheBankWrites(description, product, row, entry),
  );
  const hasMore = !isCut && page.offset + size < Math.max(selected.booked.count, selected.pending.length);
  const values = { 'account-id': idOf(bank, product) };
  const links: Record<string, Href> = {
    [isCard ? 'cardAccount' : 'account']: linkTo(
      bank,
      isCard ? 'readCardAccountDetails' : 'readAccountDetails',
      values,
    ),
    ...(hasMore &&
      description.accounts.paging === 'link' && {
        next: linkTo(bank, operation.id, values, nextQuery(sent, page)),
      }),
  };
  return {
    ...(query.booked && { booked: rows.booked }),
    ...(query.pending && { pending: rows.pending }),
    _links: links,
  };
}

/** A row in its list. */
interface Place {
  /** The bank's number of the row, from the account's first. */
  number: number;
  /** The number of the newest row. */
  newest: number;
}

/** The id that a row has with each variation. */
const IDS: Record<string, (place: Place) => string> = {
  'row-ids-fresh': () => randomUUID(),
  'row-ids-shared': ({ number }) => referenceOfNumber(number - (number % 2)),
  'row-ids-positional': ({ number, newest }) => String(newest - number + 1),
  'row-ids-constant': () => 'NOTPROVIDED',
  'row-ids-moved': ({ number, newest }) =>
    referenceOfNumber(
      newest % 2 === 0 || number % 3 === 0 ? number : number % 3 === 1 ? number + 1 : number - 1,
    ),
};

const ID_FIELDS = ['transactionId', 'entryReference', 'cardTransactionId'];

/** A booked row as a bank with these variations shows it. */
function oddRow(
  row: Record<string, unknown>,
  place: Place,
  variations: readonly string[],
): Record<string, unknown> {
  const idOf = variations.map((variation) => IDS[variation]).find((one) => one !== undefined);
  const id = idOf?.(place);
  const ids = id === undefined ? [] : ID_FIELDS.filter((name) => name in row).map((name) => [name, id]);
  const isFebruary = variations.includes('value-day-30-february') && place.number % 7 === 0;
  const valueDate = `${String(row.valueDate).slice(0, 4)}-02-30`;
  return { ...row, ...Object.fromEntries(ids), ...(isFebruary && { valueDate }) };
}
