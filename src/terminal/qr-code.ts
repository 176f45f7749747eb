import { encode } from 'uqr';

/** The quiet zone: ISO/IEC 18004 asks for four modules, what reads codes from a screen for two. */
const BORDER = 2;
const BLACK_ON_WHITE = '\u001b[38;5;16;48;5;231m';
const RESET = '\u001b[0m';

/**
 * A text as a QR code (ISO/IEC 18004, error correction L) for a terminal, two modules a character.
 *
 * @param size of the terminal in cells; undefined where it is not known
 * @param colour black on white whatever the terminal's colours are; without it the light modules are drawn, as is right
 *   on a dark terminal
 * @returns undefined when it does not fit
 */
export function drawQrCode(
  text: string,
  { columns, rows }: { columns: number | undefined; rows: number | undefined },
  colour: boolean,
): string | undefined {
  const { data, size } = encode(text, { ecc: 'L', border: BORDER });
  if (size > (columns || Number.POSITIVE_INFINITY)) return undefined;
  // What is scrolled away can't be scanned; a line is left for the cursor.
  if (Math.ceil(size / 2) >= (rows || Number.POSITIVE_INFINITY)) return undefined;
  const lines = [];
  for (let y = 0; y < size; y += 2) {
    const cells = (data[y] ?? []).map((upper, x) => {
      const [top, bottom] = [upper === colour, (data[y + 1]?.[x] ?? false) === colour];
      return top ? (bottom ? '█' : '▀') : bottom ? '▄' : ' ';
    });
    lines.push(colour ? `${BLACK_ON_WHITE}${cells.join('')}${RESET}` : cells.join(''));
  }
  return lines.join('\n');
}
