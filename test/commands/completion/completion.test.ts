import { expect, it } from 'vitest';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, ranIn } from '../command.ts';

const temporary = temporaryFolder();

/** What `psd2 completion <shell>` prints. */
async function script(shell: string): Promise<string> {
  const command = openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z', { format: 'table' });
  return (await ranIn(command, 'completion', shell)).printed;
}

const FISH = "complete -c psd2 -f -a '(__psd2_complete)'";
it.each([
  ['bash', '# bash completion for psd2', 'complete -F _psd2 psd2', 'psd2 __complete line "$typed"'],
  ['zsh', '#compdef psd2', 'else compdef _psd2 psd2; fi', 'psd2 __complete words'],
  ['fish', '# fish completion for psd2', FISH, 'psd2 __complete words'],
])('the script for %s is one for this shell, and asks psd2', async (shell, first, last, asks) => {
  const lines = (await script(shell)).split('\n');
  expect(lines[0]?.startsWith(first)).toBe(true);
  expect(lines.at(-2)?.endsWith(last)).toBe(true);
  expect(lines.at(-1)).toBe('');
  expect(lines.some((line) => line.includes(asks))).toBe(true);
  // A line of the operator is data: no script evaluates it.
  expect(lines.filter((line) => /\beval\b/.test(line))).toEqual([]);
});

it.each(['', 'sh', 'bash '])('there is no script for %j', async (shell) => {
  await expect(script(shell)).rejects.toMatchObject({ code: 'commander.invalidArgument' });
});
