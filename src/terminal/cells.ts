import stringWidth from 'string-width';

/** Splits a text into what a reader sees as characters. Made when it is first needed: it takes as long as the whole start of psd2. */
let segmenter: Intl.Segmenter | undefined;

/** How many cells of a terminal a text takes. It is fast for ASCII, which most text is. */
export function widthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth(text);
}

/** Breaks a text at spaces into lines that take at most `width` cells. A longer word stays whole, so that it can be copied. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let used = 0;
  for (const word of text.split(' ')) {
    const wide = widthOf(word);
    const last = lines.at(-1);
    if (last !== undefined && used + 1 + wide <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
      used += 1 + wide;
    } else {
      lines.push(word);
      used = wide;
    }
  }
  return lines;
}

/**
 * Breaks a line between words if it is wider than the terminal. A command stays whole, so that it can be copied, and one of psd2's own
 * at the end has a line of its own. What else looks like a command may be the bank's: that line stays as it is, so that nothing makes
 * it look like psd2's.
 *
 * @param columns of the terminal; undefined or 0: there is none
 * @param base the indent of prose. A line that is indented further and begins with psd2 is a command, and so is one that begins with $
 * @param commands that psd2 itself names in the text
 */
export function fitLine(
  line: string,
  columns: number | undefined,
  base = 0,
  commands: readonly string[] = [],
): string {
  const spaces = /^ */.exec(line)?.[0] ?? '';
  const indent = spaces.length;
  const isCommand = line.startsWith('$ ', indent) || (indent > base && line.startsWith('psd2 ', indent));
  if (!columns || isCommand || widthOf(line) <= columns) return line;
  const own = commands.find((command) => line.endsWith(` ${command}`));
  if (own !== undefined) {
    const text = line.slice(0, -own.length).trimEnd();
    return `${fitLine(text, columns, base)}\n${spaces}  ${own}`;
  }
  if (/: +psd2 /.test(line)) return line;
  return wrapWords(line.slice(indent), columns - indent)
    .map((part) => spaces + part)
    .join('\n');
}

/** The same in a column: a word that is longer than the column is cut into pieces. */
export function wrapInColumn(text: string, width: number): string[] {
  return wrapWords(text, width).flatMap((line) =>
    widthOf(line) > width ? cutIntoPieces(line, width) : [line],
  );
}

/** Cuts a text into pieces of at most `width` cells, even within a word. */
export function cutIntoPieces(text: string, width: number): string[] {
  const pieces = [''];
  let used = 0;
  segmenter ??= new Intl.Segmenter();
  for (const { segment } of segmenter.segment(text)) {
    const wide = widthOf(segment);
    if (used + wide > width) {
      pieces.push('');
      used = 0;
    }
    pieces[pieces.length - 1] += segment;
    used += wide;
  }
  return pieces;
}
