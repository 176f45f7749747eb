import type { SnapshotSerializer } from 'vitest';

/** As wide as a line of the sources, without the place where the snapshot stands. */
const WIDTH = 100;

/** Lists and objects in snapshots, on as few lines as fit. */
const compact: SnapshotSerializer = {
  test: (value: unknown) =>
    Array.isArray(value) || (value instanceof Object && Object.getPrototypeOf(value) === Object.prototype),
  serialize(value: object, config, indentation, depth, references, print) {
    const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }'];
    const inner = indentation + ' '.repeat(open.length);
    const text = (part: unknown) => print(part, config, inner, depth + 1, references);
    const parts = Array.isArray(value)
      ? value.map(text)
      : fieldsOf(value).map(([name, field]) => `${name}: ${text(field)}`);
    if (parts.length === 0) return (open + close).replaceAll(' ', '');
    return open + filled(parts, WIDTH - inner.length).join(`,\n${inner}`) + close;
  },
};

const fieldsOf = (value: object) => Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));

/** As many parts on each line as it takes. */
function filled(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = `${lines.at(-1)}, ${part}`;
    const fits = lines.length > 0 && longer.length < width && !longer.includes('\n');
    if (fits) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

export default compact;
