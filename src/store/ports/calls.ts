import type { IsoDate } from '../../domain/calendar.ts';

/** The calls of a profile with client credentials, which PSD2 limits per day (interface specification, "Limits"). */
export interface CallCount {
  /** Counts one more; that need not outlive a power cut. @throws Psd2Error `config` */
  count(day: IsoDate): Promise<void>;
  /** How many were counted; 0 where that can't be told. */
  on(day: IsoDate): Promise<number>;
}

/** When calls may go to a bank that limits how many it takes (interface specification, "Limits": HTTP 420). */
export interface Turns {
  /** Resolves when the next call may begin. @throws what ends waiting when the operator interrupts */
  turn(): Promise<void>;
  /**
   * The bank has turned a call away: all are held up.
   *
   * @param asked milliseconds that the bank wants to be left alone, or null when it did not say
   */
  slowDown(asked: number | null): Promise<void>;
  /** The bank has taken a call. */
  goOn(): Promise<void>;
}
