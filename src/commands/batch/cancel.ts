import { writeCommand } from '../../advice.ts';
import { whyManyKept } from '../../domain/kept.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { cancelGroups, cancelUnsent, cancelWithoutBasket } from '../../flows/batch/afterwards.ts';
import { endSettledGroups } from '../../flows/batch/end-groups.ts';
import { hasLineEnded, type KnownBatch, type KnownLine, readBatch } from '../../flows/batch/known-lines.ts';
import { actorOf } from '../../store/machine/actor.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { examples, verb, where } from '../declare.ts';
import { confirmed } from '../shared/confirmed.ts';
import { readPerson } from '../shared/psu.ts';
import { BATCH, BATCH_FORM, batchData } from './batches.ts';
import { followed, payers } from './payers.ts';
import { auditBatch, personOf } from './person.ts';

/** `psd2 batch cancel <batch>` */
export const cancel = verb(
  {
    prints: BATCH,
    help: `
psd2 cancels the payments for which nothing was sent. It asks the bank to cancel the bulk payments that it has, before or after their
customers have authorised them, and to delete signing baskets that nobody has authorised; then it asks the bank to cancel the payments that
were in one. The bank may want a customer to authorise a cancellation: psd2 sends them there, and --psu-id names another person who must. psd2
names the payments that have not ended. As long as that is possible, psd2 transfer cancel cancels each of them alone.
${examples('psd2 batch cancel 3f2a9c --yes')}`,
  },
  (command) =>
    command
      .argument('<batch>', 'id of the batch, or the beginning of it')
      .option('--psu-id <id>', where('PSU-ID', 'who authorises the cancellation now: their id at the bank')),
  async (context, reference, options: { psuId?: string }) => {
    const data = await context.store();
    const before = await readBatch(data, reference);
    const by = await readPerson(context, options);
    await confirmed(context, {
      text: `Cancel all payments of ${before.batch.batch} for which nothing was sent, its bulk payments and its signing baskets?`,
      unasked: 'Cancelling a batch needs a confirmation',
      hint: 'Add --yes to confirm in advance. psd2 has cancelled nothing.',
      declined: 'psd2 has cancelled nothing',
    });
    const person = personOf(context, undefined);
    const { batch, recorded } = await cancelUnsent(data, before, person);
    if (recorded) await auditBatch(data, 'cancelled', batch, person);
    const store = followed(context, data, batch.batch);
    const payerOf = payers(context);
    const following = { ...store, links: null, whileWaiting: context.terminal.whileWaiting };
    const groups = await cancelGroups(following, batch, payerOf, by);
    const now = groups.isAny ? await readBatch(data, batch.batch) : before;
    // What was in a bulk payment that nobody has sent can be cancelled as what has not begun.
    if (groups.isAny) await cancelUnsent(data, now, person);
    const isAny = await cancelWithoutBasket(store, now.outcomes, payerOf, ({ line }, { message }) =>
      context.terminal.warn(cleanText(`Payment ${line}: ${endSentence(message)}`)),
    );
    if (isAny || groups.isAny) {
      const { operator, machine } = actorOf(context.env);
      await endSettledGroups(data, batch.batch, `${operator}@${machine}`);
      if (!recorded) await auditBatch(data, 'cancelled', batch, person);
    }
    const after = await readBatch(data, batch.batch);
    context.output.record(batchData(context.profile(), after), BATCH_FORM);
    const linkReason = whyManyKept(after.outcomes.flatMap(({ transfer }) => transfer ?? []));
    if (linkReason !== null) {
      const ask = writeCommand(['batch', 'status', batch.batch], context.repeated);
      context.terminal.say(`${endSentence(linkReason)} Then ask the bank again with: ${ask}`);
    }
    const others = after.outcomes.filter(({ outcome }) => !hasLineEnded(outcome));
    const problem = firstOf(context, groups.problems, others);
    if (problem) throw problem;
    if (others.length > 0) throw notCancelled(after, others);
  },
);

/** Why a bulk payment or signing basket is not cancelled. Says why others are not, and which other payments have not ended. */
function firstOf(
  { terminal }: Context,
  problems: ReadonlyMap<string, Psd2Error>,
  others: readonly KnownLine[],
): Psd2Error | undefined {
  const [first, ...more] = problems.values();
  for (const { message } of more) terminal.warn(cleanText(endSentence(message)));
  const alone = others.filter(({ transfer }) => !problems.has(transfer?.bulk ?? ''));
  if (first && alone.length > 0) terminal.warn(`${notEnded(alone)}.`);
  return first;
}

/** The error for payments that have begun and have not ended. */
function notCancelled({ batch, outcomes }: KnownBatch, others: readonly KnownLine[]): Psd2Error {
  const count = outcomes.filter(({ row }) => row.state === 'cancelled').length;
  const cancelled =
    count === 0
      ? 'psd2 has cancelled no payment.'
      : `${count === 1 ? '1 payment is' : `${count} payments are`} cancelled.`;
  const inBulk = others.filter(isInBulk);
  const alone = others.filter((other) => !isInBulk(other));
  const words = [
    cancelled,
    inBulk.length > 0 &&
      'psd2 cannot cancel a bulk payment of which the bank has not said what it calls it. psd2 batch run asks what became of it.',
    alone.length > 0
      ? `As long as nothing irreversible was sent${inBulk.length > 0 ? ' for the others' : ''}:`
      : 'See the payments with:',
  ];
  return new Psd2Error('usage', notEnded(others), {
    hint: words.filter(Boolean).join(' '),
    next:
      alone.length > 0
        ? alone.slice(0, 5).flatMap(({ row }) => (row.flow ? [['transfer', 'cancel', row.flow]] : []))
        : [['batch', 'status', batch.batch]],
  });
}

function notEnded(others: readonly KnownLine[]): string {
  const states = others.slice(0, 10).map(({ row }) => `line ${row.line} is ${row.state}`);
  return `${others.length === 1 ? 'One payment has begun and has' : `${others.length} payments have begun and have`} not ended: ${states.join(', ')}`;
}

/** The bank has one payment for all that are in a bulk payment. In a signing basket, each has its own. */
function isInBulk({ transfer }: KnownLine): boolean {
  return transfer !== undefined && transfer.bulk !== null && transfer.initiation === null;
}
