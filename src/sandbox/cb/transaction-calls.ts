import { expectedAndReceived } from '../answers/bank-refusal.ts';
import { documentAnswer } from '../answers/outgoing.ts';
import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import { statementPdf, statementXls } from '../documents/statement.ts';
import { moveList } from '../faults/spoil.ts';

import {
  addDays,
  bankDay,
  bankTimestamp,
  type IsoDate,
  readBankDate,
  writeBankDate,
} from '../ledger/bank-time.ts';
import { euros } from '../ledger/cents.ts';
import { type Entry, ledgerRows, type Rows } from '../ledger/entry.ts';
import type { DayRange } from '../ledger/ledger.ts';
import { readQuery } from '../strict/query.ts';
import type { Calls } from './bank-call.ts';
import { type Link, success } from './envelope.ts';
import { inquiredProductOf } from './from-path.ts';
import type { Grant } from './grant.ts';

/** Filters that the real bank has and the sandbox does not support. The sandbox accepts them only if empty. */
const emptyFilters = ['text', 'period', 'transactionsType', 'description', 'fromAmount', 'toAmount'];

type Query = ReadonlyMap<string, string>;

/** The transaction list, with a page of booked and a page of pending transactions in each answer. */
export const transactionCalls: Calls = {
  'GET /private/customers/{customerId}/products/{productId}/transactions/retrieve': (bank, call) => {
    const { customer, product } = inquiredProductOf(bank, call);
    const query = readQuery(call.request);
    refuseOtherParameters(query);
    const range = readRange(query);
    const exportType = readExportType(query);
    requireScaForOld(bank, call.caller, customer, product, range);
    const now = bank.now();
    moveList(bank.ledger, product, call.faults, now);
    const { booked, pending } = bank.ledger.entries(product, range, now);
    if (exportType) {
      const statement = { customer, product, range, booked: booked.slice(0, booked.count), pending };
      const bytes = exportType === 'pdf' ? statementPdf(statement) : statementXls(statement);
      return documentAnswer(exportType, `transactions-${product.productId}`, bytes);
    }
    const { rowsAPage } = bank.rules;
    const bookedPage = pageOf(booked, readCursor(query, 'nextAccounting'), rowsAPage);
    const pendingPage = pageOf(ledgerRows(pending), readCursor(query, 'nextNotAccounting'), rowsAPage);
    const base = `/private/customers/${customer.customerId}/products/${product.productId}/transactions`;
    return success(bank, {
      data: {
        totalOutput: euros(booked.leaving),
        totalEnter: euros(booked.entering),
        transactionsAccounting: bookedPage.rows.map(bookedRow),
        transactionsNotAccounting: pendingPage.rows.map(pendingRow),
        numberTransactionsAccounting: booked.count,
        numberTransactionsNotAccounting: pending.length,
        ...(bookedPage.next !== undefined && { nextAccounting: bookedPage.next }),
        ...(pendingPage.next !== undefined && { nextNotAccounting: pendingPage.next }),
        showNotAccounting: true,
        transactionDescriptions: descriptionsOf([...booked.samples(), ...pending]),
      },
      place: { base, name: 'transactions', self: { href: 'retrieve', method: 'GET' } },
      embedded: {
        'transactions:generatePdf': exportLink(`${bank.baseUrl}${base}/retrieve`, range, 'pdf'),
        'transactions:generateXls': exportLink(`${bank.baseUrl}${base}/retrieve`, range, 'xls'),
      },
    });
  },
};

/**
 * Requires SCA for transactions older than 90 days (RTS (EU) 2018/389, article 10). One SCA applies to the whole login. A
 * token without a customer gets no resource to authorise, because no customer can do SCA.
 *
 * @throws Refusal `PSD2_SCA_REQUIRED`
 */
function requireScaForOld(
  bank: Bank,
  caller: Grant,
  customer: Customer,
  product: Product,
  { from }: DayRange,
): void {
  const oldest = addDays(bankDay(bank.now()), -90);
  if (from === undefined || from >= oldest || bank.resources.isLifted(caller)) return;
  throw new Refusal(
    'PSD2_SCA_REQUIRED',
    'The customer must authenticate before transactions older than 90 days are shown',
    expectedAndReceived(`dateFrom ${writeBankDate(oldest)} or later, or SCA`, writeBankDate(from)),
    caller.customerId === undefined
      ? {}
      : { resourceId: bank.resources.addInquiry(customer, caller, product, from).id },
  );
}

function readExportType(query: Query): 'pdf' | 'xls' | undefined {
  const text = query.get('exportType');
  if (text === undefined || text === 'pdf' || text === 'xls') return text;
  throw wrongValue('FIELD_INVALID', 'The bank does not support this exportType', 'pdf or xls', text);
}

function refuseOtherParameters(query: Query): void {
  const parameters = [
    'dateFrom',
    'dateTo',
    'nextAccounting',
    'nextNotAccounting',
    'exportType',
    ...emptyFilters,
  ];
  for (const [name, value] of query) {
    if (!parameters.includes(name) || (emptyFilters.includes(name) && value !== ''))
      throw wrongValue(
        'FIELD_INVALID',
        `The sandbox does not support the parameter ${name}`,
        'dateFrom, dateTo, nextAccounting, nextNotAccounting, exportType',
        name,
      );
  }
}

function readRange(query: Query): DayRange {
  const from = readDayParameter(query, 'dateFrom');
  const to = readDayParameter(query, 'dateTo');
  if (from !== undefined && to !== undefined && from > to)
    throw wrongValue(
      'FIELD_INVALID',
      'dateFrom is after dateTo',
      `at most ${writeBankDate(to)}`,
      writeBankDate(from),
    );
  return { from, to };
}

function readDayParameter(query: Query, name: string): IsoDate | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const day = readBankDate(text);
  if (day !== undefined) return day;
  throw wrongValue('FIELD_INVALID', `${name} is not a date`, 'DD/MM/YYYY', `"${text}"`);
}

/** The position of the page's first row, counted from 1. */
function readCursor(query: Query, name: string): number {
  const text = query.get(name) ?? '1';
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw wrongValue(
    'FIELD_INVALID',
    `${name} is not a cursor of the bank`,
    'a whole number from 1',
    `"${text}"`,
  );
}

/** @returns the rows from the cursor on, and the next cursor if there are more rows. */
function pageOf(rows: Rows, cursor: number, rowsAPage: number): { rows: Entry[]; next: number | undefined } {
  const next = cursor + rowsAPage;
  return { rows: rows.slice(cursor - 1, next - 1), next: next <= rows.count ? next : undefined };
}

function bookedRow(entry: Entry, index: number): Record<string, unknown> {
  return {
    index: `A${index + 1}`,
    shortDescription: entry.shortDescription,
    extendedDescription: entry.extendedDescription,
    amountTransaction: euros(entry.amount),
    dateAccountingCurrency: midnight(entry.bookingDay),
    dateLiquidationValue: midnight(entry.valueDay),
    codeDescription: entry.code,
    idMoneyTransfer: entry.transferReference,
    isFeeCharge: entry.isFee,
  };
}

function pendingRow(entry: Entry, index: number): Record<string, unknown> {
  return {
    index: `N${index + 1}`,
    shortDescription: '',
    extendedDescription: '',
    amountTransaction: euros(entry.amount),
    dateLiquidationValue: plainTime(bankTimestamp(entry.enteredAt)),
    codeDescription: entry.code,
    idMoneyTransfer: entry.transferReference,
    preAuthorized: entry.preAuthorized,
  };
}

/** `YYYYMMDDThh:mm:ss`, the format of dates in transactions. */
function plainTime(timestamp: string): string {
  return timestamp.replaceAll('-', '');
}

function midnight(day: IsoDate): string {
  return plainTime(`${day}T00:00:00`);
}

function descriptionsOf(entries: readonly Entry[]): { value: string; label: string }[] {
  const labels = new Map(entries.map(({ code, shortDescription }) => [code, shortDescription]));
  return [...labels].map(([value, label]) => ({ value, label }));
}

function exportLink(url: string, { from, to }: DayRange, exportType: 'pdf' | 'xls'): Link {
  const query = new URLSearchParams({
    text: '',
    dateFrom: from === undefined ? '' : writeBankDate(from),
    dateTo: to === undefined ? '' : writeBankDate(to),
    exportType,
  });
  return { href: `${url}?${query}`, method: 'GET' };
}
