import { randomUUID } from 'node:crypto';
import { referenceOfNumber } from './transaction-view.ts';

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
export function oddRow(
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
