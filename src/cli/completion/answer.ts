import { printAtOnce } from '../print-at-once.ts';
import { buildProgram } from '../program.ts';
import { complete, wordsOfLine } from './complete.ts';

/**
 * `psd2 __complete line <line>` and `psd2 __complete words <word>...`, for the scripts of `psd2 completion`:
 * prints a first line `values`, `files` or `folders`, then each value on a line, with a tab and its description.
 */
export async function answerShell(args: string[]): Promise<void> {
  const [how, ...rest] = args;
  const words = how === 'line' ? wordsOfLine(rest[0] ?? '') : rest;
  const completion = await complete(await buildProgram('', { words }), words, process.env);
  const lines =
    'files' in completion
      ? [completion.files]
      : ['values', ...completion.values.map(([value, what]) => `${value}\t${what.replaceAll('\n', ' ')}`)];
  printAtOnce(`${lines.join('\n')}\n`);
}
