/**
 * The values of a template's variables in a path, percent-decoded: `{customerId}` stands for one part.
 *
 * @returns undefined if the path has another form
 */
export function pathValues(template: string, path: string): Map<string, string> | undefined {
  const [wanted, parts] = [template.split('/'), path.split('/')];
  if (wanted.length !== parts.length) return undefined;
  const values = new Map<string, string>();
  for (const [index, part] of wanted.entries()) {
    const value = parts[index] ?? '';
    const name = part.startsWith('{') ? part.slice(1, -1) : undefined;
    if (name === undefined ? part !== value : value === '') return undefined;
    if (name !== undefined) values.set(name, percentDecoded(value));
  }
  return values;
}

function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
