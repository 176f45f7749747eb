import { describe, expect, test } from 'vitest';
import { seedCustomers } from '../../src/sandbox/customers/seed-customers.ts';
import { textPdf } from '../../src/sandbox/documents/pdf.ts';
import {
  type Statement,
  statementPdf,
  statementXls,
  workbook,
} from '../../src/sandbox/documents/statement.ts';
import type { Entry } from '../../src/sandbox/ledger/entry.ts';
import type { DayRange } from '../../src/sandbox/ledger/ledger.ts';
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

describe('a statement', () => {
  const [anna] = seedCustomers;
  const [current] = anna?.products ?? [];
  if (!anna || !current) throw new Error('anna must have an account');
  const row = (amount: number, shortDescription: string, extendedDescription: string): Entry => ({
    ...{ amount, shortDescription, extendedDescription, bookingDay: '2026-11-02', valueDay: '2026-11-03' },
    ...{ enteredAt: new Date(0), bookedFrom: new Date(0), code: '26', transferReference: '00000000007' },
    ...{ isFee: false, preAuthorized: false },
  });
  const statement = (range: DayRange): Statement => ({
    ...{ customer: anna, product: current, range },
    booked: [row(-12_34, 'BONIFICO', 'A "B" & <C>'), row(1_234_567_89, '', 'x'.repeat(70))],
    pending: [row(-5, 'CARTA', 'SHOP')],
  });

  test.each<[range: DayRange, text: string]>([
    [{ from: undefined, to: undefined }, 'All transactions'],
    [{ from: '2026-11-01', to: undefined }, 'From 01/11/2026 to today'],
    [{ from: undefined, to: '2026-11-30' }, 'From the beginning to 30/11/2026'],
    [{ from: '2026-11-01', to: '2026-11-30' }, 'From 01/11/2026 to 30/11/2026'],
  ])('a PDF of %j has its range, then one line for each transaction', (range, text) => {
    const bytes = statementPdf(statement(range));
    expect(bytes.toString('latin1')).toContain('/Title (Transactions 0010482620)');
    expect(pdfLines(bytes)).toEqual([
      [
        'SANDBOX BANK',
        'Anna Esposito, CONTO CORRENTE 0010482620, IT89F0999001600000010482620',
        text,
        '',
        'Booked: 2',
        '02/11/2026         -12.34  BONIFICO',
        `02/11/2026     1234567.89  ${'x'.repeat(66)}`,
        '',
        'Pending: 1',
        '                    -0.05  CARTA',
      ],
    ]);
  });

  test('a sheet has its titles, then one row for each transaction, with amounts as numbers', () => {
    const sheet = statementXls(statement({ from: undefined, to: undefined })).toString('utf8');
    expect(sheet).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<\?mso-application progid="Excel.Sheet"\?>\n/,
    );
    expect(sheet).toContain('<Worksheet ss:Name="Transactions 0010482620">');
    const rows = [...sheet.matchAll(/<Row>(.*)<\/Row>/g)].map(([, cells = '']) =>
      [...cells.matchAll(/<Data ss:Type="(\w)\w+">(.*?)<\/Data>/g)].map(
        ([, type, text]) => `${type} ${text}`,
      ),
    );
    expect(rows).toEqual([
      ['Status', 'Booked on', 'Value date', 'Amount', 'Currency', 'Description', 'Details', 'Reference'].map(
        (title) => `S ${title}`,
      ),
      [
        ...['S booked', 'S 02/11/2026', 'S 03/11/2026', 'N -12.34', 'S EUR', 'S BONIFICO'],
        ...['S A &quot;B&quot; &amp; &lt;C&gt;', 'S 00000000007'],
      ],
      [
        ...['S booked', 'S 02/11/2026', 'S 03/11/2026', 'N 1234567.89', 'S EUR', 'S '],
        ...[`S ${'x'.repeat(70)}`, 'S 00000000007'],
      ],
      [...['S pending', 'S ', 'S 03/11/2026', 'N -0.05', 'S EUR', 'S CARTA', 'S SHOP', 'S 00000000007']],
    ]);
  });
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

  const linesOf = async (operation: string, id: string) => {
    await bank.tpp.authorise(token, id);
    const body = { method: 'PUT', token, body: '{}' } as const;
    const executed = await bank.tpp.send({ ...body, path: `${CURRENT}/${operation}/${id}/execute` });
    const reply = await bank.tpp.send({ path: `${CURRENT}/common/printer/${id}/retrieve`, token });
    expect(reply.headers['content-disposition']).toBe(`attachment; filename="receipt-${id}.pdf"`);
    return { data: executed.json.data, lines: pdfLines(reply.bytes).flat() };
  };
  const head = (operation: string) => [
    ...['SANDBOX BANK', 'Receipt. No real money was moved.', '', `Operation:        ${operation}`],
  ];
  const amounts = (amount: string) => [
    ...['Ordered by:       Anna Esposito', 'From:             IT89F0999001600000010482620'],
    ...['Payee:            Mario Rossi', 'IBAN:             IT60X0542811101000000123456'],
    ...[`Amount:           ${amount} EUR`, 'Commissions:      0.50 EUR'],
  ];

  test.each<[instant: boolean, type: string, description: string, shown: string[]]>([
    [true, 'SCT Instant', 'invoice (7)', ['Description:      invoice (7)']],
    [false, 'SCT', '', ['Description:      ']],
    [
      ...([false, 'SCT', `${'a'.repeat(74)}${'b'.repeat(66)}`] as const),
      [`Description:      ${'a'.repeat(74)}`, `                  ${'b'.repeat(66)}`],
    ],
  ])('the receipt of a transfer: instant %s', async (instant, type, description, shown) => {
    const order = { amount: '12.34', name: 'Mario Rossi', description, instant };
    const id = resourceOf(await bank.tpp.verifyTransfer(token, order));
    const { data, lines } = await linesOf('moneyTransfer', id);
    bank.clock.advance(500);
    expect(lines).toEqual([
      ...head('moneyTransfer'),
      `CRO:              ${data?.cro}`,
      expect.stringMatching(/^Executed at: {6}2026-11-20T12:00:0\d$/),
      'Execution date:   20/11/2026',
      `Type:             ${type}`,
      ...amounts('12.34'),
      ...shown,
    ]);
  });

  test('the receipt of a standing order', async () => {
    const data = {
      ...{ amount: { currency: 'EUR', amount: '50.00' }, frequency: 'MONTHLY', description: 'rent' },
      ...{ firstExecutionDate: '30/11/2026', beneficiaryName: 'Mario Rossi' },
      ibanBeneficiary: 'IT60X0542811101000000123456',
    };
    const path = `${CURRENT}/standingOrder`;
    const id = resourceOf(
      await bank.tpp.send({ method: 'POST', path: `${path}/verify`, token, body: { data } }),
    );
    const term = { data: { numberOfExecutions: 12 } };
    await bank.tpp.send({ method: 'PUT', path: `${path}/${id}/verify2`, token, body: term });
    const receipt = await linesOf('standingOrder', id);
    expect(receipt.lines).toEqual([
      ...head('standingOrder'),
      `Standing order:   ${receipt.data?.standingOrderId}`,
      expect.stringMatching(/^Executed at: {6}2026-11-20T12:00:0\d$/),
      'First payment:    30/11/2026',
      'Schedule:         MONTHLY, 12 times, until 30/10/2027',
      ...amounts('50.00'),
      'Description:      rent',
    ]);
  });

  test('the bank gives the printer document only under its own product', async () => {
    const id = await verified();
    const path = `/private/customers/1048262/products/0010482638/common/printer/${id}/retrieve`;
    expect(codeOf(await bank.tpp.send({ path, token }))).toBe('RESOURCE_UNKNOWN');
  });
});
