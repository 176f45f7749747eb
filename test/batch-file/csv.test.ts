import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IBAN, readFile, refusalOf } from './reading.ts';

const LINE = `Ada,${IBAN},12.50`;
const UNKNOWN = 'The heading has the unknown column';
const LONG = 'n'.repeat(60);

describe('a CSV file of payments', () => {
  test('gives each payment with all that its columns say', async () => {
    const heading = 'customer,from,name,iban,amount,currency,description,reference,date,payee-verified';
    const { lines, said, source } = await readFile(
      `${heading}\n1234567,0000012345,Ada Lovelace,de89 3704 0044 0532 0130 00,12.5,EUR,Invoice 7,R-1,2026-12-01,yes\n`,
    );
    expect(said).toEqual([]);
    expect(source).toEqual({ format: 'csv', messageId: null, count: null, sum: null });
    expect(lines).toEqual([
      {
        ...{ line: 1, place: 'line 2', customer: '1234567', from: '0000012345', fromIban: null },
        ...{ name: 'Ada Lovelace', iban: IBAN, amount: '12.50', currency: 'EUR', description: 'Invoice 7' },
        ...{ reference: 'R-1', executionDate: '2026-12-01', instant: false, urgent: false },
        ...{ payeeVerified: true, address: null },
        ids: { paymentInformationId: null, instructionId: null, endToEndId: null },
      },
    ]);
  });

  test('takes an IBAN in from as the IBAN of the account', async () => {
    const { lines } = await readFile(`name,iban,amount,from\n${LINE},IT60X0542811101000000123456`);
    expect(lines[0]).toMatchObject({ from: null, fromIban: 'IT60X0542811101000000123456' });
  });

  test('has the same content however its columns, separators, line ends, blanks and cases stand', async () => {
    const table = [
      { name: 'Ada, Countess', iban: IBAN, amount: '12.50', reference: 'R-1' },
      { name: 'Mario Rossi', iban: 'IT60X0542811101000000123456', amount: '7', reference: '' },
    ];
    const plain = await readFile(
      `name,iban,amount,reference\n${table.map((row) => `"${row.name}",${row.iban},${row.amount},${row.reference}`).join('\n')}`,
    );
    expect(plain.lines).toHaveLength(2);
    const columns = ['name', 'iban', 'amount', 'reference'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...columns], { minLength: columns.length }),
        fc.constantFrom(',', ';'),
        fc.constantFrom('\n', '\r\n'),
        fc.constantFrom('', '\ufeff'),
        fc.constantFrom('', ' ', '  '),
        fc.constantFrom(0, 1, 3),
        fc.integer({ min: 1, max: 40 }),
        async (order, separator, end, bom, blank, empty, size) => {
          const write = (cells: string[]) =>
            cells.map((cell) => `${blank}"${cell}"${blank}`).join(separator) + end.repeat(1 + empty);
          const rows = table.map((row) => write(order.map((column) => row[column])));
          const text = `${bom}${write(order.map((column) => column.toUpperCase()))}${rows.join('')}`;
          const bytes = Buffer.from(text);
          const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          );
          const { sha256, said } = await readFile(pieces);
          expect(said).toEqual([]);
          expect(sha256).toBe(plain.sha256);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('names every problem of every line, with the line in the file', async () => {
    const { lines, said } = await readFile(
      `name,iban,amount,date,payee-verified,currency
Ada,${IBAN},"1.234,56",,,

"Bo
b",DE8937040044053201300,-0,2020-01-01,maybe,USD
Zo\u00eb,${IBAN},1e3,30.11.2026,,
Ada,${IBAN},NaN
Ada,${IBAN},1,,no,
`,
    );
    expect(said).toMatchInlineSnapshot(`
      ["error line 2: The amount "1.234,56" has a decimal comma",
       "error line 4: The name contains the character "\\n" at position 3, which SEPA does not allow",
       "error line 4: The IBAN "DE8937040044053201300" has 21 characters, which is not the length of an IBAN of DE",
       "error line 4: The amount "-0" is negative",
       "error line 4: The currency "USD" is not possible: SEPA transfers are in EUR",
       "error line 4: The date 2020-01-01 is in the past: at the bank it is 2026-11-23",
       "error line 4: The payee-verified "maybe" is neither yes nor no",
       "error line 6: The name contains the character "ë" at position 3, which SEPA does not allow. Add --transliterate to pay it as "Zoe"",
       "error line 6: The amount "1e3" is not a decimal number",
       "error line 6: The date "30.11.2026" is not a date in the form YYYY-MM-DD",
       "error line 7: The line has 3 cells, but the heading has 6"]
    `);
    expect(lines.map(({ line, place }) => [line, place])).toEqual([[5, 'line 8']]);
  });

  test.each<[string, string, string, string?]>([
    ['an unknown column', 'name,iban,AMONT\n', `${UNKNOWN} "AMONT"`, 'Did you mean amount? '],
    ['a column like no other', 'name,iban,amount,xyz\n', `${UNKNOWN} "xyz"`],
    ['a long word in place of a heading', `${LONG}n\n`, `${UNKNOWN} "${LONG}…"`],
    ['a column with a long name', `${LONG}\n`, `${UNKNOWN} "${LONG}"`],
    ['a column without a name', 'name,,iban,amount\n', `${UNKNOWN} ""`],
    ['a column twice', 'name,iban,amount,Name\n', 'The heading has the column name twice'],
    ['a missing column', 'name;iban\n', 'The heading lacks the column amount'],
    ['missing columns', 'reference;iban\n', 'The heading lacks the columns name, amount'],
    ['a missing column in a line without end', 'name,iban', 'The heading lacks the column amount'],
    ['no heading', '', 'The file has no heading'],
    ['nothing but empty cells', ' , ,\n\n,,\n', 'The file has no heading'],
    ['a property of objects as a column', 'name,iban,amount,constructor\n', `${UNKNOWN} "constructor"`],
  ])('is refused for %s', async (_what, text, message, meant = '') => {
    expect(await refusalOf(text)).toEqual({
      code: 'usage',
      message,
      hint: `${meant}The first line names the columns, for example name,iban,amount. The columns are name, iban, amount, currency, description, reference, date, from, customer, payee-verified, creditor-reference.`,
    });
  });

  test('may have empty cells after its last column, as Excel writes them, and no other', async () => {
    const { lines, said } = await readFile(
      `name,iban,amount,,\n${LINE},,\nBob,${IBAN},1\nEve,${IBAN},2, , ,\nMax,${IBAN},3,x\nTom\n`,
    );
    expect(lines.map(({ name, line }) => [name, line])).toEqual([
      ['Ada', 1],
      ['Bob', 2],
      ['Eve', 3],
    ]);
    expect(said).toEqual([
      'error line 5: The line has 4 cells, but the heading has 3',
      'error line 6: The line has 1 cell, but the heading has 3',
    ]);
  });

  test('may have blank lines before its heading, which tells the separator', async () => {
    for (const pieces of [
      ['\n\r\n  name;iban;amount\n', `Ada;${IBAN};1\n`],
      ['\n', ' \nname;', `iban;amount\nAda;${IBAN};1`],
      ['\n name', `;iban;amount\nAda;${IBAN};1`],
    ]) {
      const { lines, said } = await readFile(pieces.map((piece) => Buffer.from(piece)));
      expect(said).toEqual([]);
      expect(lines).toMatchObject([{ name: 'Ada', amount: '1.00' }]);
    }
  });

  test.each([
    ['sep=;', ';'],
    ['\ufeffsep=;', ';'],
    ['\ufeffSEP=,\r', ','],
    ['"sep=;"', ';'],
    ['sep=\t', '\t'],
    ['sep=|', '|'],
  ])('may name its separator in its first line: %j', async (first, separator) => {
    const heading = ['\ufeffname', 'iban', 'amount', 'description'].join(separator);
    const row = ['Ada', 'DE89\u00a03704\u202f0044 0532\u200b013000', '\u00a012.50', '"a, b"'].join(separator);
    const { lines, said } = await readFile(`${first}\n${heading}\n${row}\n`);
    expect(said).toEqual([]);
    expect(lines).toMatchObject([{ place: 'line 3', iban: IBAN, amount: '12.50', description: 'a, b' }]);
  });

  test('has its letters replaced if the operator wants it, and says each', async () => {
    const file = `name,iban,amount,description\nJosé Müller,${IBAN},1,Gebühr\n李,${IBAN},2,\n`;
    const { lines, said } = await readFile(file, { transliterate: true });
    expect(lines).toMatchObject([{ name: 'Jose Mueller', description: 'Gebuehr' }]);
    expect(said).toEqual([
      'warning line 2: The name "José Müller" is paid as "Jose Mueller"',
      'warning line 2: The description "Gebühr" is paid as "Gebuehr"',
      expect.stringContaining('error line 3: The name contains the character "李"'),
    ]);
    expect((await readFile(file)).lines).toEqual([]);
  });

  test('takes a separator that it does not know as a heading, which is wrong', async () => {
    expect((await refusalOf('sep=x\nname,iban,amount\n')).message).toBe(
      'The heading has the unknown column "sep=x"',
    );
  });

  test('may end its lines in any way, and in several', async () => {
    const ends = ['\r', '\r\n', '\n', '\r'];
    const rows = ['name,iban,amount', `Ada,${IBAN},1`, `Bob,${IBAN},2`, `Eve,${IBAN},3`];
    const { lines, said } = await readFile(rows.map((row, index) => `${row}${ends[index]}`).join(''));
    expect(said).toEqual([]);
    expect(lines.map(({ name }) => name)).toEqual(['Ada', 'Bob', 'Eve']);
  });

  test.each([
    ['yes', true],
    ['TRUE', true],
    ['No', false],
    ['false', false],
    ['', false],
  ])('with %j in payee-verified', async (text, payeeVerified) => {
    const file = `name,iban,amount,payee-verified\n${LINE},${text}\n`;
    expect((await readFile(file)).lines).toMatchObject([{ payeeVerified, instant: false }]);
    // The operator may say so of all.
    const all = await readFile(file, { payeeVerified: true, instant: true });
    expect(all.lines).toMatchObject([{ payeeVerified: true, instant: true }]);
  });

  test('may have the reference of a payee', async () => {
    const creditorReference = { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' };
    const { lines } = await readFile(
      `name,iban,amount,creditor-reference\n${LINE},RF18 5390 0754 7034\n${LINE},\n`,
    );
    expect(lines).toMatchObject([{ creditorReference }, {}]);
    expect(lines[1]).not.toHaveProperty('creditorReference');
  });

  test.each(['oyes', 'yesterday', 'xtrue', 'trueish', 'ono', 'nope', '1', 'x'])(
    'with %j in payee-verified has an error, and no payment',
    async (text) => {
      const { lines, problems } = await readFile(`name,iban,amount,payee-verified\n${LINE},${text}\n`);
      expect(lines).toEqual([]);
      expect(problems).toEqual([
        {
          ...{ severity: 'error', line: 1, place: 'line 2', fileLine: 2 },
          message: `The payee-verified ${JSON.stringify(text)} is neither yes nor no`,
        },
      ]);
    },
  );

  test('without a currency, or with an empty one, is in EUR', async () => {
    for (const file of [`name,iban,amount\n${LINE}`, `name,iban,amount,currency\n${LINE},`])
      expect((await readFile(file)).lines).toMatchObject([{ currency: 'EUR', reference: null, from: null }]);
  });

  test('is read as it comes: the first payment before the rest', async () => {
    let read = 0;
    const pieces = function* () {
      for (const piece of ['name,iban,amount\n', `${LINE}\n`, `Bob,${IBAN},1\n`, `Eve,${IBAN},1\n`]) {
        read += 1;
        yield Buffer.from(piece);
      }
    };
    const before: number[] = [];
    await readFile({ [Symbol.iterator]: pieces }, {}, () => before.push(read));
    expect(before).toEqual([3, 4, 4]);
  });

  test('without payments is wrong', async () => {
    expect((await readFile('name,iban,amount\n,,\n')).said).toEqual(['error : The file has no payments']);
  });

  const QUOTE = 'A quote is in the middle of a cell. Write a quote in a cell twice, and the cell in quotes';
  test.each([
    ['a wrong quote', `${LINE}\nA"da,${IBAN},1\n${LINE}`, 1, `line 3: ${QUOTE}`],
    ['one in a cell of several lines', `${LINE}\n"A\nB" C,${IBAN},1`, 1, `line 4: ${QUOTE}`],
    ['an open quote', `"Ada,${IBAN},1\n${LINE}\n${LINE}`, 0, 'line 2: A quote is not closed'],
  ])(
    'gives the payments before %s, and says no more than its line',
    async (_what, rows, payments, message) => {
      const { lines, said } = await readFile(`name,iban,amount\n${rows}\n`);
      const all = `error ${message}. psd2 has read nothing after it`;
      expect([lines.length, said]).toEqual([payments, [all]]);
    },
  );

  test('says of an account to debit that looks like an IBAN what is wrong with that', async () => {
    const { said } = await readFile(
      `name,iban,amount,from\nAda,${IBAN},1,IT60X0542811101000000123457\nAda,${IBAN},2,12\n`,
    );
    expect(said).toEqual([
      expect.stringMatching(/^error line 2: The IBAN "IT60X0542811101000000123457" has wrong check digits/),
      'error line 3: The account id "12" has 2 characters instead of 10',
    ]);
  });

  test('says of a reference twice that it is wrong, and of a payment twice that it looks so', async () => {
    const { said } = await readFile(
      `name,iban,amount,reference,date\nAda,${IBAN},1,R 1,\nBob,${IBAN},2,r  1,\nAda,${IBAN},1.00,R-2,2026-11-23\nBob,${IBAN},2,R 1,\n`,
    );
    expect(said).toEqual([
      'error line 3: The reference "r  1" is that of payment 1 too',
      'warning line 4: Payment 1 has the same payee, amount and day',
      'error line 5: The reference "R 1" is that of payment 1 too',
      'warning line 5: Payment 2 has the same payee, amount and day',
    ]);
  });
});
