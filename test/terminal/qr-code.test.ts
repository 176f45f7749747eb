import { describe, expect, it } from 'vitest';
import { drawQrCode } from '../../src/terminal/qr-code.ts';

const LARGE = { columns: 300, rows: 300 };
const drawn = (
  text: string,
  size: { columns: number | undefined; rows: number | undefined },
  colour = false,
) => drawQrCode(text, size, colour)?.split('\n');

describe('a QR code', () => {
  // The smallest code has 21 modules and two more on each side: 25 cells wide, and 13 lines of two modules each.
  it('without colour has the light modules of a dark terminal', () => {
    expect(drawn('A', LARGE)).toEqual([
      '█████████████████████████',
      '██ ▄▄▄▄▄ ██ ▀ ▄█ ▄▄▄▄▄ ██',
      '██ █   █ █▄ █ ▄█ █   █ ██',
      '██ █▄▄▄█ ███▄█ █ █▄▄▄█ ██',
      '██▄▄▄▄▄▄▄█ ▀▄▀ █▄▄▄▄▄▄▄██',
      '██▄  ▀▄▄▄ ▄▄ ▄█▄ ███ ▀███',
      '███▀█▄▄ ▄▀▀▀ █▄█▀█▄█▀▀▄██',
      '██▄▄▄█▄▄▄█  █▀▄▀▄▀▄▀▄▄▄██',
      '██ ▄▄▄▄▄ █ ▀  ▀ ▄ ▀ ▄▀███',
      '██ █   █ █▄▀█▄█▄ ▄█▄ ▀▄██',
      '██ █▄▄▄█ █ ▄ █▄█▀█▄█▀▀ ██',
      '██▄▄▄▄▄▄▄█▄▄▄█▄█▄█▄█▄█▄██',
      '█████████████████████████',
    ]);
  });

  it('with colour is dark on white, and has what the other one leaves out', () => {
    const light = drawn('A', LARGE) ?? [];
    const other: Record<string, string> = { '█': ' ', ' ': '█', '▀': '▄', '▄': '▀' };
    expect(drawn('A', LARGE, true)).toEqual(
      light.map(
        (line) => `\u001b[38;5;16;48;5;231m${[...line].map((cell) => other[cell]).join('')}\u001b[0m`,
      ),
    );
  });

  it.each([
    [25, 14, true],
    [24, 14, false],
    [25, 13, false],
    [0, 14, true],
    [undefined, undefined, true],
    [25, 0, true],
    [24, undefined, false],
  ])('is drawn on a terminal of %s columns and %s rows: %s', (columns, rows, fits) => {
    expect(drawn('A', { columns, rows }) !== undefined).toBe(fits);
  });
});
