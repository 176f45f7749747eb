import * as z from 'zod/mini';
import { batchIsDamaged, isBatchId } from '../../batch/refusals.ts';
import type { BatchRecord } from '../../ports/copy.ts';
import { INSERT_EVENT, insertBatch, insertLines, LINES_AT_ONCE, SELECT_LINES } from '../batches.ts';
import { ProfileRows } from '../database.ts';

/** The writer of copied events. */
const COPY = 'copy';

const idRow = z.object({ batch: z.string().check(z.refine(isBatchId)) });
const added = z.object({ sha256: z.string(), messageId: z.nullable(z.string()) });

/** The batches of one profile for `store copy`. It does not parse more than it must, so it copies them unchanged. */
export class BatchRows extends ProfileRows {
  async *all(): AsyncGenerator<BatchRecord> {
    const rows = await this.look(idRow, 'select batch from psd2.batches where profile = $1 order by batch');
    for (const { batch } of rows) {
      const record = await this.of(batch);
      if (record) yield record;
    }
  }

  async of(batch: string): Promise<BatchRecord | undefined> {
    const row = await this.lookOne(
      z.object({ events: z.number() }),
      'select events from psd2.batches where profile = $1 and batch = $2',
      [batch],
    );
    if (!row) return undefined;
    const events = await this.look(
      z.object({ at: z.date(), event: z.unknown() }),
      'select at, event from psd2.batch_events where profile = $1 and batch = $2 order by n',
      [batch],
    );
    // A copy would forget that they ever were.
    if (events.length < row.events) throw batchIsDamaged(batch, 'events of its journal are missing');
    const lines: unknown[] = [];
    for (let read = LINES_AT_ONCE; read === LINES_AT_ONCE; ) {
      const rows = await this.look(z.object({ content: z.unknown() }), SELECT_LINES, [batch, lines.length]);
      for (const { content } of rows) lines.push(content);
      read = rows.length;
    }
    return {
      kind: 'batch',
      batch,
      lines,
      events: events.map(({ at, event }) => ({ at: at.toISOString(), event })),
    };
  }

  /** Adds the batch, or the events that are missing, in one transaction. @throws Psd2Error `config` */
  async put({ batch, lines, events }: BatchRecord): Promise<void> {
    const { data } = added.safeParse(events[0]?.event);
    if (data === undefined) throw batchIsDamaged(batch, 'psd2 did not write its first event');
    await this.database.transactionAgain(async (statements) => {
      await statements.execute(
        `select set_config('psd2.copying', 'on', true), set_config('synchronous_commit', 'on', true)`,
      );
      const [storedBatch] = await statements.query(
        z.object({ events: z.number() }),
        'select events from psd2.batches where profile = $1 and batch = $2 for update',
        [this.profile, batch],
      );
      if (!storedBatch) {
        await insertBatch(statements, [this.profile, batch, data.sha256, data.messageId, events.length]);
        await insertLines(statements, [this.profile, batch], lines);
      }
      for (let n = (storedBatch?.events ?? 0) + 1; n <= events.length; n += 1) {
        const next = events[n - 1];
        if (next)
          await statements.execute(INSERT_EVENT, [
            this.profile,
            batch,
            n,
            COPY,
            new Date(next.at),
            JSON.stringify(next.event),
          ]);
      }
      await statements.execute('update psd2.batches set events = $3 where profile = $1 and batch = $2', [
        this.profile,
        batch,
        events.length,
      ]);
    });
  }
}
