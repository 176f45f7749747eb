import { expect, it } from 'vitest';
import { plainLines, quoted } from '../../../src/terminal/challenge/bank-text.ts';

it.each<[string, string[]]>([
  ['The TAN was sent.<br>Compare the amount.', ['The TAN was sent.', 'Compare the amount.']],
  ['a<BR/>b<br />c', ['a', 'b', 'c']],
  ['<p>One <b>bold</b> word</p><p>two</p>', ['One bold word', 'two']],
  [
    'Betrag &lt; 5 &euro; &amp; best&auml;tigen &#8364;&#x20ac; &unknown;',
    ['Betrag < 5 € & bestätigen €€ &unknown;'],
  ],
  ['1 < 2 and 3 > 2', ['1 < 2 and 3 > 2']],
  ['a\r\n\r\n\r\nb', ['a', '', 'b']],
  ['a\n\nb\n\n\n\nc', ['a', '', 'b', '', 'c']],
  // A tag that the bank has escaped is text, and no escape of a terminal survives.
  ['&lt;b&gt; \u001b[31mred\u202e', ['<b> \ufffd[31mred\ufffd']],
  ['&#27;[2J', ['\ufffd[2J']],
])('the lines of %j are %j', (text, lines) => {
  expect(plainLines(text)).toEqual(lines);
});

it('each name for a character stands for it, and what is no name stays', () => {
  const names: [name: string, character: string][] = [
    ...([
      ['amp', '&'],
      ['lt', '<'],
      ['gt', '>'],
      ['quot', '"'],
      ['apos', "'"],
    ] as const),
    ...([
      ['nbsp', ' '],
      ['euro', '€'],
      ['szlig', 'ß'],
    ] as const),
    ...([
      ['auml', 'ä'],
      ['ouml', 'ö'],
      ['uuml', 'ü'],
    ] as const),
    ...([
      ['Auml', 'Ä'],
      ['Ouml', 'Ö'],
      ['Uuml', 'Ü'],
    ] as const),
  ].map(([name, character]) => [name, character]);
  for (const [name, character] of names) expect(plainLines(`x&${name};y`)).toEqual([`x${character}y`]);
  for (const name of ['AMP', 'Euro', 'constructor', 'toString', 'hasOwnProperty', 'x1'])
    expect(plainLines(`x&${name};y`)).toEqual([`x&${name};y`]);
});

it.each([
  ['&#65;', 'A'],
  ['&#x41;', 'A'],
  ['&#X4A;', 'J'],
  ['&#x10ffff;', '\u{10ffff}'],
  ['&#x110000;', '&#x110000;'],
  ['&#0;', '&#0;'],
  ['&#x0;', '&#x0;'],
  ['&#9999999;', '&#9999999;'],
  ['&#99999999;', '&#99999999;'],
  ['&#;', '&#;'],
])('the number of a character %s is %j', (written, text) => {
  expect(plainLines(written)).toEqual([text]);
});

it('what ends a block ends a line, and no other tag does', () => {
  for (const name of ['p', 'div', 'li', 'tr', 'h1', 'h6', 'P', 'LI'])
    expect(plainLines(`<${name} class="x">a</${name}><${name}>b</${name}>`)).toEqual(['a', 'b']);
  for (const name of ['b', 'span', 'td', 'ul', 'a', 'hr', 'pre'])
    expect(plainLines(`<${name} href="x">a</${name}><${name}>b</${name}>`)).toEqual(['ab']);
  expect(plainLines('<!doctype html><ul><li>a<br><li>b</ul><!-- c -->')).toEqual(['a', 'b']);
});

it('the words of the bank are marked in each line, and a code of digits in groups stays on one', () => {
  const text = 'psd2: all is well. Enter the start code 2908 8810 9026 in your reader, then OK';
  expect(quoted(text, 34).split('\n')).toEqual([
    'The bank says:',
    '  | psd2: all is well. Enter the',
    '  | start code 2908 8810 9026 in',
    '  | your reader, then OK',
  ]);
  expect(quoted('1234 5678 9012 3456 7890 1234 5678', 20)).toBe(
    'The bank says:\n  | 1234 5678 9012 3456 7890 1234 5678',
  );
});
