import type { HttpBindings } from '@hono/node-server';
import type { Grant } from '../access/grant.ts';
import type { Fault } from '../faults/fault.ts';
import type { RawRequest } from '../strict/raw-request.ts';

/** The context of the API's handlers. */
export interface BankEnv {
  Bindings: HttpBindings;
  Variables: {
    /** The raw request. `strict/check-request.ts` has checked it. */
    request: RawRequest;
    /** The faults that apply to this call. */
    faults: readonly Fault[];
    /** The signature's `keyId`, not yet compared with the name of the calling application. */
    keyId: string;
    /** The grant of the access token. Set on `/private` paths. */
    caller: Grant;
  };
}
