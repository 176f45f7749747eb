import type { CbCaller } from '../../src/bank/interfaces/cb/answer.ts';
import { bankOver } from '../../src/bank/interfaces/cb/interface.ts';
import type { Transaction } from '../../src/bank/ports/bank.ts';
import { answered } from './interfaces/cb/answered.ts';

/**
 * The pages of a list, in the order of the answers, as one text: `ab:5 cd:5 e.` are the pages with the rows a and b, c and d,
 * and e. The first two say that the list has 5 rows, the last one does not say. A dot ends the list, and `-` has no rows.
 */
export type Pages = string;

/** A bank whose answers are these pages, whatever is asked. */
export function scriptedBank({ booked = '', pending = '' }: { booked?: Pages; pending?: Pages }) {
  const [accounting, notAccounting] = [booked, pending].map((pages) => pages.split(' ').filter(Boolean));
  const answers = Math.max(accounting?.length ?? 0, notAccounting?.length ?? 0);
  let calls = 0;
  const caller: CbCaller = {
    async ask(call, read) {
      if (calls === answers) throw new TypeError(`The script has only ${answers} answers`);
      const data = {
        ...listOf('Accounting', accounting?.[calls], calls),
        ...listOf('NotAccounting', notAccounting?.[calls], calls),
      };
      calls += 1;
      return read(await answered(call, { body: JSON.stringify({ result: { outcome: 'SUCCESS' }, data }) }));
    },
    send: () => Promise.reject(new TypeError('This test bank has no exchange')),
  };
  return {
    bank: bankOver(caller),
    /** The number of answers that the script has left. */
    left: () => answers - calls,
  };
}

function listOf(name: string, page: string | undefined, call: number): object {
  if (page === undefined) return { [`transactions${name}`]: [] };
  const [, rows = '', , total] = /^([^:.]*)(:(\d+))?\.?$/.exec(page) ?? [];
  return {
    [`transactions${name}`]: [...rows.replace('-', '')].map((letter, place) => ({
      index: String(place),
      extendedDescription: letter,
      amountTransaction: { amount: '-1.00', currency: 'EUR' },
      dateLiquidationValue: '2026-11-20',
    })),
    [`numberTransactions${name}`]: total ?? 0,
    [`next${name}`]: page.endsWith('.') ? null : call + 2,
  };
}

/** The letters of rows that a scripted bank sent. */
export function lettersOf(rows: readonly Transaction[]): string {
  return rows.map(({ details }) => details).join('');
}
