import type { OutgoingAnswer } from '../answers/outgoing.ts';
import type { Bank } from '../bank.ts';
import type { Fault } from '../faults/fault.ts';
import type { RawRequest } from '../strict/raw-request.ts';
import type { Grant } from './grant.ts';

/** A call of the first door that passed the checks for every call. */
export interface PublicCall {
  request: RawRequest;
  /** The faults that apply to it. */
  faults: readonly Fault[];
  /** The signature's `keyId`. Without an access token it is not yet compared with the name of the calling application. */
  keyId: string;
  /** The values in the path, by the names in its template. */
  parameters: ReadonlyMap<string, string>;
}

/** A call with an access token. */
export interface PrivateCall extends PublicCall {
  /** The grant of the access token. */
  caller: Grant;
}

/** What the bank does for each call, by its method and path: `GET /private/customers/{customerId}`. */
export type Calls<Call = PrivateCall> = Readonly<Record<string, (bank: Bank, call: Call) => OutgoingAnswer>>;
