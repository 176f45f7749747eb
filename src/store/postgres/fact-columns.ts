import { FACT_NAMES, TRANSACTION_FACTS } from '../../domain/transaction-facts.ts';

const TYPES = { text: 'text', decimal: 'numeric', payments: 'json' } as const;

/** The column of each fact in `psd2.transactions` and `psd2.pending_transactions`, with its type: `mandate_id text`. */
export const FACT_COLUMNS: Readonly<Record<string, string>> = Object.fromEntries(
  FACT_NAMES.map((name) => [name, `${columnOf(name)} ${TYPES[TRANSACTION_FACTS[name].kind]}`]),
);

function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
