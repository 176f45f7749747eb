import type { Bank } from '../../bank.ts';
import { addDays, bankDay, type IsoDate } from '../../ledger/bank-time.ts';
import { header } from '../../strict/headers.ts';
import type { DoorCall } from '../door-call.ts';
import { doorOf } from '../door-state.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { readFlag, readQuery } from '../strict/query.ts';
import { type Page, pagingParameters, readPage } from './paging.ts';
import { numberOfReference } from './transaction-view.ts';

/** What a call for transactions asks for. */
export interface TransactionQuery {
  booked: boolean;
  pending: boolean;
  from: IsoDate | undefined;
  to: IsoDate | undefined;
  /** Only entries after the one with this number. Then the days do not count. */
  after: number | undefined;
  withBalance: boolean;
  page: Page;
  /** The parameters as sent, for the link to the next page. */
  sent: ReadonlyMap<string, string>;
}

/**
 * Reads the query of a transactions call, and holds it against the bank file.
 *
 * @throws DoorRefusal `FORMAT_ERROR`, `PARAMETER_NOT_SUPPORTED`, `PERIOD_INVALID`
 */
export function readTransactionQuery(bank: Bank, { request }: DoorCall, isCard: boolean): TransactionQuery {
  const { description, strict } = bank.rules;
  const { accounts } = description;
  const query = readQuery(
    request,
    [
      'bookingStatus',
      'dateFrom',
      'dateTo',
      ...(accounts.delta === 'none' ? [] : [accounts.delta]),
      ...(accounts.withBalance && !(isCard && strict) ? ['withBalance'] : []),
      ...pagingParameters(accounts.paging),
    ],
    accounts.parameters,
  );
  const names = new Map(Object.entries(accounts.parameters));
  const status = readBookingStatus(query.get('bookingStatus'), accounts.bookingStatuses);
  return {
    booked: status !== 'pending',
    pending: status !== 'booked',
    ...readPeriod(bank, query, historyDays(bank, header(request, 'consent-id') ?? '')),
    withBalance: readFlag(query, 'withBalance'),
    page: readPage(query, accounts.paging, bank.rules.rowsAPage),
    sent: new Map([...query].map(([name, value]) => [names.get(name) ?? name, value])),
  };
}

function readBookingStatus(value: string | undefined, offered: readonly string[]): string {
  if (value !== undefined && offered.includes(value)) return value;
  const isStandard = ['booked', 'pending', 'both', 'information', 'all'].includes(value ?? '');
  throw unexpected(
    isStandard ? 'PARAMETER_NOT_SUPPORTED' : 'FORMAT_ERROR',
    'bookingStatus',
    'The bank does not take this bookingStatus',
    offered.join(', '),
    value,
  );
}

/** The entries after an entry, or the days. Days are not older than the bank's history. */
function readPeriod(
  bank: Bank,
  query: ReadonlyMap<string, string>,
  history: number,
): Pick<TransactionQuery, 'from' | 'to' | 'after'> {
  const reference = query.get('entryReferenceFrom');
  if (reference !== undefined) {
    const after = numberOfReference(reference);
    if (after !== undefined) return { after, from: undefined, to: undefined };
    throw new DoorRefusal('FORMAT_ERROR', 'The bank has no such entry', '', { path: 'entryReferenceFrom' });
  }
  const today = bankDay(bank.now());
  const [from, to] = [readDay(query, 'dateFrom'), readDay(query, 'dateTo') ?? today];
  if (from === undefined)
    throw new DoorRefusal('FORMAT_ERROR', 'dateFrom is missing', '', { path: 'dateFrom' });
  const oldest = addDays(today, -history);
  if (from < oldest)
    throw unexpected(
      'PERIOD_INVALID',
      'dateFrom',
      'The bank does not show such old transactions',
      `${oldest} or later`,
      from,
    );
  if (from > to)
    throw unexpected('PERIOD_INVALID', 'dateFrom', 'dateFrom is after dateTo', `at most ${to}`, from);
  return { from, to, after: undefined };
}

/** How far the bank looks back: just after SCA perhaps further (`accounts.history`). */
function historyDays(bank: Bank, consentId: string): number {
  const { rules, now } = bank;
  const { historyDays: usual, history } = rules.description.accounts;
  const givenAt = doorOf(bank).consents.find(consentId)?.givenAt;
  if (!history || !givenAt) return usual;
  const { minutes, days } = history.afterSca;
  return now().getTime() - givenAt.getTime() < minutes * 60_000 ? Math.max(usual, days) : usual;
}

function readDay(query: ReadonlyMap<string, string>, name: string): IsoDate | undefined {
  const value = query.get(name);
  // addDays gives another text for a day that does not exist.
  if (value === undefined || (/^\d{4}-\d{2}-\d{2}$/.test(value) && addDays(value, 0) === value)) return value;
  throw unexpected('FORMAT_ERROR', name, `${name} is not a date`, 'YYYY-MM-DD', value);
}
