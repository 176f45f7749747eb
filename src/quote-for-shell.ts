/** A word as a POSIX shell reads it: as it is where no character of it means anything to a shell, else in quotes. */
export function quoteForShell(word: string): string {
  return /^[\w./:@%+,-][\w./:@%+=,-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
