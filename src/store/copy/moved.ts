import { Psd2Error } from '../../errors.ts';
import type { Mark } from '../ports/copy.ts';

/**
 * Refuses a worker where the store was copied to another home, or a copy into it has not ended (store page, `store copy`).
 *
 * @param place of the store
 * @throws Psd2Error `config`
 */
export function refuseMoved(place: string, { movedTo, copiedFrom }: Omit<Mark, 'id'>): void {
  if (movedTo) throw movedAway(place, movedTo.place);
  if (copiedFrom && !copiedFrom.isComplete) throw halfCopied(place, copiedFrom.place);
}

/** The error for a worker that still uses a store that was copied. */
export function movedAway(place: string, to: string): Psd2Error {
  return new Psd2Error('config', `The store in ${place} was copied to ${to}, and is not used any more`, {
    hint: 'Work with that one: PSD2_STORE says which store is used. psd2 store copy from there to here brings it back.',
  });
}

/** The error for a worker that uses a store before the copy into it has ended. */
export function halfCopied(place: string, from: string): Psd2Error {
  return new Psd2Error('config', `The copy of the store in ${from} into ${place} has not ended`, {
    hint: 'Wait for it, or run the same psd2 store copy again: it goes on where it stopped.',
  });
}
