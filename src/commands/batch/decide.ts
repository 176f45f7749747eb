import Big from 'big.js';
import { type BatchEvent, countedApprovals } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import { neededApprovals, paidBefore, refuseDecision, refuseEnded } from '../../flows/batch/approval.ts';
import { type KnownBatch, readBatch } from '../../flows/batch/known-lines.ts';
import { controlsOf } from '../../store/machine/settings.ts';
import { writeMoney } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { readNote } from '../flow/resolve.ts';
import { BATCH, BATCH_FORM, batchData } from './batches.ts';
import { auditBatch, personOf } from './person.ts';

/** `psd2 batch approve <batch>` */
export const approve = verb(
  {
    prints: BATCH,
    help: `
The setting approvals of the profile (PSD2_APPROVALS) says how many other people must approve a batch: 0, 1 or 2. In production the
default is 1. A batch that pays more than --max-amount of the profile needs one more. psd2 records the name, the system user, the
machine and the time. In PostgreSQL, only members of the role psd2_approver may approve.
${examples('psd2 batch approve 3f2a9c', 'psd2 batch approve 3f2a9c --by "Ada Lovelace" --yes')}`,
  },
  (command) =>
    command
      .argument('<batch>', 'id of the batch, or the beginning of it')
      .option('--by <name>', 'who approves it (default: PSD2_OPERATOR, else the system user)'),
  (context, batch, { by }) => decide(context, batch, { by, note: null }),
);

/** `psd2 batch reject <batch>` */
export const reject = verb(
  {
    prints: BATCH,
    help: `
psd2 no longer begins payments of a rejected batch. Payments that have begun stay as they are.
${examples('psd2 batch reject 3f2a9c --note "Line 7 has the old account"')}`,
  },
  (command) =>
    command
      .argument('<batch>', 'id of the batch, or the beginning of it')
      .requiredOption('--note <text>', 'why')
      .option('--by <name>', 'who rejects it (default: PSD2_OPERATOR, else the system user)'),
  async (context, batch, { by, note: noteText }) => {
    const note = readNote(noteText);
    if (note === null) throw new Psd2Error('usage', '--note is missing');
    await decide(context, batch, { by, note });
  },
);

/**
 * Shows a batch to a second person, and records their yes or no over the hash of its content. Without a terminal the command is the
 * decision itself: it sends nothing, and `batch run` needs its own confirmation.
 */
async function decide(
  context: Context,
  reference: string,
  { by, note }: { by?: string | undefined; note: string | null },
): Promise<void> {
  const profile = context.profile();
  const person = personOf(context, by);
  const data = await context.store();
  const current = await readBatch(data, reference);
  // Before anything is shown or asked.
  await data.batches.change(current.batch.batch, (now, role) => {
    refuseDecision(now, { ...person, role }, note === null);
    return null;
  });
  refuseEnded(current);
  const paid = await paidBefore(data.flows, current);
  context.terminal.warn(describeBatch(current, batchData(profile, current), paid));
  const word = note === null ? 'Approve' : 'Reject';
  if (context.terminal.canAsk && !context.globals.yes) {
    const isConfirmed = await context.terminal.confirm(`${word} these payments as ${person.by}?`);
    if (!isConfirmed) throw new Psd2Error('cancelled', 'psd2 has recorded nothing');
  }
  const { batch } = await data.batches.change(current.batch.batch, (now, role) => {
    refuseDecision(now, { ...person, role }, note === null);
    const { sha256 } = current.batch;
    const event: BatchEvent =
      note === null ? { type: 'approved', sha256, ...person } : { type: 'rejected', sha256, note, ...person };
    return event;
  });
  await auditBatch(data, note === null ? 'approved' : 'rejected', batch, person);
  context.output.record(batchData(profile, { ...current, batch }), BATCH_FORM);
  if (note !== null) return;
  const missing = neededApprovals(controlsOf(profile), batch, current.lines) - countedApprovals(batch).length;
  context.terminal.say(missing > 0 ? `It needs ${missing} more.` : 'It can be paid now.');
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

function describeBatch(
  { batch, lines: all }: KnownBatch,
  { lines, totals, counts }: ReturnType<typeof batchData>,
  paid: ReadonlySet<string>,
): string {
  const sums = totals.map(
    ({ from, amount, currency, count }) =>
      `  ${count} from ${from ?? 'the account that the customer chooses at the bank'}: ${amount} ${currency}`,
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
