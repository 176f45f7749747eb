import type { BankInterface } from '../../bank/ports/bank.ts';
import type { BulkTerms } from '../../bank/ports/bulk.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import { BASKET, mayGoIntoBasket } from './basket.ts';
import { BULK } from './bulk.ts';
import { isWithoutLink } from './follow-basket.ts';
import { type GroupKind, giveUpTransfer, goOnWith } from './group.ts';
import { isBeforeAll } from './known-lines.ts';
import { transferOf } from './lines.ts';
import type { BatchRun } from './ports.ts';
import { type Share, sharesOf } from './run.ts';
import { SINGLE } from './single.ts';
import type { Way } from './way.ts';

// How the customers authorise the lines of a batch: each alone, or many at once.

/** What is missing at a bank with `payments.bulk.batchBooking` `required`. */
export const WANTS_BOOKING = 'This bank wants to know whether it books a bulk payment as one sum';

export const WAYS = ['single', 'bulk', 'basket'] as const;
export type As = (typeof WAYS)[number];

/** How a run pays. */
export interface Choice {
  /** Many payments are authorised in one signing basket. */
  isBasket: boolean;
  /** The operator wants each payment authorised alone. */
  isSingle: boolean;
  /** Also one line alone goes as a bulk payment. */
  isBulkOnly: boolean;
  /** Null: each line is a payment of its own. */
  bulk: BulkTerms | null;
}

/** How a run pays: as the operator chose, else with the fewest SCAs. @throws Psd2Error `usage` for what the bank does not have */
export function chooseWay({ bulk, has }: Pick<BankInterface, 'bulk' | 'has'>, as: As | undefined): Choice {
  const isBasket = as === 'basket';
  if (isBasket && !has.has('signing baskets'))
    throw new Psd2Error('usage', "This bank's interface has no signing baskets", {
      hint: 'psd2 has sent nothing. Leave out --as.',
    });
  const isSingle = as === 'single';
  if (isBasket || isSingle) return { isBasket, isSingle, isBulkOnly: false, bulk: null };
  if (as === 'bulk' && !bulk)
    throw new Psd2Error('usage', 'This bank has no bulk payments', {
      hint: 'psd2 has sent nothing. Leave out --as.',
    });
  return { isBasket, isSingle, isBulkOnly: as === 'bulk', bulk: bulk ?? null };
}

/** Whether a line may be authorised together with others. */
function mayJoin(line: BatchLine, { bulk, isBasket }: Choice): boolean {
  return !line.urgent && (isBasket || (bulk?.takes(line) ?? false));
}

/**
 * What the run pays at once.
 *
 * @param outcomes all lines, with the transfers of earlier runs
 * @param chosen in the order in which they are paid
 * @throws Psd2Error `usage` if the operator wants bulk payments and the bank has none for such a line
 */
export function sharesIn(
  outcomes: readonly { line: BatchLine; transfer: Transfer | undefined }[],
  chosen: readonly BatchLine[],
  way: Choice,
): Share[] {
  const single = new Set(
    outcomes.flatMap(({ line, transfer }) => (transfer && isAlone(transfer, way) ? [line.line] : [])),
  );
  const other = way.isBulkOnly ? chosen.find((line) => !mayJoin(line, way)) : undefined;
  if (other)
    throw new Psd2Error('usage', `This bank has no bulk payments for payment ${other.line}`, {
      hint: 'psd2 has sent nothing. Leave out --as.',
    });
  const most = way.bulk?.maxEntries ?? null;
  const shares = sharesOf(chosen, (line) => !single.has(line.line) && mayJoin(line, way), most);
  const begun = new Set(
    outcomes.flatMap(({ line, transfer }) => (transfer && !isBeforeAll(transfer) ? [line.line] : [])),
  );
  for (const share of shares) {
    const isBulk = way.bulk?.batchBooking === 'required' && (share.length > 1 || way.isBulkOnly);
    const unsaid =
      isBulk && share.find(({ line, batchBooking }) => batchBooking === undefined && !begun.has(line));
    if (unsaid)
      throw new Psd2Error('usage', `${WANTS_BOOKING}, and payment ${unsaid.line} does not say`, {
        hint: 'psd2 has sent nothing. Pay with --as single, or cancel the batch and add its file with --batch-booking yes or no.',
      });
  }
  return shares;
}

/** Whether a transfer of an earlier run is authorised alone. */
function isAlone(transfer: Transfer, { isBasket }: Pick<Choice, 'isBasket'>): boolean {
  if (isBeforeAll(transfer) || transfer.bulk !== null || (isBasket && mayGoIntoBasket(transfer)))
    return false;
  return transfer.initiation !== null || transfer.commits === 'on execute';
}

/**
 * Pays a share: one line alone, a bulk payment, or a signing basket. If the bank has no baskets, each payment is authorised alone.
 *
 * @param withoutBasket called before that, with the bank's answer
 * @throws Psd2Error what stopped it
 */
export async function payShare(
  run: BatchRun,
  share: Share,
  choice: Choice,
  withoutBasket: (why: Psd2Error) => void,
): Promise<void> {
  try {
    await payTogether(run, share, choice);
  } catch (error) {
    if (!choice.isBasket || !(error instanceof Psd2Error) || !error.lacksService) throw error;
    withoutBasket(error);
    await SINGLE.take(run, share);
  }
}

async function payTogether(run: BatchRun, share: Share, choice: Choice): Promise<void> {
  for (const flow of await groupsOfShare(run, share)) {
    const group = await run.flows.find('operation', flow);
    const kind = groupKindOf(group);
    if (choice.isSingle && kind === BASKET && isWithoutLink(group))
      await run.flows.resume('operation', flow, BASKET.leave);
    await goOnWith(run, kind, await run.flows.find('operation', flow), share);
  }
  await (await wayFor(run, share, choice))?.take(run, share);
}

/** The way of a share. Null: it goes with what an earlier run began. */
async function wayFor(
  run: BatchRun,
  share: Share,
  choice: Choice,
): Promise<Pick<Way<'operation'>, 'take'> | null> {
  const transfer = await transferOf(run, share[0]);
  const isKnownAlone = transfer !== undefined && isAlone(transfer, choice);
  const isMany = share.length > 1 || choice.isBulkOnly;
  if (choice.isBasket && (isMany || !isKnownAlone)) return BASKET;
  if (isMany) return BULK;
  return transfer && !isBeforeAll(transfer) && !isKnownAlone ? null : SINGLE;
}

/** What kind of operation an earlier run began. */
export function groupKindOf({ order }: GenericOperation): GroupKind {
  return order.operation === BASKET.operation ? BASKET : BULK;
}

/** The operations that earlier runs have begun for some lines. Ends the transfers that were only prepared for one. */
async function groupsOfShare(run: BatchRun, share: Share): Promise<Set<string>> {
  const batch = await run.batches.find(run.batch);
  const begun = new Set<string>();
  for (const { line } of share) {
    const flow = batch.flows.get(line);
    const transfer = flow === undefined ? undefined : await run.flows.find('transfer', flow);
    if (!transfer || isBeforeAll(transfer)) continue;
    // The last one that the line was to go with.
    const group = [...batch.bulks].findLast(([, lines]) => lines.includes(line))?.[0];
    if (group !== undefined && (transfer.bulk ?? group) === group) begun.add(group);
    else await giveUpTransfer(run, transfer);
  }
  return begun;
}
