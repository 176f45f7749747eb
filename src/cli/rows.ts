/** Rows of names and what they are, as help shows them. */
export function writeRows(rows: readonly (readonly [name: string, what: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`).join('\n');
}
