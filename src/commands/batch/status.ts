import { examples, verb } from '../declare.ts';
import { LINE_COLUMNS, LINES, lineData, lineRows, readBatch } from './batches.ts';

/** `psd2 batch status <batch>` */
export const status = verb(
  {
    prints: LINES,
    help: `
Shows the payments whose end psd2 does not know: waiting, awaiting their customer, or unknown. It asks no bank; psd2 batch run does.
${examples('psd2 batch status 3f2a9c')}`,
  },
  (command) => command.argument('<batch>', 'id of the batch, or the beginning of it'),
  async (context, reference) => {
    const { known } = await readBatch(await context.store(), reference);
    const open = known.filter(({ outcome }) => outcome !== 'paid' && outcome !== 'not paid');
    await context.output.table(
      open.map(({ row }) => lineData(row)),
      LINE_COLUMNS,
      'Every payment has ended.',
      lineRows,
    );
  },
);
