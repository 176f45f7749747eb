import type { Fault } from '../faults/fault.ts';
import type { RawRequest } from '../strict/raw-request.ts';
import type { DoorGrant } from './oauth/grant.ts';
import type { Addressed } from './operations.ts';
import { DoorRefusal } from './refusal.ts';

/** A call of the second door that passed the checks for every call. */
export interface DoorCall {
  request: RawRequest;
  operation: Addressed;
  /** What the access token gives. Undefined: the call has none. */
  grant: DoorGrant | undefined;
  faults: readonly Fault[];
}

/** The answer to a call. Without a body: 204. */
export interface DoorAnswer {
  status: 200 | 201 | 202 | 204;
  /** JSON; a text is XML, unless the headers say something else. */
  body?: Record<string, unknown> | string;
  headers?: Record<string, string>;
}

/** A value in the path of a call. */
export function inPath({ operation }: DoorCall, name: string): string {
  const value = operation.parameters.get(name);
  if (value !== undefined) return value;
  throw new DoorRefusal('RESOURCE_UNKNOWN', `The path has no ${name}`);
}
