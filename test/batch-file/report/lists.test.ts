import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { writeCsvReport, writeJsonReport } from '../../../src/batch-file/report/lists.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { reportRow, textOf } from '../rows.ts';

const FIELDS = [
  ...'line batch reference flow state from name iban amount currency description executionDate'.split(' '),
  ...'endToEndId payeeCheck reason refusedCall bankReasons paidAt remittanceStructured'.split(' '),
];

describe('the report of a batch', () => {
  test('in CSV has a row for each line, and a heading without lines', async () => {
    const rows = [
      reportRow(),
      reportRow({
        ...{ line: 2, state: 'failed', reason: 'no "money", none\nat all' },
        payeeCheck: { result: 'close', name: 'M. Rossi', problem: null },
      }),
    ];
    const text = await textOf(writeCsvReport(rows));
    expect(text.split('\r\n')).toHaveLength(4);
    expect(parse(text, { columns: true })).toMatchObject([
      { line: '1', amount: '12.50', payeeCheck: '', reason: '' },
      { line: '2', state: 'failed', payeeCheck: 'close', payeeName: 'M. Rossi' },
    ]);
    expect(await textOf(writeCsvReport([]))).toBe(
      'line,batch,reference,flow,state,from,name,iban,amount,currency,description,executionDate,endToEndId,payeeCheck,payeeName,reason,paidAt,reasonCode,remittanceStructured,refusedCall\r\n',
    );
  });

  test('in CSV has all that is known of a line', async () => {
    const row = reportRow({
      ...{ executionDate: parseDate('--date', '2026-12-01'), paidAt: '2026-12-01T10:00:00+01:00' },
      bankReasons: [{ level: 'payment', code: 'AM04', proprietary: null, text: 'late' }],
      ...{ reason: 'late', payeeCheck: { result: 'close', name: 'M. Rossi', problem: null } },
    });
    const [, line] = (await textOf(writeCsvReport([row]))).split('\r\n');
    expect(line).toBe(
      '1,b-1,R-1,f-1,executed,0000012345,Mario Rossi,IT60X0542811101000000123456,12.50,EUR,Invoice 7,2026-12-01,E-1,close,M. Rossi,late,2026-12-01T10:00:00+01:00,AM04,,',
    );
  });

  const reason = { level: 'payment', code: null, proprietary: null, text: 'late' } as const;
  test.each([
    [[], ''],
    [[reason], ''],
    [[{ ...reason, code: 'AM04' }], 'AM04'],
    [[{ ...reason, proprietary: 'X9' }], 'X9'],
    [[{ ...reason, code: 'AM04', proprietary: 'X9' }], 'AM04'],
    [
      [
        { ...reason, code: 'AM04' },
        { ...reason, code: 'AC01' },
      ],
      'AM04',
    ],
    [
      [
        { ...reason, proprietary: 'X9' },
        { ...reason, code: 'AC01' },
        { ...reason, code: 'AM04' },
      ],
      'X9',
    ],
  ])('in CSV has the code of the reason that counts: of %j %j', async (bankReasons, code) => {
    const text = await textOf(writeCsvReport([reportRow({ bankReasons })]));
    expect(parse(text, { columns: true })).toMatchObject([{ reasonCode: code }]);
  });

  test.each(['=cmd|calc', '+1+1', '-1', '@SUM(A1)', 'a;=1', '\t=1'])(
    'in CSV never lets a spreadsheet read %j as a formula',
    async (text) => {
      const columns = ['name', 'description', 'reason', 'refusedCall', 'reference', 'endToEndId'];
      const row = reportRow(Object.fromEntries(columns.map((column) => [column, text])));
      const written = await textOf(writeCsvReport([row]));
      const [cells = {}] = parse<Record<string, string>>(written, { columns: true });
      for (const column of columns) expect(cells[column]).not.toMatch(/(^|[;,\t])\s*[=+\-@]/);
    },
  );

  test('in JSON has the fields of the contract, and nothing else', async () => {
    const parsed: unknown = JSON.parse(await textOf(writeJsonReport([reportRow(), reportRow({ line: 2 })])));
    expect(parsed).toEqual([1, 2].map((line) => expect.objectContaining({ line, amount: '12.50' })));
    expect(parsed).toSatisfy((rows: object[]) =>
      rows.every((row) => Object.keys(row).toSorted().join() === FIELDS.toSorted().join()),
    );
    expect(JSON.parse(await textOf(writeJsonReport([])))).toEqual([]);
  });
});
