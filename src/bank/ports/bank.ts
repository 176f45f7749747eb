import type { X509Certificate } from 'node:crypto';
import type { TppCertificateEncoding } from '../../certificates/key-pair.ts';
import type { BookedRow, RowNaming } from '../../domain/booked-ids.ts';
import type { IsoDate } from '../../domain/calendar.ts';
import type { Covered } from '../../domain/consent.ts';
import type { CreditLimits } from '../../domain/credit-limits.ts';
import type { Decimal, Money } from '../../domain/decimal.ts';
import type { EmbeddedCustomers } from '../../domain/embedded.ts';
import type { CertificateName } from '../../domain/flow.ts';
import type { AccountId } from '../../domain/identifiers.ts';
import type { Commits, GenericOrder, Initiation, OrderTarget } from '../../domain/operation.ts';
import type { SaidFacts } from '../../domain/transaction-facts.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import type { Psd2Error } from '../../errors.ts';
import type { Signer } from '../../signature/http-signature.ts';
import type { Baskets } from './basket.ts';
import type { BulkPayments, BulkTerms, Debited } from './bulk.ts';
import type { Consents, Login, OddLinks, Sca } from './customer.ts';
import type { PaymentCalls } from './payment-calls.ts';
import type { Questions } from './questions.ts';

/** What an interface may lack. One place refuses it then: `commands/open/bank.ts`. */
export type Capability =
  | 'payments'
  | 'standing orders'
  | 'signing baskets'
  | 'addresses of payees'
  | 'confirmation of funds'
  | 'consents for confirmations of funds'
  | 'products'
  | 'data of the customer'
  | 'Consent-ID'
  | 'operations'
  | 'terms'
  | 'receipts'
  | 'documents'
  | 'consent confirmation'
  | 'consent status'
  | 'consent deletion'
  | 'terms of consents'
  | 'links for SCA'
  | 'embedded SCA'
  | 'PSU-ID'
  | 'bulk payments'
  | 'balances by type';

/** A bank, as flows and commands know it. */
export interface Bank {
  accounts: Accounts;
  consents: Consents;
  login: Login;
  payments: Payments;
  sca: Sca;
  /** Consents for confirmations of funds, with SCA of their own. Has the capability `consents for confirmations of funds`. */
  ofFunds?: { consents: Consents; sca: Sca };
  /** The certificate of the connection. Absent: the bank knows resources by other means. */
  certificate?(): CertificateName;
  /** Sends a call that no other port has (`psd2 api`), and returns the answer, whatever its status. */
  send(call: FreeCall): Promise<FreeAnswer>;
  /**
   * Reads a list: sends such a call with `GET`, and then those of the next pages, as the answers say. It ends with the last
   * page, or with the first answer that is not a success.
   *
   * @throws Psd2Error `bank_answer` if the pages do not advance or lead away from the bank; `usage` if the answers do not say
   *   what the next page is
   */
  pages(call: FreeCall): AsyncIterable<FreeAnswer>;
  /** The earliest time of an answer so far, by the bank's own clock (`Date`; RFC 9110, section 6.6.1). */
  earliestAnswer(): Date | undefined;
  /**
   * Asks the bank what time it is, by its own clock (`Date`). Nothing else follows from the answer, and no reading is used up.
   * Absent: nothing depends on it.
   *
   * @returns null if the answer does not say
   */
  clock?(): Promise<Date | null>;
  /** So far. Absent: the interface reads no answer that is odd. */
  oddities?: Oddities;
  /** Questions to a bank that nobody has described yet. Absent: every bank of the interface is the same. */
  questions?: Questions;
  /** Makes {@link earliestAnswer} begin anew. */
  forgetAnswers?(): void;
}

/** The signer, and the application that it signs for. */
export interface Identity {
  /** The application's name, as registered: the signature's `keyId`. */
  applicationName: string;
  signer: Signer;
  signingCertificate: X509Certificate;
  /** The certificate of the connection. It can name the application at the bank's OAuth server. */
  qwacCertificate: X509Certificate;
  tppCertificate: TppCertificateEncoding;
}

/** How all requests of an application are written, and how their answers are checked. */
export interface RequestSettings {
  /** The path of the base URL, a prefix for every path: `''` or `/prefix`. */
  pathPrefix: string;
  /** Scheme, host and port of the base URL. */
  origin: string;
  identity: Identity;
  /** PEM. Without it, the signatures of answers are not checked. */
  bankSigningCertificate: string | undefined;
  psuIpAddress: string | undefined;
  language: string | undefined;
  traceComponent: string | undefined;
  /** The IPv4 address that this machine calls the bank from. @throws Psd2Error `config` */
  ownAddress: () => Promise<string>;
  now: () => Date;
  newId: () => string;
}

/** A call that the operator has put together. */
export interface FreeCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base URL, with its query, percent-encoded. */
  path: string;
  /** JSON. A string is sent unchanged. */
  body?: object | string;
  transactionId: string;
  /** More headers, with names in lower case. */
  headers: Record<string, string>;
  /** Where the customer's browser returns to, if the bank asks for SCA. */
  returnAddress: () => string;
}

export interface FreeAnswer {
  body: Buffer;
  /** The body as JSON, with all digits. Undefined if it is not JSON. */
  json: unknown;
  /** Why it is not a success, with what the operator can do. Null for a success. */
  refusal: Psd2Error | null;
}

/** A request as it would go over the wire, without secrets. */
export interface ComposedRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: string | null;
  /** The exact string that was signed. */
  signingString: string;
}

/** What is known of a payment before there is an order. */
export interface PlannedPayment
  extends Pick<TransferOrder, 'instant' | 'urgent' | 'description' | 'creditorReference'>,
    Debited {
  /** Null: the day on which psd2 pays. */
  executionDate: IsoDate | null;
  /** The payee's, in the parts that are known. */
  address: Partial<NonNullable<TransferOrder['payeeAddress']>> | null;
}

/** What the rest of psd2 knows of an interface before it has opened a bank. */
export interface BankInterface {
  name: string;
  has: ReadonlySet<Capability>;
  /** Absent: the bank has no bulk payments. */
  bulk?: BulkTerms;
  /** Whether a payment may name the account to debit. If it does not, the customer chooses it at the bank. Absent: it must. */
  debtorAccount?: 'optional' | 'never';
  /** The names of the members that psd2 reads in the answers of readings and payments. Absent: nothing is known. */
  fieldsRead?(): Promise<ReadonlySet<string>>;
  /** Whether no payment may debit the account, by what the bank's list says of it: it is a card. Absent: nothing is known. */
  cannotPay?(account: Pick<Account, 'card' | 'productCode'>): boolean;
  /**
   * Refuses a payment that the bank does not take, as far as that is known without asking it. Absent: nothing is known.
   *
   * @param today the day at the bank
   * @throws Psd2Error `usage`, `invalid_date`
   */
  refusePayment?(payment: PlannedPayment, today: IsoDate): void;
  /**
   * Refuses to begin a payment only to give it up, if it may run or reach the customer before that. Absent: it cannot.
   *
   * @throws Psd2Error `usage`
   */
  refuseGivingUp?(): void;
  /** What its customers may have to give psd2 where the bank has no other way (docs/embedded.md). Absent: nothing. */
  takesCredentials?: EmbeddedCustomers;
  /** What consents the bank takes, at a bank where the operator chooses their terms. `once`: for one reading. */
  consentTerms?: { types: readonly Covered['type'][]; once: boolean };
  /**
   * Who logs in: each customer; the application alone; each customer while authorising a consent; nobody, because calls have
   * no token.
   */
  logsIn: 'customers' | 'application' | 'with a consent' | 'nobody';
  /** Calls that carry no token of a customer carry one of the application, which it gets by itself. */
  hasApplicationToken?: boolean;
  /** Customers log in for readings, and with another login for payments. */
  hasLoginForPayments?: boolean;
  /** What {@link Login.probe} calls: the start of a login, or a reading. */
  probes: 'authorize' | 'signature';
  /** Whose word the id of a customer is. An operator who names no customer means the customer `default`. */
  customers: 'named by the bank' | 'named by the operator';
  /** Reads the id of a customer from the operator, in the form of this interface. @throws Psd2Error `usage` */
  readCustomerId(text: string): string;
  /** Reads the id of an account, card or deposit, in the same way. @throws Psd2Error `invalid_product_id` */
  readAccountId(text: string): AccountId;
  /** Why psd2 does not send a free call. Null if it does. */
  refusalOf(method: string, path: string): Psd2Error | null;
  /** Headers that psd2 sets itself, because they are signed, secret, or part of the connection. In lower case. */
  ownHeaders: readonly string[];
}

/** An account, card or deposit of a customer. Two accounts can share an IBAN. */
export interface Account {
  accountId: string;
  /** The same: the word of the bank for it. */
  productId: string;
  iban: string | null;
  currency: string;
  name: string | null;
  productCode: string | null;
  productDescription: string | null;
  /** It is a card account. */
  card?: true;
  /** Its number in its country, if the bank gives one. */
  bban?: string;
  maskedPan?: string;
  /** `enabled`, `blocked` or `deleted`. Absent: the bank does not say. */
  status?: string;
}

export interface Balance {
  accountId: string;
  /** As in {@link Account}. */
  productId: string;
  accountBalance: Money | null;
  availableBalance: Money | null;
  accountAvailability: Money | null;
  accountAvailableCredit: Money | null;
  /** ISO 8601: a time with zone, a day if the bank gave no hour, or null. */
  asOf: string | null;
  /** The last day whose booked rows are in `accountBalance`. Null: the bank does not say. Absent: all rows up to now are. */
  bookedDay?: IsoDate | null;
  /** Whether a credit line is in these. Absent: the bank does not say. */
  creditLimitIncluded?: CreditLimits;
  /** All balances in the bank's own words, if it has words for them. */
  balances?: TypedBalance[];
}

/** A balance with the bank's own name for it: `closingBooked`. */
export interface TypedBalance {
  type: string;
  amount: Decimal;
  currency: string;
  /** The day of the balance. */
  date: IsoDate | null;
  /** When it last changed: ISO 8601 with zone. */
  at: string | null;
  /** Whether it has a credit line in it. Absent: the bank does not say. */
  creditLimitIncluded?: boolean;
}

/** A row of the transaction list. `index` restarts with every query, so it is not an id. */
export interface Transaction extends BookedRow, SaidFacts {
  index: string;
  status: 'booked' | 'pending';
  feeCharge: boolean | null;
}

/** What was odd in a bank's answers, and did no harm. */
export interface Oddities extends OddLinks {
  /** The fields that psd2 could not read, and how often. It counts each as missing. */
  unread: ReadonlyMap<string, number>;
}

export interface TransactionQuery {
  customerId: string;
  productId: string;
  from: IsoDate | undefined;
  to: IsoDate | undefined;
  /** The list to read. Undefined means both. */
  status: Transaction['status'] | undefined;
  /** What the bank has booked after this `entryReference`, instead of a range, and what is pending ({@link Accounts.readsOn}). */
  after?: string;
  transactionId: string;
}

/** The part of a list in one answer. */
export interface ListPage {
  /** In the bank's order. */
  rows: Transaction[];
  /** The total number of rows on all pages, according to this answer. Null if the answer does not say. */
  total: number | null;
  /** The list continues on another page. */
  hasMore: boolean;
}

/** A page of each list. A list that has ended or is not requested is missing. */
export interface TransactionPage {
  booked?: ListPage;
  pending?: ListPage;
  /**
   * The total number of booked rows, if their list has ended, the pending one goes on, and the answer says it. It shows that
   * a pending transaction was booked, even if its list has as many rows as before.
   */
  endedBookedTotal?: number;
  /** What the bank's own statements say that their rows do not: sentences with both figures. */
  contradictions?: readonly string[];
  /** How many booked rows have a booking day that cannot be read. It is null there, and their value day is all that places them. */
  unreadDays?: number;
}

/** What a customer has at a bank. All throw Psd2Error if the bank gives no usable answer. */
export interface Accounts {
  /** Whether a text can be the id of an account at this interface. psd2 stores nothing of an account with another id. */
  isId(text: string): boolean;
  /** The bank is asked for no earlier day of transactions. Undefined: it has not said how far back it goes. */
  earliestDay?(): IsoDate;
  /** An account is its number and currency: its id may be another one with each consent. */
  namesAccounts?: true;
  /** Transactions have {@link SaidFacts}. */
  identifiesRows?: true;
  /** What names a row. Absent: what is seen to hold. */
  rowNaming?: RowNaming;
  /** The bank has no list of pending transactions. */
  lacksPending?: true;
  /** The bank knows {@link TransactionQuery.after}. */
  readsOn?: true;
  list(customerId: string, transactionId: string): Promise<Account[]>;
  balance(customerId: string, productId: string, transactionId: string): Promise<Balance>;
  /**
   * Reads the transactions of one account page by page, in the bank's order. Transactions that are booked between two pages
   * move the rows: `flows/reading` recognises that.
   *
   * @throws Psd2Error `bank_answer` if the pages do not advance
   */
  pages(query: TransactionQuery): AsyncGenerator<TransactionPage>;
  /** The bank's own document of the transactions in a range. */
  document(query: Omit<TransactionQuery, 'status'>, format: 'xls' | 'pdf'): Promise<Buffer>;
  /** The bank's own data of the customer, of all products, or of one product, unread: no interface describes it. */
  details(of: Details, transactionId: string): Promise<object>;
}

export type Details =
  | { what: 'customer' | 'products'; customerId: string }
  | { what: 'product'; customerId: string; productId: string };

/** What the bank allows for transfers. Null and empty: the bank does not say. */
export interface TransferTerms {
  bankCode: string | null;
  sepa: boolean | null;
  swift: boolean | null;
  urgent: boolean | null;
  today: IsoDate | null;
  earliestDate: IsoDate | null;
  earliestDateInternal: IsoDate | null;
  latestDate: IsoDate | null;
  holidays: IsoDate[];
  currency: string | null;
  currencies: { code: string; label: string; rate: string | null }[];
  countries: { code: string; label: string }[];
}

/** Whether an account has an amount. */
export interface AskedFunds {
  /** An IBAN, or another reference. */
  account: string;
  amount: Decimal;
  currency: string;
  /** The customer's consent to such questions, and the transaction whose SCA may have given tokens for it. */
  consent?: { consentId: string; transactionId: string };
}

/** The payments of a bank. All throw Psd2Error if the bank gives no usable answer. */
export interface Payments {
  /** The point of no return of all payments of this interface. A flow's first event keeps it. */
  commits: Commits;
  /**
   * What a flow keeps of a payment that the customer authorises by links, from its first event on. Absent: they authorise it by a call.
   *
   * @param back where the customer's browser returns to, with the state that ties the return to the flow
   * @throws Psd2Error `usage` and the `invalid_…` codes for an order that this bank does not take. Nothing was sent then
   */
  initiation?(
    order: TransferOrder,
    back: { address: string; state: string },
    newId: () => string,
  ): Promise<Initiation>;
  /** Absent: the bank has none. */
  bulk?: BulkPayments;
  /** Has the capability `signing baskets`. */
  baskets?: Baskets;
  /** Whether the account has the amount. Has the capability `confirmation of funds`. */
  funds?(of: AskedFunds, transactionId: string): Promise<boolean>;
  transfer(payment: {
    order: TransferOrder;
    transactionId: string;
    initiation?: Initiation | null;
    /** The transaction of the signing basket in which the customer authorises it. */
    authorisedBy?: string;
  }): PaymentCalls;
  /** An operation with any name of the bank's own documentation. */
  operation(payment: { order: GenericOrder; transactionId: string }): PaymentCalls;
  terms(target: OrderTarget, transactionId: string): Promise<TransferTerms>;
  /** The bank's own data for an operation, unread. */
  operationTerms(target: OrderTarget & { operation: string }, transactionId: string): Promise<object>;
  /** The printable document of an executed payment. */
  receipt(target: OrderTarget, resourceId: string, transactionId: string): Promise<Buffer>;
}
