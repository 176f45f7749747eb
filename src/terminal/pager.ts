import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { environmentFor } from './program-environment.ts';
import { shellWords } from './shell-words.ts';

/**
 * The operator's pager: `PSD2_PAGER`, then `PAGER`. An empty one and `cat` mean none, as does a terminal that can't
 * place its cursor.
 *
 * @returns program and arguments
 * @throws Psd2Error `config` when the command can't be read
 */
export function pagerOf(env: NodeJS.ProcessEnv): string[] | undefined {
  const words = shellWords(env.PSD2_PAGER ?? env.PAGER ?? '', 'PSD2_PAGER or PAGER');
  return words.length === 0 || words[0] === 'cat' || env.TERM === 'dumb' ? undefined : words;
}

/**
 * Shows text in a pager, run without a shell, until the operator quits it. What the pager was not given by then is of
 * no interest.
 *
 * @returns false when there is no such program
 */
export async function showInPager([program = '', ...args]: string[], text: string): Promise<boolean> {
  const child = spawn(program, args, {
    stdio: ['pipe', 'inherit', 'inherit'],
    // As git and gh have it: quit if it fits, keep colours, leave the text on the screen.
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
