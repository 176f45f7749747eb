/**
 * The results of the mutants of each source.
 *
 * @param {Record<string, { source: string, mutants: { status: string, location: { start: Place, end: Place }, replacement?: string }[] }>} files
 *   the report of Stryker (mutation-testing-report-schema), by file
 * @param {Known[]} equivalent mutants without an effect that a test could see
 * @typedef {{ line: number, column: number }} Place lines and columns count from 1
 * @typedef {{ file: string, line?: string, before: string, after: string, why: string }} Known `line` is the text of the line
 *   where the mutant begins, needed if `before` occurs more than once in the file
 * @typedef {{ mutants: number, noticed: number, equivalent: number, survivors: string[] }} Result `mutants` without the
 *   equivalent ones
 * @returns {Record<string, Result>}
 */
export function judge(files, equivalent) {
  return Object.fromEntries(
    Object.entries(files).map(([file, { source, mutants }]) => [
      file,
      judgeOne(
        source,
        mutants,
        equivalent.filter((known) => known.file === file),
      ),
    ]),
  );
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

/**
 * @param {Pick<Result, 'mutants' | 'noticed'>[]} results
 * @returns {number} percent of the mutants that are not equivalent, or 100 if there are none
 */
export function scoreOf(results) {
  const sum = (count) => results.reduce((total, result) => total + count(result), 0);
  const mutants = sum((result) => result.mutants);
  return mutants === 0 ? 100 : (100 * sum((result) => result.noticed)) / mutants;
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
