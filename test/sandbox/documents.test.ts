import { describe, expect, test } from 'vitest';
import { textPdf } from '../../src/sandbox/documents/pdf.ts';
import { workbook } from '../../src/sandbox/documents/statement.ts';
import { codeOf, type Reply, refusalOf, resourceOf, useTestBank } from './tpp.ts';

const CURRENT = '/private/customers/1048262/products/0010482620';

const bank = await useTestBank();
const { accessToken: token } = await bank.tpp.login();

/** Reads a PDF like a viewer: from the end of the file to the lines on its pages. */
function pdfLines(bytes: Buffer): string[][] {
  const file = bytes.toString('latin1');
  expect(file).toMatch(/^%PDF-1\.4\n/);
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(file)?.[1]);
  const table = file.slice(start);
  expect(table).toMatch(/^xref\n0 \d+\n0{10} 65535 f \n/);
  const objects = [...table.matchAll(/^(\d{10}) 00000 n $/gm)].map(([, offset], index) => {
    const object = file.slice(Number(offset));
    expect(object.startsWith(`${index + 1} 0 obj\n`)).toBe(true);
    return object.slice(0, object.indexOf('\nendobj'));
  });
  const kids = /\/Kids \[([^\]]*)\]/.exec(objects[1] ?? '')?.[1] ?? '';
  return [...kids.matchAll(/(\d+) 0 R/g)].map(([, kid]) => {
    const contents = Number(/\/Contents (\d+) 0 R/.exec(objects[Number(kid) - 1] ?? '')?.[1]);
    const stream = objects[contents - 1] ?? '';
    const text = stream.slice(stream.indexOf('stream\n') + 7, stream.lastIndexOf('\nendstream'));
    expect(text.length).toBe(Number(/\/Length (\d+)/.exec(stream)?.[1]));
    return [...text.matchAll(/^\((.*)\) Tj T\*$/gm)].map(([, line = '']) =>
      line.replace(/\\([\\()])/g, '$1'),
    );
  });
}

describe('a PDF', () => {
  test('a PDF shows its lines, with parentheses, and with a question mark for characters that its font lacks', () => {
    expect(pdfLines(textPdf('T', ['a (b) \\c', 'più', '€ 😀']))).toEqual([['a (b) \\c', 'più', '? ?']]);
  });

  test('a PDF has as many pages as its lines need', () => {
    const lines = Array.from({ length: 65 }, (_, index) => String(index));
    expect(pdfLines(textPdf('T', lines))).toEqual([lines.slice(0, 64), ['64']]);
    expect(pdfLines(textPdf('T', []))).toEqual([[]]);
  });
});

test('a sheet escapes its own name', () => {
  expect(workbook('A & B', []).toString('utf8')).toContain('<Worksheet ss:Name="A &amp; B">');
});

describe('the export of transactions', () => {
  const range = 'dateFrom=01%2F10%2F2026&dateTo=31%2F10%2F2026';
  const get = (query: string): Promise<Reply> =>
    bank.tpp.send({ path: `${CURRENT}/transactions/retrieve?${query}`, token });

  test('the PDF export has every booked transaction of the range, not only one page of them', async () => {
    const count = Number((await get(range)).json.data?.numberTransactionsAccounting);
    expect(count).toBeGreaterThan(10);
    const reply = await get(`text=&${range}&exportType=pdf`);
    expect(reply.headers['content-type']).toBe('application/pdf');
    const lines = pdfLines(reply.bytes).flat();
    expect(lines).toContain(`Booked: ${count}`);
    expect(lines.filter((line) => /^\d\d\/10\/2026 +-?\d+\.\d\d /.test(line))).toHaveLength(count);
  });

  test('the XLS export has one row per transaction', async () => {
    const { json } = await get(range);
    const reply = await get(`${range}&exportType=xls`);
    expect(reply.headers['content-type']).toBe('application/vnd.ms-excel');
    expect(reply.text.match(/<Row>/g)).toHaveLength(1 + Number(json.data?.numberTransactionsAccounting));
    expect(reply.text).toMatch(/<Data ss:Type="Number">-\d+\.\d\d<\/Data>/);
  });

  test('the bank exports only PDF and XLS', async () => {
    expect(refusalOf(await get('exportType=csv'))).toBe('417 FIELD_INVALID');
  });
});

describe('the printer document', () => {
  async function verified(): Promise<string> {
    const order = { amount: '12.34', name: 'Mario Rossi', description: 'invoice (7)', instant: false };
    return resourceOf(await bank.tpp.verifyTransfer(token, order));
  }

  test('the printer document of an executed transfer is its receipt', async () => {
    const id = await verified();
    const early = await bank.tpp.send({ path: `${CURRENT}/common/printer/${id}/retrieve`, token });
    expect(refusalOf(early)).toBe('400 NOT_EXECUTED');
    await bank.tpp.authorise(token, id);
    const executed = await bank.tpp.execute(token, id);
    const href = new URL(String(executed.json._embedded?.printer?.href));
    const reply = await bank.tpp.send({ path: href.pathname, token });
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/pdf']);
    const lines = pdfLines(reply.bytes).flat();
    expect(lines).toContain(`CRO:              ${executed.json.data?.cro}`);
    expect(lines).toContain('Amount:           12.34 EUR');
    expect(lines).toContain('Description:      invoice (7)');
  });

  test('the bank gives the printer document only under its own product', async () => {
    const id = await verified();
    const path = `/private/customers/1048262/products/0010482638/common/printer/${id}/retrieve`;
    expect(codeOf(await bank.tpp.send({ path, token }))).toBe('RESOURCE_UNKNOWN');
  });
});
