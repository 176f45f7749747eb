import { FACT_NAMES, TRANSACTION_FACTS } from '../../domain/transaction-facts.ts';

/** A column that a sync writes. */
export interface Column {
  /** The field of the row, in psd2's output too. */
  field: string;
  name: string;
  type: 'text' | 'date' | 'numeric' | 'boolean' | 'json';
}

/** A column of `psd2.transactions`. */
interface TransactionColumn extends Column {
  /** What it is, for `docs/store.md`. */
  means: string;
  isRequired: boolean;
}

export function columnOf(field: string, type: Column['type']): Column {
  return { field, name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), type };
}

function column(field: string, type: Column['type'], means: string, isRequired = false): TransactionColumn {
  return { ...columnOf(field, type), means, isRequired };
}

const TYPES = { text: 'text', decimal: 'numeric', payments: 'json' } as const;

/** What only a bank with the facts of the standard says. */
const FACT_COLUMNS = FACT_NAMES.map((name) => {
  const { kind, means } = TRANSACTION_FACTS[name];
  return column(name, TYPES[kind], means);
});

/** The columns of `psd2.pending_transactions`. `psd2.transactions` has them too. */
export const PENDING_COLUMNS: readonly TransactionColumn[] = [
  column('valueDate', 'date', 'day from which it counts for interest'),
  column('amount', 'numeric', 'negative if the money leaves the account', true),
  column('currency', 'text', 'ISO 4217', true),
  column('description', 'text', 'as the bank gives it'),
  column('details', 'text', 'as the bank gives them'),
  column('code', 'text', "the bank's code for this kind of transaction"),
  column('transferReference', 'text', "the bank's id of the transfer"),
  column('feeCharge', 'boolean', 'true: a fee'),
  ...FACT_COLUMNS,
  column('internalTransactionId', 'text', "the bank's inner id of it, at few banks"),
];

/** The columns that a sync writes to `psd2.transactions`. */
export const BOOKED_COLUMNS: readonly TransactionColumn[] = [
  column('id', 'text', 'the same id as in files and exports', true),
  column('status', 'text', '`booked`; `hidden` if it is cancelled or replaced', true),
  column('bookingDate', 'date', 'day on which the bank booked it'),
  ...PENDING_COLUMNS,
  column('future', 'boolean', 'true: stored before its day had come'),
];

/** Why a row does not count any more. A sync writes them later. */
export const MARK_COLUMNS: readonly TransactionColumn[] = [
  column('cancelled', 'boolean', 'true: it vanished before its day'),
  column('replaced', 'boolean', 'true: the bank hid it, and its balance agrees without it'),
];

/** The columns as `create table` declares them. */
export function declared(columns: readonly TransactionColumn[]): string {
  return columns
    .map(({ name, type, isRequired }) => `${name} ${type}${isRequired ? ' not null' : ''}`)
    .join(',\n  ');
}

/** `id, status, booking_date, ...` */
export function namesOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(', ');
}

/** The columns of a record: `id text, status text, ...` */
export function typed(columns: readonly Column[]): string {
  return columns.map(({ name, type }) => `${name} ${type}`).join(', ');
}

/** Reads columns of the table `t` as their fields. Days and amounts are texts, and two texts are empty where there is none. */
export function asFields(columns: readonly Column[]): string {
  return columns
    .map(({ name, type, field }) => `${readAs(`t.${name}`, type, field)} as "${field}"`)
    .join(', ');
}

function readAs(column: string, type: Column['type'], field: string): string {
  if (type === 'numeric' || type === 'date') return `${column}::text`;
  return field === 'description' || field === 'details' ? `coalesce(${column}, '')` : column;
}
