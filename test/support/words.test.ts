import { expect, it } from 'vitest';
import { words } from './words.ts';

it('blanks and line breaks separate words, and a value is in one word, whatever is in it', () => {
  const [name, empty, order] = ['Ada  Lovelace', '', ['--amount', '1.00']];
  expect(words`transfer create
    --name ${name} --note=${name}! ${order} ${empty} ${[]} -q`).toEqual([
    ...['transfer', 'create', '--name', name, `--note=${name}!`, '--amount', '1.00', '', '-q'],
  ]);
  expect(words``).toEqual([]);
});
