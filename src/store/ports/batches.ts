import type { Batch, BatchAdded, BatchEvent } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { Psd2Error } from '../../errors.ts';

/** A batch to store. */
export interface NewBatch {
  added: Omit<BatchAdded, 'type' | 'sha256' | 'ordered' | 'count'>;
  lines: readonly BatchLine[];
  /** The same content is stored once more, as another batch. */
  again: boolean;
  /**
   * The ids of the batches that it was compared with: none of them is in its way, whatever their content is. Without it, the same content
   * is in its way.
   */
  compared?: ReadonlySet<string>;
}

/** Called for a batch that cannot be read. */
export type OnDamagedBatch = (damage: Psd2Error, batch: string) => void;

/**
 * The batches of one profile. The lines of a batch never change, until psd2 forgets a customer. What happens to it is a journal: each event has a number that
 * only one worker can take, and is durable before psd2 goes on.
 */
export interface Batches {
  /**
   * Stores a batch, durably and as a whole. Its id is the SHA-256 of its content; with `again` a number follows if it is taken.
   *
   * @throws Psd2Error `usage` that names the batch with the same content, or with the same `messageId` and another content;
   *   `AddedMeanwhile` if there is a batch that it was not compared with
   */
  add(batch: NewBatch): Promise<Batch>;
  /**
   * Finds a batch.
   *
   * @param reference its id, or an unambiguous beginning of it. An id wins over the ids that begin with it
   * @throws Psd2Error `usage` if there is none, or several; `config` if it is damaged
   */
  find(reference: string): Promise<Batch>;
  /** All batches, newest first, those of the same time by their ids. @throws Psd2Error `config` if one is damaged, without `onDamaged` */
  list(onDamaged?: OnDamagedBatch): AsyncIterable<Batch>;
  /**
   * The lines of a batch, in their order, once they have the hash that was approved.
   *
   * @throws Psd2Error `config` if somebody has changed them
   */
  lines(batch: Batch): Promise<BatchLine[]>;
  /**
   * Appends an event that follows from the batch as it is now. If another worker was faster, `decide` sees the batch again.
   *
   * @param decide gets the database role of this worker; null in files. It returns null if there is nothing to record
   * @returns the batch after the event, and whether `decide` gave one
   * @throws Psd2Error `config` if the event could not be written, or it is unclear whether it was
   */
  change(
    batch: string,
    decide: (now: Batch, role: string | null) => BatchEvent | null,
  ): Promise<{ batch: Batch; recorded: boolean }>;
  /**
   * Changes lines of a batch that is over, so that they no longer say whose they are, as a whole or not at all. Its hash and its
   * approvals stay those of the lines before.
   *
   * @throws Psd2Error `config` if it cannot be written
   */
  pseudonymise(batch: Batch, change: (line: BatchLine) => BatchLine): Promise<void>;
  /**
   * Works on a line, one worker at a time. It takes the line over from a worker that does not respond for some seconds. This
   * keeps workers out of each other's way; what must not happen twice is refused by the transfer's reference and journal.
   *
   * @param waits whether to wait some seconds for another worker
   * @returns `taken` if another worker has it
   * @throws Psd2Error `config` if the store cannot tell. Also what `work` throws
   */
  onLine<T>(batch: string, line: number, waits: boolean, work: () => Promise<T>): Promise<T | 'taken'>;
}
