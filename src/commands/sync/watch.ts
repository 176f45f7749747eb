import type { OwnPace } from '../../bank/ports/call.ts';
import { Psd2Error } from '../../errors.ts';
import { replaceReadable } from '../../store/disk/replace.ts';
import type { ReadResults } from '../../store/ports/read-results.ts';
import type { Round } from '../../store/ports/sync.ts';
import type { Tally } from '../context.ts';
import { writeMetrics } from './metrics.ts';
import type { ProfileState } from './profile-state.ts';
import type { SyncTally } from './report.ts';

/** How often psd2 writes the metrics and notes the progress. */
const TICK_MS = 5_000;
/** psd2 counts customers only every third time, because counting a million takes a database some time. */
const COUNT_EVERY = 3;

/** What the watch needs from the command. */
interface Watched {
  profile(): { name: string };
  terminal: { warn(text: string): void };
  world: { now(): Date };
  store(): Promise<{ results: Pick<ReadResults, 'add'> }>;
}

interface Calls {
  pace: Pick<OwnPace, 'turns'>;
  tally: Pick<Tally, 'secondsWaited' | 'renewals' | 'byResult'>;
  /** The state of the profile, if the operator wants metrics. */
  state?: () => Promise<ProfileState | undefined>;
}

/** Keeps the metrics file and the data of `psd2 sync status` up to date while a sync runs. */
export class SyncWatch {
  readonly #context: Watched;
  readonly #tally: SyncTally;
  readonly #calls: Calls;
  readonly #metricsFile: string | undefined;
  readonly #startedAt: Date;
  #round: Round | undefined;
  #due: number | null = null;
  #noted = 0;
  #roundEndedAt: Date | null = null;
  #ticks = 0;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();
  #hasWarned = false;
  #state: ProfileState | undefined;

  constructor(context: Watched, tally: SyncTally, calls: Calls, metricsFile: string | undefined) {
    this.#context = context;
    this.#tally = tally;
    this.#calls = calls;
    this.#metricsFile = metricsFile;
    this.#startedAt = context.world.now();
  }

  /** Customers of the round not processed yet, at the last count. */
  get due(): number | null {
    return this.#due;
  }

  /** @param isNoted whether to note the progress for `psd2 sync status` */
  async during<T>(round: Round, isNoted: boolean, work: () => Promise<T>): Promise<T> {
    this.#round = isNoted ? round : undefined;
    this.#ticks = 0;
    await this.#tick(round, false);
    this.#timer = setInterval(() => {
      this.#ticking = this.#ticking.then(() => this.#tick(round, false));
    }, TICK_MS).unref();
    let isOver = false;
    try {
      const result = await work();
      isOver = true;
      return result;
    } finally {
      clearInterval(this.#timer);
      await this.#ticking;
      this.#ticks = 0;
      await this.#tick(round, isOver);
    }
  }

  /** Writes the current metrics. @throws Psd2Error `config` if they cannot be written */
  write(): void {
    if (this.#metricsFile !== undefined) replaceReadable(this.#metricsFile, this.#text());
  }

  /** The current metrics, in the format of Prometheus. */
  async metrics(): Promise<string> {
    await this.#readState();
    return this.#text();
  }

  #text(): string {
    const { byCode: errors, byStatus: done } = this.#tally;
    const { pace, tally } = this.#calls;
    return writeMetrics({
      profile: this.#context.profile().name,
      calls: pace.turns,
      secondsWaited: tally.secondsWaited,
      renewals: tally.renewals,
      errors,
      done,
      due: this.#due,
      startedAt: this.#startedAt,
      roundEndedAt: this.#roundEndedAt,
      callsByResult: tally.byResult,
      state: this.#state,
      now: this.#context.world.now(),
    });
  }

  async #readState(): Promise<void> {
    this.#state = await this.#calls.state?.();
  }

  async #tick(round: Round, hasEnded: boolean): Promise<void> {
    const isCounted = this.#ticks % COUNT_EVERY === 0;
    this.#ticks += 1;
    const calls = this.#calls.pace.turns;
    const ends = this.#tally.takeEnds();
    try {
      if (isCounted) {
        const { due, atWork } = await round.counts();
        this.#due = due + atWork;
      }
      const isOver = hasEnded && this.#due === 0;
      if (isOver) this.#roundEndedAt = this.#context.world.now();
      await this.#round?.note({ calls: calls - this.#noted, ends, isOver });
      this.#noted = calls;
    } catch {
      // The progress is only for information. Commands that need the store report its failure.
    }
    await this.#storeResults();
    if (this.#metricsFile !== undefined) await this.#readState();
    try {
      this.write();
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      if (!this.#hasWarned) this.#context.terminal.warn(error.message);
      this.#hasWarned = true;
    }
  }

  /** Stores what was read and what was not. If the store is away, tries again at the next tick. */
  async #storeResults(): Promise<void> {
    const results = this.#tally.takeResults();
    const at = this.#context.world.now().toISOString();
    try {
      await (await this.#context.store()).results.add(results.map((each) => ({ at, ...each })));
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      this.#tally.bringBack(results);
      if (!this.#hasWarned) this.#context.terminal.warn(error.message);
      this.#hasWarned = true;
    }
  }
}
