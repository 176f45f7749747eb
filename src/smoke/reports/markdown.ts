import { noteOf, type SmokeRun, sumUp } from '../result.ts';

/** A table in GitHub's Markdown. */
export function writeMarkdown(run: SmokeRun): string {
  const title = [run.profile, run.environment, run.interface]
    .filter(Boolean)
    .map((each) => cell(String(each)));
  return [
    `### psd2 smoke: ${run.result} (${title.join(', ')})`,
    '',
    '| step | result | ms | |',
    '|---|---|---:|---|',
    ...run.steps.map((step) => {
      const { id, status, milliseconds } = step;
      return `| ${id} | ${status} | ${status === 'skip' ? '' : milliseconds} | ${cell(noteOf(step))} |`;
    }),
    '',
    `${cell(sumUp(run))}. Run ${run.run}, ${run.startedAt}, psd2 ${cell(run.version)}.`,
    '',
  ].join('\n');
}

/** Text that is nothing but text: no table, no HTML, no link, and no person is mentioned. */
function cell(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\\`*_{}[\]()#|~]/g, (each) => `\\${each}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '@\u{200B}');
}
