import type { ValueOf } from '../../../terminal/output/fields.ts';
import type { Context } from '../../context.ts';
import type { Asker } from './asker.ts';
import type { Finding } from './draft.ts';
import { finding, learned } from './learned.ts';

type Learned = ValueOf<typeof learned>;

const ORDER: readonly Finding['status'][] = ['differs', 'same', 'said', 'unknown'];

/** Prints what was learned: what differs first, what was not found out last. */
export async function printLearned(
  context: Context,
  { draft, bank, asked: calls }: Asker,
  result: Pick<Learned, 'ok' | 'file' | 'extends' | 'left'>,
): Promise<void> {
  const { output, stdoutIsTerminal } = context;
  const findings = draft.findings.toSorted(
    (one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status),
  );
  if (output.format !== 'table') output.record({ ...result, bank, calls, findings }, learned);
  else if (stdoutIsTerminal) output.lines(await linesOf(context, findings, result.extends));
  else await output.table(findings, finding, '');
}

/** For a person: the values by heading, each with what the bank answered below it. */
async function linesOf(
  { stdoutColumns }: Context,
  findings: readonly Finding[],
  platform: string,
): Promise<string[]> {
  const { wrapWords } = await import('../../../terminal/cells.ts');
  const columns = stdoutColumns || 80;
  const indented = (text: string, by: number) =>
    wrapWords(text, columns - by).map((line) => `${' '.repeat(by)}${line}`);
  const heading = {
    differs: `Differs from ${platform}`,
    same: `As ${platform} says`,
    said: 'Seen, and no field says it',
    unknown: 'Not found out',
  };
  return ORDER.flatMap((status) => {
    const own = findings.filter((finding) => finding.status === status);
    if (own.length === 0) return [];
    const lines = own.flatMap(({ field, value, was, asked, answered, reason }) => [
      ...indented(
        `${field}${value === null ? '' : `: ${value}`}${status === 'differs' && was !== null ? ` (before: ${was})` : ''}`,
        2,
      ),
      ...(reason === null ? [] : indented(reason, 6)),
      ...(asked === null ? [] : indented(`${asked}: ${answered}`, 6)),
    ]);
    return [heading[status], ...lines, ''];
  });
}
