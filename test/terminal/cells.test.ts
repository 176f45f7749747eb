import { expect, it } from 'vitest';
import { cutIntoPieces, fitLine, widthOf, wrapWords } from '../../src/terminal/cells.ts';

it.each([
  ['', 0],
  ['abc', 3],
  ['日本', 4],
  ['Caffè', 5],
  ['a日', 3],
  ['👨‍👩‍👧', 2],
])('%j takes %i cells', (text, cells) => {
  expect(widthOf(text)).toBe(cells);
});

it.each([
  ['', 5, ['']],
  ['one', 5, ['one']],
  ['one two', 7, ['one two']],
  ['one two', 6, ['one', 'two']],
  ['a b c d e', 5, ['a b c', 'd e']],
  ['one two three', 8, ['one two', 'three']],
  // A longer word stays whole, so that it can be copied.
  ['see https://bank.example/x now', 6, ['see', 'https://bank.example/x', 'now']],
  ['日本 日本 日本', 9, ['日本 日本', '日本']],
])('%j in lines of %i cells is %j', (text, width, lines) => {
  expect(wrapWords(text, width)).toEqual(lines);
});

it.each([
  ['', 3, ['']],
  ['abc', 3, ['abc']],
  ['abcdefg', 3, ['abc', 'def', 'g']],
  ['日本語', 4, ['日本', '語']],
  ['a日本', 2, ['a', '日', '本']],
])('%j in pieces of %i cells is %j', (text, width, pieces) => {
  expect(cutIntoPieces(text, width)).toEqual(pieces);
});

it.each([
  ['one two three', 8, 0, 'one two\nthree'],
  ['one two three', undefined, 0, 'one two three'],
  ['  one two three', 10, 0, '  one two\n  three'],
  // A command stays whole, and one of psd2's own has a line of its own.
  ['  psd2 transfer resume tr-1', 10, 0, '  psd2 transfer resume tr-1'],
  ['$ psd2 transfer resume tr-1', 10, 0, '$ psd2 transfer resume tr-1'],
  ['  Ask the bank again: psd2 status', 16, 2, '  Ask the bank\n  again:\n    psd2 status'],
  ['  Or:     psd2 status', 16, 2, '  Or:\n    psd2 status'],
  ['  psd2 has sent nothing', 12, 2, '  psd2 has\n  sent\n  nothing'],
  ['    psd2 transfer resume tr-1', 12, 2, '    psd2 transfer resume tr-1'],
  // Another may be the bank's: it gets no line of its own.
  ['The bank says: Go on with: psd2 x', 20, 0, 'The bank says: Go on with: psd2 x'],
  ['  (code A: psd2 x)', 10, 2, '  (code A: psd2 x)'],
] as const)('%j fits into %j cells, where prose is indented by %i', (line, columns, base, fitted) => {
  expect(fitLine(line, columns, base, ['psd2 status'])).toBe(fitted);
});
