import { describe, expect, it } from 'vitest';
import { textOf } from '../../src/bank/call/charset.ts';

const LATIN = Buffer.from('{"n":"Bäcker Müller"}', 'latin1');
const UTF8 = Buffer.from('{"n":"Bäcker Müller"}');
const EURO = Buffer.from([0x22, 0xa4, 0x22]);
const json = (charset?: string) => ({
  'content-type': `application/json${charset === undefined ? '' : `;charset=${charset}`}`,
});

describe('the text of an answer', () => {
  it.each<[string, Record<string, string>, Buffer, string]>([
    ['UTF-8 without a word', {}, UTF8, '{"n":"Bäcker Müller"}'],
    [
      'UTF-8 with a BOM',
      json('UTF-8'),
      Buffer.concat([Buffer.from('\ufeff'), UTF8]),
      '{"n":"Bäcker Müller"}',
    ],
    ['UTF-8 in quotes', json('"utf-8"'), UTF8, '{"n":"Bäcker Müller"}'],
    ['ISO-8859-1', json('ISO-8859-1'), LATIN, '{"n":"Bäcker Müller"}'],
    ['ISO-8859-15', json('iso-8859-15'), EURO, '"€"'],
    ['windows-1252', json('windows-1252'), Buffer.from([0x22, 0x80, 0x22]), '"€"'],
    ['ASCII in a charset that psd2 does not know', json('utf-7'), Buffer.from('{}'), '{}'],
    [
      'XML that declares itself',
      {},
      Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>ü</a>', 'latin1'),
      '<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>ü</a>',
    ],
  ])('in %s', (_, headers, body, text) => {
    expect(textOf({ headers, body })).toEqual({ text, problem: null });
  });

  it.each<[string, Record<string, string>, Buffer, string]>([
    ['Latin-1 that declares nothing', {}, LATIN, 'is not UTF-8, and declares no other charset'],
    ['Latin-1 as UTF-8', json('UTF-8'), LATIN, 'is not in the charset utf-8, which it declares'],
    ['UTF-8 as Latin-1', json('ISO-8859-1'), UTF8, 'is not in the charset iso-8859-1, which it declares'],
    [
      'control characters of Latin-1',
      json('latin1'),
      Buffer.from([0x22, 0xfc, 0x81, 0x22]),
      'is not in the charset latin1, which it declares',
    ],
    ['another charset', json('KOI8-R'), LATIN, 'is in the charset koi8-r, which psd2 does not know'],
  ])('is not known of %s', (_, headers, body, problem) => {
    const read = textOf({ headers, body });
    expect(read.problem).toBe(problem);
    expect(read.text).not.toContain('\ufffd');
  });
});
