import { expect, test } from 'vitest';
import { pathValues } from '../../../src/sandbox/server/path-values.ts';

test.each<[template: string, path: string, values: [string, string][] | undefined]>([
  ['/a', '/a', []],
  ['/a', '/b', undefined],
  ['/a', '/a/', undefined],
  ['/a', '/a/b', undefined],
  ['/a/b', '/a', undefined],
  ['/{x}', '/1', [['x', '1']]],
  ['/{x}', '/', undefined],
  [
    '/{x}/b/{y}',
    '/1/b/2',
    [
      ['x', '1'],
      ['y', '2'],
    ],
  ],
  ['/{x}/b/{y}', '/1/c/2', undefined],
  ['/{x}', '/a%20b', [['x', 'a b']]],
  ['/{x}', '/a%2Fb', [['x', 'a/b']]],
  ['/{x}', '/%zz', [['x', '%zz']]],
  ['/a b', '/a%20b', undefined],
])('%s and %s have the values %j', (template, path, values) => {
  const found = pathValues(template, path);
  expect(found && [...found]).toEqual(values);
});
