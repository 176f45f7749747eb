import { adviceOf } from '../../advice.ts';
import type { Advice } from '../../errors.ts';
import { flag, list, object, oneOf, orNull, text, type ValueOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { Printed } from '../declare.ts';

/** A check as psd2 prints it. */
export const printedCheck = object({
  name: text('name of the check').as('Check'),
  status: oneOf(['ok', 'warn', 'fail', 'skip'], 'result of the check').as('Status', { kind: 'state' }),
  detail: text('the result in words').as('Detail'),
  fix: orNull(text('what to do; null if there is nothing to do')).as('Fix'),
}).inList('status name detail fix');

const checksShape = object({ ok: flag('true if no check failed'), checks: list(printedCheck, 'in order') });

export const CHECKS: Printed = { what: 'checks', shape: checksShape };

/** The result of one check: as it is printed, but the advice is not written out yet. */
export type Check = Unwritten<ValueOf<typeof printedCheck>>;

/** A printed check before its advice is written out. */
export type Unwritten<Written extends { fix: string | null }> = Omit<Written, 'fix'> & { fix: Advice | null };

/** What a check has found. @param fix what to do; null if there is nothing to do */
export function finding(status: Check['status'], detail: string, fix: Advice | null = null) {
  return { status, detail, fix };
}

/**
 * Prints checks: on a terminal as a table, in a pipe with tabs, as JSON `{ok, checks}`.
 *
 * @returns whether no check failed
 */
export async function printChecks<Kind extends Check>(context: Context, checks: Kind[]): Promise<boolean> {
  const { output, stdoutIsTerminal, stdoutColumns } = context;
  const ok = checks.every(({ status }) => status !== 'fail');
  const written = checks.map((check) => ({ ...check, fix: writeFix(check, context) }));
  if (output.format !== 'table') output.record({ ok, checks: written }, checksShape);
  else if (stdoutIsTerminal) {
    const { widthOf, wrapWords } = await import('../../terminal/cells.ts');
    const columns = stdoutColumns || 80;
    const beside = STATUS_WIDTH + Math.max(...checks.map(({ name }) => widthOf(name))) + 2;
    // If the line has no room, the detail goes below the name.
    const isNarrow = columns - beside < MIN_WIDTH;
    const indent = isNarrow ? STATUS_WIDTH : beside;
    output.lines(
      written.flatMap(({ name, status, detail, fix }) => {
        const title = `${status.padEnd(STATUS_WIDTH)}${isNarrow ? name : name.padEnd(indent - STATUS_WIDTH)}`;
        const texts = [detail, ...(fix === null ? [] : [`→ ${fix}`])]
          .flatMap((text) => text.split('\n'))
          .flatMap((text) => wrapWords(text, columns - indent))
          .map((line) => `${' '.repeat(indent)}${line}`);
        const [first = '', ...rest] = texts;
        return isNarrow ? [title, ...texts] : [`${title}${first.slice(indent)}`, ...rest];
      }),
      'state first',
    );
  } else await output.table(written, printedCheck, '');
  return ok;
}

/** What to do about a finding, as text. */
export function writeFix(
  { fix }: Pick<Check, 'fix'>,
  { repeated }: Pick<Context, 'repeated'>,
): string | null {
  return fix === null ? null : (adviceOf(fix, repeated) ?? null);
}

const STATUS_WIDTH = 6;
/** The least width of a detail beside its name. */
const MIN_WIDTH = 48;
