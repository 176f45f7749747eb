import { expect, test } from 'vitest';
import { SeenRequestIds } from '../../src/sandbox/strict/seen-request-ids.ts';

const MINUTE = 60_000;

function at(minutes: number): Date {
  return new Date(Date.UTC(2026, 10, 20) + minutes * MINUTE);
}

test('the bank refuses a request id for as long as its Date would be accepted', () => {
  const seen = new SeenRequestIds();
  // A Date may be five minutes ahead of the bank, and stays valid until the bank is five minutes past it.
  seen.add('a', at(0));
  expect(() => seen.add('a', at(0))).toThrowError(expect.objectContaining({ code: 'REQUEST_ID_REUSED' }));
  expect(() => seen.add('a', at(10))).toThrowError(expect.objectContaining({ code: 'REQUEST_ID_REUSED' }));
});

test('the bank forgets older ids, so memory does not grow', () => {
  const seen = new SeenRequestIds();
  seen.add('a', at(0));
  seen.add('b', at(6));
  expect(() => seen.add('c', at(10.1))).not.toThrow();
  expect(() => seen.add('a', at(10.1))).not.toThrow();
  expect(() => seen.add('b', at(10.1))).toThrow();
});
