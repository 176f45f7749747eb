/**
 * The PINs of a person at a bank that nobody knows to be right: sent, and not accepted yet. Three refused ones block a customer at most
 * banks, so all workers and profiles of the store share one count. psd2 counts a PIN before it sends it: one whose process was killed
 * stays counted. The count has neither the PIN nor anything made of it, and the PSU-ID only as a digest.
 */
export interface UnacceptedPins {
  /** How many were sent since the last accepted one. @throws Psd2Error `config` */
  count(psuId: string | undefined): Promise<number>;
  /**
   * Counts one more, before it is sent.
   *
   * @param before what {@link count} gave
   * @returns false, and counts nothing, if another worker has counted one since
   * @throws Psd2Error `config` if the count cannot be written
   */
  add(psuId: string | undefined, before: number): Promise<boolean>;
  /** The bank has accepted one: none is counted. @throws Psd2Error `config` */
  clear(psuId: string | undefined): Promise<void>;
}
