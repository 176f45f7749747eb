import { sampleOf } from './sample.js';

/**
 * The results of the mutants of each source.
 *
 * @param {Record<string, { source: string, mutants: { id: string, status: string, location: { start: Place, end: Place }, replacement?: string }[] }>} files
 *   the report of Stryker (mutation-testing-report-schema), by file
 * @param {Known[]} equivalent mutants without an effect that a test could see
 * @param {{ most: number, seed: string }} [sample] how many of each source were tried, if not all
 * @typedef {{ line: number, column: number }} Place lines and columns count from 1
 * @typedef {{ file: string, line?: string, before: string, after: string, why: string }} Known `line` is the text of the line
 *   where the mutant begins, needed if `before` occurs more than once in the file
 * @typedef {{ mutants: number, noticed: number, equivalent: number, of?: number, survivors: string[] }} Result `mutants` without the
 *   equivalent ones; `of`: how many the source has, if they are a sample
 * @returns {Record<string, Result>}
 */
export function judge(files, equivalent, sample) {
  return Object.fromEntries(
    Object.entries(files).map(([file, { source, mutants }]) => [
      file,
      {
        ...judgeOne(
          source,
          sample === undefined ? mutants : drawn(mutants, sample),
          equivalent.filter((known) => known.file === file),
        ),
        ...(sample !== undefined && mutants.length > sample.most && { of: mutants.length }),
      },
    ]),
  );
}

function drawn(mutants, sample) {
  const chosen = sampleOf(
    mutants.map(({ id }) => id),
    sample,
  );
  return mutants.filter(({ id }) => chosen.has(id));
}

function judgeOne(source, mutants, equivalent) {
  const result = { mutants: 0, noticed: 0, equivalent: 0, survivors: [] };
  for (const { status, location, replacement = '' } of mutants) {
    // A mutant that does not run, or that was ignored, says nothing about the tests.
    const survived = status === 'Survived' || status === 'NoCoverage';
    if (!survived && status !== 'Killed' && status !== 'Timeout') continue;
    const before = textAt(source, location);
    const line = source.split('\n')[location.start.line - 1]?.trim();
    if (
      survived &&
      equivalent.some(
        (known) =>
          known.before === before &&
          known.after === replacement &&
          (known.line === undefined || known.line === line),
      )
    ) {
      result.equivalent += 1;
      continue;
    }
    result.mutants += 1;
    if (survived) {
      const reached = status === 'NoCoverage' ? ' (no test reaches it)' : '';
      result.survivors.push(`${location.start.line} ${oneLine(before)} -> ${oneLine(replacement)}${reached}`);
    } else result.noticed += 1;
  }
  return result;
}

function textAt(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = lines[last]?.slice(0, end.column - 1) ?? '';
  lines[0] = lines[0]?.slice(start.column - 1) ?? '';
  return lines.join('\n');
}

function oneLine(text) {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
