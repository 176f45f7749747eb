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
  // A tag that the bank has escaped is text, and no escape of a terminal survives.
  ['&lt;b&gt; \u001b[31mred\u202e', ['<b> \ufffd[31mred\ufffd']],
  ['&#27;[2J', ['\ufffd[2J']],
])('the lines of %j are %j', (text, lines) => {
  expect(plainLines(text)).toEqual(lines);
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
