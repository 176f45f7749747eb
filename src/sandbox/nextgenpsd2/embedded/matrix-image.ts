import { crc32, deflateSync } from 'node:zlib';

/** Pixels of a module, and the white modules around the matrix. */
const SCALE = 4;
const QUIET = 2;
/** The corner squares, as those of a QR code. */
const FINDER = 7;

/**
 * A picture that carries a text, as a photoTAN does: a matrix of black and white modules with three corner squares, in whose other
 * modules the bits of the UTF-8 text stand line by line, closed by zeros. It looks like a QR code, and is none.
 *
 * @returns a PNG of one bit a pixel (RFC 2083)
 */
export function matrixImage(text: string): Buffer {
  const bytes = Buffer.from(text);
  const size = sizeFor(bytes.length * 8);
  const bits = bytes.reduce<boolean[]>((all, byte) => {
    for (let bit = 7; bit >= 0; bit -= 1) all.push(((byte >> bit) & 1) === 1);
    return all;
  }, []);
  const rows = Array.from({ length: size }, (_, y) =>
    Array.from({ length: size }, (_, x) =>
      isCorner(x, y, size) ? isFinderDark(x, y, size) : (bits.shift() ?? false),
    ),
  );
  return png(rows);
}

/** The side of the smallest matrix that has room for so many bits. */
function sizeFor(bits: number): number {
  let size = 21;
  while (size * size - 3 * (FINDER + 1) ** 2 < bits) size += 4;
  return size;
}

/** Whether a module belongs to a corner square, or to the white line around it. */
function isCorner(x: number, y: number, size: number): boolean {
  const near = (at: number) => at <= FINDER;
  const far = (at: number) => at >= size - FINDER - 1;
  return (near(x) && near(y)) || (far(x) && near(y)) || (near(x) && far(y));
}

function isFinderDark(x: number, y: number, size: number): boolean {
  const [left, top] = [x <= FINDER ? x : size - 1 - x, y <= FINDER ? y : size - 1 - y];
  const ring = Math.max(Math.abs(left - 3), Math.abs(top - 3));
  return ring === 3 || ring <= 1;
}

function png(modules: readonly (readonly boolean[])[]): Buffer {
  const side = (modules.length + 2 * QUIET) * SCALE;
  const line = (y: number): Buffer => {
    const pixels = Buffer.alloc(Math.ceil(side / 8));
    for (let x = 0; x < side; x += 1) {
      const isDark = modules[Math.floor(y / SCALE) - QUIET]?.[Math.floor(x / SCALE) - QUIET] ?? false;
      if (!isDark) pixels[x >> 3] = (pixels[x >> 3] ?? 0) | (0x80 >> (x & 7));
    }
    // Each line begins with its filter: none.
    return Buffer.concat([Buffer.of(0), pixels]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // One bit a pixel, grey.
  header.writeUInt8(1, 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: side }, (_, y) => line(y))))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
