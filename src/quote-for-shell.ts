/** Quotes a word for a POSIX shell. A word without special characters stays unchanged. */
export function quoteForShell(word: string): string {
  return /^[\w./:@%+,-][\w./:@%+=,-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
