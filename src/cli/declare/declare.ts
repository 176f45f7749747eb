import type { Context } from '../../commands/context.ts';

/** An inquiry reads from the bank and changes nothing: its answers can be printed as they came (`--raw`). */
export type CommandKind = 'inquiry';

/** Runs a command once its arguments are read. What it needs is imported only then. */
export type Run = (command: (context: Context) => Promise<void>, kind?: CommandKind) => Promise<void>;

/** An option that may be repeated. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
