import { expect, it } from 'vitest';
import { cutIntoPieces, widthOf, wrapWords } from '../../src/terminal/cells.ts';

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
