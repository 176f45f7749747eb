import { parametersOf, queryOf } from '../../strict/query.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';

/**
 * The parameters of a call's query, percent-decoded.
 *
 * @param allowed the parameters that the call has at this bank, by the standard's names
 * @param names the bank's names for them
 * @throws DoorRefusal `FORMAT_ERROR` if one came twice, `PARAMETER_NOT_SUPPORTED` if the call does not have it here
 */
export function readQuery(
  request: RawRequest,
  allowed: readonly string[],
  names: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  const twice = (name: string) =>
    new DoorRefusal('FORMAT_ERROR', `The parameter ${name} came twice`, '', { path: name });
  const parameters = parametersOf(queryOf(request), twice);
  const standard = new Map(allowed.map((name) => [names[name] ?? name, name]));
  const other = [...parameters.keys()].find((name) => !standard.has(name));
  if (other === undefined)
    return new Map([...parameters].map(([name, value]) => [standard.get(name) ?? name, value]));
  const expected = allowed.length === 0 ? 'no parameter' : [...standard.keys()].join(', ');
  throw unexpected(
    'PARAMETER_NOT_SUPPORTED',
    other,
    'The bank does not take this parameter',
    expected,
    other,
  );
}

/** A parameter that is `true` or `false`. Absent: false. @throws DoorRefusal `FORMAT_ERROR` */
export function readFlag(query: ReadonlyMap<string, string>, name: string): boolean {
  const value = query.get(name);
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw unexpected('FORMAT_ERROR', name, `${name} is not a boolean`, 'true or false', value);
}
