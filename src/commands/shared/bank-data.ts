import type { Details } from '../../bank/ports/bank.ts';
import { anything, type Column, type Field, record, type View } from '../../terminal/output/fields.ts';
import { leavesOf } from '../../terminal/output/leaves.ts';
import type { Context } from '../context.ts';
import type { Printed } from '../declare.ts';

// The specification does not show the shapes of these answers, so psd2 prints the bank's own data unread.

/** The bank's own data, of an unknown shape. */
export const bankData: Field<object> = record(anything(), "the bank's own data, unchanged");

export const BANK_DATA: Printed = { what: "the bank's own data", shape: bankData };

/** Prints what the bank itself says of a customer or of products. */
export async function showBankData(
  context: Context,
  detailsOf: (customerId: string) => Details,
): Promise<void> {
  const { bank, customerId } = await context.bank();
  printBankData(context, await bank.accounts.details(detailsOf(customerId), context.world.newId()));
}

/** Data of an unknown shape is printed unread. @param columns what people see of it */
export function unread<Of extends object>(columns: Column<Of>[]): View<Of> {
  return { data: (of) => of, names: undefined, lines: columns, columns };
}

/** Prints data of an unknown shape: as JSON, or one line for each value with its path. */
export function printBankData({ output }: Context, data: object): void {
  output.record(data, unread([...leavesOf(data)].map(([title, value]) => ({ title, value: () => value }))));
}
