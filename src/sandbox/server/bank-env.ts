import type { HttpBindings } from '@hono/node-server';
import type { Grant } from '../access/tokens.ts';
import type { Fault } from '../faults/fault.ts';
import type { RawRequest } from '../strict/raw-request.ts';

/** What the handlers of the API find in their context. */
export interface BankEnv {
  Bindings: HttpBindings;
  Variables: {
    /** The request as it came, which has passed `strict/check-request.ts`. */
    request: RawRequest;
    /** What goes wrong with this call. */
    faults: readonly Fault[];
    /** The signature's `keyId`: not yet compared with the name of the calling application. */
    keyId: string;
    /** On `/private` paths: whose access token came. */
    caller: Grant;
  };
}
