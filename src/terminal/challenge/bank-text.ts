import { wrapWords } from '../cells.ts';
import { cleanLines } from '../clean.ts';

const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    euro: '€',
    auml: 'ä',
    ouml: 'ö',
    uuml: 'ü',
    Auml: 'Ä',
    Ouml: 'Ö',
    Uuml: 'Ü',
    szlig: 'ß',
  }),
);

/**
 * A text of the bank for a customer, as lines: `<br>` and the ends of paragraphs are line breaks, other tags go, and nothing in it can
 * act on the terminal.
 */
export function plainLines(text: string): string[] {
  const plain = text
    .replace(/<br\s*\/?>|<\/(p|div|li|tr|h\d)>/gi, '\n')
    .replace(/<\/?[a-z!][^<>]*>/gi, '')
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES.get(name) ?? whole;
      const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    });
  return cleanLines(plain.trim().replace(/\r\n?/g, '\n'))
    .split('\n')
    .map((line) => line.trim())
    .filter((line, index, all) => line !== '' || (all[index - 1] ?? '') !== '');
}

/** Marks what the bank says, so that nothing in it looks like psd2's own words. A code of digits in groups stays on one line. */
export function quoted(text: string, columns: number | undefined): string {
  const width = Math.max(20, (columns || 80) - 4);
  const lines = plainLines(text).flatMap((line) =>
    wrapWords(line.replace(/\d( \d+)+/g, together), width).map((part) => part.replaceAll(GLUE, ' ')),
  );
  return ['The bank says:', ...lines.map((line) => `  | ${line}`.trimEnd())].join('\n');
}

/** A character that no text of the bank still has. */
const GLUE = '\u0000';
const together = (digits: string) => digits.replaceAll(' ', GLUE);
