import { operationIds } from '../nextgenpsd2/operations.ts';
import { BadFault } from './fault.ts';

/** The calls that have a short name. */
const endpoints: ReadonlyMap<string, readonly [method: string, path: RegExp]> = new Map([
  ['authorize', ['GET', /^\/auth\/oauth\/v2\/authorize$/]],
  ['token', ['POST', /^\/auth\/oauth\/v2\/token$/]],
  ['revoke', ['POST', /^\/auth\/oauth\/v2\/token\/revoke$/]],
  ['customerid', ['GET', /\/customerid-info$/]],
  ['accounts', ['GET', /\/customers\/\d+\/(?:accounts|products)$/]],
  ['balance', ['GET', /\/balance\/retrieve$/]],
  ['transactions', ['GET', /\/transactions\/retrieve$/]],
  ['consent-request', ['POST', /\/consent\/request$/]],
  ['consent-confirm', ['PUT', /\/consent\/request\/[^/]+\/confirm$/]],
  ['approach', ['GET', /^\/private\/auth\/security\/sca\/[^/]+\/approach$/]],
  ['status', ['GET', /^\/private\/operations\/[^/]+\/status$/]],
  ['prepare', ['GET', /\/prepare$/]],
  ['verify', ['POST', /\/verify$/]],
  ['verify2', ['PUT', /\/verify2$/]],
  ['execute', ['PUT', /\/execute$/]],
  ['execution-status', ['GET', /\/execution\/status$/]],
  ['receipt', ['GET', /\/common\/printer\/[^/]+\/retrieve$/]],
]);

/** The names of all calls, for help and documentation. */
export const endpointNames: readonly string[] = [...endpoints.keys()];

/** The calls of embedded SCA at the second door, by what they bring. */
export const stepNames: readonly string[] = ['pin', 'method', 'tan'];

/** The name of a call, or undefined if it has none. @param target path and query */
export function endpointOf({ method, target }: { method: string; target: string }): string | undefined {
  const [path = ''] = target.split('?', 1);
  return endpointNames.find((name) => {
    const [wanted, pattern] = endpoints.get(name) ?? [];
    return wanted === method && pattern?.test(path);
  });
}

/** A call, as a fault sees it. */
export interface IncomingCall {
  method: string;
  /** Path and query, as in the request line. */
  target: string;
  /** The operation of the second door. */
  operation?: string | undefined;
  /** What it brings, with embedded SCA. */
  step?: string | undefined;
}

/** The calls that a fault applies to. */
export interface FaultTarget {
  /** As it was written. */
  text: string;
  matches(call: IncomingCall): boolean;
}

/**
 * Reads the calls that a fault applies to: a call's name (`execute`; at the second door its operationId, `getBalances`, or `pin`, `method`, `tan` for what it brings), or a method and a path, where `*` matches anything
 * (`GET /private/customers/*`, `* /auth/*`). The query is ignored.
 *
 * @throws BadFault
 */
export function parseTarget(text: string): FaultTarget {
  if (stepNames.includes(text)) return { text, matches: ({ step }) => step === text };
  if (operationIds.some((id) => id === text)) return { text, matches: ({ operation }) => operation === text };
  const [method, path] = endpoints.get(text) ?? targetPattern(text);
  return {
    text,
    matches: (call) =>
      (method === '*' || method === call.method) && path.test(call.target.split('?', 1)[0] ?? ''),
  };
}

function targetPattern(text: string): [method: string, path: RegExp] {
  const [, method, path] = /^(\*|[A-Za-z]+) +(\/\S*|\*)$/.exec(text.trim()) ?? [];
  if (method === undefined || path === undefined)
    throw new BadFault(
      `There is no call ${JSON.stringify(text)}`,
      `Use ${[...endpointNames, ...stepNames].join(', ')}, or a method and a path such as "GET /private/customers/*".`,
    );
  const literal = path.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return [method.toUpperCase(), new RegExp(`^${literal.join('.*')}$`)];
}
