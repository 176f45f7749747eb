import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { expect, it } from 'vitest';
import {
  kittyPicture,
  readPicture,
  showsPictures,
  twoColours,
} from '../../../src/terminal/challenge/picture.ts';
import { savePicture } from '../../../src/terminal/challenge/saved-picture.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';

/** A picture of these dots, each of `size` pixels. */
function pictureOf(
  rows: string[],
  size: number,
  colours: Record<string, [number, number, number, number]> = {},
) {
  const palette: typeof colours = {
    '#': [0, 0, 0, 255],
    '.': [255, 255, 255, 255],
    ' ': [0, 0, 0, 0],
    ...colours,
  };
  const png = new PNG({ width: (rows[0]?.length ?? 0) * size, height: rows.length * size });
  for (let y = 0; y < png.height; y += 1)
    for (let x = 0; x < png.width; x += 1)
      png.data.set(
        palette[rows[Math.floor(y / size)]?.[Math.floor(x / size)] ?? '.'] ?? [],
        (y * png.width + x) * 4,
      );
  return PNG.sync.write(png);
}
const read = (png: Buffer) => {
  const picture = readPicture(png.toString('base64'));
  if ('fault' in picture) throw new Error(picture.fault);
  return picture;
};
const drawn = (rows: string[], size: number, colours = {}) =>
  twoColours(read(pictureOf(rows, size, colours)))?.map((row) =>
    row.map((dark) => (dark ? '#' : '.')).join(''),
  );

/** A PNG whose header says this, whatever else is in it. */
function headed(width: number, height: number, bytes = Buffer.alloc(40)): string {
  const png = Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
    Buffer.alloc(17),
    bytes,
  ]);
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png.toString('base64');
}

const CODE = ['.....', '.#.#.', '..##.', '.....'];

it.each([1, 3, 7])(
  'a code of two colours is drawn with one dot for each of its own, not of %d pixels',
  (size) => {
    expect(drawn(CODE, size)).toEqual(CODE);
  },
);

it('what is transparent is light, and a picture with other colours is not drawn with two', () => {
  expect(drawn(['    ', ' #. '], 2)).toEqual(['....', '.#..']);
  expect(drawn(['..', 'o#'], 2, { o: [200, 30, 30, 255] })).toBeUndefined();
});

it.each([
  ['not a PNG', Buffer.from('GIF89a'.padEnd(60)).toString('base64'), 'it is not a PNG'],
  ['empty', '', 'it is not a PNG'],
  ['larger than it may be', headed(10, 10, Buffer.alloc(600_000)), 'it is larger than 512 KiB'],
  ['of too many pixels', headed(2001, 2000), 'it has more than 4 million pixels, or none'],
  ['of no pixels', headed(0, 2000), 'it has more than 4 million pixels, or none'],
])('a picture that is %s is refused before it is unpacked', (_, image, fault) => {
  expect(readPicture(image)).toEqual({ fault });
});

it('a picture may be a data URL, with line breaks', () => {
  const base64 = pictureOf(CODE, 2).toString('base64');
  expect(readPicture(`data:image/png;base64,${base64.replace(/.{20}/g, '$&\n')}`)).toMatchObject({
    header: { width: 10, height: 8, isInterlaced: false },
  });
});

it('what is damaged, interlaced or unpacks to more than its header says is not drawn', () => {
  const png = pictureOf(CODE, 2);
  expect(twoColours(read(png.subarray(0, png.length - 30)))).toBeUndefined();
  const interlaced = Buffer.from(png);
  interlaced[28] = 1;
  expect(twoColours(read(interlaced))).toBeUndefined();
  const bomb = deflateSync(Buffer.alloc(300_000_000));
  expect(bomb.length).toBeLessThan(300_000);
  const at = png.indexOf('IDAT') - 4;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bomb.length);
  const swollen = Buffer.concat([png.subarray(0, at), length, Buffer.from('IDAT'), bomb, png.subarray(-16)]);
  const before = process.memoryUsage().rss;
  expect(twoColours(read(swollen))).toBeUndefined();
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
});

it('kitty gets a picture in pieces, of which the last one says so', () => {
  const pieces = kittyPicture(Buffer.alloc(7000, 1)).split('\u001b\\').slice(0, -1);
  expect(pieces.map((piece) => piece.slice(0, 20).replace(/;.*/, ''))).toEqual([
    '\u001b_Gf=100,a=T,m=1',
    '\u001b_Gm=1',
    '\u001b_Gm=0',
  ]);
  expect(Buffer.from(pieces.map((piece) => piece.replace(/^.*;/, '')).join(''), 'base64')).toEqual(
    Buffer.alloc(7000, 1),
  );
});

it.each<[Record<string, string>, boolean]>([
  [{ TERM: 'xterm-kitty' }, true],
  [{ TERM: 'xterm-256color', KITTY_WINDOW_ID: '1' }, true],
  [{ TERM: 'xterm-ghostty' }, true],
  [{ TERM: 'xterm-kitty', TMUX: '/tmp/tmux' }, false],
  [{ TERM: 'xterm-256color', KITTY_WINDOW_ID: '1', TMUX: '/tmp/tmux' }, false],
  [{ TERM: 'xterm-kitty', STY: '1.pts-0' }, false],
  [{ TERM: 'xterm-ghostty', KITTY_WINDOW_ID: '1', STY: '1.pts-0' }, false],
  [{ TERM: 'xterm-kitty', TMUX: '', STY: '' }, true],
  [{ TERM: 'not-xterm-kitty' }, false],
  [{ TERM: 'xterm-256color' }, false],
  [{}, false],
])('a terminal of %j shows pictures: %j', (env, shows) => {
  expect(showsPictures(env)).toBe(shows);
});

it('a saved picture is for this user alone, in the runtime folder, and goes', () => {
  const runtime = temporaryFolder();
  for (const folder of [runtime, '/does/not/exist', undefined]) {
    const saved = savePicture({ XDG_RUNTIME_DIR: folder }, Buffer.from('x'));
    expect([readFileSync(saved.path, 'utf8'), statSync(saved.path).mode & 0o777]).toEqual(['x', 0o600]);
    expect(saved.path.startsWith(runtime)).toBe(folder === runtime);
    const other = savePicture({ XDG_RUNTIME_DIR: folder }, Buffer.from('y'));
    expect([dirname(other.path) === dirname(saved.path), statSync(dirname(saved.path)).mode & 0o777]).toEqual(
      [...[false, 0o700]],
    );
    saved.remove();
    expect(statSync(dirname(saved.path), { throwIfNoEntry: false })).toBeUndefined();
    expect(readFileSync(other.path, 'utf8')).toBe('y');
    other.remove();
    // It may be gone with the login.
    other.remove();
    expect(existsSync(dirname(dirname(saved.path)))).toBe(true);
  }
});
