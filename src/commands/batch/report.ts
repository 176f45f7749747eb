import { Option } from '@commander-js/extra-typings';
import { readBatch } from '../../flows/batch/known-lines.ts';
import { examples, verb } from '../declare.ts';
import { requireFile, saveDocument } from '../shared/save-document.ts';
import { LINE_FORM, LINES, lineData } from './batches.ts';

/** `psd2 batch report <batch>` */
export const report = verb(
  {
    prints: LINES,
    help: `
A row for each payment of the file: its state, ids, reason and times. --format pain002 writes pain.002.001.10 for accounting systems.
psd2 asks no bank for it.
${examples('psd2 batch report 3f2a9c', 'psd2 batch report 3f2a9c --format pain002 --file report.xml')}`,
  },
  (command) =>
    command
      .argument('<batch>', 'id of the batch, or the beginning of it')
      .addOption(new Option('--format <format>', 'format of the report').choices(['csv', 'json', 'pain002']))
      .option('--file <path>', 'where to save it; default: standard output'),
  async (context, reference, { format, file = '-' }) => {
    const { batch, outcomes } = await readBatch(await context.store(), reference);
    const rows = outcomes.map(({ row }) => row);
    if (format === undefined) {
      await context.output.table(rows.map(lineData), LINE_FORM, '');
      return;
    }
    requireFile(context, file, 'text');
    const pieces: string[] = [];
    if (format === 'pain002') {
      const { writePain002 } = await import('../../batch-file/report/pain002.ts');
      const header = {
        messageId: `R-${context.world.newId()}`.slice(0, 35),
        createdAt: context.world.now().toISOString(),
        originalMessageId: batch.messageId ?? batch.batch.slice(0, 35),
        originalFormat: batch.format,
      };
      for await (const piece of writePain002(rows, header)) pieces.push(piece);
    } else {
      const { writeCsvReport, writeJsonReport } = await import('../../batch-file/report/lists.ts');
      const write = format === 'csv' ? writeCsvReport : writeJsonReport;
      for await (const piece of write(rows)) pieces.push(piece);
    }
    await saveDocument(context, file, Buffer.from(pieces.join('')));
  },
);
