import { type Batch, type BatchAdded, shortBatchId } from '../../domain/batch/batch.ts';
import { contentHash, orderedHash } from '../../domain/batch/content.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import type { NewBatch, OnDamagedBatch } from '../ports/batches.ts';

/** SHA-256 of the lines in canonical form. */
export function hashOf(lines: readonly BatchLine[]): string {
  const hash = contentHash();
  for (const line of lines) hash.add(line);
  return hash.digest();
}

/** SHA-256 of what the lines order, in compared form. */
export function orderedHashOf(lines: readonly BatchLine[]): string {
  const hash = orderedHash();
  for (const line of lines) hash.add(line);
  return hash.digest();
}

/** The first event of a new batch. */
export function addedEvent({ added, lines }: NewBatch): BatchAdded {
  const hashes = { sha256: hashOf(lines), ordered: orderedHashOf(lines) };
  return { type: 'added', ...added, ...hashes, count: lines.length };
}

/** The id of the n-th batch with a content. */
export function batchId(sha256: string, n: number): string {
  return n === 1 ? sha256 : `${sha256}-${n}`;
}

/** The id of a batch with its number, also if it is the first with its content. */
function numberedId(id: string): string {
  return id.includes('-') ? id : `${id}-1`;
}

/** Whether a text is the id of a batch. */
export function isBatchId(text: string): boolean {
  return /^[0-9a-f]{64}(?:-[2-9]|-[1-9]\d{1,3})?$/.test(text);
}

/**
 * The batch that an operator means: its id, or a beginning of it that only one has. `3f2a9c-2` is the second batch with a
 * content whose hash begins so, and `3f2a9c-1` the first one.
 *
 * @throws Psd2Error `usage`
 */
export function chooseBatch(reference: string, all: readonly string[]): string {
  const wanted = reference.toLowerCase();
  const exact = all.find((id) => id === wanted);
  if (exact !== undefined) return exact;
  const [, hash = wanted, number = ''] = /^([0-9a-f]+)(-\d+)$/.exec(wanted) ?? [];
  const isMeant = (id: string) => id.startsWith(hash) && numberedId(id).endsWith(number);
  const matching = hash === '' ? [] : all.filter(isMeant);
  const [first] = matching;
  const see = { hint: 'See all of them with:', next: [['batch', 'list']] };
  if (first === undefined)
    throw new Psd2Error('usage', `There is no batch ${JSON.stringify(reference)}`, see);
  if (matching.length === 1) return first;
  const some = matching.toSorted().map((id) => shortBatchId(numberedId(id)));
  const shown = some.length > 5 ? [...some.slice(0, 5), '...'] : some;
  throw new Psd2Error(
    'usage',
    `${matching.length} batches begin with ${JSON.stringify(reference)}: ${shown.join(', ')}`,
    see,
  );
}

/** There is a batch that a new one was not compared with. It was added since. */
export class AddedMeanwhile extends Psd2Error {
  constructor() {
    super('usage', 'Another batch was added at the same time', {
      hint: 'psd2 has stored nothing. Run this again.',
    });
  }
}

/** @throws AddedMeanwhile */
export function refuseUncompared({ compared, again }: NewBatch, stored: readonly string[]): void {
  if (compared && !again && stored.some((id) => !compared.has(id))) throw new AddedMeanwhile();
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
  throw new DamagedBatch(
    `The lines of the batch ${batch} ${place} are not those that were added`,
    'Somebody or something has changed them, so psd2 pays none of them. Restore them from a backup.',
  );
}

/** A batch that psd2 cannot read, or that is not the one that was stored. */
class DamagedBatch extends Psd2Error {
  constructor(message: string, hint: string) {
    super('config', message, { hint });
  }
}

/**
 * Reads something of a batch.
 *
 * @param onDamaged called if the batch is damaged. Without it, the error is thrown
 * @returns undefined if the batch is damaged
 */
export async function unlessDamaged<T>(
  batch: string,
  onDamaged: OnDamagedBatch | undefined,
  read: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!onDamaged || !(error instanceof DamagedBatch)) throw error;
    onDamaged(error, batch);
    return undefined;
  }
}

/** The error for a record of a batch that psd2 cannot read. */
export function batchIsDamaged(batch: string, what: string): Psd2Error {
  return new DamagedBatch(
    `The batch ${batch} is damaged: ${what}`,
    'psd2 pays nothing of it. Restore it from a backup.',
  );
}
