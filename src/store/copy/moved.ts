import { Psd2Error } from '../../errors.ts';
import type { Mark } from '../ports/copy.ts';

/**
 * Refuses a worker if the store was copied to another backend, or a copy into it is not complete (store page, `store copy`).
 *
 * @param place of the store
 * @throws Psd2Error `config`
 */
export function refuseMoved(place: string, { movedTo, copiedFrom }: Omit<Mark, 'id'>): void {
  if (movedTo) throw movedAway(place, movedTo.place);
  if (copiedFrom && !copiedFrom.isComplete) throw halfCopied(place, copiedFrom.place);
}

/** The error for a worker that still uses a store after it was copied. */
export function movedAway(place: string, to: string): Psd2Error {
  return new Psd2Error('config', `The store in ${place} was copied to ${to}, and is no longer used`, {
    hint: 'Use that one: PSD2_STORE chooses the store. To come back, run psd2 store copy in the other direction.',
  });
}

/** The error for a worker that uses a store before a copy into it is complete. */
export function halfCopied(place: string, from: string): Psd2Error {
  return new Psd2Error('config', `The copy of the store in ${from} into ${place} is not complete`, {
    hint: 'Wait for it, or run the same psd2 store copy again. It continues where it stopped.',
  });
}
