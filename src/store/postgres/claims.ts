import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { type Database, LostAnswer, ProfileRows } from './database.ts';

/** What only one worker may do at a time: a holder's tokens, a flow, a line of a batch, a customer's sync, beginning flows, a smoke test. */
type ClaimKind = 'tokens' | 'flow' | 'batch-line' | 'sync' | 'begin' | 'smoke';

/** A worker that does not respond for this long loses its claim, by the clock of the database. */
export const CLAIM_MS = 10_000;
export const BEAT_MS = 2_000;
const LOOK_MS = 200;

/** A claim from its holder's view. */
export interface Claim {
  /** Grows with each claim, so that a statement can require this one. */
  readonly number: string;
  /** The previous holder, if it did not respond. Undefined if the claim was free. */
  readonly takenOverFrom: string | undefined;
  /** Whether no other worker has taken the claim over. That may happen right after the answer. */
  isOurs(): Promise<boolean>;
}

const claimRow = z.object({ number: z.string(), from: z.nullable(z.string()) });

/** The claims of one profile. */
export class Claims extends ProfileRows {
  readonly #signal: AbortSignal | undefined;
  readonly #worker = `process ${process.pid} on ${hostname()} (${randomUUID().slice(0, 8)})`;

  constructor(database: Database, profile: string, signal: AbortSignal | undefined) {
    super(database, profile);
    this.#signal = signal;
  }

  /**
   * Runs `work` while it holds a claim. It keeps no connection in the meantime. Short statements extend the claim.
   *
   * @param what the claimed thing, as the beginning of a sentence
   * @param patienceMs how long to wait for another worker
   * @throws Psd2Error `config` if another worker holds the claim for longer
   */
  async within<T>(
    kind: ClaimKind,
    name: string,
    {
      what,
      patienceMs,
      signal = this.#signal,
      busy,
    }: {
      what: string;
      patienceMs: number;
      signal?: AbortSignal | undefined;
      /** The error if another worker holds the claim, if it is not that of most. */
      busy?: (holder: string) => Psd2Error;
    },
    work: (claim: Claim) => Promise<T>,
  ): Promise<T> {
    await this.database.remember(this.profile);
    const claim = await this.#take(kind, name, { what, patienceMs, signal, busy });
    const beat = setInterval(() => {
      // If one fails, the next one makes up for it. If one comes too late, the claim is gone.
      this.#extend(kind, name, claim.number).catch(() => {});
    }, BEAT_MS);
    beat.unref();
    try {
      return await work(claim);
    } finally {
      clearInterval(beat);
      // If the release fails, the claim expires.
      await this.#release(kind, name, claim.number).catch(() => {});
    }
  }

  /** The claims of a kind that are held now, sorted by name, and their workers. */
  async held(kind: ClaimKind): Promise<{ name: string; worker: string }[]> {
    return this.look(
      z.object({ name: z.string(), worker: z.string() }),
      `select name, coalesce(worker, '') as worker from psd2.claims
       where profile = $1 and kind = $2 and until > clock_timestamp() order by name`,
      [kind],
    );
  }

  async #take(
    kind: ClaimKind,
    name: string,
    {
      what,
      patienceMs,
      signal,
      busy = (holder) =>
        new Psd2Error('config', `${what} is in use by ${holder}`, {
          hint: 'Wait until it has ended, then run this again.',
        }),
    }: {
      what: string;
      patienceMs: number;
      signal: AbortSignal | undefined;
      busy: ((holder: string) => Psd2Error) | undefined;
    },
  ): Promise<Claim> {
    for (let waited = 0; ; waited += LOOK_MS) {
      signal?.throwIfAborted();
      const claim = await this.#tryOnce(kind, name);
      if (claim)
        return {
          number: claim.number,
          takenOverFrom: claim.from ?? undefined,
          isOurs: async () => (await this.#current(kind, name)) === claim.number,
        };
      if (waited >= patienceMs) {
        const holder = (await this.held(kind)).find((held) => held.name === name)?.worker ?? 'another psd2';
        throw busy(holder);
      }
      await delay(LOOK_MS, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }

  /** Tries once to take the claim. If the answer is lost, the claim expires and the next try can succeed. */
  async #tryOnce(kind: ClaimKind, name: string): Promise<z.infer<typeof claimRow> | undefined> {
    try {
      const [claim] = await this.query(
        claimRow,
        `with before as (select worker from psd2.claims where profile = $1 and kind = $2 and name = $3)
         insert into psd2.claims as c (profile, kind, name, number, worker, until)
         -- Larger than any number that a removed row had.
         values ($1, $2, $3, extract(epoch from clock_timestamp())::bigint, $4,
           clock_timestamp() + $5 * interval '1 millisecond')
         on conflict (profile, kind, name) do update
           set number = c.number + 1, worker = excluded.worker, until = excluded.until
           where c.until <= clock_timestamp()
         returning number::text, (select worker from before) as from`,
        [kind, name, this.#worker, CLAIM_MS],
      );
      return claim;
    } catch (error) {
      if (error instanceof LostAnswer) return undefined;
      throw error;
    }
  }

  async #extend(kind: ClaimKind, name: string, number: string): Promise<void> {
    await this.execute(
      `update psd2.claims set until = clock_timestamp() + $5 * interval '1 millisecond'
       where profile = $1 and kind = $2 and name = $3 and number = $4 and worker is not null`,
      [kind, name, number, CLAIM_MS],
    );
  }

  async #release(kind: ClaimKind, name: string, number: string): Promise<void> {
    await this.execute(
      `update psd2.claims set worker = null, until = '-infinity'
       where profile = $1 and kind = $2 and name = $3 and number = $4`,
      [kind, name, number],
    );
  }

  async #current(kind: ClaimKind, name: string): Promise<string | undefined> {
    const row = await this.lookOne(
      z.object({ number: z.string() }),
      'select number::text from psd2.claims where profile = $1 and kind = $2 and name = $3',
      [kind, name],
    );
    return row?.number;
  }
}
