const BLACK_ON_WHITE = '\u001b[38;5;16;48;5;231m';
const RESET = '\u001b[0m';

/**
 * A picture of two colours for a terminal, two dots per character.
 *
 * @param dark the rows of dots: whether each is dark
 * @param colour black on white, whatever colours the terminal has. Without it psd2 draws the light dots, which is right on a dark
 *   terminal
 */
export function drawHalfBlocks(dark: readonly (readonly boolean[])[], colour: boolean): string {
  const lines = [];
  for (let y = 0; y < dark.length; y += 2) {
    const cells = (dark[y] ?? []).map((upper, x) => {
      const [top, bottom] = [upper === colour, (dark[y + 1]?.[x] ?? false) === colour];
      return top ? (bottom ? '█' : '▀') : bottom ? '▄' : ' ';
    });
    lines.push(colour ? `${BLACK_ON_WHITE}${cells.join('')}${RESET}` : cells.join(''));
  }
  return lines.join('\n');
}

/** Whether a picture of so many dots can be seen whole: what has scrolled away is lost. Leaves a line for the cursor. */
export function fitsTerminal(
  { width, height }: Record<'width' | 'height', number>,
  { columns, rows }: Record<'columns' | 'rows', number | undefined>,
): boolean {
  const isWide = width > (columns || Number.POSITIVE_INFINITY);
  return !isWide && Math.ceil(height / 2) < (rows || Number.POSITIVE_INFINITY);
}
