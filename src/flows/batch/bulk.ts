import type { BulkPayments } from '../../bank/ports/bulk.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { PayeeCheck } from '../../domain/order/payee-check.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { beginGroup, giveUp, newReturn, type Taken } from './group.ts';
import { BULK } from './group-kinds.ts';
import {
  checkedPayee,
  orderOf,
  orRefused,
  refuseDuplicate,
  takesLine,
  throwProblems,
  WaitsForPerson,
} from './lines.ts';
import { isBeforeAll } from './outcome.ts';
import type { BatchRun, Payer } from './ports.ts';
import type { Share } from './run.ts';
import { isOfLine, payLine } from './single.ts';

/** A line that goes into a bulk run. */
interface Prepared {
  line: BatchLine;
  order: TransferOrder;
  checked: PayeeCheck | null;
  /** The transfer of the line before, which ended before anything of it was sent. */
  before: string | undefined;
}

/**
 * Pays lines in one bulk payment, which the customer authorises once. Their transfers hold their references, and are never sent alone.
 *
 * @throws Psd2Error what stopped it
 */
export async function payBulk(run: BatchRun, share: Share): Promise<void> {
  const { batches, flows } = run;
  const batch = await batches.find(run.batch);
  const free: { line: BatchLine; before: string | undefined }[] = [];
  for (const line of share) {
    const before = batch.flows.get(line.line);
    const transfer = before === undefined ? undefined : await flows.find('transfer', before);
    const isFree = !transfer || isBeforeAll(transfer);
    if (isFree && !batch.refused.has(line.line) && !batch.cancelled.has(line.line))
      free.push({ line, before });
  }
  await beginBulk(run, free);
}

async function beginBulk(
  run: BatchRun,
  free: { line: BatchLine; before: string | undefined }[],
): Promise<void> {
  const [first] = free;
  if (!first) return;
  const payer = await run.payerOf(first.line);
  const { bulk } = payer.bank.payments;
  if (!bulk) throw new TypeError('The bank has no bulk payments');
  const { prepared, problems } = await prepareAll(run, payer, bulk, free);
  const { taken: all, alone } = await takeAll(run, payer, prepared);
  const [one, ...others] = all;
  if (one) {
    const taken = [one, ...others] as const;
    await beginGroup(run, payer, BULK, { taken, initiation: await initiationOf(payer, bulk, taken) });
  }
  for (const line of alone) await payLine(run, line);
  throwProblems(problems);
}

function initiationOf(payer: Payer, bulk: BulkPayments, lines: readonly Pick<Taken, 'order'>[]) {
  const orders = lines.map(({ order }) => order);
  return bulk.initiation(orders, newReturn(payer), payer.world.newId);
}

/** Checks each line. What is wrong with one refuses it alone. @returns also why lines wait for a person */
async function prepareAll(
  run: BatchRun,
  payer: Payer,
  bulk: BulkPayments,
  free: { line: BatchLine; before: string | undefined }[],
): Promise<{ prepared: Prepared[]; problems: Map<number, Psd2Error> }> {
  const batch = await run.batches.find(run.batch);
  const prepared: Prepared[] = [];
  const problems = new Map<number, Psd2Error>();
  for (const { line, before } of free) {
    try {
      const order = await orderOf(run, payer, batch, line);
      const candidate = order && { line, order, checked: null, before };
      const isTaken = candidate && (await orRefused(run, line, () => initiationOf(payer, bulk, [candidate])));
      if (!candidate || !isTaken) continue;
      const checked = await checkedPayee(run, payer, batch, line);
      if (checked !== 'refused') prepared.push({ ...candidate, checked });
    } catch (error) {
      if (!(error instanceof WaitsForPerson)) throw error;
      problems.set(line.line, error);
    }
  }
  return { prepared, problems };
}

/**
 * Begins the transfer of each line, which takes its reference.
 *
 * @returns also the lines for which an earlier run began a payment that is authorised alone
 */
async function takeAll(
  run: BatchRun,
  { bank, world }: Payer,
  prepared: readonly Prepared[],
): Promise<{ taken: Taken[]; alone: BatchLine[] }> {
  const taken: Taken[] = [];
  const alone: BatchLine[] = [];
  for (const { before, ...each } of prepared) {
    const { line, order } = each;
    const begin = {
      ...{ transactionId: world.newId(), commits: bank.payments.commits },
      ...{ order, furtherData: [] },
    };
    const take = () =>
      run.flows.begin('transfer', begin, async (open) => {
        const { flow } = open.current;
        if (await takesLine(run, line, flow, before)) taken.push({ ...each, flow });
        else await open.record({ type: 'cancelled' });
      });
    try {
      await take();
    } catch (error) {
      const holder = await holderOf(run, line, error, before);
      if (holder === 'ended') await take();
      else if (holder === 'its own') alone.push(line);
    }
  }
  return { taken, alone };
}

/**
 * A line's reference is taken. An earlier run may have begun a transfer for the line, which it could not note any more: this ends it,
 * unless it is a payment that goes on alone.
 *
 * @returns `with others` if it goes with what another run has begun; `other` if another payment has the reference: then psd2 has
 *   refused the line
 * @throws `error` if it says something else
 */
async function holderOf(
  run: BatchRun,
  line: BatchLine,
  error: unknown,
  before: string | undefined,
): Promise<'ended' | 'its own' | 'with others' | 'other'> {
  if (!(error instanceof Psd2Error) || error.code !== 'duplicate_reference') throw error;
  const { flow } = error;
  const other = flow === undefined ? undefined : await run.flows.find('transfer', flow);
  if (!other || !isOfLine(run, line, other)) {
    await refuseDuplicate(run, line, error, other);
    return 'other';
  }
  await giveUp(run, other);
  const now = await run.flows.find('transfer', other.flow);
  if (isBeforeAll(now)) return 'ended';
  await takesLine(run, line, now.flow, before);
  return now.initiation !== null && now.bulk === null ? 'its own' : 'with others';
}
