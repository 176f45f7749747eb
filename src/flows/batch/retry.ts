import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import { hashOf } from '../../store/batch/refusals.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { KnownBatch, KnownLine } from './known-lines.ts';
import { referenceOf } from './outcome.ts';

/**
 * The payments of a batch that were surely not paid, as lines of a new one. Each keeps its reference.
 *
 * @returns also their payee checks, and whether the new batch has the content of the old one
 * @throws Psd2Error `usage` if there are none
 */
export function unpaidOf({ batch, known }: Pick<KnownBatch, 'batch' | 'known'>) {
  const lines = known
    .filter(({ outcome }) => outcome === 'not paid')
    .map(({ line }, index) => ({ ...line, line: index + 1, reference: referenceOf(batch, line) }));
  const numbers = known.flatMap(({ line, outcome }) => (outcome === 'not paid' ? [line.line] : []));
  if (lines.length === 0)
    throw new Psd2Error('usage', 'There is nothing to retry: no payment is known to have failed', {
      hint: hintFor(known),
      next: [['batch', 'report', batch.batch]],
    });
  const { sha256 } = batch;
  const isWhole = lines.length === known.length && known.every(({ line }) => line.reference !== null);
  const payees = batch.payees
    .filter(({ line }) => numbers.includes(line))
    .map((check) => ({ ...check, line: numbers.indexOf(check.line) + 1 }));
  // Lines that failed again have the content of the batch that failed.
  const again = isWhole && sha256 === batch.sha256;
  return { lines, payees, again };
}

/** An earlier retry has the same payments. @throws Psd2Error `usage` */
export async function refuseSame(batches: Batches, lines: readonly BatchLine[]): Promise<void> {
  const content = hashOf(lines);
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
