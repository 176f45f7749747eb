import { crc32, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { matrixImage } from '../../../src/sandbox/nextgenpsd2/embedded/matrix-image.ts';

/** Reads a PNG of one grey bit a pixel, as RFC 2083 has it. @returns rows of dark pixels */
function pixelsOf(png: Buffer): boolean[][] {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const named = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(named));
    chunks.set(named.subarray(0, 4).toString('latin1'), named.subarray(4));
    at += 12 + length;
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'IDAT', 'IEND']);
  const header = chunks.get('IHDR') ?? Buffer.alloc(0);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  expect([...header.subarray(8)]).toEqual([1, 0, 0, 0, 0]);
  const lines = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0));
  const line = 1 + Math.ceil(width / 8);
  expect(lines).toHaveLength(line * height);
  return Array.from({ length: height }, (_, y) =>
    Array.from(
      { length: width },
      (_, x) => (((lines[y * line + 1 + (x >> 3)] ?? 0) << (x & 7)) & 0x80) === 0,
    ),
  );
}

test.each([
  ['12.50 EUR to Beta GmbH, DE02 1203 0000 0000 2020 51', 25],
  ['x', 21],
  ['Müller & Söhne €', 21],
  ['a'.repeat(500), 65],
])('the picture carries %s', (text, side) => {
  const pixels = pixelsOf(matrixImage(text));
  const modules = pixels.length / 4 - 4;
  expect(modules).toBe(side);
  const isDark = (x: number, y: number) => pixels[(y + 2) * 4 + 1]?.[(x + 2) * 4 + 2] ?? false;
  const bits: boolean[] = [];
  for (let y = 0; y < modules; y += 1)
    for (let x = 0; x < modules; x += 1) {
      const [right, low] = [x >= modules - 8, y >= modules - 8];
      if (!((x < 8 && y < 8) || (right && y < 8) || (x < 8 && low))) bits.push(isDark(x, y));
    }
  const bytes = Array.from({ length: bits.length >> 3 }, (_, byte) =>
    bits.slice(byte * 8, byte * 8 + 8).reduce((sum, bit) => sum * 2 + Number(bit), 0),
  );
  expect(Buffer.from(bytes).toString().replace(/\0+$/, '')).toBe(text);
  // The corner squares: a dark ring, a light one, a dark heart. White lies around them and around all.
  for (const [x, y] of [
    [0, 0],
    [modules - 7, 0],
    [0, modules - 7],
  ] as const)
    expect([0, 1, 2, 3, 4, 5, 6].map((step) => isDark(x + step, y + 3))).toEqual([
      ...[true, false, true, true, true, false, true],
    ]);
  expect(pixels[0]?.some(Boolean) || pixels[7]?.some(Boolean)).toBe(false);
});
