import chalk from 'chalk';
import stringWidth from 'string-width';
import { afterEach, describe, expect, it } from 'vitest';
import { drawTerminalTable } from '../../src/terminal/output/table.ts';

const columns = [{ title: 'NAME' }, { title: 'AMOUNT', right: true }, { title: 'DETAILS' }];

function draw(rows: string[][], width = 80, colour = false): string[] {
  return drawTerminalTable(columns, rows, { width, colour }).split('\n');
}
const drawRow = (titles: Parameters<typeof drawTerminalTable>[0], row: string[], width: number) =>
  drawTerminalTable(titles, [row], { width, colour: false });

const { level } = chalk;
afterEach(() => {
  chalk.level = level;
});

it('a table has two spaces between columns, amounts to the right, and no trailing spaces', () => {
  expect(
    draw([
      ['Rent', '-1200.000', 'to the landlord'],
      ['Coffee', '-1.500', ''],
    ]),
  ).toEqual(['NAME       AMOUNT  DETAILS', 'Rent    -1200.000  to the landlord', 'Coffee     -1.500']);
});

it('a table leaves out a column without a value, and never breaks a heading', () => {
  expect(draw([['Rent', '-1200.000', '']])).toEqual(['NAME     AMOUNT', 'Rent  -1200.000']);
  const titled = [{ title: 'PAYEE REFERENCE' }, { title: 'WHY' }];
  const drawn = drawRow(titled, ['RF18', 'one two '.repeat(5)], 30);
  expect(drawn.split('\n')[0]).toBe('PAYEE REFERENCE  WHY');
});

it('a table without rows is its heading', () => {
  expect(draw([])).toEqual(['NAME  AMOUNT  DETAILS']);
});

it('the width of a column counts terminal cells, not characters', () => {
  const [heading = '', wide = '', narrow = ''] = draw([
    ['日本語', '1.00', 'x'],
    ['Caffè', '1.00', 'x'],
  ]);
  expect(stringWidth(wide.slice(0, wide.indexOf('1.00')))).toBe(
    stringWidth(narrow.slice(0, narrow.indexOf('1.00'))),
  );
  expect(heading.startsWith('NAME')).toBe(true);
});

describe('a table that is wider than the terminal', () => {
  const rows = [
    ['A name that is rather long', '-999999999.990', 'details that are longer still, and go on and on'],
    ['short', '1.000', ''],
  ];

  it.each([100, 80, 60, 44])(
    'a table that is too wide wraps its texts within %i cells, and cuts nothing',
    (width) => {
      const lines = draw(rows, width);
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
      expect(lines[1]).toContain('-999999999.990');
      const words = (text: string) => text.split(/\s+/).filter(Boolean).toSorted();
      expect(words(lines.slice(1).join(' '))).toEqual(words(rows.flat().join(' ')));
    },
  );

  it('a word that is wider than its column is cut into pieces, but not in the last column, so that a link can be copied', () => {
    const columns = [{ title: 'WHAT' }, { title: 'WHERE' }];
    const link = `https://bank.example/${'x'.repeat(30)}`;
    const drawn = drawRow(columns, ['y'.repeat(30), link], 40);
    expect(drawn).toContain(link);
    expect(drawn).not.toContain('y'.repeat(30));
  });

  it('if cutting is not enough, a table becomes records that list all fields uncut', () => {
    const lines = draw(rows, 30);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(30);
    expect(lines.slice(-3)).toEqual(['', 'NAME     short', 'AMOUNT   1.000']);
    expect(lines).toContain('AMOUNT   -999999999.990');
    expect(lines.join('').replace(/\s+/g, '')).toContain('detailsthatarelongerstill,andgoonandon');
  });

  it('in a record, a field without a title follows the field before it', () => {
    const money = [{ title: 'AMOUNT', kind: 'amount' }, { title: '' }, { title: 'ID', whole: true }] as const;
    const drawn = drawRow([...money], ['12.00', 'EUR', '0012345678'], 20);
    expect(drawn).toBe('AMOUNT  +12.00 EUR\nID      0012345678');
  });
});

describe('a record of a terminal that is too narrow', () => {
  const MARK = { title: '' };
  const ID = { title: 'ID', whole: true };
  const STATE = { title: 'STATE', whole: true };
  const drawn = (titles: (typeof MARK | typeof ID)[], ...rows: string[][]) =>
    drawTerminalTable(titles, rows, { width: 12, colour: false });

  it.each<[what: string, titles: (typeof MARK | typeof ID)[], row: string[], text: string]>([
    ['before the first one', [MARK, ID, STATE], ['!', 'tr-1', 'failed'], 'ID     tr-1 !\nSTATE  failed'],
    ['twice before it', [MARK, MARK, ID, STATE], ['!', '*', 'tr-1', 'ok'], 'ID     tr-1 ! *\nSTATE  ok'],
    ['between two', [ID, MARK, STATE], ['tr-1', '!', 'failed'], 'ID     tr-1 !\nSTATE  failed'],
    ['after the last', [ID, STATE, MARK], ['tr-1', 'failed', '!'], 'ID     tr-1\nSTATE  failed !'],
    ['before and after', [MARK, ID, MARK, STATE], ['!', 'tr-1', '*', 'ok'], 'ID     tr-1 ! *\nSTATE  ok'],
    ['before an empty one', [MARK, ID, STATE], ['!', '', 'failed'], 'STATE  failed !'],
  ])('shows a field without a title %s, and once', (_, titles, row, text) => {
    // The other row has all fields, so that no column is left out.
    const other = titles.map(({ title }) => (title === '' ? '' : 'x'));
    expect(drawn(titles, row, other).split('\n\n')).toEqual([text, 'ID     x\nSTATE  x']);
    expect(drawn(titles, other, row).split('\n\n')).toEqual(['ID     x\nSTATE  x', text]);
  });
});

describe('a list of payments', () => {
  const payments = [
    { title: 'FLOW', whole: true },
    { title: 'STATE', kind: 'state' },
    { title: 'AMOUNT', right: true },
    { title: 'TO' },
    { title: 'IBAN', whole: true },
    { title: 'CREATED', kind: 'time', dispensable: 2 },
    { title: 'FROM', whole: true, dispensable: 1 },
    { title: 'REFERENCE', dispensable: 3 },
  ] as const;
  const row = [
    ...['tr-0mwrl6s67pcj04', 'executed', '1234.50 EUR', 'Ada Lovelace King', 'DE89370400440532013000'],
    ...['2026-11-21 11:05', 'IT89F0999001600000010482620', 'RENT-2026-11'],
  ];
  const titles = payments.map(({ title }) => title);
  const at = (width: number) => drawRow([...payments], row, width).split('\n');
  const cellsAt = (width: number) => at(width).map((line) => line.split(/ {2,}/));

  it('a list of payments has all columns if they fit', () => {
    expect(cellsAt(160)).toEqual([titles, row]);
  });

  it('a list of payments leaves out the most dispensable columns first, and only as many as needed', () => {
    const without = (...left: string[]) => titles.filter((title) => !left.includes(title));
    expect(cellsAt(140)[0]).toEqual(titles);
    expect(cellsAt(120)[0]).toEqual(without('FROM'));
    expect(cellsAt(100)[0]).toEqual(without('FROM', 'CREATED'));
    expect(cellsAt(80)).toEqual([
      without('FROM', 'CREATED', 'REFERENCE'),
      [...row.slice(0, 3), 'Ada Lovelace', row[4]],
      ['', 'King'],
    ]);
  });

  it('a list of payments becomes records with all fields if leaving out columns is not enough', () => {
    const lines = at(60);
    expect(lines.map((line) => line.split(/ +/)[0])).toEqual(titles);
    expect(lines.map((line) => line.slice(line.indexOf(' ')).trim())).toEqual(row);
  });

  it('a table leaves out a column before it makes another too narrow', () => {
    const columns = [{ title: 'DETAILS' }, { title: 'WHEN', whole: true, dispensable: 1 }] as const;
    const drawn = (width: number) => drawRow([...columns], ['details that go on', '2026-11-21'], width);
    expect(drawn(24)).toBe('DETAILS       WHEN\ndetails that  2026-11-21\ngo on');
    expect(drawn(23)).toBe('DETAILS\ndetails that go on');
  });
});

it('the heading is bold only with colour', () => {
  chalk.level = 1;
  const plain = draw([['a', '1', 'b']]);
  expect(plain.join('')).not.toContain('\u001b');
  const coloured = draw([['a', '1', 'b']], 80, true);
  expect(coloured[0]).toContain('\u001b[1mNAME\u001b[22m');
  expect(coloured.slice(1)).toEqual(plain.slice(1));
});

it('an amount has its sign, is aligned to the right, and has a colour if colours are on', () => {
  chalk.level = 1;
  const rows = [['2150.00'], ['-19.44'], ['0.00'], ['0.005'], ['']];
  const drawn = (colour: boolean) =>
    drawTerminalTable([{ title: 'AMOUNT', kind: 'amount' }], rows, { width: 80, colour });
  expect(drawn(false).split('\n')).toEqual([
    ...['  AMOUNT', '+2150.00', '  -19.44', '    0.00', '  +0.005', ''],
  ]);
  expect(drawn(true)).toContain('\u001b[32m+2150.00\u001b[39m');
  expect(drawn(true)).toContain('\u001b[31m-19.44\u001b[39m');
  expect(drawn(true)).not.toMatch(/\[3[12]m *0\.00/);
});
