import Big from 'big.js';
import {
  type Batch,
  type BatchEvent,
  countedApprovals,
  hasDecided,
  type Person,
} from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import { hasEnded } from '../../flows/batch/outcome.ts';
import type { Flows } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { writeMoney } from '../shared/money.ts';
import { neededApprovals, refuseRejected } from './approval.ts';
import { batchData, type KnownBatch, printBatch, readBatch } from './batches.ts';
import { auditBatch, personOf } from './person.ts';

/**
 * Shows a batch to a second person, and records their yes or no over the hash of its content. Without a terminal the command is the
 * decision itself: it sends nothing, and `batch run` needs its own confirmation.
 */
export async function decide(
  context: Context,
  reference: string,
  { by, note }: { by?: string | undefined; note: string | null },
): Promise<void> {
  const profile = context.profile();
  const person = personOf(context, by);
  const data = await context.store();
  const known = await readBatch(data, reference);
  // Before anything is shown or asked.
  await data.batches.change(known.batch.batch, (now, role) => {
    refuseDecision(now, { ...person, role }, note === null);
    return null;
  });
  refuseEnded(known);
  const paid = await paidBefore(data.flows, known);
  context.terminal.warn(describe(known, batchData(profile, known), paid));
  const word = note === null ? 'Approve' : 'Reject';
  if (context.terminal.canAsk && !context.globals.yes) {
    const isConfirmed = await context.terminal.confirm(`${word} these payments as ${person.by}?`);
    if (!isConfirmed) throw new Psd2Error('cancelled', 'psd2 has recorded nothing');
  }
  const { batch } = await data.batches.change(known.batch.batch, (now, role) => {
    refuseDecision(now, { ...person, role }, note === null);
    const { sha256 } = known.batch;
    const event: BatchEvent =
      note === null ? { type: 'approved', sha256, ...person } : { type: 'rejected', sha256, note, ...person };
    return event;
  });
  await auditBatch(data, note === null ? 'approved' : 'rejected', batch, person);
  printBatch(context, batchData(profile, { ...known, batch }));
  if (note !== null) return;
  const missing = neededApprovals(profile, batch, known.lines) - countedApprovals(batch).length;
  context.terminal.say(missing > 0 ? `It needs ${missing} more.` : 'It can be paid now.');
}

/** @throws Psd2Error `usage` if this person may not decide, or the batch was rejected */
function refuseDecision(batch: Batch, person: Person & { role: string | null }, isApproval: boolean): void {
  refuseRejected(batch);
  if (!isApproval || !hasDecided(batch, person)) return;
  throw new Psd2Error(
    'usage',
    `${person.role === null ? person.by : `The database role ${person.role}`} has added or approved this batch already, so another person must approve it`,
    {
      hint:
        person.role === null
          ? 'If you are another person at the same account of the system, give your name with --by.'
          : 'Each person needs a database role of their own.',
    },
  );
}

/** @throws Psd2Error `usage` if there is nothing left to decide */
function refuseEnded({ batch, known }: KnownBatch): void {
  if (!known.every(({ outcome }) => hasEnded(outcome))) return;
  throw new Psd2Error('usage', 'Every payment of this batch has ended, so there is nothing left to decide', {
    hint: 'psd2 has recorded nothing. See it with:',
    next: [['batch', 'show', batch.batch]],
  });
}

/** The IBANs of a batch that psd2 has paid before. */
async function paidBefore(flows: Flows, { lines }: KnownBatch): Promise<ReadonlySet<string>> {
  const asked = new Set<string>(lines.map(({ iban }) => iban));
  const paid = new Set<string>();
  for await (const transfer of flows.list('transfer', { onDamaged: () => {} }))
    if (asked.has(transfer.order.to) && standingOf(transfer) === 'done') paid.add(transfer.order.to);
  return paid;
}

/** How many payees a person can read. Of more, the largest payments are shown. */
const SHOWN_PAYEES = 20;

/** Whom a batch pays, so that a person approves payees and not only a sum. @param paid the IBANs that were paid before */
function payeesOf(lines: readonly BatchLine[], paid: ReadonlySet<string>): string[] {
  const isMany = lines.length > SHOWN_PAYEES;
  const shown = isMany ? lines.toSorted((one, other) => new Big(other.amount).cmp(one.amount)) : lines;
  const news = lines.filter(({ iban }) => !paid.has(iban)).length;
  return [
    ...shown.slice(0, SHOWN_PAYEES).map((line) => {
      const mark = paid.has(line.iban) ? '' : ', new';
      const reference = line.creditorReference ? `, reference ${line.creditorReference.reference}` : '';
      return `  ${writeMoney(line)} to ${line.name}, ${line.iban}${reference}${mark}`;
    }),
    ...(isMany
      ? [
          `  and ${lines.length - SHOWN_PAYEES} smaller payments, ${news} of all ${lines.length} to new payees`,
        ]
      : []),
  ];
}

function describe(
  { batch, lines: all }: KnownBatch,
  { lines, totals, counts }: ReturnType<typeof batchData>,
  paid: ReadonlySet<string>,
): string {
  const sums = totals.map(
    ({ from, amount, currency, count }) => `  ${count} from ${from}: ${amount} ${currency}`,
  );
  const checks = new Map<string, number>();
  for (const { result } of batch.payees) checks.set(result, (checks.get(result) ?? 0) + 1);
  const payees = [...checks].map(([result, count]) => `${count} ${result}`).join(', ');
  const notes = [batch.note && `  Note: ${batch.note}`, payees && `  Payee check: ${payees}`];
  const states = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return [
    `The batch ${batch.batch} of ${batch.addedBy} has ${lines === 1 ? '1 payment' : `${lines} payments`} (${states.join(', ')}):`,
    ...sums,
    ...payeesOf(all, paid),
    ...notes.filter((note) => note),
  ].join('\n');
}
