import { expect, it } from 'vitest';
import { linkedPath } from '../../../../src/bank/interfaces/cb/links.ts';
import { errorOf } from '../nextgenpsd2/scripted.ts';

// Where a link to the next page leads, seen from the called path. Its host never counts.

const CALLED = '/private/customers/1/list?a=b';
it.each([
  ['/private/customers/1/list?page=2', '/private/customers/1/list?page=2'],
  ['?page=2', '/private/customers/1/list?page=2'],
  ['', '/private/customers/1/list?a=b'],
  // A link that ends the called path is the same list, whatever it is relative to.
  ['list?page=2', '/private/customers/1/list?page=2'],
  ['1/list?page=2', '/private/customers/1/list?page=2'],
  ['/list?page=2', '/private/customers/1/list?page=2'],
  ['/1/list', '/private/customers/1/list?a=b'],
  ['ist?page=2', '/private/customers/1/ist?page=2'],
  ['other?page=2', '/private/customers/1/other?page=2'],
  ['/other', '/other'],
  ['//elsewhere.example/private/x', '/private/x'],
  ['https://elsewhere.example/v1/private/x?y', '/private/x?y'],
  ['https://elsewhere.example/v1/x', '/v1/x'],
])('the link %j leads to %s', (href, path) => {
  expect(linkedPath(CALLED, href, 'list', 't')).toBe(path);
});

it.each(['https://[', 'mailto:x@y.example', 'javascript:1'])('the link %s leads nowhere', (href) => {
  expect(errorOf(() => linkedPath(CALLED, href, 'list', 't'))).toEqual({
    code: 'bank_answer',
    message: "The bank's link to the next page of the list is not a valid address",
    transactionId: 't',
  });
});
