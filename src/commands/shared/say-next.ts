import { type Repeated, writeCommand } from '../../advice.ts';
import type { Context } from '../context.ts';

/**
 * Tells a person what to run next, after a step that is only the first of several. A program reads nothing of it.
 *
 * @param commands as lists of arguments
 * @param repeated what each command repeats
 */
export function sayNext(
  { isForPerson, terminal }: Pick<Context, 'isForPerson' | 'terminal'>,
  commands: readonly string[][],
  repeated: Repeated,
): void {
  if (!isForPerson || commands.length === 0) return;
  terminal.say(['Next:', ...commands.map((words) => `  ${writeCommand(words, repeated)}`)].join('\n'));
}
