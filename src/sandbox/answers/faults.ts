import type { Context, MiddlewareHandler } from 'hono';
import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import type { BankEnv } from '../bank-env.ts';
import { type CallFault, type FaultKind, type FaultyCall, planOf } from '../plan.ts';
import { Refusal } from '../refusal.ts';
import type { RawRequest } from '../strict/raw-request.ts';

/** The calls that can go wrong; a group in the path is the resource. */
const calls: readonly [method: string, path: RegExp, call: FaultyCall][] = [
  ['POST', /\/verify$/, 'VERIFY'],
  ['GET', /^\/private\/auth\/security\/sca\/([^/]+)\/approach$/, 'APPROACH'],
  ['GET', /^\/private\/operations\/([^/]+)\/status$/, 'STATUS'],
  ['PUT', /\/([^/]+)\/execute$/, 'EXECUTE'],
  ['GET', /\/([^/]+)\/execution\/status$/, 'EXECUTION STATUS'],
];

const inquiry = /\/products\/([^/]+)\/(?:balance|transactions)\/retrieve$/;

/**
 * Spoils the answers that a magic value asks for: the name of a beneficiary for the calls of its flow, the number of
 * an account for its balance and transactions.
 */
export function plannedFaults(bank: Bank): MiddlewareHandler<BankEnv> {
  /** Flows whose call went wrong once. */
  const spent = new Set<string>();
  return async (c, next) => {
    const kind = productFault(bank, c.var.request) ?? callFault(bank, c.var.request, spent);
    if (kind === undefined) return next();
    const early = refusalOf(kind);
    if (early) return early;
    await next();
    // A refusal is not hidden: what was asked for was not done.
    if (c.res.status !== 200) return;
    answerNothing(c, kind);
  };
}

function pathOf({ target }: RawRequest): string {
  return target.split('?', 1)[0] ?? '';
}

function productFault({ customers }: Bank, request: RawRequest): FaultKind | undefined {
  const productId = inquiry.exec(pathOf(request))?.[1];
  const products = customers.flatMap((customer) => customer.products);
  return products.find((product) => product.productId === productId)?.fault;
}

function callFault(bank: Bank, request: RawRequest, spent: Set<string>): FaultKind | undefined {
  for (const [method, path, call] of calls) {
    const match = method === request.method ? path.exec(pathOf(request)) : null;
    if (!match) continue;
    const resourceId = match[1];
    const name = beneficiaryOf(request);
    const fault = resourceId === undefined ? planOf(name).fault : bank.resources.find(resourceId)?.plan.fault;
    return fault?.call === call && isDue(fault, resourceId ?? name, spent) ? fault.kind : undefined;
  }
  return undefined;
}

function isDue({ call, once }: CallFault, flow: string, spent: Set<string>): boolean {
  const key = `${call} ${flow}`;
  if (once && spent.has(key)) return false;
  spent.add(key);
  return true;
}

const named = z.object({ data: z.object({ beneficiaryName: z.string() }) });

/** The name in the body of a verify call, which was not checked yet; `''` without one. */
function beneficiaryOf({ body }: RawRequest): string {
  try {
    return named.safeParse(JSON.parse(body.toString('utf8'))).data?.data.beneficiaryName ?? '';
  } catch {
    return '';
  }
}

const FIREWALL_PAGE = `<!DOCTYPE html>
<html><head><title>Request rejected</title></head>
<body>The requested URL was rejected. Please consult with your administrator.</body></html>
`;

/** The answer of a fault that keeps the call from being made; undefined for the others. */
function refusalOf(kind: FaultKind): Response | undefined {
  switch (kind) {
    case '401':
      throw new Refusal(
        'TOKEN_INVALID',
        'The access token is not one that is in force',
        'A magic value plans it.',
      );
    case '403':
      return new Response(FIREWALL_PAGE, { status: 403, headers: { 'Content-Type': 'text/html' } });
    case '420':
      throw new Refusal('TOO_MANY_CALLS', 'The application made too many calls', 'A magic value plans it.', {
        retryAfterSeconds: 1,
      });
    case '500':
      throw new Refusal('PLANNED_FAILURE', 'The bank failed', 'A magic value plans it.');
    default:
      return undefined;
  }
}

/** Takes away the answer of a call that was made. */
function answerNothing(c: Context<BankEnv>, kind: FaultKind): void {
  c.res = undefined;
  c.res = new Response(null, { status: kind === '204' ? 204 : 200 });
  if (kind === 'LOST') c.env.outgoing.destroy();
}
