import { widthOf, wrapWords } from '../terminal/cells.ts';

/** The part before the text of a line: an indentation, or the name in a list of names. */
const BEFORE = /^ *(?:\S.*? {2,})?/;
/** If a column of text would be narrower than this, it begins at the left instead. */
const LEAST_WIDTH = 20;

/**
 * Breaks lines that are wider than the terminal at blanks, and aligns the further lines with the text. A command
 * (`$ psd2 ...`) stays whole, so that a reader can copy it.
 *
 * @param columns the terminal's width; undefined or 0 without a terminal, which breaks nothing
 */
export function fitLines(text: string, columns: number | undefined): string {
  if (!columns) return text;
  return text
    .split('\n')
    .map((line) => (widthOf(line) <= columns || /^ *\$ /.test(line) ? line : fitLine(line, columns)))
    .join('\n');
}

function fitLine(line: string, columns: number): string {
  const start = BEFORE.exec(line)?.[0].length ?? 0;
  const indent = start > columns - LEAST_WIDTH ? 0 : start;
  const lines = wrapWords(line.slice(indent), columns - indent);
  return line.slice(0, indent) + lines.join(`\n${' '.repeat(indent)}`);
}
