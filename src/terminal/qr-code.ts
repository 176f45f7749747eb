import { encode } from 'uqr';

/** The quiet zone. ISO/IEC 18004 requires four modules, but readers of codes on a screen need only two. */
const BORDER = 2;
const BLACK_ON_WHITE = '\u001b[38;5;16;48;5;231m';
const RESET = '\u001b[0m';

/**
 * A text as a QR code (ISO/IEC 18004, error correction L) for a terminal, two modules per character.
 *
 * @param size of the terminal in cells; undefined if it is not known
 * @param colour black on white, whatever colours the terminal has. Without it psd2 draws the light modules, which is
 *   right on a dark terminal
 * @returns undefined if the code does not fit
 */
export function drawQrCode(
  text: string,
  { columns, rows }: { columns: number | undefined; rows: number | undefined },
  colour: boolean,
): string | undefined {
  const { data, size } = encode(text, { ecc: 'L', border: BORDER });
  if (size > (columns || Number.POSITIVE_INFINITY)) return undefined;
  // A reader cannot scan what has scrolled away. Leave a line for the cursor.
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
