import type { SnapshotSerializer } from 'vitest';

/** As wide as a line of the sources, without the place where the snapshot stands. */
const WIDTH = 100;

/** Lists and objects in snapshots, on one line, if they fit; otherwise as many parts on a line as fit. */
const compact: SnapshotSerializer = {
  test: (value: unknown) =>
    Array.isArray(value) || (value instanceof Object && Object.getPrototypeOf(value) === Object.prototype),
  serialize(value: object, config, indentation, depth, references, print) {
    const inner = indentation + config.indent;
    const text = (part: unknown) => print(part, config, inner, depth + 1, references);
    const isList = Array.isArray(value);
    const parts = isList
      ? value.map(text)
      : fieldsOf(value).map(([name, field]) => `${name}: ${text(field)}`);
    const [open, close] = isList ? ['[', ']'] : ['{ ', ' }'];
    if (parts.length === 0) return (open + close).replaceAll(' ', '');
    const whole = open + parts.join(', ') + close;
    if (isOneLine(whole) && indentation.length + whole.length <= WIDTH) return whole;
    const lines = parts.every(isOneLine) ? filled(parts, WIDTH - inner.length) : parts;
    return [open.trim(), ...lines.map((line) => `${inner}${line},`), `${indentation}${close.trim()}`].join(
      '\n',
    );
  },
};

const isOneLine = (text: string) => !text.includes('\n');

const fieldsOf = (value: object) => Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));

/** As many parts on each line as it takes. */
function filled(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = `${lines.at(-1)}, ${part}`;
    if (lines.length > 0 && longer.length < width) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

export default compact;
