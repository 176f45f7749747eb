import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { environmentFor } from './program-environment.ts';
import { shellWords } from './shell-words.ts';

/**
 * The operator's pager: `PSD2_PAGER`, then `PAGER`. There is none if it is empty or `cat`, or if the terminal cannot
 * place its cursor.
 *
 * @returns program and arguments
 * @throws Psd2Error `config` if the command cannot be parsed
 */
export function pagerOf(env: NodeJS.ProcessEnv): string[] | undefined {
  const words = shellWords(env.PSD2_PAGER ?? env.PAGER ?? '', 'PSD2_PAGER or PAGER');
  return words.length === 0 || words[0] === 'cat' || env.TERM === 'dumb' ? undefined : words;
}

/**
 * Shows text in a pager, run without a shell, until the operator quits it. If the pager has not read all of it by then,
 * that is not an error.
 *
 * @returns false if the program does not exist
 */
export async function showInPager([program = '', ...args]: string[], text: string): Promise<boolean> {
  const child = spawn(program, args, {
    stdio: ['pipe', 'inherit', 'inherit'],
    // As git and gh set it: quit if the text fits, keep colours, leave the text on the screen.
    env: { LESS: 'FRX', LV: '-c', ...environmentFor('pager') },
  });
  child.stdin.on('error', () => {});
  try {
    await once(child, 'spawn');
  } catch {
    return false;
  }
  child.stdin.end(text);
  await once(child, 'close');
  return true;
}
