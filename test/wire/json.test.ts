import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/wire/json.ts';

it.each([
  '{"requestId":012}',
  '{"a":1,}',
  '<html></html>',
  '{"a":123456789012345678901234',
  '{"a":123456789012345678901234,}',
  '',
])('%j is no JSON', async (text) => {
  await expect(parseJson(text)).rejects.toThrow(SyntaxError);
});

describe('a number', () => {
  it.each([
    ['{"n":123456789012345678901234}', { n: '123456789012345678901234' }],
    ['{"n": -123456789012345678901234}', { n: '-123456789012345678901234' }],
    ['[123456789012345678901234,1]', ['123456789012345678901234', 1]],
    ['{"n":9007199254740993}', { n: '9007199254740993' }],
    ['{"n":9007199254740991}', { n: 9007199254740991 }],
    ['{"n":1234.560}', { n: '1234.560' }],
    ['{"n":0.10}', { n: '0.10' }],
    ['{"n":1e2}', { n: '1e2' }],
    ['{"n":3500,"s":"0123"}', { n: 3500, s: '0123' }],
    ['{"n":-0.005,"m":{"k":[1.0]}}', { n: '-0.005', m: { k: ['1.0'] } }],
  ])('in %s keeps every digit', async (text, expected) => {
    expect(await parseJson(text)).toEqual(expected);
  });

  it('of any length keeps every digit, wherever it stands', async () => {
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

it('is JSON.parse for everything that a double holds', async () => {
  const whole = fc.jsonValue().filter((value) => !/\d[.eE]|-0|\d{16}/.test(JSON.stringify(value)));
  await fc.assert(
    fc.asyncProperty(whole, fc.constantFrom(undefined, 2), async (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(await parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});
