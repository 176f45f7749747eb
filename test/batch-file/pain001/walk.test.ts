import { describe, expect, test } from 'vitest';
import { document, information, paid, readFile, refusalOf, transaction } from '../reading.ts';

const AT = '/Document/CstmrCdtTrfInitn';
const GROUP = `${AT}/PmtInf[1]`;
const FIRST = `${GROUP}/CdtTrfTxInf[1]`;
const E2E = `${FIRST}/PmtId/EndToEndId`;
const HINT =
  'psd2 reads pain.001.001 of the versions 03 and 09 to 12, pain.001.002.03 and pain.001.003.03, without DOCTYPE and entities. It has stored nothing.';

/** A document of one payment. */
const PLAIN = document([information([transaction()])]);
const [BEGIN = ''] = PLAIN.split('<GrpHdr>');
const WRONG = 'is not well-formed:';
const URN = 'urn:iso:std:iso:20022:tech:xsd:';
const unread = (name: string) => `has the namespace "${URN}${name}", which psd2 does not read`;
const encoded = (encoding: string) => `has the encoding "${encoding}", and not UTF-8`;

/** Returns what is found wrong with the plain document after a replacement. */
async function saidAfter(before: string, after: string): Promise<string[]> {
  expect(PLAIN).toContain(before);
  return (await readFile(PLAIN.replace(before, after))).said;
}

describe('a pain.001', () => {
  test.each([
    ['is not well-formed', PLAIN.replace('<GrpHdr>', '<GrpHdr>&passwd;'), `${WRONG} undefined entity`, 3],
    ['has two roots', `${PLAIN}<Document/>`, `${WRONG} documents may contain only one root`, 4],
    ['does not end', PLAIN.slice(0, -'</Document>'.length), `${WRONG} unclosed tag: Document`, 4],
    ['does not end inside', `${BEGIN}<Grp.Hdr>`, `${WRONG} unclosed tag: Grp.Hdr`, 3],
    ['has a DOCTYPE', PLAIN.replace('<Document', '<!DOCTYPE Document>\n<Document'), 'has a DOCTYPE', 2],
    ['has another root', '<html/>', 'begins with the element "html", and not with Document', 1],
    ['has no namespace', '<Document/>', 'has no namespace', 1],
    ['is a message that psd2 does not read', PLAIN.replace('001.09', '001.02'), unread('pain.001.001.02'), 2],
    ['has another format as its namespace', `<Document xmlns="${URN}csv"/>`, unread('csv'), 1],
    ['is in UTF-16 by its own word', PLAIN.replace('UTF-8', 'UTF-16'), encoded('UTF-16'), 2],
  ])('that %s is refused, with the line and what psd2 reads', async (_what, file, wrong, line) => {
    const message = `The XML ${wrong}, at line ${line} of the file`;
    expect(await refusalOf(file)).toEqual({ code: 'usage', message, hint: HINT });
  });

  test.each(['UTF-8', 'utf-8', 'US-ASCII', 'ISO-8859-1', 'iso-8859-15', 'windows-1252'])(
    'in UTF-8 may say that it is in %s',
    async (encoding) => {
      expect(await saidAfter('UTF-8', encoding)).toEqual([]);
    },
  );

  test.each(['UTF-80', 'xUTF-8', 'ISO-8859-', 'ISO-8859-x', 'windows-1259x', 'windows-125x', 'UTF-7'])(
    'may not say that it is in %s',
    async (encoding) => {
      expect((await refusalOf(PLAIN.replace('UTF-8', encoding))).message).toBe(
        `The XML ${encoded(encoding)}, at line 2 of the file`,
      );
    },
  );

  /** A comment on the line that is expected. */
  const HERE = '<!-- here -->';
  test.each([
    ['an element', '<PmtMtd>TRF</PmtMtd>', `<PmtMtd>CHK</PmtMtd>${HERE}`, 'PmtMtd'],
    ['an attribute', /Ccy="EUR">[^\n]*/, `Ccy="CHF">1</InstdAmt>${HERE}`, 'Amt/InstdAmt/@Ccy'],
    ['the parent of a missing element', /<Cdtr>\n<Nm>[^\n]*/, `<Cdtr>${HERE}`, 'Cdtr/Nm'],
    [
      'the payment without a parent',
      /<CdtTrfTxInf>(.*)<Cdtr>.*<\/Cdtr>\n/s,
      `<CdtTrfTxInf>${HERE}$1`,
      'Cdtr/Nm',
    ],
    [
      'a group, after a skipped element',
      '<PmtInf>',
      `<PmtInf>${HERE}\n<DbtrAgt>\n<a>\n<b/></a></DbtrAgt>`,
      'PmtMtd',
    ],
    ['an unknown element', '<Amt>', `<Oops/>${HERE}\n<Amt>`, 'Oops'],
    ['a text between elements', '<Amt>', `Oops${HERE}\n<Amt>`, 'CdtTrfTxInf[1]'],
  ])('has its problems on the lines of the file: %s', async (_what, before, after, path) => {
    const plain = PLAIN.replaceAll('><', '>\n<');
    const text = after.includes('DbtrAgt') ? plain.replace('<PmtMtd>TRF</PmtMtd>', '') : plain;
    const lines = text.replace(before, after);
    const { problems } = await readFile(lines);
    const expected = lines.split('\n').findIndex((line) => line.includes(HERE)) + 1;
    expect(problems.filter(({ place }) => place.endsWith(path)).map((each) => each.fileLine)).toEqual([
      expected,
    ]);
  });

  test('may begin with blanks, in pieces of its own', async () => {
    const plain = PLAIN.slice(PLAIN.indexOf('<Document'));
    for (const pieces of [['\n ', plain], ['\n', ' ', '\t', plain], [`\r\n${plain}`]]) {
      const { said, lines } = await readFile(pieces.map((piece) => Buffer.from(piece)));
      expect(said).toEqual([]);
      expect(lines).toHaveLength(1);
    }
  });

  test.each([
    ['a text beside elements', '<PmtMtd>', 'Oops<PmtMtd>', GROUP, 'text'],
    ['a text in CDATA beside elements', '<PmtId>', '<PmtId><![CDATA[Oops]]>', `${FIRST}/PmtId`, 'text'],
    ['an element in a text', 'E-1', 'E<b>-</b>1', `${E2E}/b`, 'element'],
    ['a known element in a text', 'E-1', '<EndToEndId/>E-1', `${E2E}/EndToEndId`, 'element'],
  ])('is wrong with %s', async (_what, before, after, path, kind) => {
    const messages = {
      text: 'The element has a text, where only elements belong',
      element: 'A text is expected here, and not an element',
    };
    expect(await saidAfter(before, after)).toEqual([
      `error ${path}: ${kind === 'text' ? messages.text : messages.element}`,
    ]);
  });

  test('may have any text and any element where psd2 reads neither', async () => {
    const content = 'A text <b c="d">and <IBAN>an <i/>element</IBAN></b>, <b>twice</b>';
    expect(await saidAfter('<InitgPty/>', `<InitgPty e="f">${content}</InitgPty><InitgPty/>`)).toEqual([]);
  });

  test.each([
    ['of another namespace', '<Ustrd xmlns="urn:other">A</Ustrd>', ' of the namespace "urn:other"'],
    ['of no namespace', '<Ustrd xmlns="">A</Ustrd>', ' of no namespace'],
    ['with another name', '<Text>A</Text>', ''],
  ])('is wrong with an element %s, and says so once', async (_what, element, from) => {
    const name = element.includes('Text') ? 'Text' : 'Ustrd';
    expect(await saidAfter('</CdtrAcct>', `</CdtrAcct><RmtInf>${element}</RmtInf>`)).toEqual([
      `error ${FIRST}/RmtInf/${name}: psd2 does not know this element${from}`,
    ]);
  });

  test.each([
    ['<InstdAmt Ccy="EUR"', '<InstdAmt Ccy="EUR" Rate="2"', 'Amt/InstdAmt', 'Rate'],
    ['<InstdAmt Ccy="EUR"', '<InstdAmt Ccy="EUR" x:Ccy="USD" xmlns:x="urn:x"', 'Amt/InstdAmt', 'Ccy'],
    ['<Amt>', '<Amt Ccy="USD">', 'Amt', 'Ccy'],
    ['<EndToEndId>', '<EndToEndId Ccy="USD">', 'PmtId/EndToEndId', 'Ccy'],
    ['<CdtTrfTxInf>', '<CdtTrfTxInf undefined="1">', '', 'undefined'],
    ['<EndToEndId>', '<EndToEndId undefined="1">', 'PmtId/EndToEndId', 'undefined'],
  ])('is wrong with an attribute that psd2 does not know: %s as %s', async (before, after, path, name) => {
    expect(await saidAfter(before, after)).toEqual([
      `error ${path === '' ? FIRST : `${FIRST}/${path}`}: psd2 does not know the attribute ${name}`,
    ]);
  });

  test('may say where its schema is, and declare prefixes anywhere', async () => {
    const instance = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
    expect(await saidAfter('<Document', `<Document ${instance} xsi:schemaLocation="urn:a b.xsd"`)).toEqual(
      [],
    );
    expect(await saidAfter('<Nm>', `<Nm ${instance} xsi:type="text" xmlns:y="urn:y">`)).toEqual([]);
  });

  test.each([
    ['a text', '<EndToEndId>E-1</EndToEndId>', 'PmtId/EndToEndId', 'The element comes twice'],
    ['a group of elements', '<PmtId/>', 'PmtId', 'The element comes twice'],
  ])('is wrong if %s comes twice', async (_what, element, path, message) => {
    const before = path === 'PmtId' ? '<Amt>' : '</PmtId>';
    expect(await saidAfter(before, `${element}${before}`)).toEqual([`error ${FIRST}/${path}: ${message}`]);
  });

  test('may be longer than any text in it may be', async () => {
    const payments = Array.from({ length: 400 }, (_, index) => paid(`E-${index}`, `${index + 1}`));
    const many = document([information(payments)]);
    expect(many.length).toBeGreaterThan(65_536);
    const { said, lines } = await readFile(many);
    expect(said).toEqual([]);
    expect(lines).toHaveLength(400);
  });

  test.each(['001.03', '001.09', '001.10', '001.11', '001.12', '002.03', '003.03'])(
    'of version %s is read, with and without a prefix of its namespace',
    async (version) => {
      const day = version.endsWith('.03') ? '2026-12-01' : '<Dt>2026-12-01</Dt>';
      const plain = PLAIN.replace('001.09', version).replace(/(?<=<ReqdExctnDt>).*?(?=<.ReqdExctnDt>)/, day);
      const prefixed = plain.replace(/<(\/?)(?=[A-Z])/g, '<$1p:').replace('xmlns=', 'xmlns:p=');
      for (const file of [plain, prefixed]) {
        const { source, lines, said } = await readFile(file);
        expect(said).toEqual([]);
        expect(source?.format).toBe(`pain.001.${version}`);
        expect(lines).toMatchObject([{ name: 'Ada Lovelace', amount: '12.50', executionDate: '2026-12-01' }]);
      }
    },
  );

  test('may have a comment as long as two texts, and none that is longer', async () => {
    const [begin = '', end = ''] = PLAIN.split('<PmtInf>');
    const withComment = (...pieces: string[]) =>
      [`${begin}<!--`, ...pieces, `--><PmtInf>${end}`].map((piece) => Buffer.from(piece));
    const text = 'a'.repeat(65_536);
    expect((await readFile(withComment(text, text))).said).toEqual([]);
    expect(await refusalOf(withComment(text, text, 'a'))).toEqual({
      code: 'usage',
      message: 'The XML has a text, a tag or comments of more than 65536 characters, at line 4 of the file',
      hint: HINT,
    });
  });
});
