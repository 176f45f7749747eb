/**
 * Whether a source was measured: `as it is`, `stale` if it has changed since, or `never`.
 *
 * @param {string} file a source
 * @param {Record<string, { content: string }>} results test/mutation/results.json
 * @param {(file: string) => string} contentOf stands for the file's present content
 * @returns {'as it is' | 'stale' | 'never'}
 */
export function standingOf(file, results, contentOf) {
  const known = results[file];
  if (known === undefined) return 'never';
  return known.content === contentOf(file) ? 'as it is' : 'stale';
}

/**
 * What a run with a time limit measures first: what has changed since it was measured, and then what never was. A sample is to know
 * every source, so it begins with these.
 *
 * @template {{ standing: 'as it is' | 'stale' | 'never' }} Source
 * @param {Source[]} sources
 * @param {boolean} [isSample]
 * @returns {Source[]}
 */
export function inOrder(sources, isSample = false) {
  const rank = { stale: 0, never: isSample ? -1 : 1, 'as it is': 2 };
  return sources.toSorted((a, b) => rank[a.standing] - rank[b.standing]);
}

/**
 * One of several parts of the sources, which take about as long as each other. All parts together are all sources.
 *
 * @template {{ file: string, size: number }} Source
 * @param {Source[]} sources
 * @param {string} text which part of how many, from 1: `2/4`
 * @returns {Source[] | undefined} undefined if the text is no part
 */
export function partOf(sources, text) {
  const [, which = '', count = ''] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(text) ?? [];
  const [part, parts] = [Number(which), Number(count)];
  if (!(part >= 1 && part <= parts)) return undefined;
  const shares = Array.from({ length: parts }, () => ({ size: 0, files: new Set() }));
  for (const { file, size } of sources.toSorted((a, b) => b.size - a.size || (a.file < b.file ? -1 : 1))) {
    const least = shares.reduce((smallest, share) => (share.size < smallest.size ? share : smallest));
    least.size += size;
    least.files.add(file);
  }
  return sources.filter(({ file }) => shares[part - 1].files.has(file));
}

/**
 * Whether a room must have its score. A room that was never measured as a whole has no score yet: the first sources that are
 * measured say nothing about the others.
 *
 * @param {('as it is' | 'stale' | 'never')[]} standings of all sources of the room
 * @returns {boolean}
 */
export function mustHaveScore(standings) {
  return !standings.includes('never');
}

/**
 * The results of two machines, each of which measured a part. If both measured a source, that of its present content counts.
 *
 * @template {{ content: string }} Result
 * @param {Record<string, Result>} own
 * @param {Record<string, Result>} other
 * @param {(file: string) => string | undefined} contentOf undefined if the source no longer exists
 * @returns {Record<string, Result>}
 */
export function merged(own, other, contentOf) {
  const all = { ...own };
  for (const [file, result] of Object.entries(other)) {
    const content = contentOf(file);
    if (content === undefined) continue;
    if (all[file] === undefined || (all[file].content !== content && result.content === content))
      all[file] = result;
  }
  return all;
}
