import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** Returns the names of the commands that run, for example `transfer create`. */
export function leaves(command: CommandUnknownOpts, names: string[] = []): string[] {
  if (command.commands.length === 0) return [names.join(' ')];
  return command.commands.flatMap((child) => leaves(child, [...names, child.name()]));
}
