import { bankDay, type IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { type KnownLine, readBatch } from '../../flows/batch/known-lines.ts';
import { examples, verb } from '../declare.ts';
import { askAgain } from './ask-accepted.ts';
import { LINE_FORM, LINES, lineData } from './batches.ts';

/** `psd2 batch status <batch>` */
export const status = verb(
  {
    prints: LINES,
    help: `
The command shows the payments whose end psd2 does not know: waiting, awaiting their customer, unknown, or accepted by a bank that may still
reject them. It asks the bank about the last ones only. If the bank has rejected one meanwhile, the exit code is 8.
${examples('psd2 batch status 3f2a9c')}`,
  },
  (command) => command.argument('<batch>', 'id of the batch, or the beginning of it'),
  async (context, reference) => {
    const data = await context.store();
    const before = await readBatch(data, reference);
    const { outcomes } = await askAgain(context, data, before);
    const rejected = outcomes.filter(
      ({ outcome }, index) => outcome === 'not paid' && before.outcomes[index]?.outcome === 'accepted',
    );
    const open = outcomes.filter(
      (each) => rejected.includes(each) || isLineOpen(each, bankDay(context.world.now())),
    );
    await context.output.table(
      open.map(({ row }) => lineData(row)),
      LINE_FORM,
      'Every payment has ended.',
    );
    if (rejected.length === 0) return;
    const { batch } = before.batch;
    throw new Psd2Error(
      'payment_failed',
      `The bank has rejected ${rejected.length} of ${outcomes.length} payments that it had accepted`,
      {
        hint: 'Make a new batch of those that are known not to be paid with:',
        next: [['batch', 'retry', batch]],
      },
    );
  },
);

/** Whether somebody may still learn what became of a payment. What a bank took for a later day, it does not mention again. */
function isLineOpen({ outcome, row: { executionDate } }: KnownLine, today: IsoDate): boolean {
  if (outcome === 'ordered') return executionDate !== null && executionDate >= today;
  return outcome !== 'paid' && outcome !== 'not paid';
}
