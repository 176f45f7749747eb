import { PNG } from 'pngjs';

/** A picture as its header says, before anything of it is unpacked. */
interface Header {
  width: number;
  height: number;
  isInterlaced: boolean;
}

/** A challenge is a small picture. More is an attack on this machine, or a mistake. */
const MAX_BYTES = 512 * 1024;
const MAX_PIXELS = 4_000_000;

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Reads a challenge's image (the standard, "Challenge": a PNG in base64, perhaps as a data URL).
 *
 * @returns the picture, or why it is none that psd2 shows
 */
export function readPicture(image: string): { png: Buffer; header: Header } | { fault: string } {
  const base64 = image.replace(/^data:image\/png;base64,/i, '').replace(/\s/g, '');
  // Four characters have three bytes.
  if (base64.length > (MAX_BYTES / 3) * 4 + 4) return { fault: 'it is larger than 512 KiB' };
  const png = Buffer.from(base64, 'base64');
  const isPng =
    png.length > 33 && png.subarray(0, 8).equals(SIGNATURE) && png.toString('latin1', 12, 16) === 'IHDR';
  if (!isPng) return { fault: 'it is not a PNG' };
  const header = { width: png.readUInt32BE(16), height: png.readUInt32BE(20), isInterlaced: png[28] !== 0 };
  const pixels = header.width * header.height;
  if (pixels === 0 || pixels > MAX_PIXELS) return { fault: 'it has more than 4 million pixels, or none' };
  return { png, header };
}

/**
 * The dots of a picture that has two colours, as a code for a scanner has. Undefined: it has others, or cannot be unpacked.
 *
 * @returns rows of dots, each of which is one dot of the code and not of the picture: whether it is dark
 */
export function twoColours({ png, header }: { png: Buffer; header: Header }): boolean[][] | undefined {
  // What is interlaced could unpack to more than its header says.
  if (header.isInterlaced) return undefined;
  const pixels = unpacked(png);
  if (!pixels) return undefined;
  const rows: boolean[][] = [];
  for (let y = 0; y < header.height; y += 1) {
    const row: boolean[] = [];
    for (let x = 0; x < header.width; x += 1) {
      const light = lightOf(pixels, (y * header.width + x) * 4);
      if (light > 64 && light < 192) return undefined;
      row.push(light <= 64);
    }
    rows.push(row);
  }
  return shrunk(rows);
}

function unpacked(png: Buffer): Buffer | undefined {
  try {
    return PNG.sync.read(png).data;
  } catch {
    return undefined;
  }
}

/** How light a pixel is on white paper, from 0 to 255. */
function lightOf(pixels: Buffer, at: number): number {
  const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(at, at + 4);
  const light = 0.299 * red + 0.587 * green + 0.114 * blue;
  return light * (alpha / 255) + 255 * (1 - alpha / 255);
}

/** The same with one pixel for each dot. A dot is as large as all its edges allow. */
function shrunk(rows: boolean[][]): boolean[][] {
  const edges = new Set([rows.length, rows[0]?.length ?? 0]);
  rows.forEach((row, y) => {
    row.forEach((dark, x) => {
      if (x > 0 && dark !== row[x - 1]) edges.add(x);
      if (y > 0 && dark !== rows[y - 1]?.[x]) edges.add(y);
    });
  });
  const size = [...edges].reduce(commonDivisor, 0);
  const each = <Value>(all: readonly Value[]) => all.filter((_, index) => index % size === 0);
  return each(rows).map(each);
}

function commonDivisor(one: number, other: number): number {
  return other === 0 ? one : commonDivisor(other, one % other);
}

/** The picture for a terminal with the graphics protocol of kitty, in pieces of 4096 characters. */
export function kittyPicture(png: Buffer): string {
  const pieces = png.toString('base64').match(/.{1,4096}/g) ?? [];
  return pieces
    .map((piece, index) => {
      const control = `${index === 0 ? 'f=100,a=T,' : ''}m=${index < pieces.length - 1 ? 1 : 0}`;
      return `\u001b_G${control};${piece}\u001b\\`;
    })
    .join('');
}

/** Whether the terminal has that protocol, as its variables say. One within another terminal shows none. */
export function showsPictures(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.TMUX || env.STY) return false;
  return env.KITTY_WINDOW_ID !== undefined || /^(xterm-kitty|xterm-ghostty)$/.test(env.TERM ?? '');
}
