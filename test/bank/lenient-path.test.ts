import { expect, it } from 'vitest';
import { lenientNames, namesLeft } from '../../src/bank/call/lenient-path.ts';

// A path as any server could read it: what psd2 must not send, a bank must not be able to understand.

it.each<[string, string[]]>([
  ['', []],
  ['/', []],
  ['/a/b', ['a', 'b']],
  ['a/b', ['a', 'b']],
  ['/A//B/', ['a', 'b']],
  ['/a/./b', ['a', 'b']],
  ['/a/../b', ['a', '..', 'b']],
  ['/a.b/..c/...', ['a.b', '..c', '...']],
  ['\\a\\b', ['a', 'b']],
  ['/a?b/c', ['a']],
  ['/a#b/c', ['a']],
  ['?a', []],
  ['/a;b=c/d', ['a', 'd']],
  ['/;b/c', ['c']],
  ['/%61/b', ['a', 'b']],
  ['/%2561', ['a']],
  ['/%252561', ['a']],
  ['/a%2Fb', ['a', 'b']],
  ['/a%2fb', ['a', 'b']],
  ['/a%3Fb', ['a']],
  ['/a%23b', ['a']],
  ['/a%3bb', ['a']],
  ['/%zz/%6', ['%zz', '%6']],
  ['/a%00b', ['ab']],
  ['/a b\t', ['ab']],
  ['/%20', []],
  ['/ä~!', ['~!']],
  ['/%2E%2e', ['..']],
])('the names in %j are %j', (path, names) => {
  expect(lenientNames(path)).toEqual(names);
});

it.each<[string[], string[]]>([
  [[], []],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [['a', '..', 'b'], ['b']],
  [['..', 'a'], ['a']],
  [['a', 'b', '..', '..', 'c'], ['c']],
  [['a', '..', '..', 'b'], ['b']],
  [['a', '..'], []],
])('of the names %j, %j are left', (names, left) => {
  expect(namesLeft(names)).toEqual(left);
});
