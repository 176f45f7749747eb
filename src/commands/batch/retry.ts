import { Psd2Error } from '../../errors.ts';
import { neededApprovals } from '../../flows/batch/approval.ts';
import { type KnownLine, readBatch, readLines } from '../../flows/batch/known-lines.ts';
import { referenceOf } from '../../flows/batch/outcome.ts';
import { hashOf } from '../../store/batch/refusals.ts';
import { controlsOf } from '../../store/machine/settings.ts';
import type { Batches } from '../../store/ports/batches.ts';
import { examples, verb } from '../declare.ts';
import { printAdded } from './add.ts';
import { BATCH } from './batches.ts';
import { auditBatch, personOf } from './person.ts';

/** `psd2 batch retry <batch>` */
export const retry = verb(
  {
    prints: BATCH,
    help: `
Stores a new batch of the payments that were surely not paid: refused, failed, expired or cancelled. It leaves out a payment whose
outcome is not known. Each payment keeps its reference, so psd2 pays it once, whichever batch it is in. The new batch needs approvals
of its own.
${examples('psd2 batch retry 3f2a9c')}`,
  },
  (command) => command.argument('<batch>', 'id of the batch, or the beginning of it'),
  async (context, reference) => {
    const { batches, flows, audit } = await context.store();
    const person = personOf(context, undefined);
    const { batch, known } = await readBatch({ batches, flows }, reference);
    const lines = known
      .filter(({ outcome }) => outcome === 'not paid')
      .map(({ line }, index) => ({ ...line, line: index + 1, reference: referenceOf(batch, line) }));
    const numbers = known.flatMap(({ line, outcome }) => (outcome === 'not paid' ? [line.line] : []));
    if (lines.length === 0)
      throw new Psd2Error('usage', 'No payment of this batch was surely not paid', {
        hint: hintFor(known),
        next: [['batch', 'report', batch.batch]],
      });
    const { sha256, format } = batch;
    const isWhole = lines.length === known.length && known.every(({ line }) => line.reference !== null);
    const payees = batch.payees
      .filter(({ line }) => numbers.includes(line))
      .map((check) => ({ ...check, line: numbers.indexOf(check.line) + 1 }));
    // Lines that failed again have the content of the batch that failed.
    const again = isWhole && sha256 === batch.sha256;
    if (!again) await refuseSame(batches, hashOf(lines));
    const approvalsNeeded = neededApprovals(controlsOf(context.profile()), batch, lines);
    const added = await batches.add({
      added: {
        approvalsNeeded,
        ...{ format, messageId: null, note: batch.note, retryOf: batch.batch, payees },
        ...person,
      },
      lines,
      again,
    });
    await auditBatch({ audit }, 'added', added, person);
    await printAdded(context, { batch: added, lines }, () => readLines(flows, added, lines));
  },
);

/** An earlier retry has the same payments. @throws Psd2Error `usage` */
async function refuseSame(batches: Batches, content: string): Promise<void> {
  for await (const { batch } of batches.list(() => {}))
    if (batch === content)
      throw new Psd2Error('usage', `The batch ${batch} has these payments already`, {
        hint: 'psd2 has stored nothing. Run that batch. Once it has ended, retry that one. See it with:',
        next: [['batch', 'show', batch]],
      });
}

function hintFor(known: readonly KnownLine[]): string {
  const refused = known.find(({ outcome }) => outcome === 'refused');
  const ended = refused
    ? ` The bank refused payment ${refused.line.line}, and does not say that nothing was paid. Once you know that, end it with psd2 transfer resolve --not-executed.`
    : '';
  return `psd2 has stored nothing.${ended} See its payments with:`;
}
