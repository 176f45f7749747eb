import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lineOf, linesOf } from '../../src/bank-file/lines.ts';

const FILE = `
{
  "a": "b: [{,",
  "c": { "d" : [
    1, { "e\\u0041": null },

    [true, "]}"]
  ], "f\\"": -1.5e3 },
  "a": 7, "g": [], "h":
    {}
}`;

it('each field has the line where its value begins, the first of two', () => {
  expect(Object.fromEntries(linesOf(FILE))).toEqual({
    ...{ '': 2, a: 3, c: 4, 'c.d': 4, 'c.d[0]': 5, 'c.d[1]': 5, 'c.d[1].eA': 5 },
    ...{ 'c.d[2]': 7, 'c.d[2][0]': 7, 'c.d[2][1]': 7, 'c.f"': 8, g: 9, h: 10 },
  });
});

it.each([
  ['7', { '': 1 }],
  ['\n\n"a\\"b"', { '': 3 }],
  ['[1,\n2]', { '': 1, '[0]': 1, '[1]': 2 }],
  ['', {}],
])('the text %j has these lines', (text, lines) => {
  expect(Object.fromEntries(linesOf(text))).toEqual(lines);
});

/** Writes JSON with a random number of line breaks wherever there may be a blank, and notes where each value begins. */
function writeWithLines(
  value: unknown,
  breaks: readonly number[],
): { text: string; lines: Map<string, number> } {
  const lines = new Map<string, number>();
  let [text, line, next] = ['', 1, 0];
  const add = (part: string) => {
    const count = breaks[next++ % breaks.length] ?? 0;
    text += `${part}${'\n'.repeat(count)} `;
    line += count;
  };
  const write = (each: unknown, path: string): void => {
    if (!lines.has(path)) lines.set(path, line);
    if (typeof each !== 'object' || each === null) {
      add(JSON.stringify(each));
      return;
    }
    const [open, close] = Array.isArray(each) ? '[]' : '{}';
    add(open ?? '');
    for (const [at, [name, inner]] of Object.entries(each).entries()) {
      if (at > 0) add(',');
      if (!Array.isArray(each)) {
        add(JSON.stringify(name));
        add(':');
      }
      write(inner, Array.isArray(each) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`);
    }
    add(close ?? '');
  };
  write(value, '');
  return { text, lines };
}

it('any text of JSON has the lines in which it was written', () => {
  const value = fc.jsonValue({ maxDepth: 3, stringUnit: fc.constantFrom(...'a"\\{}[]:, \n1é') });
  fc.assert(
    fc.property(value, fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 7 }), (json, breaks) => {
      const { text, lines } = writeWithLines(json, breaks);
      expect([...linesOf(text)]).toEqual([...lines]);
    }),
    { numRuns: 300 },
  );
});

it.each([
  ['', 2],
  ['a', 3],
  ['c.d[1].eA', 5],
  // What is missing is missing in what is above it.
  ['c.d[1].x', 5],
  ['c.d[2][7]', 7],
  ['c.x.y', 4],
  ['x', 2],
  ['x[0].y', 2],
])('the line of %j is %j', (path, line) => {
  expect(lineOf(linesOf(FILE), path)).toBe(line);
});

it('a text without any value has no line for what is missing', () => {
  expect(lineOf(linesOf(''), 'a.b')).toBeNull();
});
