import { describe, expect, it } from 'vitest';
import { fieldsOf, LINE, TAG } from '../../../../../src/bank/interfaces/nextgenpsd2/reports/mt940-fields.ts';

// Where a field of MT940 ends. A tag that is taken for text hides a row or a balance; a text that is taken for a tag makes a row of it.

function fail(what: string, line: number): never {
  throw new Error(`${what}: ${line}`);
}

/** The fields, each as its tag and its lines. */
const fields = (...lines: string[]) =>
  [...fieldsOf(lines.join('\n'), fail)].map(({ tag, lines: content }) => [tag, ...content]);

/** The first line of `:86:` that has no place for more. */
const FULL = 'x'.repeat(LINE - TAG);

describe('after a full line of :86:', () => {
  const textThen = (first: string, tag: string) => fields(':20:S', `:86:${first}`, `:${tag}:y`).slice(1);

  it.each('20 21 25 25P 28 28C 13 13D 34F 60F 60M 61 86 62F 62M 64 65 90C 90D NS'.split(' '))(
    ':%s: begins a field',
    (tag) => {
      expect(textThen(FULL, tag)).toEqual([
        ['86', FULL],
        [tag, 'y'],
      ]);
    },
  );

  it.each('120 X61 920 20A 25C 28P 13C 34D 60 60C 61A 860 62 62C 64F 65M 90 90E NSX 23E KO 99Z'.split(' '))(
    ':%s: is a part of the text',
    (tag) => {
      expect(textThen(FULL, tag)).toEqual([['86', FULL, `:${tag}:y`]]);
      // One character less, and there would have been place.
      expect(textThen(FULL.slice(1), tag)).toEqual([
        ['86', FULL.slice(1)],
        [tag, 'y'],
      ]);
    },
  );

  it('a further line has place for the tag, too', () => {
    const [short, long] = [LINE - 1, LINE].map((length) => 'x'.repeat(length));
    const further = (line = '') => fields(':20:S', ':86:a', line, ':99Z:y').slice(1);
    expect(further(long)).toEqual([['86', 'a', long, ':99Z:y']]);
    expect(further(short)).toEqual([
      ['86', 'a', short],
      ['99Z', 'y'],
    ]);
  });

  it('only a text goes on', () => {
    expect(fields(':20:S', `:61:${FULL}`, ':99Z:y').slice(1)).toEqual([
      ['61', FULL],
      ['99Z', 'y'],
    ]);
  });
});

describe('a time that is broken over two lines of :86:', () => {
  it.each<[string, string, isText: boolean]>([
    ['at T16', ':26:37', true],
    ['at T16', ':26:37 h', true],
    ['at T16', ':64:26:37', false],
    ['at T16', ':26:371', false],
    ['at T16', ':62:37', false],
    ['at T166', ':26:37', false],
    ['at 16', ':26:37', false],
    ['at T16 h', ':26:37', false],
  ])('%s, and %s: %s', (first, second, isText) => {
    expect(fields(':20:S', `:86:${first}`, second)).toHaveLength(isText ? 2 : 3);
  });
});

describe('what frames a message', () => {
  it.each(['-}', '-}{1:F01}', '}', '{1:F01}', '{4:', ':940:', ':942:'])('%s ends a field', (frame) => {
    expect(fields(':20:S', ':86:a', frame, ':20:T', ':86:b')).toEqual([
      ['20', 'S'],
      ['86', 'a'],
      ['20', 'T'],
      ['86', 'b'],
    ]);
    expect(fields(frame, ':20:S', ':86:a')).toEqual([
      ['20', 'S'],
      ['86', 'a'],
    ]);
  });

  it('the characters 01 to 04 around a line are none of it', () => {
    expect(fields('\u0001\u0002\u0001:20:S\u0003\u0004\u0003', ':86:\u0001a\u0003b')).toEqual([
      ['20', 'S'],
      ['86', '\u0001a\u0003b'],
    ]);
  });

  it.each(['-', 'x}', '--}', ' {', ':941:'])('%s ends none', (text) => {
    const [, second = []] = fields(':20:S', ':86:a', text, 'b');
    expect(second.length > 1 || text === ':941:').toBe(true);
  });

  it.each(['61', '86'])('a field :%s: before the first :20: is refused, and no other one', (tag) => {
    expect(() => fields('Bank', `:${tag}:a`, ':20:S')).toThrow(
      `A field :${tag}: stands before the first :20:: 2`,
    );
    expect(fields('Bank', ':25:a', ':20:S')).toEqual([['20', 'S']]);
  });

  it.each(['a:20:b', ' :20:b', '::20:b'])('a text %j is no first field :20:', (text) => {
    expect(fields(':25:a', `:86:${text}`)).toEqual([
      ['25', 'a'],
      ['86', text],
    ]);
  });

  it('a dash between two lines of a text is one of them, and before a message the end of the last one', () => {
    expect(fields(':20:S', ':86:a', '-', 'b', ':62F:c').slice(1)).toEqual([
      ['86', 'a', '-', 'b'],
      ['62F', 'c'],
    ]);
    expect(fields(':20:S', ':86:a', '-', 'b', ':20:T').slice(1)).toEqual([
      ['86', 'a'],
      ['20', 'T'],
    ]);
  });

  it.each(['62F', '61', '86', 'NS'])('a dash alone before :%s: is no part of a text', (tag) => {
    expect(fields(':20:S', ':86:a', '-', `:${tag}:b`).slice(1)).toEqual([
      ['86', 'a'],
      [tag, 'b'],
    ]);
  });

  it.each<[string, string[], string[]]>([
    ['a blank line is none', ['a', ' ', '', 'b'], ['86', 'a', 'b']],
    ['a carriage return ends a line', ['a\r', 'b\r'], ['86', 'a', 'b']],
    ['a carriage return within a line is a part of it', ['a\rb\r'], ['86', 'a\rb']],
    ['a colon alone is a line', ['a', ':', 'b'], ['86', 'a', ':', 'b']],
    ['two colons are lines', ['a', ':', ':', 'b'], ['86', 'a', ':', ':', 'b']],
    ['a colon before what is no tag is a line', ['a', ':', '6:b'], ['86', 'a', ':', '6:b']],
    ['a tag without its colon is text', ['a', '61:b'], ['86', 'a', '61:b']],
  ])('%s', (_, lines, field) => {
    expect(fields(':20:S', `:86:${lines.join('\n')}`).slice(1)).toEqual([field]);
  });

  it.each(['61', '60F', '62M', '25P'])('a colon alone before %s: is that of its tag', (tag) => {
    expect(fields(':20:S', ':86:a', ':', `${tag}:b`).slice(1)).toEqual([
      ['86', 'a'],
      [tag, 'b'],
    ]);
  });

  it('a colon alone stands on its own line, where it is no part of a field', () => {
    expect(() => fields(':20:S', '-}', ':', 'x', ':25:a')).toThrow('The text is not part of a field: 3');
    expect(() => fields(':20:S', '-}', 'x', ':', ':25:a')).toThrow('The text is not part of a field: 3');
  });

  it.each([98, 99, 100])('a dash and %i lines after it count to the lines of a field', (count) => {
    const lines = ['-', ...Array.from({ length: count }, () => 'x')];
    const read = () => fields(':20:S', ':86:a', ...lines, ':62F:c')[1];
    if (count === 98) expect(read()).toHaveLength(101);
    else expect(read).toThrow('A field has more than 100 lines: 102');
  });

  it('a field has at most 100 lines', () => {
    const lines = (count: number) => Array.from({ length: count - 1 }, () => 'x');
    expect(fields(':20:S', ':86:a', ...lines(100))[1]).toHaveLength(101);
    expect(() => fields(':20:S', ':86:a', ...lines(101))).toThrow('A field has more than 100 lines: 102');
  });
});
