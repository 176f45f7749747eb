import { expect, test } from 'vitest';
import { bestOf, mediaTypeOf } from '../../../../src/sandbox/nextgenpsd2/strict/media-types.ts';

test.each([
  ['application/json', 'application/json'],
  [' Application/JSON ; charset=utf-8; a=b', 'application/json'],
  ['', ''],
  [';q=1', ''],
])('"%s" is of the type "%s"', (contentType, type) => {
  expect(mediaTypeOf(contentType)).toBe(type);
});

const [JSON_TYPE, XML, TEXT] = ['application/json', 'application/xml', 'text/plain'];

test.each<[accept: string | undefined, best: string | undefined]>([
  [undefined, JSON_TYPE],
  ['*/*', JSON_TYPE],
  [XML, XML],
  ['APPLICATION/XML', XML],
  ['text/html', undefined],
  ['', undefined],
  ['text/*', TEXT],
  ['application/*', JSON_TYPE],
  // Of two that are wanted as much, the one that the bank has first.
  [`${XML}, ${JSON_TYPE}`, JSON_TYPE],
  [`${JSON_TYPE};q=0.5, ${XML};q=0.6`, XML],
  [`${JSON_TYPE};q=0.5, ${XML} ; Q = 0.4`, JSON_TYPE],
  [`${JSON_TYPE};q=0`, undefined],
  [`${JSON_TYPE};q=0.0, ${TEXT}`, TEXT],
  // The most specific range counts, whatever stands first.
  [`*/*, ${JSON_TYPE};q=0`, XML],
  [`${JSON_TYPE};q=0, */*`, XML],
  ['*/*;q=0.1, text/*', TEXT],
  [`application/*;q=0, ${XML}`, XML],
  ['*/*;q=0', undefined],
  [`text/html, ${TEXT};charset=utf-8`, TEXT],
])('who accepts %s gets %s', (accept, best) => {
  expect(bestOf([JSON_TYPE, XML, TEXT], accept)).toBe(best);
});

test('who offers nothing gives nothing, and a type is given as it is written', () => {
  expect(bestOf([], '*/*')).toBeUndefined();
  expect(bestOf(['application/json; charset=utf-8'], 'application/json')).toBe(
    'application/json; charset=utf-8',
  );
});
