import * as z from 'zod/mini';
import type { Context } from '../context.ts';
import { bankData } from './shapes.ts';

// The specification does not show the shapes of these answers, so psd2 prints the bank's own data unread.

/** Prints the bank's answer to a GET of a customer's path. */
export async function showBankData(context: Context, pathOf: (customerId: string) => string): Promise<void> {
  const { bank, customerId } = await context.bank();
  const call = { method: 'GET', path: pathOf(customerId), transactionId: context.world.newId() } as const;
  const { data } = await bank.call(call, z.record(z.string(), z.unknown()));
  printBankData(context, data);
}

/** Prints data of an unknown shape: as JSON, or one line for each value with its path. */
export function printBankData({ output }: Context, data: object): void {
  output.record(
    data,
    [...leaves(data, '')].map(([path, value]) => ({ title: path, value: () => value })),
    bankData,
  );
}

function* leaves(value: unknown, path: string): Generator<[string, string]> {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value))
      yield* leaves(inner, path === '' ? key : `${path}.${key}`);
  } else yield [path, value === null || value === undefined ? '' : String(value)];
}
