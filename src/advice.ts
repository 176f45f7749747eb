import type { Advice } from './errors.ts';
import { quoteForShell } from './quote-for-shell.ts';

/** Commands that use no profile, or name it themselves. */
const WITHOUT_PROFILE = new Set(['profile', 'sandbox', 'completion', 'demo', 'help', '--profile', '--help']);

/**
 * The full command line of a psd2 command.
 *
 * @param words its arguments
 * @param profile the `--profile` of the present command, which the next one must repeat
 */
export function commandOf(words: readonly string[], profile: string | undefined): string[] {
  const repeats = profile !== undefined && !WITHOUT_PROFILE.has(words[0] ?? '');
  return ['psd2', ...(repeats ? ['--profile', profile] : []), ...words];
}

/** Advice, for example of an error, as text: its hint, then its commands as a shell reads them. */
export function adviceOf(
  { hint, next = [] }: { [Key in keyof Advice]: Advice[Key] | undefined },
  profile?: string,
): string | undefined {
  if (next.length === 0) return hint;
  const commands = writeCommands(next, profile);
  if (hint === undefined) return `Run: ${commands}`;
  return hint.endsWith(':') ? `${hint} ${commands}` : `${hint} Run: ${commands}`;
}

/** Commands of psd2, given by their arguments, as a shell reads them. */
export function writeCommands(next: readonly string[][], profile?: string): string {
  return next.map((words) => commandOf(words, profile).map(quoteForShell).join(' ')).join('; ');
}
