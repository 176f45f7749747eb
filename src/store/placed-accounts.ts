import * as z from 'zod/mini';
import { type Placed, placeAccounts, type StoredAccount } from '../domain/same-accounts.ts';
import type { AccountOfList, Progress, SyncTarget } from './ports/sync.ts';

/** How a bank has named an account, kept with its rows. */
export type AccountName = Omit<StoredAccount, 'productId'>;

const word = z.optional(z.nullable(z.string()));
export const accountName: z.ZodMiniType<AccountName> = z.object({
  bankId: z.string(),
  currency: z.optional(z.string()),
  card: z.optional(z.boolean()),
  iban: word,
  name: word,
  bban: word,
  maskedPan: word,
  productCode: word,
  productDescription: word,
});

/** The progress of an account, and how the bank has named it. */
export interface NamedProgress extends Progress {
  account?: AccountName | undefined;
}

/** Where a backend stores the accounts of a customer, by the ids under which they are stored. */
export interface StoredTarget extends Omit<SyncTarget, 'place' | 'remember'> {
  /** The accounts of which something is stored. */
  stored(): Promise<readonly StoredAccount[]>;
  remember(storedAs: string, progress: NamedProgress, settled: Parameters<SyncTarget['remember']>[2]): void;
}

/** A customer's place in a store, by the ids that the bank gives the accounts today. */
export function byIdsOfToday(target: StoredTarget): SyncTarget {
  const placed = new Map<string, { storedAs: string; account: AccountName }>();
  const storedAs = (productId: string) => placed.get(productId)?.storedAs ?? productId;
  return {
    async place(accounts, areNamed) {
      const stored = areNamed ? await target.stored() : [];
      const places = areNamed
        ? placeAccounts(accounts, stored)
        : accounts.map((account) => ({ account, storedAs: account.productId, takenFor: null }));
      for (const { account, storedAs: id } of places)
        if (areNamed && id !== null)
          placed.set(account.productId, { storedAs: id, account: accountNameOf(account) });
      target.replace('accounts', listToStore(places, stored));
      return places;
    },
    progress: (productId) => target.progress(storedAs(productId)),
    booked: (productId, readsAll) => target.booked(storedAs(productId), readsAll),
    replace(name, rows) {
      const [kind = name, productId] = /^([a-z]+)\/(.*)$/s.exec(name)?.slice(1) ?? [];
      target.replace(
        productId === undefined ? kind : `${kind}/${storedAs(productId)}`,
        rows.map(underStoredId),
      );
    },
    remember(productId, progress, settled) {
      const account = placed.get(productId)?.account;
      target.remember(storedAs(productId), { ...progress, ...(account && { account }) }, settled);
    },
    commit: () => target.commit(),
  };

  function underStoredId(row: object): object {
    return 'productId' in row && typeof row.productId === 'string'
      ? { ...row, productId: storedAs(row.productId) }
      : row;
  }
}

function accountNameOf({ productId, accountId: _same, status: _now, ...name }: AccountOfList): AccountName {
  return { ...name, bankId: productId };
}

/** What the store says of the accounts: those of the list, and those that one of the list may be. */
function listToStore(places: readonly Placed<AccountOfList>[], stored: readonly StoredAccount[]): object[] {
  const rows = places.flatMap(({ account, storedAs }) =>
    storedAs === null
      ? []
      : [
          {
            ...account,
            productId: storedAs,
            ...(storedAs !== account.productId && { bankId: account.productId }),
          },
        ],
  );
  if (rows.length === places.length) return rows;
  const isPlaced = new Set(places.map(({ storedAs }) => storedAs));
  const others = stored.filter(
    ({ productId, currency }) => currency !== undefined && !isPlaced.has(productId),
  );
  return [...rows, ...others.map((each) => ({ ...NOTHING_MORE, ...each }))];
}

const NOTHING_MORE = { iban: null, name: null, productCode: null, productDescription: null };
