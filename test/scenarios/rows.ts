import type { BankOfRow, Row } from './row.ts';
import { BATCHES } from './rows/batches.ts';
import { CANCELLED_LINKS } from './rows/cancelled-links.ts';
import { CONSENTS } from './rows/consents.ts';
import { CONTRADICTIONS } from './rows/contradictions.ts';
import { EMBEDDED } from './rows/embedded.ts';
import { EXECUTE } from './rows/execute.ts';
import { FEES } from './rows/fees.ts';
import { LINKED } from './rows/linked.ts';
import { LINKED_CONSENTS } from './rows/linked-consents.ts';
import { LINKS } from './rows/links.ts';
import { LOGINS } from './rows/logins.ts';
import { STILL_OPEN } from './rows/still-open.ts';
import { TRANSFERS } from './rows/transfers.ts';

/** All rows. */
export const ROWS: readonly Row[] = [
  ...EXECUTE,
  ...TRANSFERS,
  ...CONSENTS,
  ...LINKED,
  ...LINKED_CONSENTS,
  ...EMBEDDED,
  ...STILL_OPEN,
  ...LINKS,
  ...CANCELLED_LINKS,
  ...CONTRADICTIONS,
  ...FEES,
  ...BATCHES,
  ...LOGINS,
];

/** The rows of each bank, with the bank as its name. */
export function byBank(rows: readonly Row[]): [name: string, { bank: BankOfRow; rows: Row[] }][] {
  const banks = new Map<string, { bank: BankOfRow; rows: Row[] }>();
  for (const row of rows) {
    const name = row.bank === 'cb' ? row.bank : JSON.stringify(row.bank.file);
    const known = banks.get(name) ?? { bank: row.bank, rows: [] };
    banks.set(name, { ...known, rows: [...known.rows, row] });
  }
  return [...banks];
}
