import type { RawRequest } from '../../strict/raw-request.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';

/**
 * The parameters of a call's query, percent-decoded.
 *
 * @param allowed the parameters that the call has at this bank
 * @throws DoorRefusal `FORMAT_ERROR` if one came twice, `PARAMETER_NOT_SUPPORTED` if the call does not have it here
 */
export function readQuery({ target }: RawRequest, allowed: readonly string[]): ReadonlyMap<string, string> {
  const start = target.indexOf('?');
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(start < 0 ? '' : target.slice(start + 1))) {
    if (parameters.has(name)) {
      throw new DoorRefusal('FORMAT_ERROR', `The parameter ${name} came twice`, '', { path: name });
    }
    if (!allowed.includes(name)) {
      const known = allowed.length === 0 ? 'no parameter' : allowed.join(', ');
      throw unexpected('PARAMETER_NOT_SUPPORTED', name, 'The bank does not take this parameter', known, name);
    }
    parameters.set(name, value);
  }
  return parameters;
}

/** A parameter that is `true` or `false`. Absent: false. @throws DoorRefusal `FORMAT_ERROR` */
export function readFlag(query: ReadonlyMap<string, string>, name: string): boolean {
  const value = query.get(name);
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw unexpected('FORMAT_ERROR', name, `${name} is not a boolean`, 'true or false', value);
}
