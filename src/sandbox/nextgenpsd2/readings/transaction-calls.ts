import type { Bank } from '../../bank.ts';
import type { Product } from '../../customers/seed-customers.ts';
import { moveList } from '../../faults/moving-list.ts';
import { addDays } from '../../ledger/bank-time.ts';
import type { Entry, Rows } from '../../ledger/entry.ts';
import { type DoorAnswer, type DoorCall, inPath } from '../door-call.ts';
import { type Href, linkTo } from '../links.ts';
import { DoorRefusal } from '../refusal.ts';
import { readQuery } from '../strict/query.ts';
import { balancesOf } from './account-calls.ts';
import { referenceOf } from './account-view.ts';
import { consentedAccount, countReading, idOf, requireRight } from './consented.ts';
import { oddRow } from './odd-rows.ts';
import { isFurtherPage, nextQuery, pagingHeaders } from './paging.ts';
import { readTransactionQuery, type TransactionQuery } from './transaction-query.ts';
import { asTheBankWrites, cardTransactionOf, numberOfReference, transactionOf } from './transaction-view.ts';

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
    const selected = select(bank, product, query);
    const { paging } = bank.rules.description.accounts;
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

/** `GET /accounts/{account-id}/transactions/{transactionId}`. Only booked ones have an id. */
export function getTransactionDetails(bank: Bank, call: DoorCall): DoorAnswer {
  readQuery(call.request, []);
  const { consent, product } = consentedAccount(bank, call, false, 'transactions');
  countReading(bank, call, consent);
  const id = inPath(call, 'transactionId');
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

/** A page of the list (NextGenPSD2, `accountReport` and `cardAccountReport`). */
function report(
  bank: Bank,
  { operation }: DoorCall,
  product: Product,
  { booked: wantsBooked, pending: wantsPending, page, sent }: TransactionQuery,
  { booked, pending, newest }: Selected,
): Record<string, unknown> {
  const isCard = product.kind === 'card';
  const { variations, description } = bank.rules;
  const viewOf = (entry: Entry, number: number | undefined): Record<string, unknown> =>
    isCard
      ? cardTransactionOf(product, entry, number)
      : asTheBankWrites(description, product, transactionOf(entry, number), entry);
  const view = (entry: Entry, number: number | undefined): Record<string, unknown> =>
    number === undefined
      ? viewOf(entry, number)
      : oddRow(viewOf(entry, number), { number, newest }, variations);
  const isCut = variations.includes('rows-cut-at-50');
  const end = isCut ? CUT_ROWS : page.offset + page.size;
  const rows = page.offset < booked.count ? booked.slice(page.offset, Math.min(end, booked.count)) : [];
  const hasMore = !isCut && end < Math.max(booked.count, pending.length);
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
    ...(wantsBooked && { booked: rows.map((entry, index) => view(entry, newest - page.offset - index)) }),
    ...(wantsPending && { pending: pending.slice(page.offset, end).map((entry) => view(entry, undefined)) }),
    _links: links,
  };
}
