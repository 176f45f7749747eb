import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import { type CallFault, type FaultyCall, type MagicFault, planOf } from '../operations/plan.ts';
import type { RawRequest } from '../strict/raw-request.ts';
import type { Fault } from './fault.ts';
import type { UsedMagic } from './fault-book.ts';

/** The calls that magic values can change. A group in the path is the resource. */
const calls: readonly [method: string, path: RegExp, call: FaultyCall][] = [
  ['POST', /\/verify$/, 'VERIFY'],
  ['GET', /^\/private\/auth\/security\/sca\/([^/]+)\/approach$/, 'APPROACH'],
  ['GET', /^\/private\/operations\/([^/]+)\/status$/, 'STATUS'],
  ['PUT', /\/([^/]+)\/execute$/, 'EXECUTE'],
  ['GET', /\/([^/]+)\/execution\/status$/, 'EXECUTION STATUS'],
];

const inquiry = /\/products\/([^/]+)\/(?:balance|transactions)\/retrieve$/;

const faults: Record<MagicFault, Fault> = {
  '204': { kind: 'no-content', value: 0 },
  '401': { kind: 'status', value: 401 },
  '403': { kind: 'firewall', value: 0 },
  '420': { kind: 'status', value: 420 },
  '500': { kind: 'status', value: 500 },
  EMPTY: { kind: 'empty', value: 0 },
  LOST: { kind: 'cut-after-effect', value: 0 },
};

/**
 * The fault of a magic value at the first door: a payee's name in the calls of its flow, an account's number in its balance and
 * transactions.
 */
export function magicFault(bank: Bank, request: RawRequest): Fault | undefined {
  const magic = inquiryFault(bank, request) ?? callFault(bank, request);
  return magic && faults[magic];
}

function targetPath({ target }: RawRequest): string {
  return target.split('?', 1)[0] ?? '';
}

function inquiryFault({ customers }: Bank, request: RawRequest): MagicFault | undefined {
  const productId = inquiry.exec(targetPath(request))?.[1];
  return productId === undefined ? undefined : customers.byProduct(productId)?.product.fault;
}

/** The fault that an account's number causes in its balances and transactions at the second door. */
export function productFault(
  { customers }: Bank,
  { id, parameters }: { id: string; parameters: ReadonlyMap<string, string> },
): Fault | undefined {
  if (id !== 'getBalances' && id !== 'getTransactionList') return undefined;
  const magic = customers.byProduct(parameters.get('account-id') ?? '')?.product.fault;
  return magic && faults[magic];
}

function callFault(bank: Bank, request: RawRequest): MagicFault | undefined {
  for (const [method, path, call] of calls) {
    const match = method === request.method ? path.exec(targetPath(request)) : null;
    if (!match) continue;
    const resourceId = match[1];
    const name = beneficiaryOf(request);
    const fault = resourceId === undefined ? planOf(name).fault : bank.resources.find(resourceId)?.plan.fault;
    return fault?.call === call && isDue(fault, resourceId ?? name, bank.usedMagic) ? fault.kind : undefined;
  }
  return undefined;
}

function isDue({ call, once }: CallFault, flow: string, spent: UsedMagic): boolean {
  const isFirst = spent.use(`${call} ${flow}`);
  return isFirst || !once;
}

const named = z.object({ data: z.object({ beneficiaryName: z.string() }) });

/** The name in the body of a verify call, or `''`. The body is not validated yet. */
function beneficiaryOf({ body }: RawRequest): string {
  try {
    return named.safeParse(JSON.parse(body.toString('utf8'))).data?.data.beneficiaryName ?? '';
  } catch {
    return '';
  }
}
