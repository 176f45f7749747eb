/**
 * The interface between the bank and its customer site. The bank implements {@link BankSide}, and the site shows plain
 * HTML pages for it.
 */

/** A customer as the login page shows them. The password is public: this is a sandbox. */
export interface SandboxLogin {
  user: string;
  password: string;
  name: string;
  customerId: string;
}

/** What the customer decides on after a TPP sent them to log in. */
export interface LoginRequest {
  id: string;
  tppName: string;
  applicationName: string;
}

/** An exact decimal and its currency code. */
export interface Money {
  amount: string;
  currency: string;
}

/** What the customer authorises on the SCA page. */
export type ScaRequest =
  | {
      kind: 'consent';
      resourceId: string;
      tppName: string;
      customerName: string;
      /** When the consent would end, given today: `YYYY-MM-DD`. */
      until: string;
      categories: { name: string; products: { productId: string; description: string; iban: string }[] }[];
    }
  | {
      kind: 'payment';
      resourceId: string;
      tppName: string;
      customerName: string;
      operation: string;
      instant: boolean;
      beneficiaryName: string;
      beneficiaryIban: string;
      amount: Money;
      commissions: Money;
      total: Money;
      /** `YYYY-MM-DD` */
      executionDate: string;
      /** How often and until when. Only for a standing order. */
      schedule?: string;
      description: string;
      debitAccount: { productId: string; iban: string };
    }
  | {
      kind: 'inquiry';
      resourceId: string;
      tppName: string;
      customerName: string;
      product: { productId: string; description: string; iban: string };
      /** The first requested day, `YYYY-MM-DD`. */
      from: string;
    };

/** The state of an SCA (interface specification, "States and transitions"). */
export type ScaState = 'PENDING' | 'AUTHORIZED' | 'NOT_AUTHORIZED' | 'EXPIRED';

/** What the customer site needs from the bank. */
export interface BankSide {
  /** The customers that the login page shows. */
  logins(): SandboxLogin[];
  /** Undefined: the login is unknown, used or expired. */
  loginRequest(id: string): LoginRequest | undefined;
  authenticate(user: string, password: string): SandboxLogin | undefined;
  /** Allows the TPP access. Returns the address for the browser: redirect_uri with code and state. */
  allowLogin(id: string, customerId: string): URL;
  /** Refuses access. Returns the address for the browser: redirect_uri with error=access_denied and state. */
  refuseLogin(id: string): URL;
  /** Undefined: the resource is unknown, or its SCA was not started. */
  scaRequest(resourceId: string): { request: ScaRequest; state: ScaState } | undefined;
  /** Authorises a pending SCA. Returns the `TPP-Redirect-URI` to send the browser back to. */
  approveSca(resourceId: string): URL;
  /** Refuses a pending SCA. Returns the same address as {@link approveSca}. */
  refuseSca(resourceId: string): URL;
}
