import type { IsoDate } from '../../domain/calendar.ts';

/** Counts a profile's calls with client credentials, which PSD2 limits per day (interface specification, "Limits"). */
export interface CallCount {
  /** Counts one more call. A power cut may lose it. @throws Psd2Error `config` */
  count(day: IsoDate): Promise<void>;
  /** The number of calls on a day; 0 if it cannot be read. */
  on(day: IsoDate): Promise<number>;
}

/** The pace of calls to a bank that limits them (interface specification, "Limits": HTTP 420). */
export interface Turns {
  /** Resolves when the next call may begin. @throws the operator's interruption, which ends the wait */
  turn(): Promise<void>;
  /**
   * Slows all calls down after the bank rejected one because of its limit.
   *
   * @param asked milliseconds that the bank asked to wait; null if it did not say
   */
  slowDown(asked: number | null): Promise<void>;
  /** Speeds calls up again after the bank accepted one. */
  goOn(): Promise<void>;
}
