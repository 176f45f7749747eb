import type { BatchLine } from '../../domain/batch/line.ts';
import type { Context } from '../context.ts';
import { customerOf } from '../open/bank.ts';

/** The accounts that the store knows of each customer, by their consents. */
export interface KnownAccounts {
  /** What is wrong with the account that a line debits; undefined if nothing is, or nobody knows. */
  problemWith(line: BatchLine): string | undefined;
}

/** Reads the consents of all customers. It asks no bank. */
export async function readKnownAccounts(context: Context): Promise<KnownAccounts> {
  const { flows, tokens } = await context.store();
  const { customers: named } = await context.bankInterface();
  // Elsewhere a consent is for reading alone, and says nothing of the accounts that pay.
  if (named !== 'named by the bank') return { problemWith: () => undefined };
  const accounts = new Map<string, Set<string>>();
  for await (const consent of flows.list('consent', { onDamaged: () => {} })) {
    if (consent.state !== 'confirmed') continue;
    const known = accounts.get(consent.customerId) ?? new Set();
    for (const { products } of consent.categories) for (const product of products) known.add(product);
    accounts.set(consent.customerId, known);
  }
  const usual = context.globals.customer === undefined ? await tokens.last() : await customerOf(context);
  return {
    problemWith({ customer, from }) {
      const payer = customer ?? usual;
      const known = payer === undefined ? undefined : accounts.get(payer);
      if (from === null || !known || known.size === 0 || known.has(from)) return undefined;
      return `The account ${from} is not one that customer ${payer} has given a consent for`;
    },
  };
}
