import type { Context } from '../context.ts';
import { checks as checksShape } from './shapes.ts';

/** What one check found. */
export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail' | 'skip';
  detail: string;
  /** What to do about it; null where nothing is to be done. */
  fix: string | null;
}

/**
 * Prints checks: a line or more for each on a terminal, tab-separated in a pipe, or `{ok, checks}`.
 *
 * @returns whether none has failed
 */
export async function printChecks<Kind extends Check>(context: Context, checks: Kind[]): Promise<boolean> {
  const { output, stdoutIsTerminal, stdoutColumns } = context;
  const ok = checks.every(({ status }) => status !== 'fail');
  if (output.format !== 'table') output.record({ ok, checks }, [], checksShape);
  else if (stdoutIsTerminal) {
    const { default: stringWidth } = await import('string-width');
    const columns = stdoutColumns || 80;
    const beside = STATUS_WIDTH + Math.max(...checks.map(({ name }) => stringWidth(name))) + 2;
    // Where a line has no room for it the detail stands below the name.
    const isNarrow = columns - beside < LEAST_WIDTH;
    const indent = isNarrow ? STATUS_WIDTH : beside;
    output.lines(
      checks.flatMap(({ name, status, detail, fix }) => {
        const title = `${status.padEnd(STATUS_WIDTH)}${isNarrow ? name : name.padEnd(indent - STATUS_WIDTH)}`;
        const texts = [detail, ...(fix === null ? [] : [`→ ${fix}`])]
          .flatMap((text) => wrap(text, columns - indent))
          .map((line) => `${' '.repeat(indent)}${line}`);
        const [first = '', ...rest] = texts;
        return isNarrow ? [title, ...texts] : [`${title}${first.slice(indent)}`, ...rest];
      }),
    );
  } else {
    await output.table(
      checks,
      [
        { title: 'STATUS', value: ({ status }) => status },
        { title: 'CHECK', value: ({ name }) => name },
        { title: 'DETAIL', value: ({ detail }) => detail },
        { title: 'FIX', value: ({ fix }) => fix },
      ],
      '',
    );
  }
  return ok;
}

const STATUS_WIDTH = 6;
/** Of a detail that stands beside its name. */
const LEAST_WIDTH = 48;

/** Breaks a text at blanks; a longer word stays whole, so that it can be copied. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
