import { readBatch } from '../../flows/batch/known-lines.ts';
import { examples, verb } from '../declare.ts';
import { BATCH, BATCH_FORM, batchData, LINE_FORM, lineData } from './batches.ts';

/** `psd2 batch show <batch>` */
export const show = verb(
  {
    prints: BATCH,
    help: `
A table also has the payments, with the results of the payee check.
${examples('psd2 batch show 3f2a9c')}`,
  },
  (command) => command.argument('<batch>', 'id of the batch, or the beginning of it'),
  async (context, reference) => {
    const current = await readBatch(await context.store(), reference);
    context.output.record(batchData(context.profile(), current), BATCH_FORM);
    if (context.output.format === 'table')
      await context.output.table(
        current.outcomes.map(({ row }) => lineData(row)),
        LINE_FORM,
        '',
      );
  },
);
