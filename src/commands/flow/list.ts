import { adviceOf } from '../../advice.ts';
import { isUnderWay } from '../../domain/authorisations.ts';
import { bankDay, bankLocalTime, endOfDay, type IsoDate, parseDate } from '../../domain/calendar.ts';
import { type FlowState, isAccepted, needsAttention } from '../../domain/flow-states.ts';
import { parsePaymentAmount } from '../../domain/order/payment-amount.ts';
import { isOverdue, needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import type { Filter, FlowOf, Flows, Kind, OrderFilter } from '../../store/ports/flows.ts';
import { cleanLines } from '../../terminal/clean.ts';
import { list } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, type Verb, verb } from '../declare.ts';
import { chosenCustomer, customerIdOf } from './customer.ts';
import type { FlowNoun } from './describe.ts';

/** The help of `--attention`, for the list of every kind of flow. */
export const ATTENTION_NOTE = `
--attention shows what a person must look at: each flow whose outcome is not known, each unfinished flow that you can
continue or cancel, and each transfer whose cancellation waits for a person. The outcome is not known either if an instant transfer is executed but not settled, if the bank's refusal
of execute or confirm is all that psd2 knows, or if the bank has accepted a transfer and does not call it final on the next bank day. Flows that a running psd2 works on are left out.

With --customer, the list has only the flows of that customer.`;

/** `psd2 <noun> list`: newest first. */
export const listOf = <K extends Kind>(noun: FlowNoun<K>): Verb =>
  verb(
    {
      prints: { what: `${noun.kind}s`, shape: list(noun.listed) },
      help: `${ATTENTION_NOTE}\n${examples(...noun.help.list)}`,
    },
    (command) =>
      command
        .option('--attention', 'show only what a person must look at')
        .option('--since <date>', SINCE)
        .option('--until <date>', UNTIL),
    (context, { attention = false, ...days }) => listFlows(context, noun, { attention, ...readDays(days) }),
  );

/** What the help says of the days of a list. */
export const SINCE = "show only those created on this day or later (bank's time zone), YYYY-MM-DD";
export const UNTIL = 'show only those created on this day or earlier, YYYY-MM-DD';

/**
 * The range of a list.
 *
 * @param since the first day, at the bank
 * @param until the last day
 * @throws Psd2Error `invalid_date` if one is no day, or the last day is before the first one
 */
export function readDays({
  since,
  until,
}: {
  since?: string | undefined;
  until?: string | undefined;
}): Pick<ListOptions, 'since' | 'until'> {
  const first = since === undefined ? undefined : parseDate('--since', since);
  const last = until === undefined ? undefined : parseDate('--until', until);
  if (first !== undefined && last !== undefined && last < first)
    throw new Psd2Error('invalid_date', `--until ${last} is before --since ${first}`);
  const begins = (day: IsoDate) => new Date(bankLocalTime(day, '00:00'));
  return { since: first && begins(first), until: last && new Date(endOfDay(last)) };
}

interface OrderOptions {
  payee?: string | undefined;
  amount?: string | undefined;
  reference?: string | undefined;
}

/** The order that a list asks for. @returns undefined without a filter @throws Psd2Error `usage`, `invalid_amount` */
export function readOrderFilter({ payee, amount, reference }: OrderOptions): OrderFilter | undefined {
  // An unset variable in a script would match every transfer.
  for (const [option, text] of Object.entries({ payee, amount, reference }))
    if (text?.trim() === '') throw new Psd2Error('usage', `The value of --${option} is empty`);
  if (payee === undefined && amount === undefined && reference === undefined) return undefined;
  return { payee, amount: amount === undefined ? undefined : parsePaymentAmount(amount), reference };
}

async function listFlows<K extends Kind>(
  context: Context,
  noun: FlowNoun<K>,
  options: ListOptions,
): Promise<void> {
  const listed = await collect(listedFlows(context, noun.kind, options));
  await printFlows(context, noun, listed, whenEmpty(context, noun.kind, options));
}

/** Prints flows as a list. */
export async function printFlows<K extends Kind>(
  { output, world }: Context,
  noun: FlowNoun<K>,
  flows: FlowOf<K>[],
  none: string,
): Promise<void> {
  const now = world.now();
  await output.table(
    flows.map((flow) => ({ ...flow, now })),
    noun.listed,
    none,
  );
}

/** Which flows a list shows. */
export interface ListOptions {
  /** Only flows that a person must look at. */
  attention: boolean;
  /** Besides, transfers that the bank has accepted and may still reject. */
  accepted?: boolean;
  /** Only flows that were created at this time or later. */
  since?: Date | undefined;
  /** Only flows that were created before this time. */
  until?: Date | undefined;
  /** Only flows in one of these states. */
  states?: readonly FlowState[] | undefined;
  /** Only transfers with such an order. */
  order?: OrderFilter | undefined;
  /** Called for each flow whose journal is damaged. By default, psd2 warns of it. */
  onDamaged?: Filter['onDamaged'];
}

/**
 * The flows of one kind for a list, newest first: those of the chosen customer, or of all.
 *
 * @throws Psd2Error `usage` if the customer's id is not one of this bank
 */
export async function* listedFlows<K extends Kind>(
  context: Context,
  kind: K,
  {
    attention,
    accepted = false,
    states,
    since,
    until,
    order,
    onDamaged = warnOfDamaged(context),
  }: ListOptions,
): AsyncGenerator<FlowOf<K>> {
  const customer = await chosenCustomer(context);
  const { flows } = await context.store();
  const candidates = flows.list(kind, {
    since,
    until,
    customer,
    order,
    attention,
    states,
    onDamaged,
  });
  const own = ofCustomer(candidates, customer);
  const isWanted = (flow: FlowOf<Kind>) =>
    isForAttention(flow, bankDay(context.world.now())) || (accepted && 'commits' in flow && isAccepted(flow));
  yield* attention ? onlyForAttention(flows, kind, own, isWanted) : own;
}

/** What psd2 says instead of an empty list. An empty list does not mean that there are none if the list leaves out flows. */
export function whenEmpty(
  { globals }: Pick<Context, 'globals'>,
  kind: Kind,
  { attention, since, until, order }: ListOptions,
  isFiltered = false,
): string {
  const isNarrow = attention || [since, until, order].some((each) => each !== undefined);
  return isFiltered || isNarrow || globals.customer !== undefined
    ? `No ${kind} matches.`
    : `This profile has no ${kind}s.`;
}

async function* ofCustomer<K extends Kind>(
  flows: AsyncIterable<FlowOf<K>>,
  customer: string | undefined,
): AsyncGenerator<FlowOf<K>> {
  for await (const flow of flows) if (customer === undefined || customerIdOf(flow) === customer) yield flow;
}

/**
 * The flows that a person must look at. While psd2 reads them, other processes may end their work, so it asks afterwards who
 * works on them, and then reads them again.
 */
async function* onlyForAttention<K extends Kind>(
  store: Flows,
  kind: K,
  flows: AsyncIterable<FlowOf<K>>,
  isWanted: (flow: FlowOf<Kind>) => boolean,
): AsyncGenerator<FlowOf<K>> {
  const candidates: string[] = [];
  for await (const flow of flows) if (isWanted(flow)) candidates.push(flow.flow);
  if (candidates.length === 0) return;
  const atWork = new Set((await store.atWork()).map(({ flow }) => flow));
  for (const candidate of candidates) {
    if (atWork.has(candidate)) continue;
    const flow = await store.find(kind, candidate);
    if (isWanted(flow)) yield flow;
  }
}

function isForAttention(flow: FlowOf<Kind>, today: IsoDate): boolean {
  const settles = 'order' in flow && 'instant' in flow.order && needsSettlement(flow.order);
  return (
    needsAttention(flow, settles) || awaitsCancellation(flow) || (isTransfer(flow) && isOverdue(flow, today))
  );
}

/** Whether somebody must still authorise the cancellation of a payment that the bank has accepted. */
function awaitsCancellation(flow: FlowOf<Kind>): boolean {
  return 'cancellation' in flow && isUnderWay(flow.cancellation) && isAccepted(flow);
}

function isTransfer(flow: FlowOf<Kind>): flow is Transfer {
  return flow.kind === 'transfer';
}

/** Warns about a damaged flow or batch. The others are still listed. */
export function warnOfDamaged(context: Context): NonNullable<Filter['onDamaged']> {
  return (damage, flow) => {
    const advice = adviceOf(damage, context.repeated) ?? '';
    context.terminal.warn(
      cleanLines(`psd2 cannot show ${flow}. ${endSentence(damage.message)} ${advice}`.trimEnd()),
    );
  };
}

/** Collects a list. */
export async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of list) all.push(each);
  return all;
}
