import {
  type Batch,
  type BatchEvent,
  countedApprovals,
  hasDecided,
  type Person,
} from '../../domain/batch/batch.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { neededApprovals, refuseRejected } from './approval.ts';
import { batchData, type KnownBatch, printBatch, readBatch } from './batches.ts';
import { auditBatch, personOf } from './person.ts';
import { hasEnded } from './rows.ts';

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
  context.terminal.warn(describe(known.batch, batchData(profile, known)));
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
          : 'Each person needs a database role of their own (docs/store.md).',
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

function describe(batch: Batch, { lines, totals, counts }: ReturnType<typeof batchData>): string {
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
    ...notes.filter((note) => note),
  ].join('\n');
}
