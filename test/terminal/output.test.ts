import { describe, expect, it } from 'vitest';
import { type Column, type OutputFormat, openOutput, parseOutputFormat } from '../../src/terminal/output.ts';
import { openStream } from './stream.ts';

interface Row {
  name: string;
  amount: string | null;
}

const columns: Column<Row>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'AMOUNT', value: ({ amount }) => amount, right: true },
];
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

async function* pagesOf(...pages: Row[][]): AsyncGenerator<Row[]> {
  yield* pages;
}

describe('a list', () => {
  it('is tab-separated lines without a heading where stdout is no terminal', async () => {
    const { output, written } = open('table');
    await output.table(rows, columns, 'None.');
    expect(written()).toBe('Caffè\t1.50\nRent\t\n');
  });

  it('is a table with a heading on a terminal', async () => {
    const { output, written } = open('table', { columns: 80 });
    await output.table(rows, columns, 'None.');
    expect(written()).toBe('NAME   AMOUNT\nCaffè    1.50\nRent\n');
  });

  it('is one JSON array on one line, indented on a terminal', async () => {
    const piped = open('json');
    await piped.output.table(rows, columns, 'None.');
    expect(piped.written()).toBe('[{"name":"Caffè","amount":"1.50"},{"name":"Rent","amount":null}]\n');
    const shown = open('json', { columns: 80 });
    await shown.output.table(rows, columns, 'None.');
    expect(shown.written()).toBe(`${JSON.stringify(rows, null, 2)}\n`);
  });

  it('is a JSON document a line with ndjson', async () => {
    const { output, written } = open('ndjson', { columns: 80 });
    await output.table(rows, columns, 'None.');
    expect(written()).toBe('{"name":"Caffè","amount":"1.50"}\n{"name":"Rent","amount":null}\n');
  });

  it.each<[OutputFormat, string, string[]]>([
    ['table', '', ['None.']],
    ['json', '[]\n', []],
    ['ndjson', '', []],
  ])('that is empty is, as %s, %j', async (format, written, said) => {
    const list = open(format);
    await list.output.table([], columns, 'None.');
    expect({ written: list.written(), said: list.said }).toEqual({ written, said });
    const paged = open(format);
    await paged.output.pages(pagesOf([], []), columns, 'None.');
    expect({ written: paged.written(), said: paged.said }).toEqual({ written, said });
  });
});

describe('pages', () => {
  it.each<[OutputFormat]>([['table'], ['json'], ['ndjson']])('as %s are one list', async (format) => {
    const whole = open(format, { columns: 80 });
    await whole.output.table(rows, columns, 'None.');
    const paged = open(format, { columns: 80 });
    await paged.output.pages(
      pagesOf([{ name: 'Caffè', amount: '1.50' }], [], [{ name: 'Rent', amount: null }]),
      columns,
      'None.',
    );
    expect(paged.written()).toBe(whole.written());
  });

  it.each<[OutputFormat, string]>([
    ['ndjson', '{"name":"Caffè","amount":"1.50"}\n'],
    ['table', 'Caffè\t1.50\n'],
  ])('as %s in a pipeline are written as they come', async (format, first) => {
    const { output, written } = open(format);
    const seen: string[] = [];
    async function* watched(): AsyncGenerator<Row[]> {
      yield rows.slice(0, 1);
      seen.push(written());
      yield rows.slice(1);
    }
    await output.pages(watched(), columns, 'None.');
    expect(seen).toEqual([first]);
  });
});

describe('one object', () => {
  const row: Row = { name: 'Rent', amount: null };

  it('is its fields, tab-separated where stdout is no terminal', () => {
    const { output, written } = open('table');
    output.record(row, columns);
    expect(written()).toBe('NAME\tRent\nAMOUNT\t\n');
  });

  it('is its filled fields below each other on a terminal', () => {
    const { output, written } = open('table', { columns: 80 });
    output.record(row, columns);
    expect(written()).toBe('NAME    Rent\n');
  });

  it.each<[OutputFormat]>([['json'], ['ndjson']])('is a document as %s', (format) => {
    const { output, written } = open(format);
    output.record(row, columns);
    expect(written()).toBe('{"name":"Rent","amount":null}\n');
  });
});

describe('what a bank wrote', () => {
  const evil = { name: '\u001b[2Jgone\tx\ny', amount: '1\u202e' };

  it.each([['no terminal' as const], [{ columns: 80 }]])(
    'does not reach a terminal as it is: %j',
    async (terminal) => {
      for (const format of ['table', 'json', 'ndjson'] as const) {
        const { output, written } = open(format, terminal);
        await output.table([evil], columns, 'None.');
        output.record(evil, columns);
        output.text(evil.name);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
        expect(written()).not.toMatch(/[\u001b\u202e]/);
      }
    },
  );

  it('does not break a line or a column in two', async () => {
    const { output, written } = open('table');
    await output.table([evil], columns, 'None.');
    expect(written()).toBe('\u{FFFD}[2Jgone x y\t1\u{FFFD}\n');
  });
});

describe('an output format', () => {
  it('is known by its name', () => {
    expect(['table', 'json', 'ndjson'].map(parseOutputFormat)).toEqual(['table', 'json', 'ndjson']);
  });

  it.each(['', 'xml', 'JSON', 'toString'])('is not %j', (text) => {
    expect(() => parseOutputFormat(text)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: `The output format ${JSON.stringify(text)} is not known`,
      }),
    );
  });
});
