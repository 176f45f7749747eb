/**
 * What came of a room's mutants.
 *
 * @param {Record<string, { source: string, mutants: { status: string, location: { start: Place, end: Place }, replacement?: string }[] }>} files
 *   the report of Stryker (mutation-testing-report-schema), by file
 * @param {{ file: string, before: string, after: string, why: string }[]} equivalent mutants that change nothing a test could see
 * @typedef {{ line: number, column: number }} Place lines and columns count from 1
 * @returns {{ mutants: number, noticed: number, equivalent: number, score: number, survivors: { file: string, line: number, before: string, after: string }[] }}
 *   `score` in percent of the mutants that are not equivalent; 100 where there are none
 */
export function judge(files, equivalent) {
  let noticed = 0;
  let excused = 0;
  const survivors = [];
  for (const [file, { source, mutants }] of Object.entries(files)) {
    for (const { status, location, replacement = '' } of mutants) {
      // A mutant that does not run at all, or that was set aside, says nothing of the tests.
      if (status === 'Killed' || status === 'Timeout') noticed += 1;
      else if (status === 'Survived' || status === 'NoCoverage') {
        const before = textAt(source, location);
        const isEquivalent = equivalent.some(
          (known) => known.file === file && known.before === before && known.after === replacement,
        );
        if (isEquivalent) excused += 1;
        else survivors.push({ file, line: location.start.line, before, after: replacement });
      }
    }
  }
  const counted = noticed + survivors.length;
  return {
    mutants: counted,
    noticed,
    equivalent: excused,
    score: counted === 0 ? 100 : (100 * noticed) / counted,
    survivors,
  };
}

function textAt(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = lines[last]?.slice(0, end.column - 1) ?? '';
  lines[0] = lines[0]?.slice(start.column - 1) ?? '';
  return lines.join('\n');
}
