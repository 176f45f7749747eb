import { Refusal } from '../answers/refusal.ts';
import type { RawRequest } from './raw-request.ts';

/**
 * The parameters of the request's query, percent-decoded.
 *
 * @throws Refusal `PARAMETER_INVALID` if one was sent twice.
 */
export function readQuery({ target }: RawRequest): ReadonlyMap<string, string> {
  const start = target.indexOf('?');
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(start < 0 ? '' : target.slice(start + 1))) {
    if (parameters.has(name)) throw new Refusal('PARAMETER_INVALID', `The parameter ${name} was sent twice`);
    parameters.set(name, value);
  }
  return parameters;
}
