import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { writeLocalTime } from '../../src/terminal/local-time.ts';
import {
  type Column,
  type OutputFormat,
  type OutputOptions,
  openOutput,
  parseOutputFormat,
} from '../../src/terminal/output/output.ts';
import { openStream } from './stream.ts';

interface Row {
  name: string;
  amount: string | null;
}

const columns: Column<Row>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'AMOUNT', value: ({ amount }) => amount, right: true },
];
const CSV = ['name', 'amount'];
const rows: Row[] = [
  { name: 'Caffè', amount: '1.50' },
  { name: 'Rent', amount: null },
];

function open(format: OutputFormat, terminal: Parameters<typeof openStream>[0] = 'no terminal') {
  const { stream, written } = openStream(terminal);
  const said: string[] = [];
  const output = openOutput(stream, { format, colour: false, say: (text) => said.push(text) });
  return { output, written, said };
}

function openWith(
  options: Partial<OutputOptions>,
  terminal: Parameters<typeof openStream>[0] = 'no terminal',
) {
  const { stream, written } = openStream(terminal);
  const output = openOutput(stream, { format: 'json', colour: false, say: () => {}, ...options });
  return { output, written };
}

async function* pagesOf(...pages: Row[][]): AsyncGenerator<Row[]> {
  yield* pages;
}

describe('a list', () => {
  it('a list is tab-separated lines without a heading if stdout is not a terminal', async () => {
    const { output, written } = open('table');
    await output.table(rows, columns, 'None.');
    expect(written()).toBe('Caffè\t1.50\nRent\t\n');
  });

  it('a list is a table with a heading on a terminal', async () => {
    const { output, written } = open('table', { columns: 80 });
    await output.table(rows, columns, 'None.');
    expect(written()).toBe('NAME   AMOUNT\nCaffè    1.50\nRent\n');
  });

  it('a list as json is one array on one line, indented on a terminal', async () => {
    const piped = open('json');
    await piped.output.table(rows, columns, 'None.');
    expect(piped.written()).toBe('[{"name":"Caffè","amount":"1.50"},{"name":"Rent","amount":null}]\n');
    const shown = open('json', { columns: 80 });
    await shown.output.table(rows, columns, 'None.');
    expect(shown.written()).toBe(`${JSON.stringify(rows, null, 2)}\n`);
  });

  it('a list as ndjson is one JSON document per line', async () => {
    const { output, written } = open('ndjson', { columns: 80 });
    await output.table(rows, columns, 'None.');
    expect(written()).toBe('{"name":"Caffè","amount":"1.50"}\n{"name":"Rent","amount":null}\n');
  });

  it.each<[OutputFormat, string, string[]]>([
    ['table', '', ['None.']],
    ['json', '[]\n', []],
    ['ndjson', '', []],
    ['csv', 'name,amount\n', []],
  ])('an empty list as %s is %j', async (format, written, said) => {
    const list = open(format);
    await list.output.table([], columns, 'None.', CSV);
    expect({ written: list.written(), said: list.said }).toEqual({ written, said });
    const paged = open(format);
    await paged.output.pages(pagesOf([], []), columns, 'None.', CSV);
    expect({ written: paged.written(), said: paged.said }).toEqual({ written, said });
  });
});

describe('pages', () => {
  it.each<[OutputFormat]>([['table'], ['json'], ['ndjson'], ['csv']])(
    'pages as %s are one list',
    async (format) => {
      const whole = open(format, { columns: 80 });
      await whole.output.table(rows, columns, 'None.', CSV);
      const paged = open(format, { columns: 80 });
      await paged.output.pages(
        pagesOf([{ name: 'Caffè', amount: '1.50' }], [], [{ name: 'Rent', amount: null }]),
        columns,
        'None.',
        CSV,
      );
      expect(paged.written()).toBe(whole.written());
    },
  );

  it.each<[OutputFormat, string]>([
    ['ndjson', '{"name":"Caffè","amount":"1.50"}\n'],
    ['table', 'Caffè\t1.50\n'],
    ['csv', 'name,amount\nCaffè,1.50\n'],
  ])('pages as %s in a pipeline are written as they arrive', async (format, first) => {
    const { output, written } = open(format);
    const seen: string[] = [];
    async function* watched(): AsyncGenerator<Row[]> {
      yield rows.slice(0, 1);
      seen.push(written());
      yield rows.slice(1);
    }
    await output.pages(watched(), columns, 'None.', CSV);
    expect(seen).toEqual([first]);
  });
});

describe('documents that come one after another', () => {
  const documents = async function* () {
    yield { page: 1 };
    yield [2, '\u202e'];
  };

  it.each<[OutputFormat, string]>([
    ['table', '{"page":1}\n[2,"\\u202e"]\n'],
    ['ndjson', '{"page":1}\n[2,"\\u202e"]\n'],
    ['json', '[{"page":1},[2,"\\u202e"]]\n'],
  ])('documents as %s in a pipeline are written as they arrive', async (format, all) => {
    const { output, written } = open(format);
    const seen: string[] = [];
    await output.documents(
      (async function* () {
        for await (const document of documents()) {
          yield document;
          seen.push(written());
        }
      })(),
    );
    expect(written()).toBe(all);
    expect(seen).toHaveLength(2);
    expect(all.startsWith(seen[0] ?? 'nothing')).toBe(true);
  });

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
    const { output, written } = open('json');
    await output.documents((async function* () {})());
    expect(written()).toBe('[]\n');
  });
});

describe('one object', () => {
  const row: Row = { name: 'Rent', amount: null };

  it('one object is its fields, tab-separated if stdout is not a terminal', () => {
    const { output, written } = open('table');
    output.record(row, columns);
    expect(written()).toBe('NAME\tRent\nAMOUNT\t\n');
  });

  it('one object is its filled fields, one per line, on a terminal', () => {
    const { output, written } = open('table', { columns: 80 });
    output.record(row, columns);
    expect(written()).toBe('NAME    Rent\n');
  });

  it.each<[OutputFormat]>([['json'], ['ndjson']])('one object as %s is a document', (format) => {
    const { output, written } = open(format);
    output.record(row, columns);
    expect(written()).toBe('{"name":"Rent","amount":null}\n');
  });
});

describe('text from a bank', () => {
  const evil = { name: '\u001b[2Jgone\tx\ny', amount: '1\u202e' };

  it.each([['no terminal' as const], [{ columns: 80 }]])(
    'control characters from a bank do not reach a terminal: %j',
    async (terminal) => {
      for (const format of ['table', 'json', 'ndjson', 'csv'] as const) {
        const { output, written } = open(format, terminal);
        await output.table([evil], columns, 'None.');
        output.record(evil, columns);
        output.text(evil.name);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for these
        expect(written()).not.toMatch(/[\u001b\u202e]/);
      }
    },
  );

  it('text from a bank does not split a line or a column', async () => {
    const { output, written } = open('table');
    await output.table([evil], columns, 'None.');
    expect(written()).toBe('\u{FFFD}[2Jgone x y\t1\u{FFFD}\n');
  });
});

describe('an output format', () => {
  it('an output format is known by its name', () => {
    const formats = ['table', 'json', 'ndjson', 'csv'];
    expect(formats.map(parseOutputFormat)).toEqual(formats);
  });

  it.each(['', 'xml', 'JSON', 'toString'])('the output format %j is refused', (text) => {
    expect(() => parseOutputFormat(text)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: `The output format ${JSON.stringify(text)} is not known`,
      }),
    );
  });
});

describe('a query', () => {
  const names = (data: unknown) => (Array.isArray(data) ? data.map(({ name }) => name) : { only: data });

  it.each<[OutputFormat, string]>([
    ['json', '["Caffè","Rent"]\n'],
    ['ndjson', '"Caffè"\n"Rent"\n'],
  ])('a query filters the whole document, as %s', async (format, expected) => {
    for (const way of ['table', 'pages'] as const) {
      const { output, written } = openWith({ format, query: names });
      await (way === 'table'
        ? output.table(rows, columns, 'None.')
        : output.pages(pagesOf(rows.slice(0, 1), rows.slice(1)), columns, 'None.', CSV));
      output.finish();
      expect(written()).toBe(expected);
    }
  });

  it('a query filters one object too, and its result decides the CSV columns', () => {
    const { output, written } = openWith({ format: 'csv', query: (data) => ({ only: data }) });
    output.record({ name: 'Rent', amount: null }, columns, CSV);
    expect(written()).toBe('only.name,only.amount\nRent,\n');
  });

  it.each<[unknown, string]>([
    ['Caffè', 'Caffè\n'],
    [['Rent', 'Caffè'], 'Rent\nCaffè\n'],
    [['Rent', 5, null, { a: 'b' }], 'Rent\n5\nnull\n{"a":"b"}\n'],
    [5, '5\n'],
    ['\u{1b}[31mred', '\u{FFFD}[31mred\n'],
  ])("the strings in a query's result %j are printed bare if asked for", (result, expected) => {
    const { output, written } = openWith({ format: 'json', query: () => result, bareStrings: true });
    output.record({ name: 'Rent', amount: null }, columns);
    expect(written()).toBe(expected);
  });

  it('a query that fails is reported at the end, after the work is done', () => {
    const failure = new Psd2Error('usage', 'no');
    const { output, written } = openWith({
      query: () => {
        throw failure;
      },
    });
    output.record({ name: 'Rent', amount: null }, columns);
    expect(written()).toBe('');
    expect(() => output.finish()).toThrow(failure);
  });

  it('a query whose result has no rows and columns cannot be written as CSV', () => {
    const { output } = openWith({ format: 'csv', query: () => ['Rent'] });
    output.record({ name: 'Rent', amount: null }, columns);
    expect(() => output.finish()).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

describe('a pager', () => {
  const many = Array.from({ length: 30 }, (_, index) => ({ name: `row ${index}`, amount: '1.00' }));

  it.each<[OutputFormat]>([['table'], ['json'], ['csv']])(
    'a pager shows output that is longer than the terminal, as %s',
    async (format) => {
      const paged: string[] = [];
      const page = async (text: string) => {
        paged.push(text);
      };
      const { output, written } = openWith({ format, page }, { columns: 80 });
      await output.pages(pagesOf(many), columns, 'None.');
      expect(written()).toBe('');
      expect(paged).toHaveLength(1);
      expect(paged[0]).toContain('row 29');
      await output.table(many.slice(0, 2), columns, 'None.');
      expect(paged).toHaveLength(1);
      expect(written()).toContain('row 1');
    },
  );
});

describe('a time', () => {
  const when: Column<{ at: string }>[] = [{ title: 'AT', value: ({ at }) => at, kind: 'time' }];
  const row = { at: '2026-11-21T10:05:59.123Z' };

  it('a time is local and short on a terminal, and exact elsewhere', async () => {
    const shown = open('table', { columns: 80 });
    await shown.output.table([row], when, '');
    const local = new Date(row.at);
    const two = (value: number) => String(value).padStart(2, '0');
    expect(shown.written()).toBe(
      `AT\n${local.getFullYear()}-${two(local.getMonth() + 1)}-${two(local.getDate())} ${two(local.getHours())}:05\n`,
    );
    const piped = open('table');
    await piped.output.table([row], when, '');
    expect(piped.written()).toBe(`${row.at}\n`);
  });
});

describe('a state', () => {
  interface Flow {
    state: string;
    at: string;
  }
  const flow: Flow = { state: 'settled', at: '2026-11-21T10:05:00Z' };
  const fields: Column<Flow>[] = [
    { title: 'State', value: ({ state }) => state, kind: 'state' },
    { title: 'Ended', value: ({ at }, writeTime) => `by ada at ${writeTime(at)}` },
  ];
  const paintState = (state: string) => `<${state}>`;

  it('a state has its colour in one object and at the beginning of a line, and nothing else has', () => {
    const { output, written } = openWith({ format: 'table', paintState }, { columns: 80 });
    output.record(flow, fields);
    output.lines(['ok    settled', '      settled'], 'state first');
    output.lines(['ok    settled']);
    expect(written()).toBe(
      `State  <settled>\nEnded  by ada at ${writeLocalTime(flow.at)}\n<ok>    settled\n      settled\nok    settled\n`,
    );
  });

  it('a state never has a colour in JSON', () => {
    const { output, written } = openWith({ format: 'json', paintState });
    output.record(flow, fields);
    expect(JSON.parse(written())).toEqual(flow);
  });
});

describe('a time within a text', () => {
  const time = '2026-11-21T10:05:00Z';

  it.each<[OutputFormat, Parameters<typeof openStream>[0], string]>([
    ['table', { columns: 80 }, writeLocalTime(time)],
    ['table', 'no terminal', time],
    ['json', { columns: 80 }, time],
  ])('a time within a text as %s on %j is %s', (format, terminal, expected) => {
    expect(open(format, terminal).output.writeTime(time)).toBe(expected);
  });
});
