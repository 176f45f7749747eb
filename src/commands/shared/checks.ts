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
    const { widthOf, wrapWords } = await import('../../terminal/cells.ts');
    const columns = stdoutColumns || 80;
    const beside = STATUS_WIDTH + Math.max(...checks.map(({ name }) => widthOf(name))) + 2;
    // Where a line has no room for it the detail stands below the name.
    const isNarrow = columns - beside < LEAST_WIDTH;
    const indent = isNarrow ? STATUS_WIDTH : beside;
    output.lines(
      checks.flatMap(({ name, status, detail, fix }) => {
        const title = `${status.padEnd(STATUS_WIDTH)}${isNarrow ? name : name.padEnd(indent - STATUS_WIDTH)}`;
        const texts = [detail, ...(fix === null ? [] : [`→ ${fix}`])]
          .flatMap((text) => wrapWords(text, columns - indent))
          .map((line) => `${' '.repeat(indent)}${line}`);
        const [first = '', ...rest] = texts;
        return isNarrow ? [title, ...texts] : [`${title}${first.slice(indent)}`, ...rest];
      }),
      'state first',
    );
  } else {
    await output.table(
      checks,
      [
        { title: 'STATUS', value: ({ status }) => status, kind: 'state' },
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
