import type { Command } from '@commander-js/extra-typings';
import { Psd2Error } from '../../errors.ts';
import { type LoggedCall, readCalls } from '../../store/machine/call-log.ts';
import type { Context } from '../context.ts';
import type { OptionsOf } from '../declare.ts';
import { chosenCustomer } from '../flow/customer.ts';
import { readLimit, readSince } from '../shared/option-values.ts';

/** Adds the options that select calls. */
export function withSelection(command: Command) {
  return command
    .option(
      '--transaction <id>',
      'show calls of this transaction or flow: its id or the beginning of it, or the reference of a payment',
    )
    .option('--request <id>', "show this request: psd2's id or the bank's, or the beginning of either")
    .option(
      '--run <id>',
      'show the calls of this run of psd2 smoke, or of PSD2_RUN: its id or the beginning of it',
    )
    .option(
      '--since <time>',
      'show calls since this time: 2026-11-21, 2026-11-21T09:30:00Z, or 2h, 30m, 1d ago',
    )
    .option('--failed', 'show calls that the bank refused or did not answer')
    .option('--limit <n>', 'maximum number of calls to show');
}

export type LogOptions = OptionsOf<typeof withSelection>;

/** The limit if there is no filter. */
const USUAL_LIMIT = 100;
/** The log is not quite in order: several processes each write a call when it ends, and clocks change. */
const SLACK_MS = 60_000;

/**
 * The calls that match the options, newest first. It reads the log only as far as the caller does.
 *
 * @throws Psd2Error `usage`; `config` if psd2 cannot read the log. Most only when the caller reads
 */
export async function selectCalls(context: Context, options: LogOptions): Promise<Iterable<ShownCall>> {
  return callsFor(await chosenCustomer(context), context, options);
}

function* callsFor(
  customer: string | undefined,
  context: Context,
  options: LogOptions,
): Generator<ShownCall> {
  const { folder, world } = context;
  const { transaction, request, run, failed = false } = options;
  const since = options.since === undefined ? null : readSince(options.since, world.now());
  const filtered =
    [transaction, request, run, options.since].some((filter) => filter !== undefined) || failed;
  const limit = readLimit(options.limit, filtered ? Number.POSITIVE_INFINITY : USUAL_LIMIT);
  const isMeant = matcherOf(customer, context, options);

  let count = 0;
  for (const call of readCalls(folder.log, transaction ?? request ?? run)) {
    const at = Date.parse(call.at);
    if (since !== null && at + call.milliseconds < since - SLACK_MS) return;
    if (since !== null && at < since) continue;
    if (!isMeant(call)) continue;
    yield shownOf(call);
    count += 1;
    if (count === limit) return;
  }
}

/**
 * The options with the flow of a payment in place of its reference. Asks the store only if the log has no such id.
 *
 * @throws Psd2Error `config` if the store cannot be read
 */
export async function withFlow<Options extends LogOptions>(
  context: Context,
  options: Options,
): Promise<Options> {
  const { transaction } = options;
  if (!transaction) return options;
  for (const { transactionId, flow } of readCalls(context.folder.log, transaction))
    if ([transactionId, flow].some((id) => id?.startsWith(transaction))) return options;
  try {
    const { flow, bulk } = await (await context.store()).flows.find('transfer', transaction);
    // The calls of a payment that goes with others are those of all.
    return { ...options, transaction: bulk ?? flow };
  } catch (error) {
    if (error instanceof Psd2Error && error.code === 'flow_not_found') return options;
    throw error;
  }
}

/** A call as psd2 prints it. */
export type ShownCall = Omit<
  LoggedCall,
  'neverLeft' | 'irrevocable' | 'gives' | 'begun' | 'customer' | 'failureKind' | 'route' | 'kind'
>;

/** Only `resume` (commands/flow/ports.ts) and `--customer` need the other fields. */
function shownOf({
  neverLeft: _neverLeft,
  irrevocable: _irrevocable,
  gives: _gives,
  begun: _begun,
  customer: _customer,
  failureKind: _failureKind,
  route: _route,
  kind: _kind,
  ...shown
}: LoggedCall): ShownCall {
  return shown;
}

/** Recognises the calls that match the options, whatever their time. @throws Psd2Error `usage` */
function matcherOf(
  customer: string | undefined,
  { folder, globals }: Context,
  { transaction, request, run, failed }: LogOptions,
): (call: LoggedCall) => boolean {
  refuseEmptyFilter('--transaction', transaction);
  refuseEmptyFilter('--request', request);
  refuseEmptyFilter('--run', run);
  const isOfCustomer = customer === undefined ? () => true : matcherForCustomer(customer, folder.log);
  const begins = (prefix: string | undefined, ...ids: (string | null)[]) =>
    prefix === undefined || ids.some((id) => id?.startsWith(prefix) === true);
  return (call) =>
    (globals.profile === undefined || call.profile === globals.profile) &&
    (!failed || call.status === null || call.status >= 400) &&
    begins(transaction, call.transactionId, call.flow) &&
    begins(request, call.tppRequestId, call.requestId) &&
    begins(run, call.run ?? null) &&
    isOfCustomer(call);
}

/**
 * Looks for calls that match the options and were logged since the last look.
 *
 * @returns the function that looks. It gives the calls in the order in which they were logged
 * @throws Psd2Error `usage`; `config` if psd2 cannot read the log
 */
export async function watchCalls(context: Context, options: LogOptions): Promise<() => ShownCall[]> {
  const { log } = context.folder;
  const customer = await chosenCustomer(context);
  matcherOf(customer, context, options);
  const keyOf = (call: LoggedCall | undefined) => call && JSON.stringify(call);
  const [newest] = readCalls(log);
  let last = keyOf(newest);
  return () => {
    const added: LoggedCall[] = [];
    for (const call of readCalls(log)) {
      if (keyOf(call) === last) break;
      added.unshift(call);
    }
    if (added.length === 0) return [];
    last = keyOf(added.at(-1));
    return added.filter(matcherOf(customer, context, options)).map(shownOf);
  };
}

/**
 * Recognises the calls of a customer: those whose path or line names the customer, and the other calls of the same transactions,
 * for example those of SCA.
 */
function matcherForCustomer(customer: string, log: string): (call: LoggedCall) => boolean {
  /** Collected only once a call names nobody, because it takes the whole log. */
  let transactions: ReadonlySet<string> | undefined;
  return (call) => {
    const named = loggedCustomer(call);
    if (named !== undefined) return named === customer;
    transactions ??= transactionsOf(customer, log);
    return transactions.has(call.transactionId);
  };
}

function transactionsOf(customer: string, log: string): ReadonlySet<string> {
  const transactions = new Set<string>();
  for (const call of readCalls(log, customer))
    if (loggedCustomer(call) === customer) transactions.add(call.transactionId);
  return transactions;
}

function loggedCustomer({ customer, path }: LoggedCall): string | undefined {
  return customer ?? customerIn(path);
}

function customerIn(path: string): string | undefined {
  return /\/customers\/(\d+)(?=\/|$)/.exec(path)?.[1];
}

/** An empty value, perhaps from an empty variable in a script, would match every call. @throws Psd2Error `usage` */
function refuseEmptyFilter(option: string, text: string | undefined): void {
  if (text === '') throw new Psd2Error('usage', `The value of ${option} is empty`);
}

/** Method and shortened path: the part before the product is almost always the same, and ids are long. */
export function shortCall({ method, path }: Pick<LoggedCall, 'method' | 'path'>): string {
  const short = path
    .replace(/^.*\/private(?=\/)(\/customers\/\d+(\/products(?=\/))?(?=\/|$))?/, '…')
    .replace(/(?<=\/[0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\/|$)/gi, '…');
  return `${method} ${short}`;
}
