import type { Context } from '../../commands/context.ts';

/**
 * An inquiry reads from the bank and changes nothing: its answers can be printed as they came (`--raw`). A diagnosis
 * judges the configuration folder itself, to tell of it among its checks.
 */
export type CommandKind = 'inquiry' | 'diagnosis';

/** Runs a command once its arguments are read. What it needs is imported only then. */
export type Run = (command: (context: Context) => Promise<void>, kind?: CommandKind) => Promise<void>;

/** Help text with examples, one a line. */
export function examples(...lines: string[]): string {
  return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}

/** An option that may be repeated. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
