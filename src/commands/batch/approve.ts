import { examples, verb } from '../declare.ts';
import { BATCH } from './batches.ts';
import { decide } from './decide.ts';

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
