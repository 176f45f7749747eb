import type { Pending } from '../../access/logins.ts';
import type { AnyGrant } from '../../access/tokens.ts';

/** The access that a token gives at the second door. */
export interface DoorGrant extends AnyGrant {
  scope: string;
  /** The consent that the customer gave with it. Undefined: a login, or the application. */
  consentId: string | undefined;
  /** The payment that the customer authorised with it. */
  paymentId: string | undefined;
}

/** What a client asks for with an authorization request. */
export interface AuthorizationRequest {
  redirectUri: string;
  state: string | undefined;
  scope: string;
  /** Of PKCE (RFC 7636). */
  challenge: string | undefined;
  /** The authorisation that it decides. Undefined: a login before everything. */
  authorisationId: string | undefined;
}

/** One that the customer has not decided yet. */
export type PendingRequest = Pending<AuthorizationRequest>;
