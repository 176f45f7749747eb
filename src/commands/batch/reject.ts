import { Psd2Error } from '../../errors.ts';
import { examples, verb } from '../declare.ts';
import { readNote } from '../flow/resolve.ts';
import { BATCH } from './batches.ts';
import { decide } from './decide.ts';

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
  async (context, batch, { by, note: given }) => {
    const note = readNote(given);
    if (note === null) throw new Psd2Error('usage', '--note is missing');
    await decide(context, batch, { by, note });
  },
);
