import * as z from 'zod/mini';
import { keyOfPins } from '../pin-key.ts';
import type { CountedPins } from '../ports/copy.ts';
import type { UnacceptedPins } from '../ports/pins.ts';
import type { Database } from './database.ts';

const row = z.object({ sent: z.number() });

const counted = z.object({ person: z.string(), sent: z.number() });

/** The counts of a database, for a copy of it. @throws Psd2Error `config` */
export function readPins(database: Database): Promise<CountedPins[]> {
  return database.look(counted, 'select person, sent from psd2.pins order by person');
}

/** Counts at least so many in a database. @throws Psd2Error `config` */
export async function countPins(database: Database, { person, sent }: CountedPins): Promise<void> {
  await database.executeAgain(
    `insert into psd2.pins as held (person, sent) values ($1, $2::integer)
     on conflict (person) do update set sent = greatest(held.sent, excluded.sent)`,
    [person, sent],
  );
}

/** A row for each person at a bank. It goes with the PIN that is accepted. */
export class PostgresUnacceptedPins implements UnacceptedPins {
  readonly #database: Database;
  readonly #bank: URL;

  constructor(database: Database, bank: URL) {
    this.#database = database;
    this.#bank = bank;
  }

  async count(psuId: string | undefined): Promise<number> {
    const [person] = await this.#database.look(row, 'select sent from psd2.pins where person = $1', [
      keyOfPins(this.#bank, psuId),
    ]);
    return person?.sent ?? 0;
  }

  async add(psuId: string | undefined, before: number): Promise<boolean> {
    const counted = await this.#database.query(
      row,
      before === 0
        ? `insert into psd2.pins (person, sent) values ($1, $2::integer + 1) on conflict (person) do nothing returning sent`
        : `update psd2.pins set sent = sent + 1 where person = $1 and sent = $2::integer returning sent`,
      [keyOfPins(this.#bank, psuId), before],
    );
    return counted.length > 0;
  }

  async clear(psuId: string | undefined): Promise<void> {
    await this.#database.executeAgain('delete from psd2.pins where person = $1', [
      keyOfPins(this.#bank, psuId),
    ]);
  }
}
