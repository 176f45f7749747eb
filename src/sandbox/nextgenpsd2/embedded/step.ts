import * as z from 'zod/mini';
import type { RawRequest } from '../../strict/raw-request.ts';
import { readBody } from '../strict/body.ts';

/** What a call of embedded SCA brings: the customer, the PIN, the chosen method, or the TAN. */
export type Step =
  | { kind: 'identification' }
  | { kind: 'pin'; pin: string }
  | { kind: 'method'; methodId: string }
  | { kind: 'tan'; tan: string };

const pinBody = z.strictObject({ psuData: z.strictObject({ password: z.string() }) });
const methodBody = z.strictObject({ authenticationMethodId: z.string() });
const tanBody = z.strictObject({ scaAuthenticationData: z.string() });

/**
 * Reads the body of a call of embedded SCA (NextGenPSD2, "Update PSU data"). An empty one names nobody but the `PSU-ID` of the headers.
 *
 * @throws DoorRefusal `FORMAT_ERROR`, which never has a value
 */
export function readStep(request: RawRequest): Step {
  switch (stepIn(request.body)) {
    case 'pin':
      return { kind: 'pin', pin: readBody(request, pinBody).psuData.password };
    case 'method':
      return { kind: 'method', methodId: readBody(request, methodBody).authenticationMethodId };
    case 'tan':
      return { kind: 'tan', tan: readBody(request, tanBody).scaAuthenticationData };
    default:
      readBody(request, z.strictObject({}), {});
      return { kind: 'identification' };
  }
}

/** The step that a body says it is, for faults and the console. Undefined: none, or the body is no JSON. */
export function stepIn(body: Buffer): Exclude<Step['kind'], 'identification'> | undefined {
  if (body.length === 0) return undefined;
  const named = z.looseObject({}).safeParse(jsonIn(body)).data ?? {};
  if ('psuData' in named) return 'pin';
  if ('authenticationMethodId' in named) return 'method';
  return 'scaAuthenticationData' in named ? 'tan' : undefined;
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
