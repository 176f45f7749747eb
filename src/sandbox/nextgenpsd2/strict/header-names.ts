import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { RawRequest } from '../../strict/raw-request.ts';

// Headers of the standard that have other names at the bank (`headers.names`).

type Names = BankDescription['headers']['names'];

/** Names of headers in lower case, as the bank has them. */
export function atBank(names: Names, standard: readonly string[]): string[] {
  const own = new Map(Object.entries(names).map(([name, its]) => [name.toLowerCase(), its.toLowerCase()]));
  return standard.map((name) => own.get(name.toLowerCase()) ?? name.toLowerCase());
}

/** A request whose headers have the standard's names. One that came with the standard's name, and has another here, is none. */
export function withStandardNames(request: RawRequest, names: Names): RawRequest {
  if (Object.keys(names).length === 0) return request;
  const standard = new Map(Object.entries(names).map(([name, its]) => [its.toLowerCase(), name]));
  const replaced = Object.keys(names).map((name) => name.toLowerCase());
  const headers = request.headers
    .filter(([name]) => !replaced.includes(name.toLowerCase()))
    .map(([name, value]): [string, string] => [standard.get(name.toLowerCase()) ?? name, value]);
  return { ...request, headers };
}

/** A request with the names that its headers had when they came. */
export function withBanksNames(request: RawRequest, names: Names): RawRequest {
  if (Object.keys(names).length === 0) return request;
  const headers = request.headers.map(([name, value]): [string, string] => [
    atBank(names, [name])[0] ?? name,
    value,
  ]);
  return { ...request, headers };
}
