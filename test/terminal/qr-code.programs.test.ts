import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { drawQrCode } from '../../src/terminal/qr-code.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const folder = temporaryFolder();
const SCA = 'https://bank.example/sca-authorize/?resourceId=5f0c2f9e-6f7e-4f8e-9d0e-1d5a3c1b2a49';
const LARGE = { columns: 300, rows: 300 };
const PIXELS = 4;

/** What a scanner reads: zbarimg reads a picture of the cells as a terminal shows them. */
function scan(drawn: string, ink: 'dark' | 'light'): string {
  const rows = stripVTControlCharacters(drawn)
    .split('\n')
    .flatMap((line) => [
      [...line].map((cell) => '█▀'.includes(cell)),
      [...line].map((cell) => '█▄'.includes(cell)),
    ]);
  const pixels = rows.flatMap((row) => {
    const line = row.flatMap((filled) => Array(PIXELS).fill(filled === (ink === 'dark') ? 0 : 255));
    return Array.from({ length: PIXELS }, () => line).flat();
  });
  const file = join(folder, 'code.pgm');
  const header = `P5 ${(rows[0]?.length ?? 0) * PIXELS} ${rows.length * PIXELS} 255\n`;
  writeFileSync(file, Buffer.concat([Buffer.from(header), Buffer.from(pixels)]));
  return execFileSync('zbarimg', ['--quiet', '--raw', file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trimEnd();
}

describe('a QR code', () => {
  it.each([SCA, 'http://127.0.0.1:8910/', `${SCA}&next=${'x'.repeat(1400)}`])(
    'a scanner reads the QR code of an address (%#)',
    (address) => {
      expect(scan(drawQrCode(address, LARGE, true) ?? '', 'dark')).toBe(address);
      expect(scan(drawQrCode(address, LARGE, false) ?? '', 'light')).toBe(address);
    },
  );
});
