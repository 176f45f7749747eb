import { describe, expect, it } from 'vitest';
import { answerText } from '../../src/bank/call/charset.ts';

const TEXT = '{"n":"Bäcker Müller"}';
const LATIN = Buffer.from(TEXT, 'latin1');
const UTF8 = Buffer.from(TEXT);
const XML = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>ü</a>';
const CONTROLS = Buffer.from([0x22, 0xfc, 0x81, 0x22]);
const isNot = (charset: string) => `is not in the charset ${charset}, which it declares`;
const EURO = Buffer.from([0x22, 0xa4, 0x22]);
const json = (charset?: string) => ({
  'content-type': `application/json${charset === undefined ? '' : `;charset=${charset}`}`,
});

describe('the text of an answer', () => {
  it.each<[string, Record<string, string>, Buffer, string]>([
    ['UTF-8 without a word', {}, UTF8, TEXT],
    ['UTF-8 with a BOM', json('UTF-8'), Buffer.concat([Buffer.from('\ufeff'), UTF8]), TEXT],
    ['UTF-8 in quotes', json('"utf-8"'), UTF8, TEXT],
    ['ISO-8859-1', json('ISO-8859-1'), LATIN, TEXT],
    ['ISO-8859-15', json('iso-8859-15'), EURO, '"€"'],
    ['windows-1252', json('windows-1252'), Buffer.from([0x22, 0x80, 0x22]), '"€"'],
    ['ASCII in a charset that psd2 does not know', json('utf-7'), Buffer.from('{}'), '{}'],
    ['XML that declares itself', {}, Buffer.from(XML, 'latin1'), XML],
  ])('in %s', (_, headers, body, text) => {
    expect(answerText({ headers, body })).toEqual({ text, problem: null });
  });

  it.each<[string, Record<string, string>, Buffer, string]>([
    ['Latin-1 that declares nothing', {}, LATIN, 'is not UTF-8, and declares no other charset'],
    ['Latin-1 as UTF-8', json('UTF-8'), LATIN, isNot('utf-8')],
    ['UTF-8 as Latin-1', json('ISO-8859-1'), UTF8, isNot('iso-8859-1')],
    ['control characters of Latin-1', json('latin1'), CONTROLS, isNot('latin1')],
    ['another charset', json('KOI8-R'), LATIN, 'is in the charset koi8-r, which psd2 does not know'],
  ])('is not known of %s', (_, headers, body, problem) => {
    const read = answerText({ headers, body });
    expect(read.problem).toBe(problem);
    expect(read.text).not.toContain('\ufffd');
  });
});
