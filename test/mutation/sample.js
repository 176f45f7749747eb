import { createHash } from 'node:crypto';

/** A variable of the runner's environment: `{ most, seed }` in JSON, if only a sample is tried. */
export const SAMPLE = 'MUTATION_SAMPLE';

/**
 * Some mutants of a source. The same ones each time, as long as the source has as many.
 *
 * @param {string[]} ids of all its mutants: numbers
 * @param {{ most: number, seed: string }} size how many, and what chooses them
 * @returns {Set<string>}
 */
export function sampleOf(ids, { most, seed }) {
  const inOrder = ids.toSorted((a, b) => Number(a) - Number(b));
  const drawn = inOrder.map((id, index) => ({ id, lot: lotOf(`${seed} ${index}`) }));
  return new Set(
    drawn
      .sort((a, b) => (a.lot < b.lot ? -1 : 1))
      .slice(0, most)
      .map(({ id }) => id),
  );
}

const lotOf = (text) => createHash('sha256').update(text).digest('hex');

/**
 * The score of sources of which some were measured whole and others by a sample.
 *
 * @param {{ mutants: number, noticed: number, of?: number }[]} results `of`: how many mutants the source has, if `mutants` is a sample
 * @returns {{ score: number, within: number }} percent, and how far the true score may be from it with 95 % confidence
 */
export function estimateOf(results) {
  const parts = results
    .filter(({ mutants }) => mutants > 0)
    .map(({ mutants, noticed, of = mutants }) => ({ mutants, noticed, weight: of }));
  const all = parts.reduce((sum, { weight }) => sum + weight, 0);
  if (all === 0) return { score: 100, within: 0 };
  let score = 0;
  let variance = 0;
  for (const { mutants, noticed, weight } of parts) {
    const share = weight / all;
    score += share * (noticed / mutants);
    // Two more of each kind: a small sample that noticed all of them does not prove that there is no other.
    const rate = (noticed + 2) / (mutants + 4);
    const unseen = 1 - mutants / weight;
    variance += (share * share * rate * (1 - rate) * unseen) / mutants;
  }
  return { score: 100 * score, within: 196 * Math.sqrt(variance) };
}
