import type { Command } from '@commander-js/extra-typings';
import type { BatchLine } from '../../domain/batch/line.ts';
import { type KnownBatch, readLines, referenceOf } from '../../flows/batch/known-lines.ts';
import { unlessDamaged } from '../../store/batch/refusals.ts';
import { hasOrder } from '../../store/flow/order-filter.ts';
import type { OrderFilter } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { examples, type OptionsOf, verb } from '../declare.ts';
import { chosenCustomer } from '../flow/customer.ts';
import { readDays, readOrderFilter, SINCE, UNTIL, warnOfDamaged } from '../flow/list.ts';
import { BATCH_FORM, BATCH_LIST, batchData } from './batches.ts';

const HELP = `
With --customer, --payee, --amount and --reference, the list has the batches with such a payment.

--attention shows what a person must look at: batches that wait for an approval, and batches with a payment that is unfinished, or
whose outcome is not known.

If somebody has changed a batch in the store, psd2 names it on stderr and lists the others.
${examples('psd2 batch list', 'psd2 batch list --attention', 'psd2 batch list --payee "Ada Lovelace" --since 2026-11-01')}`;

function withFilters(command: Command) {
  return command
    .option('--attention', 'show only what a person must look at')
    .option('--since <date>', SINCE)
    .option('--until <date>', UNTIL)
    .option('--payee <text>', 'show only batches with a payment to this payee: a part of the name or IBAN')
    .option('--amount <decimal>', 'show only batches with a payment of this amount')
    .option('--reference <text>', 'show only the batch with the payment that has this reference');
}

/** `psd2 batch list`: newest first. */
export const list = verb({ prints: BATCH_LIST, help: HELP }, withFilters, listBatches);

/** @throws Psd2Error `usage`, `invalid_amount`, `invalid_date`, `config` */
async function listBatches(context: Context, options: OptionsOf<typeof withFilters>): Promise<void> {
  const { since, until } = readDays(options);
  const order = readOrderFilter(options);
  const customer = await chosenCustomer(context);
  const profile = context.profile();
  const { batches, flows } = await context.store();
  const rows: ReturnType<typeof batchData>[] = [];
  let damaged = 0;
  const warnOf = warnOfDamaged(context);
  const warn: typeof warnOf = (...about) => {
    damaged += 1;
    warnOf(...about);
  };
  for await (const batch of batches.list(warn)) {
    const addedAt = Date.parse(batch.addedAt);
    if ((since && addedAt < since.getTime()) || (until && addedAt >= until.getTime())) continue;
    const lines = await unlessDamaged(batch.batch, warn, () => batches.lines(batch));
    if (!lines) continue;
    const isMeant = (line: BatchLine) =>
      (customer === undefined || line.customer === customer) &&
      (!order || hasLine({ ...line, reference: referenceOf(batch, line) }, order));
    if ((customer !== undefined || order) && !lines.some(isMeant)) continue;
    const current = { batch, lines, outcomes: await readLines(flows, batch, lines) };
    const row = batchData(profile, current);
    if (!options.attention || needsPerson(row, current)) rows.push(row);
  }
  const isFiltered = Object.keys(options).length > 0 || customer !== undefined;
  const none = isFiltered
    ? 'No batch matches.'
    : damaged > 0
      ? 'psd2 can show no other batch.'
      : 'This profile has no batches.';
  await context.output.table(rows, BATCH_FORM, none);
}

function hasLine({ name, iban, amount, reference }: BatchLine, order: OrderFilter): boolean {
  return hasOrder({ name, to: iban, amount, reference }, order);
}

/** A batch that needs no more approvals and is not begun waits for its run, not for a person. */
function needsPerson(
  { state, approvals, approvalsNeeded }: ReturnType<typeof batchData>,
  { outcomes }: KnownBatch,
): boolean {
  if (state === 'added') return approvals.length < approvalsNeeded;
  if (state !== 'running' && state !== 'done') return false;
  return outcomes.some(({ outcome }) => ['unknown', 'refused', 'unfinished'].includes(outcome));
}
