import { bareVerb, examples } from '../declare.ts';
import { BATCH_COLUMNS, BATCH_LIST, batchData, batchRows } from './batches.ts';
import { readLines } from './rows.ts';

/** `psd2 batch list`: newest first. */
export const list = bareVerb(BATCH_LIST, examples('psd2 batch list'), async (context) => {
  const profile = context.profile();
  const { batches, flows } = await context.store();
  const rows: ReturnType<typeof batchData>[] = [];
  for await (const batch of batches.list()) {
    const lines = await batches.lines(batch);
    rows.push(batchData(profile, { batch, lines, known: await readLines(flows, batch, lines) }));
  }
  await context.output.table(rows, BATCH_COLUMNS, 'This profile has no batches.', batchRows);
});
