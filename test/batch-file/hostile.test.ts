import { describe, expect, test } from 'vitest';
import { document, IBAN, information, readFile, refusalOf, transaction } from './reading.ts';

const MEGABYTE = 1024 * 1024;
const UTF_16 = 'in UTF-16, and not in UTF-8';
const WORKBOOK = 'a workbook or an archive, and not CSV';

/** Counts the pieces of an endless file that were read. */
function endless(begin: string, more: string): { file: Iterable<Uint8Array>; read: () => number } {
  let read = 0;
  const piece = Buffer.from(more.repeat(Math.ceil(65_536 / more.length)));
  return {
    file: {
      *[Symbol.iterator]() {
        yield Buffer.from(begin);
        for (; read < 1024; read += 1) yield piece;
      },
    },
    read: () => read,
  };
}

const OPEN = document([information([transaction()])]).split('<GrpHdr>')[0];

describe('a hostile file', () => {
  const LAUGHS = '<!DOCTYPE Document [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><Document>&b;</Document>';
  test.each([
    ['entities that grow (billion laughs)', LAUGHS, /DOCTYPE, at line 1/],
    ['an external entity', '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', /DOCTYPE/],
    ['a null byte in XML', `${OPEN}\0`, /not well-formed/],
  ])('with %s is refused', async (_what, file, message) => {
    await expect(readFile(file)).rejects.toThrow(message);
  });

  test.each([
    ['UTF-16 with a byte order mark', ['fffe6e00'], UTF_16],
    ['UTF-16 with the other one', ['feff006e'], UTF_16],
    ['UTF-16 without one', ['6e006100'], UTF_16],
    ['the other UTF-16 without one', ['006e0061'], UTF_16],
    ['UTF-16 after a piece of nothing', ['', 'fffe6e00'], UTF_16],
    ['a workbook', ['504b0304'], WORKBOOK],
    ['a PDF', ['255044462d'], 'a PDF, and not CSV'],
    ['a workbook after a piece of nothing', ['', '504b0304'], WORKBOOK],
  ])('with %s is refused, and says how to save it', async (_what, pieces, message) => {
    expect(await refusalOf(pieces.map((piece) => Buffer.from(piece, 'hex')))).toEqual({
      code: 'usage',
      message: `The file is ${message}`,
      hint: 'psd2 reads CSV and pain.001 (XML), in UTF-8. In a spreadsheet, save the file as "CSV UTF-8".',
    });
  });

  test.each([
    ['a byte that no text has', ['6e0a61ff'], 2],
    ['half of a byte order mark', ['ff41'], 1],
    ['half of the other byte order mark', ['fe41'], 1],
    ['half of a byte order mark in the second place', ['41fe'], 1],
    ['half of the other one in the second place', ['41ff'], 1],
    ['a character that ends with the file', ['6ec3'], 1],
    ['a wrong byte in a later piece', ['0a0a', '0a', '0a61ff'], 5],
    ['a character that ends with the last piece', ['0a6e', '0ac3'], 3],
  ])('with %s is refused, and names the line', async (_what, pieces, line) => {
    expect(await refusalOf(pieces.map((piece) => Buffer.from(piece, 'hex')))).toEqual({
      code: 'usage',
      message: `The file is not UTF-8: see line ${line}`,
      hint: 'Save it as "CSV UTF-8", or as XML in UTF-8.',
    });
  });

  test('is not taken for a workbook by half of its mark, nor by a mark inside', async () => {
    const heading = 'PAYEE-VERIFIED,NAME,IBAN,AMOUNT\n';
    const pieces = [heading, `no,`, `PK Ltd,${IBAN},1\n`].map((piece) => Buffer.from(piece));
    expect(await readFile(pieces)).toMatchObject({ said: [], lines: [{ name: 'PK Ltd' }] });
    expect((await refusalOf('OK,name\n')).message).toBe('The heading has the unknown column "OK"');
  });

  test('with a heading without end is refused before it fills the memory', async () => {
    const { file, read } = endless('name', 'a');
    expect((await refusalOf(file)).message).toBe('The file has no heading');
    expect(read()).toBeLessThan(4);
  });

  test('with a longer blank beginning than any text has is no XML', async () => {
    const plain = document([information([transaction()])]).replace(/^<\?xml.*\n/, '');
    const pieces = (blanks: number) => [' '.repeat(blanks), plain].map((piece) => Buffer.from(piece));
    expect((await readFile(pieces(65_536))).lines).toHaveLength(1);
    expect((await refusalOf(pieces(65_537))).message).toBe('The file has no heading');
  });

  test.each([
    ['a text of XML', `${OPEN}<GrpHdr><MsgId>`, 'a'],
    ['a tag of XML', `${OPEN}<GrpHdr a="`, 'a'],
    ['a comment of XML', `${OPEN}<!--`, 'a'],
    ['a DOCTYPE', '<!DOCTYPE x [', '<!ENTITY a "b">'],
  ])('with %s without end is refused before it fills the memory', async (_what, begin, more) => {
    const { file, read } = endless(begin, more);
    await expect(readFile(file)).rejects.toThrow(/more than 65536 characters/);
    expect(read()).toBeLessThan(8);
  });

  test('with elements in one another without end is refused', async () => {
    const { file, read } = endless(`${OPEN}<SplmtryData>`, '<a>');
    await expect(readFile(file)).rejects.toThrow(/more than 64 elements in one another/);
    expect(read()).toBeLessThan(8);
  });

  test('with a line or a quote without end is refused before it fills the memory', async () => {
    for (const begin of ['name,iban,amount\n', 'name,iban,amount\n"']) {
      const { file, read } = endless(begin, 'a');
      expect((await readFile(file)).said).toContainEqual(
        expect.stringMatching(/line is longer than 65536 characters, or a quote is not closed/),
      );
      expect(read()).toBeLessThan(8);
    }
  });

  test('with blanks without end is refused', async () => {
    const blank = Buffer.alloc(MEGABYTE, ' ');
    await expect(readFile([blank, blank])).rejects.toThrow();
  });

  test.each(['1e3', '-0', '1,5', '', '9999999999'])(
    'with the amount %j has an error, and no payment',
    async (amount) => {
      const csv = await readFile(`name,iban,amount\nAda,${IBAN},"${amount}"\n`);
      const written = transaction({ amount: `<InstdAmt Ccy="EUR">${amount}</InstdAmt>` });
      const xml = await readFile(document([information([written])]));
      for (const { lines, problems } of [csv, xml]) {
        expect(lines).toEqual([]);
        expect(problems.map(({ severity, line }) => [severity, line])).toEqual([['error', 1]]);
      }
    },
  );

  test.each(['=cmd|calc', '@SUM(1)', '\u0000', 'a\u202eb', '<b>', 'a\tb'])(
    'with the name %j has an error, and no payment',
    async (name) => {
      const { lines, problems } = await readFile(`name,iban,amount\n"${name}",${IBAN},1\n`);
      expect(lines).toEqual([]);
      expect(problems).toHaveLength(1);
    },
  );
});

test.each([
  ['a wrong heading', 'name,colour\n'],
  ['XML of another kind', '<html/>'],
  ['too many names', `${'name,'.repeat(100)}\n`],
])('a file with %s is closed before its end', async (_, begin) => {
  let closed = 0;
  const pieces = function* () {
    try {
      yield Buffer.from(begin);
      yield Buffer.from('name');
    } finally {
      closed += 1;
    }
  };
  expect(await refusalOf(pieces())).toMatchObject({ code: 'usage' });
  expect(closed).toBe(1);
});
