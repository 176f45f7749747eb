import { Psd2Error } from '../../errors.ts';
import type { LoggedCall } from '../../store/machine/call-log.ts';
import { readCalls } from '../../store/machine/read-call-log.ts';
import type { Context } from '../context.ts';
import { chosenCustomer } from '../flow/customer.ts';
import { readLimit } from '../shared/read-limit.ts';

export interface LogOptions {
  transaction?: string | undefined;
  request?: string | undefined;
  since?: string | undefined;
  failed: boolean;
  limit?: string | undefined;
}

/** The limit if there is no filter. */
const USUAL_LIMIT = 100;
/** The log is not quite in order: several processes each write a call when it ends, and clocks change. */
const SLACK_MS = 60_000;

/**
 * The calls that match the options, newest first. It reads the log only as far as the caller does.
 *
 * @throws Psd2Error `usage`; `config` if psd2 cannot read the log
 */
export function* selectCalls(context: Context, options: LogOptions): Generator<LoggedCall> {
  const { folder, globals, world } = context;
  const { transaction, request, failed } = options;
  const customer = chosenCustomer(context);
  const since = options.since === undefined ? null : readSince(options.since, world.now());
  const filtered = [transaction, request, options.since].some((filter) => filter !== undefined) || failed;
  const limit = readLimit(options.limit, filtered ? Number.POSITIVE_INFINITY : USUAL_LIMIT);
  refuseEmpty('--transaction', transaction);
  refuseEmpty('--request', request);
  const isOfCustomer = customer === undefined ? () => true : callsOf(customer, folder.log);
  const begins = (id: string | null, prefix: string) => id?.startsWith(prefix) === true;

  let found = 0;
  for (const call of readCalls(folder.log, transaction ?? request)) {
    const at = Date.parse(call.at);
    if (since !== null && at + call.milliseconds < since - SLACK_MS) return;
    if (since !== null && at < since) continue;
    if (globals.profile !== undefined && call.profile !== globals.profile) continue;
    if (!isOfCustomer(call)) continue;
    if (failed && call.status !== null && call.status < 400) continue;
    if (
      transaction !== undefined &&
      !begins(call.transactionId, transaction) &&
      !begins(call.flow, transaction)
    )
      continue;
    if (request !== undefined && !begins(call.tppRequestId, request) && !begins(call.requestId, request))
      continue;
    // Only `resume` needs these (commands/flow/evidence.ts).
    const { neverLeft: _neverLeft, irrevocable: _irrevocable, ...shown } = call;
    yield shown;
    found += 1;
    if (found === limit) return;
  }
}

/**
 * Recognises the calls of a customer: those whose path names the customer, and the other calls of the same transactions, for
 * example those of SCA.
 */
function callsOf(customer: string, log: string): (call: LoggedCall) => boolean {
  const transactions = new Set<string>();
  for (const { path, transactionId } of readCalls(log, `/customers/${customer}`))
    if (customerIn(path) === customer) transactions.add(transactionId);
  return ({ path, transactionId }) => {
    const named = customerIn(path);
    return named === undefined ? transactions.has(transactionId) : named === customer;
  };
}

function customerIn(path: string): string | undefined {
  return /\/customers\/(\d+)(?=\/|$)/.exec(path)?.[1];
}

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a time, a day (from local midnight), or an age: `2h`, `30m`, `1d`. @throws Psd2Error `usage` */
function readSince(text: string, now: Date): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return now.getTime() - Number(count) * (UNITS[unit] ?? 0);
  // JavaScript reads a day without a time as UTC, but a time without a zone as local time.
  const time = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/.test(text)
    ? Date.parse(text.includes('T') ? text : `${text}T00:00`)
    : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new Psd2Error('usage', `--since ${JSON.stringify(text)} is not a time`, {
    hint: 'For example 2026-11-21, 2026-11-21T09:30:00Z, or how long ago: 2h, 30m, 1d.',
  });
}

/** An empty value, perhaps from an empty variable in a script, would match every call. @throws Psd2Error `usage` */
function refuseEmpty(option: string, text: string | undefined): void {
  if (text === '') throw new Psd2Error('usage', `The value of ${option} is empty`);
}

/** Method and shortened path: the part before the product is almost always the same, and ids are long. */
export function nameOf({ method, path }: Pick<LoggedCall, 'method' | 'path'>): string {
  const short = path
    .replace(/^.*\/private(?=\/)(\/customers\/\d+(\/products(?=\/))?(?=\/|$))?/, '…')
    .replace(/(?<=\/[0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\/|$)/gi, '…');
  return `${method} ${short}`;
}
