import fc from 'fast-check';
import { parse } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/bank/call/json.ts';

it.each([
  '{"requestId":012}',
  '{"requestId":0123456789012345678}',
  '{"requestId":1234567890123456789 1}',
  '{"a":1,}',
  '<html></html>',
  '{"a":123456789012345678901234',
  '{"a":123456789012345678901234,}',
  '',
])('%j is not JSON', async (text) => {
  await expect(parseJson(text)).rejects.toThrow(SyntaxError);
});

describe('nesting', () => {
  const levels = (count: number, inner = '') => '['.repeat(count) + inner + ']'.repeat(count);
  const members = (count: number) => '{"a":'.repeat(count) + 1 + '}'.repeat(count);

  it.each([
    ['200 lists', levels(200)],
    ['200 objects', members(200)],
    ['many lists beside each other', `[${Array(300).fill('[1]')}]`],
    ['many objects beside each other', `[${Array(300).fill('{}')}]`],
    ['200 lists after others', `[${Array(300).fill('[]')},${levels(199)}]`],
    ['brackets in a string', `["${'[{'.repeat(300)}"]`],
    ['brackets in a string after a quote', `["\\"${'['.repeat(300)}"]`],
    ['closing brackets in a string', `["]]]]", ${levels(199)}]`],
  ])('parseJson reads %s', async (_what, text) => {
    expect(await parseJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['201 lists', levels(201)],
    ['201 objects', members(201)],
    ['201 levels of both', `{"a":${levels(199, '{}')}}`],
    ['201 lists after others', `[${Array(300).fill('[]')},${levels(200)}]`],
    ['201 lists after a string with closing brackets', `["]]]]",${levels(200)}]`],
    ['201 lists after a string that ends with a backslash', `["\\\\",${levels(200)}]`],
    ['201 lists after a blank', ` ${levels(201)}`],
    ['201 objects after a blank', ` ${members(201)}`],
    ['201 lists that are not closed', '['.repeat(201)],
  ])('parseJson refuses %s before it parses them', async (_what, text) => {
    await expect(parseJson(text)).rejects.toThrow(new SyntaxError('nested deeper than 200 levels'));
  });
});

it('parseJson takes a member for a requestId only up to its end', async () => {
  const spaced = '{"requestId"\t : \t1234567890123456789 \t,"n":12345678901234567}';
  expect(await parseJson(spaced)).toEqual({ requestId: '1234567890123456789', n: '12345678901234567' });
  expect(await parseJson('{"requestId":12}')).toEqual({ requestId: 12 });
});

describe('a number', () => {
  const QUOTED = '{"requestId":"\\"requestId\\":1234567890123456789,","a":[1,1234567890123456789]}';
  it.each([
    ['{"n":123456789012345678901234}', { n: '123456789012345678901234' }],
    ['{"n": -123456789012345678901234}', { n: '-123456789012345678901234' }],
    ['123456789012345678901234', '123456789012345678901234'],
    [' -1.50 ', '-1.50'],
    ['[123456789012345678901234,1]', ['123456789012345678901234', 1]],
    ['{"requestId" : 123456789012345678901234 }', { requestId: '123456789012345678901234' }],
    [QUOTED, { requestId: '"requestId":1234567890123456789,', a: [1, '1234567890123456789'] }],
    ['{"requestId":1234567890123456789,"n":1.30}', { requestId: '1234567890123456789', n: '1.30' }],
    ['{"s":"requestId","n":[ -1234567890123456789 ]}', { s: 'requestId', n: ['-1234567890123456789'] }],
    ['{"n":9007199254740993}', { n: '9007199254740993' }],
    ['{"n":9007199254740991}', { n: 9007199254740991 }],
    ['{"n":1234.560}', { n: '1234.560' }],
    ['{"n":0.10}', { n: '0.10' }],
    ['{"n":1e2}', { n: '1e2' }],
    ['{"n":3500,"s":"0123"}', { n: 3500, s: '0123' }],
    ['{"n":-0.005,"m":{"k":[1.0]}}', { n: '-0.005', m: { k: ['1.0'] } }],
  ])('parseJson keeps every digit in %s', async (text, expected) => {
    expect(await parseJson(text)).toEqual(expected);
  });

  it('parseJson keeps every digit of a number of any length, wherever it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^-?[1-9]\d{15,40}$/),
        fc.constantFrom('{"n":?}', '{"n": ?}', '[?]', '[1,?]', '{"a":{"b":[\n?]}}'),
        async (digits, frame) => {
          const read = JSON.stringify(await parseJson(frame.replace('?', digits)));
          expect(read.match(/-?\d{16,}/)?.[0]).toBe(digits);
        },
      ),
    );
  });
});

const text = fc
  .array(
    fc.constantFrom(
      '"requestId"',
      ':',
      ': ',
      '[',
      ', ',
      ' DEL ',
      '}',
      '\\',
      '"',
      '\n',
      '12345678901234567',
      '12.50',
    ),
  )
  .map((parts) => parts.join(''));

/** JSON texts with all kinds of numbers, and with strings that look like numbers. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,3})?([eE][+-]?\d{1,2})?$/),
    text.map((value) => JSON.stringify(value)),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
    fc
      .dictionary(fc.oneof(fc.constant('requestId'), text), tie('json'), { maxKeys: 4 })
      .map(
        (members) =>
          `{${Object.entries(members).map(([name, value]) => `${JSON.stringify(name)} :${value}`)}}`,
      ),
  ),
}));

it('parseJson reads what a parser that keeps all numbers as strings reads', async () => {
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      const kept = (digits: string) => (/^-?\d{1,15}$/.test(digits) ? Number(digits) : digits);
      const text = `{"requestId": 123456789012345678901234,"data":${value}}`;
      // Between 2^53 and 10^16 both are right.
      fc.pre(!/\d{16}/.test(value.replaceAll(/\d{17,}/g, '')));
      expect(await parseJson(text)).toEqual(parse(text, null, kept));
    }),
    { numRuns: 500 },
  );
});

it('parseJson equals JSON.parse for every number that a double holds', async () => {
  const whole = fc.jsonValue().filter((value) => !/\d[.eE]|-0|\d{16}/.test(JSON.stringify(value)));
  await fc.assert(
    fc.asyncProperty(whole, fc.constantFrom(undefined, 2), async (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(await parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});
