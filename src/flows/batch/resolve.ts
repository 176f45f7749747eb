import type { BatchLine } from '../../domain/batch/line.ts';
import type { ResolvedEvent } from '../../domain/flow.ts';
import { isOpen, isUndecided, standingOf } from '../../domain/flow-states.ts';
import type { StepEvent } from '../../domain/operation.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Flows, GenericOperation } from '../../store/ports/flows.ts';
import { isInterruption } from '../refusals.ts';
import { askOfOperation, type BankWord } from '../resolve.ts';
import { type AskedOfBulk, BULK, followInBulk } from './bulk.ts';
import { endSettledGroups } from './end-groups.ts';
import { wordOfBulk } from './follow-bulk.ts';
import {
  type KnownBatch,
  type KnownLine,
  type LineOutcome,
  lineOutcome,
  linesOfGroup,
  readBatch,
  withLogin,
} from './known-lines.ts';
import type { BatchStore } from './ports.ts';

// A person ends the lines of a batch of which nobody knows what became: none of them was executed.

/** A line that a person may end, with its transfer. */
export interface UnknownLine extends KnownLine {
  transfer: Transfer;
}

export interface ResolvePorts {
  /** Who says it, and how they know it. */
  said: Pick<ResolvedEvent, 'by' | 'note'>;
  /** The bank, while the customers are not there. */
  payerOf(line: Pick<BatchLine, 'customer'>): Promise<AskedOfBulk>;
  /** Shows the operator what the bank says. @param what a line, or the bulk payment of some lines */
  tell(what: string, sentences: string[]): void;
  /** Shows that psd2 asks the bank. */
  whileAsking(work: Promise<void>): Promise<void>;
  /** Asks for the confirmation of all. @throws Psd2Error `cancelled` after a no */
  confirm(lines: readonly UnknownLine[]): Promise<void>;
}

/**
 * The lines whose outcome is unknown, or that the bank refused without a confirmation. A line whose customer may still be asked, or with
 * which a run can go on, is none of them.
 */
export async function unknownLines(
  flows: Pick<Flows, 'find'>,
  { outcomes }: KnownBatch,
): Promise<UnknownLine[]> {
  const unknown: UnknownLine[] = [];
  for (const { transfer, ...line } of outcomes) {
    if (!transfer || !isForPerson(line)) continue;
    const group = transfer.bulk === null ? null : await flows.find('operation', transfer.bulk);
    if (!group || !isUnderWay(group)) unknown.push({ ...line, transfer });
  }
  return unknown;
}

/** Whether a person may end it: its outcome is unknown, or the refusal was about one delivery alone. */
function isForPerson({ outcome }: Pick<KnownLine, 'outcome'>): boolean {
  return outcome === 'unknown' || outcome === 'refused';
}

/** Whether a bulk payment or signing basket was not sent yet, or somebody can still authorise it. */
function isUnderWay(group: GenericOperation): boolean {
  return isOpen(group) || isUndecided(group);
}

/**
 * Ends lines by a person's word that they were not executed. psd2 asks the bank first, and what it says counts more. A bulk payment is
 * one payment at the bank, so that its lines end together: first it, then each of them.
 *
 * @param lines those of {@link unknownLines} that the person means
 * @throws Psd2Error `usage` if the bank says that one of them was executed, or if they are only a part of a bulk payment; what `confirm`
 *   throws. Nothing of what the person says is recorded then, unless the bank's word came after `confirm`
 */
export async function resolveNotExecuted(
  store: BatchStore,
  lines: readonly UnknownLine[],
  ports: ResolvePorts,
): Promise<void> {
  const { batches, flows, batch } = store;
  const groups = await unknownBulks(store, lines);
  await ports.whileAsking(askBank(store, lines, ports));
  const now = await readBatch({ batches, flows }, batch);
  const wanted = new Set(lines.map(({ line }) => line.line));
  refusePaid(
    now.outcomes.filter(({ line, outcome }) => wanted.has(line.line) && PAID.includes(outcome)),
    batch,
    "psd2 has recorded the bank's answer, and not that the others were not executed. Look at them again, and repeat the command for the rest. See the payments with:",
  );
  const left = (await unknownLines(flows, now)).filter(({ line }) => wanted.has(line.line));
  const groupsBefore = new Map<string, GenericOperation>();
  for (const bulk of new Set([...groups, ...left.flatMap(({ transfer }) => transfer.bulk ?? [])]))
    groupsBefore.set(bulk, await flows.find('operation', bulk));
  if (left.length > 0) await ports.confirm(left);
  const event: ResolvedEvent = { type: 'resolved', outcome: 'not-executed', ...ports.said };
  const { paid, changed } = await endAll(store, now, { left, groups, groupsBefore, event });
  await endSettledGroups(store, batch, ports.said.by);
  refusePaid(paid, batch, 'psd2 has recorded that, and of the others what you say. See the payments with:');
  if (changed.length > 0)
    throw new Psd2Error(
      'usage',
      `Another psd2 has changed what is known of payment ${changed.map(({ line }) => line.line).join(', ')} while you were asked`,
      {
        hint: 'psd2 has left that as it is, and recorded of the others what you say. See the payments with:',
        next: [['batch', 'show', batch]],
      },
    );
}

/**
 * Records what the person says. What the journals have by now counts more.
 *
 * @param groupsBefore each bulk payment or signing basket, as it was when the person was asked
 * @returns the lines that were paid by their bulk payment, and those of which something else is known by now
 */
async function endAll(
  store: BatchStore,
  now: KnownBatch,
  {
    left,
    groups,
    groupsBefore,
    event,
  }: {
    left: readonly UnknownLine[];
    groups: ReadonlySet<string>;
    groupsBefore: ReadonlyMap<string, GenericOperation>;
    event: ResolvedEvent;
  },
): Promise<{ paid: KnownLine[]; changed: KnownLine[] }> {
  const [paid, changed]: [KnownLine[], KnownLine[]] = [[], []];
  const endLines = async (bulk: string | null, group?: GenericOperation, isSame = true) => {
    for (const each of left.filter(({ transfer }) => transfer.bulk === bulk))
      await store.flows.resume('transfer', each.transfer.flow, async (open) => {
        const word = group && wordOfBulk(open.current, group);
        if (word) paid.push(each);
        for (const its of word?.events ?? []) await open.record(its);
        const outcome = lineOutcome(now.batch, each.line, open.current);
        if (isSame && isForPerson({ outcome })) await open.record(event);
        else if (!word) changed.push(each);
        await store.tidy(open.current);
      });
  };
  await endLines(null);
  // Nobody else writes what became of a bulk payment while its payments end.
  for (const [bulk, before] of groupsBefore)
    await store.flows.resume('operation', bulk, async (open) => {
      const isSame = isUnchanged(open.current, before);
      const isWhole = groups.has(bulk);
      if (isSame && isWhole && standingOf(before) === 'sent' && !isUnderWay(before)) await open.record(event);
      await endLines(bulk, open.current, isSame);
      if (isWhole) await store.tidyGroup(open.current);
    });
  return { paid, changed };
}

/**
 * Asks the bank about a transfer of a bulk payment or signing basket, unless the journal of that has the bank's word. While a person's
 * word is recorded, nobody else writes what became of it.
 *
 * @param bulk the local id of the bulk payment or basket
 * @param ask asks about the transfer alone
 */
export async function askInGroup(
  flows: Pick<Flows, 'find' | 'resume'>,
  bulk: string,
  transfer: Transfer,
  ask: () => Promise<BankWord<StepEvent>>,
): Promise<BankWord<StepEvent>> {
  const before = await flows.find('operation', bulk);
  const word = wordOfBulk(transfer, before);
  if (word) return word;
  return {
    ...(await ask()),
    unlessSaid: (record) =>
      flows.resume('operation', bulk, async ({ current }) => {
        const late = wordOfBulk(transfer, current);
        if (late) return late;
        if (!isUnchanged(current, before))
          throw new Psd2Error(
            'usage',
            `Another psd2 has changed what is known of ${bulk} while you were asked`,
            {
              hint: 'psd2 has recorded nothing. See it with:',
              next: [['operation', 'show', bulk]],
              flow: transfer.flow,
            },
          );
        await record();
        return undefined;
      }),
  };
}

/** Whether no event has changed a bulk payment or signing basket since it was read. */
function isUnchanged(now: GenericOperation, before: GenericOperation): boolean {
  return JSON.stringify(now) === JSON.stringify(before);
}

/** The bulk payments of lines whose outcome is unknown as a whole. @throws Psd2Error `usage` if other lines are in one, too */
async function unknownBulks(
  { batches, flows, batch: id }: BatchStore,
  lines: readonly UnknownLine[],
): Promise<Set<string>> {
  const wanted = new Set(lines.map(({ line }) => line.line));
  const bulks = new Set<string>();
  for (const { line, transfer } of lines) {
    if (transfer.bulk === null || bulks.has(transfer.bulk)) continue;
    const group = await flows.find('operation', transfer.bulk);
    if (group.order.operation !== BULK.operation || standingOf(group) !== 'sent') continue;
    bulks.add(group.flow);
    const others: number[] = [];
    for (const each of linesOfGroup(await batches.find(id), group.flow)) {
      const its = await flows.find('transfer', each.flow);
      const isInIt = its.bulk === group.flow && standingOf(its) === 'sent';
      if (isInIt && !wanted.has(each.line.line)) others.push(each.line.line);
    }
    if (others.length > 0)
      throw new Psd2Error(
        'usage',
        `Payment ${line.line} is in one bulk payment with ${others.join(', ')}: the bank has executed all of them, or none`,
        { hint: 'psd2 has recorded nothing. Name all of them with --only.' },
      );
  }
  return bulks;
}

/** Asks the bank about what it has a resource for, and records what it says. */
async function askBank(store: BatchStore, lines: readonly UnknownLine[], ports: ResolvePorts): Promise<void> {
  const { flows } = store;
  const askedBulks = new Set<string>();
  for (const { line, transfer } of lines) {
    const { flow, bulk, order, verification } = transfer;
    const payer = () => ports.payerOf({ customer: order.customerId });
    if (verification)
      await flows.resume('transfer', flow, async (open) => {
        const named = await withLogin(flows, open.current);
        const { sentences, events } = await askOfOperation(
          async () => (await payer()).bank,
          open.current,
          ({ payments }) => payments.transfer(named),
        );
        ports.tell(`Payment ${line.line}`, sentences);
        for (const event of events) await open.record(event);
      });
    else if (bulk !== null && !askedBulks.has(bulk)) {
      askedBulks.add(bulk);
      await askOfBulk(store, bulk, payer, ports);
    }
  }
}

async function askOfBulk(
  store: BatchStore,
  bulk: string,
  payer: () => Promise<AskedOfBulk>,
  { tell }: Pick<ResolvePorts, 'tell'>,
): Promise<void> {
  const bulkPayment = await store.flows.resume('operation', bulk, async (open) => {
    if (!open.current.verification) return open.current;
    const { sentences, events } = await askOfOperation(
      async () => (await payer()).bank,
      open.current,
      (bank) => BULK.calls({ bank }, open.current),
    );
    tell(`The bulk payment ${bulk}`, sentences);
    for (const event of events) await open.record(event);
    return open.current;
  });
  try {
    await followInBulk(store, payer, bulkPayment);
  } catch (error) {
    // What cannot be asked decides nothing.
    if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
  }
}

const PAID: readonly LineOutcome[] = ['paid', 'accepted', 'ordered'];

/** @param paid lines of which the bank says that they were executed @throws Psd2Error `usage` if there are any */
function refusePaid(paid: readonly KnownLine[], batch: string, hint: string): void {
  if (paid.length === 0) return;
  const numbers = paid.map(({ line }) => line.line).join(', ');
  throw new Psd2Error(
    'usage',
    `The bank says that it has executed ${paid.length === 1 ? `payment ${numbers}` : `the payments ${numbers}`}`,
    { hint, next: [['batch', 'show', batch]] },
  );
}
