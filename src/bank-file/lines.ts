/**
 * The lines of the fields in a text of valid JSON, by their paths as psd2 writes them: `signing.headers[0]`. The whole is ''.
 */
export function linesOf(text: string): Map<string, number> {
  const lines = new Map<string, number>();
  /** The objects and lists that are open: their paths, and in a list the index of the element. */
  const open: { path: string; index: number | null }[] = [];
  let line = 1;
  let name: string | undefined;
  for (const [token, , isName] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[[\]{},]|\n|[^\s[\]{},"]+/g)) {
    const within = open.at(-1);
    if (isName !== undefined) {
      name = JSON.parse(token.replace(/\s*:$/, ''));
    } else if (token === ',') {
      if (within && within.index !== null) within.index += 1;
    } else if (token === ']' || token === '}') open.pop();
    else if (token !== '\n') {
      const path = pathWithin(within, name);
      if (!lines.has(path)) lines.set(path, line);
      name = undefined;
      if (token === '[' || token === '{') open.push({ path, index: token === '[' ? 0 : null });
    }
    line += token.split('\n').length - 1;
  }
  return lines;
}

function pathWithin(
  within: { path: string; index: number | null } | undefined,
  name: string | undefined,
): string {
  if (!within) return '';
  const { path, index } = within;
  if (index !== null) return `${path}[${index}]`;
  return path === '' ? (name ?? '') : `${path}.${name}`;
}

/** The line of a field; of one that is missing, that of what it is missing in. */
export function lineOf(lines: ReadonlyMap<string, number>, path: string): number | null {
  const line = lines.get(path);
  if (line !== undefined || path === '') return line ?? null;
  return lineOf(lines, path.replace(/(^|\.)[^.[]*$|\[\d+\]$/, ''));
}
