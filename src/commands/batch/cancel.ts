import { endSentence, Psd2Error } from '../../errors.ts';
import { cancelUnsent, cancelWithoutBasket } from '../../flows/batch/afterwards.ts';
import { endSettledGroups } from '../../flows/batch/end-groups.ts';
import { hasEnded, type KnownBatch, type KnownLine, readBatch } from '../../flows/batch/known-lines.ts';
import { actorOf } from '../../store/machine/actor.ts';
import { cleanText } from '../../terminal/clean.ts';
import { examples, verb } from '../declare.ts';
import { confirmed } from '../shared/confirmed.ts';
import { BATCH, BATCH_FORM, batchData } from './batches.ts';
import { followed, payers } from './payers.ts';
import { auditBatch, personOf } from './person.ts';

/** `psd2 batch cancel <batch>` */
export const cancel = verb(
  {
    prints: BATCH,
    help: `
psd2 cancels the payments for which nothing was sent, and at the bank those that were to go into a signing basket which the bank has refused
or not answered: nobody has a link to authorise them. psd2 names the others that have not ended. As long as that is possible, psd2
transfer cancel cancels each of them alone. It cannot cancel what is in a bulk payment: only the customer can refuse that.
${examples('psd2 batch cancel 3f2a9c --yes')}`,
  },
  (command) => command.argument('<batch>', 'id of the batch, or the beginning of it'),
  async (context, reference) => {
    const data = await context.store();
    const known = await readBatch(data, reference);
    await confirmed(context, {
      text: `Cancel all payments of ${known.batch.batch} for which nothing was sent?`,
      unasked: 'Cancelling a batch needs a confirmation',
      hint: 'Add --yes to confirm in advance. psd2 has cancelled nothing.',
      declined: 'psd2 has cancelled nothing',
    });
    const person = personOf(context, undefined);
    const { batch, recorded } = await cancelUnsent(data, known, person);
    if (recorded) await auditBatch(data, 'cancelled', batch, person);
    const store = followed(context, data, batch.batch);
    const isAny = await cancelWithoutBasket(store, known.known, payers(context), ({ line }, { message }) =>
      context.terminal.warn(cleanText(`Payment ${line}: ${endSentence(message)}`)),
    );
    if (isAny) {
      const { operator, machine } = actorOf(context.env);
      await endSettledGroups(data, batch.batch, `${operator}@${machine}`);
      if (!recorded) await auditBatch(data, 'cancelled', batch, person);
    }
    const after = await readBatch(data, batch.batch);
    context.output.record(batchData(context.profile(), after), BATCH_FORM);
    const others = after.known.filter(({ outcome }) => !hasEnded(outcome));
    if (others.length > 0) throw notCancelled(after, others);
  },
);

/** The error for payments that have begun and have not ended. */
function notCancelled({ batch }: KnownBatch, others: readonly KnownLine[]): Psd2Error {
  const count = batch.cancelled.size;
  const cancelled =
    count === 0
      ? 'psd2 has cancelled no payment.'
      : `${count === 1 ? '1 payment is' : `${count} payments are`} cancelled.`;
  const inBulk = others.filter(isInBulk);
  const alone = others.filter((other) => !isInBulk(other));
  const words = [
    cancelled,
    inBulk.length > 0 &&
      'psd2 cannot cancel what is in a bulk payment. Until the customer has authorised it, they can refuse it: psd2 batch run records that.',
    alone.length > 0
      ? `As long as nothing irreversible was sent${inBulk.length > 0 ? ' for the others' : ''}:`
      : 'See the payments with:',
  ];
  return new Psd2Error(
    'usage',
    `${others.length === 1 ? 'One payment has begun and has' : `${others.length} payments have begun and have`} not ended: ${others
      .map(({ row }) => `line ${row.line} is ${row.state}`)
      .slice(0, 10)
      .join(', ')}`,
    {
      hint: words.filter(Boolean).join(' '),
      next:
        alone.length > 0
          ? alone.slice(0, 5).flatMap(({ row }) => (row.flow ? [['transfer', 'cancel', row.flow]] : []))
          : [['batch', 'status', batch.batch]],
    },
  );
}

/** The bank has one payment for all that are in a bulk payment. In a signing basket, each has its own. */
function isInBulk({ transfer }: KnownLine): boolean {
  return transfer !== undefined && transfer.bulk !== null && transfer.initiation === null;
}
