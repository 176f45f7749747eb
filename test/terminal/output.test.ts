import chalk from 'chalk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { writeLocalTime } from '../../src/terminal/local-time.ts';
import { anything, flag, list, object, orNull, text, time } from '../../src/terminal/output/fields.ts';
import {
  type Output,
  type OutputFormat,
  type OutputOptions,
  openOutput,
  parseOutputFormat,
  silentOutput,
} from '../../src/terminal/output/output.ts';
import { thrownBy } from '../support/thrown.ts';
import { openStream } from './stream.ts';

interface Row {
  name: string;
  amount: string | null;
}

const form = object({
  name: text().as('Name'),
  amount: orNull(text()).as('Amount', { right: true }),
});
const rows: Row[] = [
  { name: 'Caffè', amount: '1.50' },
  { name: 'Rent', amount: null },
];

type Terminal = Parameters<typeof openStream>[0];

function open(how: OutputFormat | Partial<OutputOptions>, terminal: Terminal = 'no terminal') {
  const { stream, written } = openStream(terminal);
  const said: string[] = [];
  const options = typeof how === 'string' ? { format: how } : how;
  const usual = { format: 'json', colour: false, say: (text: string) => said.push(text) } as const;
  return { output: openOutput(stream, { ...usual, ...options }), written, said };
}

/** What an output writes. */
async function writtenBy(
  how: Parameters<typeof open>[0],
  terminal: Terminal,
  print: (output: Output) => unknown,
): Promise<string> {
  const { output, written } = open(how, terminal);
  await print(output);
  return written();
}

async function* pagesOf(...pages: Row[][]): AsyncGenerator<Row[]> {
  yield* pages;
}

describe('a list', () => {
  it.each<[OutputFormat, Terminal, string]>([
    ['table', 'no terminal', 'Caffè\t1.50\nRent\t\n'],
    ['table', { columns: 80 }, 'NAME   AMOUNT\nCaffè    1.50\nRent\n'],
    ['json', 'no terminal', '[{"name":"Caffè","amount":"1.50"},{"name":"Rent","amount":null}]\n'],
    ['json', { columns: 80 }, `${JSON.stringify(rows, null, 2)}\n`],
    ['ndjson', { columns: 80 }, '{"name":"Caffè","amount":"1.50"}\n{"name":"Rent","amount":null}\n'],
  ])('a list as %s on %j is %j', async (format, terminal, expected) => {
    expect(await writtenBy(format, terminal, (output) => output.table(rows, form, 'None.'))).toBe(expected);
  });

  it.each<[OutputFormat, string, string[]]>([
    ['table', '', ['None.']],
    ['json', '[]\n', []],
    ['ndjson', '', []],
    ['csv', 'name,amount\n', []],
  ])('an empty list as %s is %j', async (format, written, said) => {
    const list = open(format);
    await list.output.table([], form, 'None.');
    expect({ written: list.written(), said: list.said }).toEqual({ written, said });
    const paged = open(format);
    await paged.output.pages(pagesOf([], []), form, 'None.');
    expect({ written: paged.written(), said: paged.said }).toEqual({ written, said });
  });
});

describe('pages', () => {
  it.each<OutputFormat>(['table', 'json', 'ndjson', 'csv'])('pages as %s are one list', async (format) => {
    const pages = pagesOf(rows.slice(0, 1), [], rows.slice(1));
    const paged = await writtenBy(format, { columns: 80 }, (output) => output.pages(pages, form, 'None.'));
    expect(paged).toBe(
      await writtenBy(format, { columns: 80 }, (output) => output.table(rows, form, 'None.')),
    );
  });

  it.each<[OutputFormat, string]>([
    ['ndjson', '{"name":"Caffè","amount":"1.50"}\n'],
    ['table', 'Caffè\t1.50\n'],
    ['csv', 'name,amount\nCaffè,1.50\n'],
  ])('pages as %s in a pipeline are written as they arrive', async (format, first) => {
    const { output, written } = open(format);
    async function* watched(): AsyncGenerator<Row[]> {
      yield rows.slice(0, 1);
      expect(written()).toBe(first);
      yield rows.slice(1);
    }
    await output.pages(watched(), form, 'None.');
    expect.assertions(1);
  });
});

describe('documents that come one after another', () => {
  it.each<[Partial<OutputOptions>, Terminal, string, first: string]>([
    [{ format: 'csv' }, 'no terminal', 'a\n1\n\ufffd\n', ''],
    [{ format: 'json' }, 'no terminal', '[{"a":1},{"a":"\\u202e"}]\n', '[{"a":1}'],
    [{ format: 'json' }, { columns: 80 }, '[{\n  "a": 1\n},\n{\n  "a": "\\u202e"\n}]\n', '[{\n  "a": 1\n}'],
    [{ format: 'table' }, 'no terminal', '{"a":1}\n{"a":"\\u202e"}\n', '{"a":1}\n'],
    [{ format: 'table' }, { columns: 80 }, '{\n  "a": 1\n}\n{\n  "a": "\\u202e"\n}\n', '{\n  "a": 1\n}\n'],
    [{ format: 'ndjson' }, 'no terminal', '{"a":1}\n{"a":"\\u202e"}\n', '{"a":1}\n'],
    [{ format: 'ndjson' }, { columns: 80 }, '{"a":1}\n{"a":"\\u202e"}\n', '{"a":1}\n'],
    [{ format: 'json', query: (all) => ({ all }) }, 'no terminal', '{"all":[{"a":1},{"a":"\\u202e"}]}\n', ''],
    [{ format: 'ndjson', query: (all) => all }, 'no terminal', '{"a":1}\n{"a":"\\u202e"}\n', ''],
  ])(
    'with %j on %j they are %j, of which %j is there before the last comes',
    async (how, terminal, all, first) => {
      const { output, written } = open(how, terminal);
      async function* documents(): AsyncGenerator<unknown> {
        yield { a: 1 };
        expect(written()).toBe(first);
        yield { a: '\u202e' };
      }
      await output.documents(documents());
      expect(written()).toBe(all);
    },
  );

  it('if they end with an error, the array has what came before', async () => {
    const { output, written } = open('json');
    const failing = (async function* () {
      yield 1;
      throw new TypeError('no more');
    })();
    await expect(output.documents(failing)).rejects.toThrow('no more');
    expect(written()).toBe('[1]\n');
  });

  it('no documents are an empty array', async () => {
    const none = (async function* () {})();
    expect(await writtenBy('json', 'no terminal', (output) => output.documents(none))).toBe('[]\n');
  });
});

describe('one object', () => {
  const row: Row = { name: 'Rent', amount: null };

  it('one object in a pipe is the keys of its JSON that have a value, or for a report its titles', () => {
    const { output, written } = open('table');
    output.record(row, form);
    output.record(row, form, 'titles');
    expect(written()).toBe('name\tRent\nName\tRent\nAmount\t\n');
  });

  it('a field with several lines has its title once at a terminal, and before each line in a pipe', async () => {
    const view = object({
      names: list(text())
        .as('Names')
        .written((names) => names),
      more: list(text())
        .as('More', { ifAny: true })
        .written((more) => more),
      isLast: flag().as('Last'),
    });
    const printed = (names: string[], terminal: Terminal = 'no terminal') =>
      writtenBy('table', terminal, (output) =>
        output.record({ names, more: [], isLast: true }, view, 'titles'),
      );
    expect(await printed(['a', 'b'], { columns: 80 })).toBe('Names  a\n       b\nLast   yes\n');
    expect(await printed(['a', 'b'])).toBe('Names\ta\nNames\tb\nLast\tyes\n');
    expect(await printed([])).toBe('Names\t\nLast\tyes\n');
  });

  it('a column that is there if any row has a value is left out if none has', async () => {
    const view = object({ name: text().as('Name'), amount: orNull(text()).as('Amount', { ifAny: true }) });
    const { output, written } = open('table', { columns: 80 });
    await output.table(rows.slice(1), view, 'None.');
    await output.table(rows, view, 'None.');
    expect(written()).toBe('NAME\nRent\nNAME   AMOUNT\nCaffè  1.50\nRent\n');
  });

  it('an amount has the decimals of its currency', async () => {
    const paid = {
      total: { amount: '1.500', currency: 'EUR' },
      rows: [{ amount: '100.0', currency: 'JPY' }],
    };
    const view = object({ total: anything(), rows: list(anything()) });
    const written = await writtenBy('json', 'no terminal', (output) => output.record(paid, view));
    expect(JSON.parse(written)).toEqual({
      total: { amount: '1.50', currency: 'EUR' },
      rows: [{ amount: '100', currency: 'JPY' }],
    });
  });

  it.each<[OutputFormat, Terminal, string]>([
    ['table', { columns: 80 }, 'Name    Rent\n'],
    ['json', 'no terminal', '{"name":"Rent","amount":null}\n'],
    ['ndjson', 'no terminal', '{"name":"Rent","amount":null}\n'],
  ])('one object as %s on %j is %j', async (format, terminal, expected) => {
    expect(await writtenBy(format, terminal, (output) => output.record(row, form))).toBe(expected);
  });
});

describe('text from a bank', () => {
  const evil = { name: '\u001b[2Jgone\tx\ny', amount: '1\u202e' };

  it.each([['no terminal' as const], [{ columns: 80 }]])(
    'control characters from a bank do not reach a terminal: %j',
    async (terminal) => {
      for (const format of ['table', 'json', 'ndjson', 'csv'] as const) {
        const { output, written } = open(format, terminal);
        await output.table([evil], form, 'None.');
        output.record(evil, form);
        output.text(evil.name);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for these
        expect(written()).not.toMatch(/[\u001b\u202e]/);
      }
    },
  );

  it('text from a bank does not split a line or a column', async () => {
    const written = await writtenBy('table', 'no terminal', (output) => output.table([evil], form, 'None.'));
    expect(written).toBe('\u{FFFD}[2Jgone x y\t1\u{FFFD}\n');
  });
});

it.each([
  ['', ''],
  ['xml', ''],
  ['toString', ''],
  ['jsno', 'Did you mean json? '],
])('the output format %j is refused, and the known ones are named', (text, advice) => {
  const formats = ['table', 'json', 'ndjson', 'csv'];
  expect(formats.map(parseOutputFormat)).toEqual(formats);
  expect(thrownBy(() => parseOutputFormat(text))).toMatchObject({
    code: 'usage',
    message: `The output format ${JSON.stringify(text)} is not known`,
    hint: `${advice}Use one of ${formats.join(', ')}.`,
  });
});

describe('a query', () => {
  const names = (data: unknown) => (Array.isArray(data) ? data.map(({ name }) => name) : { only: data });

  it.each<[OutputFormat, string]>([
    ['json', '["Caffè","Rent"]\n'],
    ['ndjson', '"Caffè"\n"Rent"\n'],
  ])('a query filters the whole document, as %s', async (format, expected) => {
    for (const way of ['table', 'pages'] as const) {
      const { output, written } = open({ format, query: names });
      await (way === 'table'
        ? output.table(rows, form, 'None.')
        : output.pages(pagesOf(rows.slice(0, 1), rows.slice(1)), form, 'None.'));
      output.finish();
      expect(written()).toBe(expected);
    }
  });

  const record = (output: Output) => output.record({ name: 'Rent', amount: null }, form);

  it('a query filters one object too, and its result decides the CSV columns', async () => {
    const how = { format: 'csv', query: (data: unknown) => ({ only: data }) } as const;
    expect(await writtenBy(how, 'no terminal', record)).toBe('only.name,only.amount\nRent,\n');
  });

  it.each<[unknown, string]>([
    ['Caffè', 'Caffè\n'],
    [['Rent', 'Caffè'], 'Rent\nCaffè\n'],
    [['Rent', 5, null, { a: 'b' }], 'Rent\n5\nnull\n{"a":"b"}\n'],
    [5, '5\n'],
    // A script would take `null` for what it looked for.
    [null, ''],
    ['\u{1b}[31mred', '\u{FFFD}[31mred\n'],
  ])("the strings in a query's result %j are printed bare if asked for", async (result, expected) => {
    const how = { format: 'json', query: () => result, bareStrings: true } as const;
    expect(await writtenBy(how, 'no terminal', record)).toBe(expected);
  });

  it('a query that fails is reported at the end, after the work is done, but not a fault of psd2 itself', () => {
    const failing = (failure: Error) =>
      open({
        query: () => {
          throw failure;
        },
      });
    const wrong = new Psd2Error('usage', 'no');
    const { output, written } = failing(wrong);
    record(output);
    expect(written()).toBe('');
    expect(() => output.finish()).toThrow(wrong);
    const fault = new RangeError('a fault');
    expect(() => failing(fault).output.json({})).toThrow(fault);
  });

  it('a query whose result has no rows and columns cannot be written as CSV', () => {
    const { output } = open({ format: 'csv', query: () => ['Rent'] });
    record(output);
    expect(thrownBy(() => output.finish())).toMatchObject({ code: 'usage' });
  });
});

describe('a state', () => {
  const flow = { state: 'settled', at: '2026-11-21T10:05:00Z' };
  const fields = object({
    state: text().as('State', { kind: 'state' }),
    at: text()
      .as('Ended')
      .written((at, writeTime) => `by ada at ${writeTime(at)}`),
  });
  const paintState = (state: string) => `<${state}>`;

  it('a state has its colour in one object and at the beginning of a line, and nothing else has', () => {
    const { output, written } = open({ format: 'table', paintState }, { columns: 80 });
    output.record(flow, fields);
    output.lines(['ok    settled', '      settled'], 'state first');
    output.lines(['ok    settled']);
    expect(written()).toBe(
      `State  <settled>\nEnded  by ada at ${writeLocalTime(flow.at)}\n<ok>    settled\n      settled\nok    settled\n`,
    );
  });

  it('a state never has a colour in JSON', () => {
    const { output, written } = open({ format: 'json', paintState });
    output.record(flow, fields);
    expect(JSON.parse(written())).toEqual(flow);
  });
});

it.each<[OutputFormat, Terminal, isLocal: boolean]>([
  ['table', { columns: 80 }, true],
  ['table', 'no terminal', false],
  ['json', { columns: 80 }, false],
])('a time within a text as %s on %j is local: %s', (format, terminal, isLocal) => {
  const time = '2026-11-21T10:05:00Z';
  expect(open(format, terminal).output.writeTime(time)).toBe(isLocal ? writeLocalTime(time) : time);
});

it('the output of --raw writes nothing, and still reads every page and document', async () => {
  const output = silentOutput('json');
  let read = 0;
  async function* parts<T>(...all: T[]): AsyncGenerator<T> {
    for (const part of all) {
      read += 1;
      yield part;
    }
  }
  await output.pages(parts(rows, rows), form, 'None.');
  await output.documents(parts(1, 2, 3));
  expect([output.format, output.collectsPages, read, output.writeTime('2026-11-21T10:05:00Z')]).toEqual([
    ...['json', false, 5, '2026-11-21T10:05:00Z'],
  ]);
  await output.table(rows, form, 'None.');
  output.record({ name: 'Rent', amount: null }, form);
  output.text('a');
  output.lines(['a']);
  output.json({});
  expect(() => output.finish()).not.toThrow();
});

it.each<[OutputFormat, Terminal, boolean, boolean]>([
  ['json', 'no terminal', false, true],
  ['ndjson', 'no terminal', false, false],
  ['csv', { columns: 80 }, false, false],
  ['table', 'no terminal', false, false],
  ['table', { columns: 80 }, false, true],
  ['ndjson', 'no terminal', true, true],
])('as %s on %j, with a query %j, all pages are collected: %j', (format, terminal, hasQuery, collects) => {
  const { output } = open({ format, query: hasQuery ? (data) => data : undefined }, terminal);
  expect(output.collectsPages).toBe(collects);
});

it('a text is one line, a document without a table JSON', () => {
  const { output, written } = open({ format: 'table' });
  output.text('a\nb');
  output.json({ a: [1] });
  output.lines(['c', 'd\u001b']);
  expect(written()).toBe('a b\n{"a":[1]}\nc\nd\u{FFFD}\n');
});

it('pages in a pipeline of which only some are empty are not an empty list', async () => {
  for (const pages of [[[], rows], [rows, []], [rows]]) {
    const { output, said } = open('table');
    await output.pages(pagesOf(...pages), form, 'None.');
    expect(said).toEqual([]);
  }
  const { output, said } = open('table');
  await output.pages(pagesOf([], []), form, 'None.');
  expect(said).toEqual(['None.']);
});

describe('a list with colours', () => {
  const amounts = object({ name: text(), amount: orNull(text()).as('Amount', { kind: 'amount' }) });
  const { level } = chalk;
  beforeEach(() => {
    chalk.level = 1;
  });
  afterEach(() => {
    chalk.level = level;
  });

  it('in a pipeline has its cells painted, and on a terminal a bold heading too', async () => {
    const drawn = (terminal: Terminal, of: Row[]) =>
      writtenBy({ format: 'table', colour: true }, terminal, (output) => output.table(of, amounts, 'None.'));
    expect(await drawn('no terminal', rows)).toBe('\u001b[32m1.50\u001b[39m\n\n');
    expect(await drawn({ columns: 80 }, rows.slice(0, 1))).toBe(
      '\u001b[1mAMOUNT\u001b[22m\n \u001b[32m+1.50\u001b[39m\n',
    );
  });
});

it('a list on a terminal is as wide as the terminal, or 80 columns if that is not known', async () => {
  const long = [{ name: 'xxxx '.repeat(20).trim(), amount: null }];
  const widest = async (columns: number) => {
    const print = (output: Output) => output.table(long, form.inList('name'), 'None.');
    const lines = (await writtenBy('table', { columns }, print)).split('\n');
    return Math.max(...lines.map((line) => line.length));
  };
  expect([await widest(40), await widest(0)]).toEqual([39, 79]);
});

it.each([
  ['a time', time().as('At'), '2026-11-21 10:05'],
  ['a text of the kind time', text().as('At', { kind: 'time' }), '2026-11-21 10:05'],
  ['a second', text().as('At', { kind: 'second' }), '2026-11-21 10:05:59'],
  ['a text', text().as('At'), undefined],
])('%s is local on a terminal if it is a time, and exact elsewhere', async (_, field, local) => {
  const at = new Date('2026-11-21T10:05:59.123').toISOString();
  const [shown, piped] = [open('table', { columns: 80 }), open('table')];
  for (const { output } of [shown, piped]) await output.table([{ at }], object({ at: field }), 'None.');
  expect([shown.written(), piped.written()]).toEqual([`AT\n${local ?? at}\n`, `${at}\n`]);
});

it.each<[OutputFormat, number, boolean]>([
  ['ndjson', 23, false],
  ['ndjson', 24, true],
  ['table', 2, false],
  ['table', 30, true],
  ['json', 30, true],
  ['csv', 30, true],
])(
  'a pager shows a list as %s with %i rows on a terminal of 24 lines: %j',
  async (format, count, isPaged) => {
    const many: Row[] = Array(count).fill({ name: 'Rent', amount: null });
    const whole = open(format, { columns: 80 });
    await whole.output.table(many, form, 'None.');
    const paged: string[] = [];
    const page = async (shown: string) => void paged.push(shown);
    const { output, written } = open({ format, page }, { columns: 80 });
    await output.table(many, form, 'None.');
    expect([paged, written()]).toEqual(isPaged ? [[whole.written()], ''] : [[], whole.written()]);
  },
);

it.each([0, undefined])(
  'a terminal that does not say how high it is (%s) shows no list in a pager',
  async (height) => {
    const { stream, written } = openStream({ columns: 80 });
    const paged: string[] = [];
    const output = openOutput(
      { isTTY: true, columns: 80, rows: height, write: (data) => void stream.write(data) },
      { format: 'table', colour: false, say: () => {}, page: async (shown) => void paged.push(shown) },
    );
    await output.table(Array<Row>(100).fill({ name: 'Rent', amount: null }), form, 'None.');
    expect([paged, written().split('\n').length]).toEqual([[], 102]);
  },
);

it('the columns of CSV come from the shape of the data, also without rows', async () => {
  const { output, written } = open({ format: 'csv' });
  const shape = object({ amount: orNull(text()), name: text() });
  await output.table([], shape, 'None.');
  await output.pages(pagesOf(rows), shape, 'None.');
  expect(written()).toBe('amount,name\namount,name\n1.50,Caffè\n,Rent\n');
});
