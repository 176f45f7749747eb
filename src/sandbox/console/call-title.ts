import { endpointOf } from '../faults/target.ts';
import type { SeenCall } from './call-log.ts';

/** Calls whose title differs from the endpoint name that faults use. */
const WORDS = new Map([
  ['authorize', 'authorise'],
  ['customerid', 'customer id'],
]);

/**
 * A call's title: `authorise`, `token refresh_token`, `transactions page 31`, `verify moneyTransfer`. For an unknown
 * endpoint it is the path.
 *
 * @param rowsAPage transactions per page
 */
export function titleOf({ request, body }: Pick<SeenCall, 'request' | 'body'>, rowsAPage: number): string {
  const [path = '', query = ''] = request.target.split('?', 2);
  const endpoint = endpointOf(request);
  if (endpoint === undefined) return path;
  const words = WORDS.get(endpoint) ?? endpoint.replaceAll('-', ' ');
  const more = moreOf(endpoint, path, new URLSearchParams(query), body.bytes, rowsAPage);
  return more === undefined ? words : `${words} ${more}`;
}

function moreOf(
  endpoint: string,
  path: string,
  query: URLSearchParams,
  body: Buffer,
  rowsAPage: number,
): string | undefined {
  if (endpoint === 'token') return /grant_type"?\s*[=:]\s*"?([a-z_]+)/.exec(body.toString('latin1'))?.[1];
  if (endpoint === 'transactions') {
    const first = Math.max(...['nextAccounting', 'nextNotAccounting'].map((name) => Number(query.get(name))));
    return first > 1 ? `page ${Math.ceil(first / rowsAPage)}` : undefined;
  }
  // The steps of an operation have the operation's name after the product.
  const step = /^(?:prepare|verify2?|execute|execution-status)$/.test(endpoint);
  return step ? /\/products\/[^/]+\/(\w+)\//.exec(path)?.[1] : undefined;
}
