import { encode } from 'uqr';
import { drawHalfBlocks, fitsTerminal } from './half-blocks.ts';

/** The quiet zone. ISO/IEC 18004 requires four modules, but readers of codes on a screen need only two. */
const BORDER = 2;

/**
 * A text as a QR code (ISO/IEC 18004, error correction L) for a terminal, two modules per character.
 *
 * @param size of the terminal in cells; undefined if it is not known
 * @param colour as for `drawHalfBlocks`
 * @returns undefined if the code does not fit
 */
export function drawQrCode(
  text: string,
  terminal: { columns: number | undefined; rows: number | undefined },
  colour: boolean,
): string | undefined {
  const { data, size } = encode(text, { ecc: 'L', border: BORDER });
  return fitsTerminal({ width: size, height: size }, terminal) ? drawHalfBlocks(data, colour) : undefined;
}
