import type { IsoDate } from '../../domain/calendar.ts';

/** Who the customer (PSU) is at the bank, as the operator gave it (the standard, `PSU-ID` and the headers beside it). */
export interface KeptPsu {
  id: string | null;
  idType: string | null;
  corporateId: string | null;
  corporateIdType: string | null;
}

/** An account that a list of the bank had. Payments name its IBAN. */
export interface KeptAccount {
  accountId: string;
  iban: string | null;
  /** It is a card account: its address is another. */
  kind?: 'card';
  /** ISO 4217. Absent, as what follows: it is not kept. */
  currency?: string;
  name?: string | null;
  productCode?: string | null;
  /** Not `enabled`, as the bank said: `blocked`. */
  status?: string;
}

/** A consent that the customer has granted. If it has ended, it is removed, and the journal of its flow keeps the history. */
export interface KeptConsent {
  /** The flow that asked for it. */
  flow: string;
  consentId: string;
  /** Ids and IBANs of the accounts that it covers; null: all. */
  accounts: readonly string[] | null;
  /** What may be read of them. */
  reads: readonly ('accounts' | 'balances' | 'transactions')[];
  validUntil: IsoDate | null;
  recurring: boolean;
  frequencyPerDay: number;
  /** ISO 8601 with zone. */
  grantedAt: string;
  /** `none`: it covers no card account. Accounts were asked for, and granted, by IBAN alone, or the bank refused the list of cards to it. */
  cards?: 'none';
  /** The accounts that the bank has listed with it. Absent: no list was read yet. */
  listed?: readonly KeptAccount[];
  /** The format in which the bank gives account reports, if it is not its first. */
  report?: 'json' | 'camt' | 'mt940';
  /** The lists of transactions that the bank gives one by one, if it refuses both at once. */
  lists?: readonly ('booked' | 'pending')[];
}

/** A consent for more than one reading, or for confirmations of funds. */
export interface LastingConsent {
  customer: string;
  flow: string;
  validUntil: IsoDate;
}

/** A consent for confirmations of funds that the customer has granted. No reading uses it. */
export interface KeptFundsConsent
  extends Pick<KeptConsent, 'flow' | 'consentId' | 'validUntil' | 'grantedAt'> {
  /** The transaction whose SCA may have given tokens for it. */
  transactionId: string;
  /** The account, as the operator refers to it. The number of a card is masked. */
  account: string;
}

/** What psd2 keeps of a customer. */
export interface KeptCustomer {
  psu: KeptPsu;
  /** The newest first (`grantedAt`). The store sorts them. */
  consents: readonly KeptConsent[];
  /** The id of the method with which they last proved an authorisation in psd2. */
  scaMethod?: string;
  /** Absent: none. */
  funds?: readonly KeptFundsConsent[];
  /** The accounts that lists have had, with whatever consent. */
  accounts?: readonly KeptAccount[];
}

/**
 * What psd2 keeps of the customers of one profile at one bank, so that a reading finds a consent without a look at all
 * journals. A customer need not have a login. The names are the operator's words (`isCustomerId`), compared with case.
 */
export interface Customers {
  /** The customers with a record, sorted, including those whose record is damaged. @throws Psd2Error `config` */
  list(): Promise<string[]>;
  /** The records of all customers, in one pass, sorted. @throws Psd2Error `config` if one is damaged */
  all(): Promise<{ customer: string; kept: KeptCustomer }[]>;
  /**
   * The consents of all customers that are meant to last, and whose end is known, sorted by customer.
   *
   * @throws Psd2Error `config` if a record is damaged
   */
  lasting(): Promise<LastingConsent[]>;
  /**
   * @returns undefined if there is no record
   * @throws Psd2Error `config` if it is damaged
   */
  read(customer: string): Promise<KeptCustomer | undefined>;
  /**
   * Changes a record, durably. Workers that change the same record do so one after the other, and none of their changes is
   * lost, also if one of them is killed in the middle, or stands still and goes on later. A backend keeps a damaged record
   * under another name, tells the operator, and begins an empty one.
   *
   * @param update gives the record after the change. Called again with a newer record if another worker was faster. Without a
   *   record, it gets an empty one
   * @throws Psd2Error `config` if it cannot be written, or it is unclear whether it was. Also what `update` throws
   */
  change(customer: string, update: (before: KeptCustomer) => KeptCustomer): Promise<void>;
  /** Removes a record. Another worker cannot bring it back with a change that it began before. @throws as {@link change} */
  forget(customer: string): Promise<void>;
  /** The other base URLs that have records of the profile, with the number of records, the most first. */
  otherBanks(): Promise<{ baseUrl: string; customers: number }[]>;
  /**
   * Takes the records at another base URL along to the current one. If both have the same consent, the one at the current base URL
   * stays as it is. Can be interrupted and repeated.
   *
   * @returns the number of records
   * @throws as {@link change}
   */
  move(from: string): Promise<number>;
  /** Removes the records of all customers of the profile, at any bank. @throws Psd2Error `config` */
  forgetAll(): Promise<void>;
}
