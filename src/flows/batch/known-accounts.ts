import type { BatchLine } from '../../domain/batch/line.ts';
import type { Flows } from '../../store/ports/flows.ts';

/** The accounts that the store knows of each customer, by their consents. */
export interface KnownAccounts {
  /** What is wrong with the account that a line debits; undefined if nothing is, or nobody knows. */
  problemWith(line: BatchLine): string | undefined;
}

/** Reads the consents of all customers. It asks no bank. @param usual the customer who pays what names none */
export async function readKnownAccounts(flows: Flows, usual: string | undefined): Promise<KnownAccounts> {
  const accounts = new Map<string, Set<string>>();
  for await (const consent of flows.list('consent', { onDamaged: () => {} })) {
    if (consent.state !== 'confirmed') continue;
    const known = accounts.get(consent.customerId) ?? new Set();
    for (const { products } of consent.categories) for (const product of products) known.add(product);
    accounts.set(consent.customerId, known);
  }
  return {
    problemWith({ customer, from }) {
      const payer = customer ?? usual;
      const known = payer === undefined ? undefined : accounts.get(payer);
      if (from === null || !known || known.size === 0 || known.has(from)) return undefined;
      return `The account ${from} is not one that customer ${payer} has given a consent for`;
    },
  };
}
