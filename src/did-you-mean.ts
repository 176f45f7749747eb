import { closestMatch } from 'leven';

/** `Did you mean list? ` if a known word is similar to the given one. Otherwise `''`. */
export function didYouMean(written: string, names: readonly string[]): string {
  const maxDistance = Math.min(3, Math.floor(written.length / 2));
  const nearest = closestMatch(written, [...names], { maxDistance });
  return nearest === undefined ? '' : `Did you mean ${nearest}? `;
}
