import type { Customer, Product } from '../../customers/seed-customers.ts';
import type { IsoDate } from '../../ledger/bank-time.ts';
import { CASH_ACCOUNT_TYPES, maskedPanOf, panOf } from '../readings/account-view.ts';
import {
  type Access,
  type AccountReference,
  type ConsentOrder,
  type ConsentType,
  RIGHTS,
  type Right,
} from './consent-request.ts';

/** The states of a consent (NextGenPSD2, `consentStatus`) that the sandbox has. */
export type ConsentStatus =
  | 'received'
  | 'partiallyAuthorised'
  | 'rejected'
  | 'valid'
  | 'revokedByPsu'
  | 'expired'
  | 'terminatedByTpp';

/** What its paths, links and authorisations are about. */
export type ConsentKind = 'consent' | 'funds-consent';

/** A consent at the second door. */
export interface DoorConsent {
  readonly id: string;
  readonly createdAt: Date;
  readonly type: ConsentType;
  readonly recurring: boolean;
  readonly frequencyPerDay: number;
  /** The last day. A consent for one time ends with the day on which the customer gives it. */
  validUntil: IsoDate;
  /** As asked for. If the bank offers the accounts, those that the customer chose. */
  access: Access;
  /** When the customer gave it. */
  givenAt?: Date;
  /** Expiry is not written here: `Consents.statusOf` knows it. */
  status: ConsentStatus;
  /** Who gave it. Undefined until then. */
  customerId: string | undefined;
  /** What it shows, by product id. Empty until the customer gives it. */
  grants: ReadonlyMap<string, ReadonlySet<Right>>;
  lastAction: IsoDate;
  /** As in {@link ConsentOrder}. */
  readonly card?: Readonly<Record<string, string>>;
}

/** The kind of a consent. */
export function kindOfConsent({ type }: Pick<DoorConsent, 'type'>): ConsentKind {
  return type === 'funds' ? 'funds-consent' : 'consent';
}

/** Whether a consent shows who owns an account. */
export function showsOwner({ access }: Pick<DoorConsent, 'access'>, product: Product): boolean {
  const { allPsd2, availableAccounts, availableAccountsWithBalance, additionalInformation } = access;
  const owners = additionalInformation?.ownerName;
  return (
    [allPsd2, availableAccounts, availableAccountsWithBalance].includes('allAccountsWithOwnerName') ||
    owners?.length === 0 ||
    owners?.some((reference) => isReferredTo(product, reference)) === true
  );
}

/**
 * What a consent shows of a customer's accounts. Balances and transactions imply the account itself.
 *
 * @param chosen the product ids that the customer chose, if the bank offers the accounts
 * @returns undefined if the TPP asked for accounts that the customer does not have
 */
export function grantsFor(
  order: Pick<ConsentOrder, 'access' | 'type'>,
  customer: Customer,
  chosen: readonly string[] | undefined,
): Map<string, Set<Right>> | undefined {
  const kinds = order.access.restrictedTo;
  const products = customer.products.filter(({ kind }) => !kinds || kinds.includes(CASH_ACCOUNT_TYPES[kind]));
  const all = (rights: readonly Right[]) =>
    new Map(products.map(({ productId }) => [productId, new Set<Right>(['accounts', ...rights])]));
  switch (order.type) {
    case 'all-accounts':
      return all(['balances', 'transactions']);
    case 'list-only':
      return all([]);
    case 'list-with-balances':
      return all(['balances']);
    case 'bank-offered': {
      const wantedRights = RIGHTS.filter((right) => order.access[right] !== undefined);
      const offered = all(wantedRights);
      for (const id of offered.keys()) if (chosen && !chosen.includes(id)) offered.delete(id);
      return offered;
    }
    case 'dedicated':
    case 'funds':
      return dedicatedGrants(order.access, products);
  }
}

function dedicatedGrants(access: Access, products: readonly Product[]): Map<string, Set<Right>> | undefined {
  const grants = new Map<string, Set<Right>>();
  for (const right of RIGHTS) {
    for (const reference of access[right] ?? []) {
      const product = products.find((candidate) => isReferredTo(candidate, reference));
      if (!product) return undefined;
      const rights = grants.get(product.productId) ?? new Set<Right>(['accounts']);
      grants.set(product.productId, rights.add(right));
    }
  }
  return grants;
}

/** A card has the IBAN of another account, so an IBAN never means a card. */
export function isReferredTo(product: Product, { iban, bban, maskedPan, pan }: AccountReference): boolean {
  if (product.kind === 'card')
    return maskedPan?.replaceAll('*', 'x') === maskedPanOf(product) || pan === panOf(product);
  return product.iban === iban || product.iban.slice(4) === bban;
}

/** The access of a consent whose accounts the customer chose: each list that the TPP left empty has the accounts. */
export function chosenAccess(access: Access, products: readonly Product[]): Access {
  const references = products.map((product) =>
    product.kind === 'card' ? { maskedPan: maskedPanOf(product) } : { iban: product.iban },
  );
  const { additionalInformation, restrictedTo } = access;
  return {
    ...Object.fromEntries(
      RIGHTS.filter((right) => access[right] !== undefined).map((right) => [right, references]),
    ),
    ...(additionalInformation?.ownerName && { additionalInformation: { ownerName: references } }),
    ...(restrictedTo && { restrictedTo }),
  };
}
