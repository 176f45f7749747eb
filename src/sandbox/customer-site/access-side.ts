import type { PaymentShown } from './payment-details.ts';

/** The interface between the second door and its pages of the customer site. The door implements {@link AccessSide}. */

/** What a TPP asks a customer for: a consent, payments or the cancellation of one, or a login. */
export interface AccessRequest {
  id: string;
  tppName: string;
  /** The user whom the TPP named. Undefined: whoever logs in. */
  user: string | undefined;
  /** Undefined with `payments`: a login, which shows nothing yet. */
  consent:
    | { id: string; forFunds: boolean; recurring: boolean; until: string; frequencyPerDay: number }
    | undefined;
  payments: { cancels: boolean; all: PaymentShown[] } | undefined;
}

/** What a consent would show a TPP of a customer's accounts, and who else decides. */
export interface AccessShown {
  accounts: { productId: string; description: string; number: string; rights: readonly string[] }[];
  /** The customer chooses the accounts. */
  choose: boolean;
  /** The names of those who have authorised it before this customer, of a company account. */
  authorisedBy: readonly string[];
  /** The names of those who must authorise it too. */
  alsoNeeded: readonly string[];
}

/** A consent that a customer gave. */
export interface GivenConsent {
  id: string;
  tppName: string;
  /** Undefined: it is for confirmations of funds. */
  until: string | undefined;
  accounts: number;
}

/** How a decision ends: the address that the browser goes to, or nothing if there is none. */
export interface Decided {
  returnTo: URL | undefined;
}

/** What is wrong with an authorization request, if the browser cannot be sent back. */
export interface WrongAddress {
  /** A sentence that names the parameter, with what the bank expected and received. */
  wrong: string;
}

/** What the pages need from the second door. */
export interface AccessSide {
  /** Where the authorization endpoint is. */
  authorizePaths: readonly string[];
  /** Begins an authorization request of OAuth. @returns where the browser goes; or why the request is not a client's */
  authorize(query: URLSearchParams): URL | WrongAddress;
  /** Undefined: the request is unknown, decided or too old. */
  accessRequest(id: string): AccessRequest | undefined;
  /** Undefined: the request is about accounts that the customer does not have. */
  shown(id: string, customerId: string): AccessShown | undefined;
  /** @param chosen product ids, if the customer chooses. @throws RangeError if it is not open, or not this customer's */
  approve(id: string, customerId: string, chosen?: readonly string[]): Decided;
  /** @throws RangeError if it is not open */
  refuse(id: string): Decided;
  /**
   * The requests that wait for a customer without a browser that was sent here: those of decoupled SCA, and what the other holder of
   * their account has authorised.
   */
  waiting(user: string): AccessRequest[];
  /** All open requests, oldest first. */
  open(): AccessRequest[];
  /** The consents in force of a customer. */
  given(customerId: string): GivenConsent[];
  /** The customer withdraws a consent. @returns whether it was in force */
  revoke(consentId: string): boolean;
}
