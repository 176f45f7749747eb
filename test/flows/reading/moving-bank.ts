import type { Bank } from '../../../src/bank/ports/bank.ts';
import { answeringBank } from '../../bank/answering-bank.ts';

/** A transaction of a {@link MovingBank}. Two may look alike and differ only in `id`, which the bank does not send. */
export interface MovingRow {
  id: number;
  text: string;
}

export interface MovingLists {
  booked: readonly MovingRow[];
  pending: readonly MovingRow[];
}

export interface MovingBankRules {
  rowsAPage: number;
  /** How the bank counts transactions: the rows of the range, nothing, always 7, or the rows of the page. */
  totals: 'told' | 'untold' | 'constant' | 'of the page';
  /** How the bank links pages: by cursors or by `_links.next`. */
  paging: 'cursors' | 'links';
}

/** A bank whose lists may change before each call. */
export interface MovingBank {
  bank: Bank;
  /** The lists at the time of each call. */
  moments: MovingLists[];
}

/** @param change returns the lists for a call, counted from 0. It must return unchanged lists too */
export function movingBank(
  start: MovingLists,
  { rowsAPage, totals, paging }: MovingBankRules,
  change: (lists: MovingLists, call: number) => MovingLists,
): MovingBank {
  const moments: MovingLists[] = [];
  let lists = start;
  const pageOf = (rows: readonly MovingRow[], cursor: string | null) => {
    const begin = Number(cursor ?? 1) - 1;
    const end = begin + rowsAPage;
    const total = { told: rows.length, untold: 0, constant: 7, 'of the page': undefined }[totals];
    const page = rows.slice(begin, end);
    return { page, total: total ?? page.length, next: end < rows.length ? end + 1 : undefined, end };
  };
  const bank = answeringBank(({ searchParams }) => {
    lists = change(lists, moments.length);
    moments.push(lists);
    const booked = pageOf(lists.booked, searchParams.get('nextAccounting'));
    const pending = pageOf(lists.pending, searchParams.get('nextNotAccounting'));
    const goesOn = booked.next !== undefined || pending.next !== undefined;
    const cursors = paging === 'cursors' && {
      nextAccounting: booked.next,
      nextNotAccounting: pending.next,
    };
    const href = `retrieve?nextAccounting=${booked.end + 1}&nextNotAccounting=${pending.end + 1}`;
    return {
      data: {
        transactionsAccounting: booked.page.map((row, place) => wireRow('A', row, place)),
        transactionsNotAccounting: pending.page.map((row, place) => wireRow('N', row, place)),
        numberTransactionsAccounting: booked.total,
        numberTransactionsNotAccounting: pending.total,
        ...cursors,
      },
      next: paging === 'links' && goesOn && href,
    };
  });
  return { bank, moments };
}

function wireRow(kind: string, { text }: MovingRow, place: number): object {
  return {
    index: `${kind}${place + 1}`,
    extendedDescription: text,
    amountTransaction: { amount: '-1.00', currency: 'EUR' },
    ...(kind === 'A' && { dateAccountingCurrency: '2026-11-20' }),
    dateLiquidationValue: '2026-11-20',
  };
}
