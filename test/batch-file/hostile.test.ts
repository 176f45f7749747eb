import { describe, expect, test } from 'vitest';
import { document, IBAN, information, readFile, transaction } from './reading.ts';

const MEGABYTE = 1024 * 1024;

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
  test.each([
    [
      'entities that grow (billion laughs)',
      '<!DOCTYPE Document [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><Document>&b;</Document>',
      /DOCTYPE, at line 1/,
    ],
    ['an external entity', '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', /DOCTYPE/],
    ['an unknown entity', `${OPEN}&passwd;`, /not well-formed.*entity/],
    ['an element that does not end', `${OPEN}<GrpHdr>`, /not well-formed.*unclosed/i],
    ['another root', '<html/>', /begins with the element "html"/],
    [
      'another message',
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.008.001.08"/>',
      /pain\.008\.001\.08/,
    ],
    ['no namespace', '<Document/>', /has no namespace/],
    ['another encoding', '<?xml version="1.0" encoding="UTF-7"?><Document/>', /"UTF-7"/],
    ['a null byte in XML', `${OPEN}\0`, /not well-formed/],
    ['UTF-16 with a byte order mark', Buffer.from('\ufeffname,iban,amount', 'utf16le'), /UTF-16/],
    ['UTF-16 without one', Buffer.from('name', 'utf16le'), /UTF-16/],
    ['a workbook', Buffer.from('PK\u0003\u0004'), /workbook/],
    ['other bytes than UTF-8', Buffer.from([0x6e, 0x0a, 0x61, 0xff]), /not UTF-8: see line 2/],
    ['UTF-8 that ends in the middle', Buffer.from([0x6e, 0xc3]), /not UTF-8/],
  ])('with %s is refused', async (_what, file, message) => {
    await expect(readFile(file)).rejects.toThrow(message);
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

  test.each([
    '1e3',
    '-0',
    '0',
    'NaN',
    'Infinity',
    '0x10',
    '1,5',
    '1.005',
    '1 000',
    '+1',
    '',
    '１',
    '9999999999',
  ])('with the amount %j has an error, and no payment', async (amount) => {
    const csv = await readFile(`name,iban,amount\nAda,${IBAN},"${amount}"\n`);
    const written = transaction({ amount: `<InstdAmt Ccy="EUR">${amount}</InstdAmt>` });
    const xml = await readFile(document([information([written])]));
    for (const { lines, problems } of [csv, xml]) {
      expect(lines).toEqual([]);
      expect(problems.map(({ severity, line }) => [severity, line])).toEqual([['error', 1]]);
    }
  });

  test.each(['=cmd|calc', '@SUM(1)', '\u0000', 'a\u202eb', '<b>', 'a\tb'])(
    'with the name %j has an error, and no payment',
    async (name) => {
      const { lines, problems } = await readFile(`name,iban,amount\n"${name}",${IBAN},1\n`);
      expect(lines).toEqual([]);
      expect(problems).toHaveLength(1);
    },
  );
});
