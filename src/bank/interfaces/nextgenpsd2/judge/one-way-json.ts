/** JSON that can be read in one way, or why it cannot. */
export type OneWayJson = { value: unknown } | { problem: string };

/** The answers of banks have fewer than ten levels. */
const DEEPEST = 100;

/** Reads JSON that every reader understands alike: without a name that is there twice, and with nothing after it. */
export function readOneWay(text: string): OneWayJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'it is not JSON' };
  }
  return isClear(text) ? { value } : { problem: 'its JSON can be read in two ways' };
}

/** Whether no object of valid JSON has a name twice, and nothing is nested without end. */
function isClear(text: string): boolean {
  // The names of the objects that are open; null for a list.
  const open: (Set<unknown> | null)[] = [];
  const next = /\S/g;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '{' || sign === '[') {
      if (open.length === DEEPEST) return false;
      open.push(sign === '{' ? new Set() : null);
    } else if (sign === '}' || sign === ']') open.pop();
    else if (sign === '"') {
      const end = endOfString(text, at);
      // Only a name has a colon after it.
      next.lastIndex = end;
      if (next.exec(text)?.[0] === ':') {
        const name: unknown = JSON.parse(text.slice(at, end));
        const names = open.at(-1);
        if (names?.has(name)) return false;
        names?.add(name);
      }
      at = end - 1;
    }
  }
  return true;
}

/** Where a string ends that begins at `start`: after its quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}
