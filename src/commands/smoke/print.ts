import type { Line } from '../../smoke/lines.ts';
import { widthOf, wrapWords } from '../../terminal/cells.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { takesStdout, type Wanted } from './reports.ts';

/** The least width of what stands behind the beginning of a line. */
const MIN_WIDTH = 30;

/** Prints lines for people: to stdout, unless a report goes there. They fit the terminal. */
export function printLines(
  { output, terminal, stdoutIsTerminal, stdoutColumns }: Context,
  reports: readonly Wanted[],
  lines: readonly Line[],
): void {
  if (output.format !== 'table') return;
  const fitted = (columns: number | undefined) => lines.map((line) => broken(line, columns));
  if (takesStdout(reports)) terminal.say(fitted(terminal.size.columns).join('\n'));
  else output.lines(fitted(stdoutIsTerminal ? stdoutColumns : undefined), 'state first');
}

/** Breaks a line that is wider than the terminal. If there is no room behind its beginning, the rest goes below. */
function broken(line: Line, columns: number | undefined): string {
  const begin = cleanText(line.begin);
  const texts = line.texts.map(cleanText);
  const whole = (one: string) =>
    [one, ...texts]
      .filter((text) => text !== '')
      .join('  ')
      .trimEnd();
  const fits = (text: string) => !columns || widthOf(text) <= columns;
  const short = begin.trimEnd();
  for (const one of [begin, short]) if (fits(whole(one))) return whole(one);
  const width = columns ?? Number.POSITIVE_INFINITY;
  const isBelow = begin !== '' && width - widthOf(begin) - 2 < MIN_WIDTH;
  const indent = begin === '' ? 0 : isBelow ? 4 : widthOf(begin) + 2;
  const rest = texts
    .flatMap((text) => wrapWords(text, width - indent))
    .map((text) => ' '.repeat(indent) + text);
  const [first = '', ...others] = rest;
  return (isBelow ? [short, ...rest] : [begin + first.slice(begin.length), ...others]).join('\n');
}
