import stringWidth from 'string-width';

/** Splits a text into what a reader sees as characters. */
const SEGMENTER = new Intl.Segmenter();

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
  for (const { segment } of SEGMENTER.segment(text)) {
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
