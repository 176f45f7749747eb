import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cut, element, escaped } from '../../src/statements/xml.ts';

it.each([
  [`<a href="x">Tom & 'Co'</a>`, '&lt;a href=&#34;x&#34;&gt;Tom &amp; &#39;Co&#39;&lt;/a&gt;'],
  ['Caffè 50 € 😀', 'Caffè 50 € 😀'],
  ['one\r\n\ttwo\nthree', 'one two three'],
  ['\u0000a\u001bb\u0085', '\u{fffd}a\u{fffd}b\u{fffd}'],
  ['half \ud800 of a character\ufffe\uffff', 'half \u{fffd} of a character\u{fffd}\u{fffd}'],
  ['', ''],
])('for a document, %j becomes %j', (text, written) => {
  expect(escaped(text)).toBe(written);
});

it.each([
  ['a short text stays', 'PAGAMENTO POS', 13, 'PAGAMENTO POS'],
  ['a long text loses its end', 'PAGAMENTO POS', 12, 'PAGAMENTO PO'],
  ['no space stays where the text is cut', 'PAGAMENTO POS', 10, 'PAGAMENTO'],
  ['spaces at both ends go away', '  PAGAMENTO\n', 9, 'PAGAMENTO'],
  ['spaces and line breaks within become one space', 'A \r\n\t B', 3, 'A B'],
  ['a character of two units counts as one', '😀😀😀', 2, '😀😀'],
])('%s: cut(%j, %d) is %j', (_, text, most, shortened) => {
  expect(cut(text, most)).toBe(shortened);
});

it('a cut text has at most the given number of characters, and no space at either end', () => {
  const text = fc.array(fc.constantFrom(...' \n\u00a0a😀'), { maxLength: 20 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.nat(20), (text, most) => {
      const shortened = cut(text, most);
      expect([...shortened].length).toBeLessThanOrEqual(most);
      expect(shortened).toBe(shortened.trim());
    }),
  );
});

it('an element has its text escaped, and there is no element without text', () => {
  expect(element('NAME', 'A & B')).toBe('<NAME>A &amp; B</NAME>');
  for (const none of ['', null, undefined]) expect(element('NAME', none)).toBe('');
});
