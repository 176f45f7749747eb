import type { Batch } from '../../domain/batch/batch.ts';
import { contentHash } from '../../domain/batch/content.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';

/** SHA-256 of the lines in canonical form. */
export function hashOf(lines: readonly BatchLine[]): string {
  const hash = contentHash();
  for (const line of lines) hash.add(line);
  return hash.digest();
}

/** The id of the n-th batch with a content. */
export function batchId(sha256: string, n: number): string {
  return n === 1 ? sha256 : `${sha256}-${n}`;
}

/** Whether a text is the id of a batch. */
export function isBatchId(text: string): boolean {
  return /^[0-9a-f]{64}(?:-[2-9]|-[1-9]\d{1,3})?$/.test(text);
}

/** The batch that an operator means. @throws Psd2Error `usage` */
export function chooseBatch(reference: string, all: readonly string[]): string {
  const exact = all.find((id) => id === reference);
  if (exact !== undefined) return exact;
  const found = reference === '' ? [] : all.filter((id) => id.startsWith(reference.toLowerCase()));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const what =
    first === undefined
      ? `There is no batch ${JSON.stringify(reference)}`
      : `${found.length} batches begin with ${JSON.stringify(reference)}`;
  throw new Psd2Error('usage', what, { hint: 'See all of them with:', next: [['batch', 'list']] });
}

export function contentIsStored(batch: string): Psd2Error {
  return new Psd2Error('usage', `The batch ${batch} has the same content`, {
    hint: 'psd2 has stored nothing. If you want to pay all of it once more, add --again. See the batch with:',
    next: [['batch', 'show', batch]],
  });
}

export function messageIsStored(messageId: string, batch: string): Psd2Error {
  return new Psd2Error(
    'usage',
    `The batch ${batch} has the MsgId ${JSON.stringify(messageId)} and another content`,
    {
      hint: 'psd2 has stored nothing. A new file needs a MsgId of its own. See the batch with:',
      next: [['batch', 'show', batch]],
    },
  );
}

/** @throws Psd2Error `config` if the lines are not those that the batch was added with */
export function refuseEdited(
  { batch, sha256, count, pseudonymised }: Batch,
  lines: readonly BatchLine[],
  place: string,
): void {
  const isWhole = lines.length === count && lines.every(({ line }, index) => line === index + 1);
  const hash = isWhole && batch.startsWith(sha256) ? hashOf(lines) : '';
  if (hash === sha256 || pseudonymised.has(hash)) return;
  throw new Psd2Error('config', `The lines of the batch ${batch} ${place} are not those that were added`, {
    hint: 'Somebody or something has changed them, so psd2 pays none of them. Restore them from a backup.',
  });
}

/** The error for a record of a batch that psd2 cannot read. */
export function batchIsDamaged(batch: string, what: string): Psd2Error {
  return new Psd2Error('config', `The batch ${batch} is damaged: ${what}`, {
    hint: 'psd2 pays nothing of it. Restore it from a backup.',
  });
}
