import type { BankCall } from '../../call/call.ts';
import type { CallKind, Route } from '../../ports/call.ts';

/** The calls of this interface, the special ones first. The second group is the rest of the path, in which `{...}` is any id. */
const ROUTES: readonly [path: string, kind: CallKind][] = [
  ['/auth/oauth/v2/authorize', 'auth'],
  ['/auth/oauth/v2/token', 'auth'],
  ['/auth/oauth/v2/token/revoke', 'auth'],
  ['/private/customers/customerid-info', 'ais'],
  ['/private/customers/{customer}', 'ais'],
  ['/private/customers/{customer}/accounts', 'ais'],
  ['/private/customers/{customer}/products', 'ais'],
  ['/private/customers/{customer}/consent/request', 'consent'],
  ['/private/customers/{customer}/consent/request/{resource}/confirm', 'consent'],
  ['/private/customers/{customer}/products/{product}', 'ais'],
  ['/private/customers/{customer}/products/{product}/balance/retrieve', 'ais'],
  ['/private/customers/{customer}/products/{product}/transactions/retrieve', 'ais'],
  ['/private/customers/{customer}/products/{product}/common/printer/{resource}/retrieve', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/prepare', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/verify', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/{resource}/execute', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/{resource}/execution/status', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/{resource}/{step}', 'pis'],
  ['/private/operations/{resource}/status', 'consent'],
  ['/private/auth/security/sca/{resource}/approach', 'consent'],
];

const PATTERNS = ROUTES.map(([path, kind]) => ({
  route: { path, kind },
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** What a call is about, without its ids. A call that psd2 does not know itself has no path. */
export function routeOf({ path }: Pick<BankCall, 'path'>): Route {
  const asked = path.split('?', 1)[0] ?? '';
  return PATTERNS.find(({ pattern }) => pattern.test(asked))?.route ?? { path: '{other}', kind: 'other' };
}
