import { refuseSame, unpaidOf } from '../../flows/batch/afterwards.ts';
import { neededApprovals } from '../../flows/batch/approval.ts';
import { readBatch } from '../../flows/batch/known-lines.ts';
import { controlsOf } from '../../store/machine/settings.ts';
import { examples, verb } from '../declare.ts';
import { printAdded } from './add.ts';
import { BATCH } from './batches.ts';
import { auditBatch, personOf } from './person.ts';

/** `psd2 batch retry <batch>` */
export const retry = verb(
  {
    prints: BATCH,
    help: `
psd2 stores a new batch of the payments that are known not to be paid: refused, failed, expired or cancelled. It leaves out a payment whose
outcome is not known. Each payment keeps its reference, so psd2 pays it once, whichever batch it is in. The new batch needs approvals
of its own.
${examples('psd2 batch retry 3f2a9c')}`,
  },
  (command) => command.argument('<batch>', 'id of the batch, or the beginning of it'),
  async (context, reference) => {
    const { batches, flows, audit } = await context.store();
    const person = personOf(context, undefined);
    const { batch, outcomes } = await readBatch({ batches, flows }, reference);
    const { lines, payees, again } = unpaidOf({ batch, outcomes });
    if (!again) await refuseSame(batches, lines);
    const approvalsNeeded = neededApprovals(controlsOf(context.profile()), batch, lines);
    const added = await batches.add({
      added: {
        approvalsNeeded,
        format: batch.format,
        messageId: null,
        note: batch.note,
        retryOf: batch.batch,
        payees,
        ...person,
      },
      lines,
      again,
    });
    await auditBatch({ audit }, 'added', added, person);
    await printAdded(context, flows, { batch: added, lines });
  },
);
